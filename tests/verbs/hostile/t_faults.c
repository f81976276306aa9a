// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that every call that creates, connects or posts something survives the
 * failure of each memory allocation and each copy from user space in the
 * kernel. The test makes the first, the second, the third ... fail
 * (/proc/thread-self/fail-nth) until none is left. The call must return a
 * matching error and succeed afterwards, and in the end the device must have as
 * many objects as before. The test then fails allocations for packets, for
 * their reassembly, and in adding and deleting links.
 *
 *	t_faults [PATH...]	only these: paths of fault_paths.c, packets,
 *				pieces, link
 *
 * With FAULT_STRIDE=n, only every n-th failure is injected. FAULT_SEED selects
 * the sample of failures for links.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"
#include "faults.h"
#include "raw.h"
#include "vt.h"

enum { MAX_NTH = 20000 };

static int nth_fd;
static unsigned int stride = 1;
static unsigned int seed;

/* ---- failures ----------------------------------------------------------- */

static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	errno = 0;
	if (pwrite(nth_fd, text, (size_t)len, 0) != len)
		vt_bail("fail-nth");
}

/*
 * Returns true if a fault was injected. Disarms one that is left, which could
 * hit the calls of the test itself.
 */
static bool disarm(void)
{
	int saved = errno;
	char text[16] = "";
	bool hit = pread(nth_fd, text, sizeof(text) - 1, 0) > 0 &&
		   !atoi(text);

	while (pwrite(nth_fd, "0", 1, 0) != 1)
		;
	errno = saved;
	return hit;
}

static void tell(const char *file, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/%s", file);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		vt_bail("%s", path);
	close(fd);
}

static void open_nth(void)
{
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth_fd < 0)
		skip_all("the kernel has no fault injection (CONFIG_FAULT_INJECTION)");
	/*
	 * By default, only allocations that may not sleep fail, and each
	 * failure prints its stack.
	 */
	tell("debug/failslab/verbose", "0");
	tell("debug/failslab/ignore-gfp-wait", "N");
	tell("debug/fail_page_alloc/verbose", "0");
	tell("debug/fail_page_alloc/ignore-gfp-wait", "N");
	tell("debug/fail_page_alloc/ignore-gfp-highmem", "N");
	tell("debug/fail_page_alloc/min-order", "0");
	tell("debug/fail_usercopy/verbose", "0");
}

/* Errors with which a failed allocation or copy may be reported. */
static bool is_right(int err)
{
	return err == ENOMEM || err == EFAULT || err == EAGAIN ||
	       err == ENOBUFS;
}

/* ---- every failure of every path ---------------------------------------- */

/* The result of one half of a path. */
struct tally {
	unsigned int tried, failed, wrong;
	int error;		/* first unexpected errno value */
};

static void count(struct tally *t, int err, bool hit)
{
	t->tried++;
	if (!err)
		return;
	t->failed++;
	if (hit && is_right(err))
		return;
	if (!t->wrong++)
		t->error = err;
}

static void report_tally(const char *path, const char *what,
			 const struct tally *t)
{
	if (!t->tried)
		return;
	ok(!t->wrong, "%s: %s: %u failures, %u of them reported, all correctly",
	   path, what, t->tried - 1, t->failed);
	if (t->wrong)
		diag("  %u unexpected results, the first is errno %d, %s", t->wrong,
		     t->error, strerror(t->error));
}

/*
 * If only the copy of the response failed, the object is destroyed, and a
 * second attempt returns ENOENT.
 */
static bool is_undone(const struct path *p)
{
	int err = p->undo();

	return !err || (p->undo_is <= ONLY_DESTROY && err == ENOENT);
}

/* Fails each allocation and copy of make() in turn. */
static void fail_making(const struct path *p, struct tally *t)
{
	for (unsigned int n = 1; n < MAX_NTH; n += stride) {
		bool hit;
		int err;

		arm(n);
		err = p->make();
		hit = disarm();
		count(t, err, hit);
		if ((!err || p->undo_is == RESTORE) && p->undo &&
		    !is_undone(p))
			vt_bail("%s: failure %u: cannot be undone", p->name, n);
		if (!hit)
			return;
	}
	fail("%s: more than %u calls can fail", p->name, MAX_NTH);
}

/* Fails each allocation and copy of undo() in turn. */
static void fail_undoing(const struct path *p, struct tally *t)
{
	for (unsigned int n = 1; n < MAX_NTH; n += stride) {
		bool hit;
		int err = p->make();

		if (err) {
			errno = err;
			vt_bail("%s: does not succeed any more", p->name);
		}
		arm(n);
		err = p->undo();
		hit = disarm();
		count(t, err, hit);
		if (err && !is_undone(p))
			vt_bail("%s: failure %u: cannot be undone", p->name, n);
		if (!hit)
			return;
	}
	fail("%s: more than %u calls can fail", p->name, MAX_NTH);
}

/* Reads the object counts of the device from `rdma resource`. */
static void resources(char *text, size_t len)
{
	char command[64];
	FILE *f;
	size_t n;

	snprintf(command, sizeof(command), "rdma resource show %s",
		 vt_name_a());
	f = popen(command, "r");
	n = f ? fread(text, 1, len - 1, f) : 0;
	text[n] = 0;
	if (!n || pclose(f))
		vt_bail("%s", command);
	if (strchr(text, ':'))
		memmove(text, strchr(text, ':'), strlen(strchr(text, ':')) + 1);
}

static void run_path(const struct path *p, const char *before)
{
	struct tally making = { 0 }, undoing = { 0 };
	char after[512];

	if (p->undo_is != ONLY_DESTROY)
		fail_making(p, &making);
	report_tally(p->name, "making", &making);
	if (p->undo_is <= ONLY_DESTROY)
		fail_undoing(p, &undoing);
	report_tally(p->name, "undoing", &undoing);
	resources(after, sizeof(after));
	is_str(after, before, "%s: nothing is left", p->name);
}

/* ---- packets ------------------------------------------------------------ */

enum { ROUNDS = 10, BURST = 16, LEN = 10000, TARGET = 20000, WORD = 40000 };

/*
 * Posts WRITEs with an atomic after each, and checks the results. Returns NULL
 * or a description of the error.
 */
static const char *burst(uint64_t *sum)
{
	struct ibv_sge data = vt_sge(&wire.a, TARGET, LEN);
	struct ibv_sge word = vt_sge(&wire.a, WORD, 8);
	struct ibv_wc wc;

	for (int i = 0; i < 2 * BURST; i++) {
		bool atomic = i & 1;
		struct vt_wr wr = {
			.op = atomic ? VT_MFADD : VT_WRITE, .via = VT_WR,
			.flags = IBV_SEND_SIGNALED, .compare_add = 1,
			.sge = atomic ? &word : &data, .num_sge = 1,
			.raddr = vt_addr(&wire.b, atomic ? WORD : TARGET),
			.rkey = wire.b.mr->rkey, .wr_id = (uint64_t)i,
		};

		if (vt_post(&wire.a, &wr))
			return "ibv_wr_complete";
	}
	for (uint64_t i = 0; i < 2 * BURST; i++) {
		if (!vt_poll(wire.a.cq, &wc, VT_MS))
			return "a completion is missing";
		if (wc.status || wc.wr_id != i)
			return "an unexpected completion";
	}
	*sum += BURST;
	if (*vt_word(&wire.b, WORD) != *sum ||
	    *vt_word(&wire.a, WORD) != *sum - 1)
		return "an atomic was not executed exactly once";
	return memcmp(wire.a.buf + TARGET, wire.b.buf + TARGET, LEN) ?
	       "data" : NULL;
}

/*
 * A packet socket that does not read holds all buffers, so the device needs new
 * ones. Those in its cache do not suffice for all rounds.
 */
static int hold_packets(void)
{
	int fd = raw_socket(AF_PACKET, htons(ETH_P_ALL)), room = 64 << 20;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		vt_bail("SO_RCVBUFFORCE");
	return fd;
}

/* Writes to the file of each kind of allocation. */
static void tell_allocations(const char *file, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "debug/failslab/%s", file);
	tell(path, value);
	snprintf(path, sizeof(path), "debug/fail_page_alloc/%s", file);
	tell(path, value);
}

/*
 * In each round, a burst with memory comes first. The packet socket then holds
 * the buffers that the device had left. It cannot hold those of the second
 * burst, because allocations for the socket fail, too.
 */
static void run_packets(void)
{
	int holder = hold_packets();
	long before = vt_dev_counter(wire.a.dev, "send_no_memory");
	const char *wrong = NULL;
	uint64_t sum = 0;
	int i;

	*vt_word(&wire.b, WORD) = 0;
	/* Only allocations that may not sleep. */
	tell_allocations("ignore-gfp-wait", "Y");
	for (i = 0; i < ROUNDS && !wrong; i++) {
		vt_fill_random(wire.a.buf + TARGET, LEN);
		wrong = burst(&sum);
		if (wrong)
			break;
		vt_fill_random(wire.a.buf + TARGET, LEN);
		tell_allocations("times", "200");
		tell_allocations("probability", "100");
		wrong = burst(&sum);
		tell_allocations("probability", "0");
	}
	tell_allocations("ignore-gfp-wait", "N");
	close(holder);
	ok(!wrong, "packets: %d rounds without memory for packets", i);
	if (wrong)
		diag("  %s", wrong);
	ok(vt_dev_counter(wire.a.dev, "send_no_memory") > before,
	   "packets: some could not be allocated");
}

/* ---- packets that arrive in pieces -------------------------------------- */

/*
 * Three IP fragments. Reassembly then needs contiguous pages, which nothing
 * else allocates without sleeping and without a fallback.
 */
enum { PIECE = 3008, PIECES = 3, PIECES_BODY = PIECES * PIECE - 8 - 12 - 4 };

/* Sends a packet in fragments to a QP number that is not assigned. */
static void send_pieces(int fd)
{
	static uint8_t packet[20 + PIECES * PIECE], body[PIECES_BODY];
	const uint8_t *from = wire.a.dev->gid4.raw + 12, *to = wire.b.dev->gid4.raw + 12;
	const struct raw_bth bth = {
		BTH_RC | BTH_SEND_ONLY, 0, htons(BTH_DEFAULT_PKEY), htonl(RAW_NOBODY), 0,
	};
	struct sockaddr_in addr = { .sin_family = AF_INET };
	uint8_t piece[20 + PIECE];
	struct iphdr ip;

	memcpy(&addr.sin_addr, to, 4);
	vt_fill_random(body, sizeof(body));
	raw_plain(packet, from, to, &bth, body, sizeof(body));
	memcpy(&ip, packet, sizeof(ip));
	ip.tot_len = htons(sizeof(piece));
	for (int i = 0; i < PIECES; i++) {
		ip.frag_off = htons((uint16_t)(i * PIECE / 8 |
					       (i < PIECES - 1 ? IP_MF : 0)));
		memcpy(piece, &ip, 20);
		memcpy(piece + 20, packet + 20 + i * PIECE, PIECE);
		if (sendto(fd, piece, sizeof(piece), 0, (struct sockaddr *)&addr,
			   sizeof(addr)) < 0)
			vt_bail("sendto");
	}
}

/*
 * Sends one packet, which is dropped, and checks that only this counter counts
 * it, once.
 */
static void drop_pieces(int fd, const char *counter, const char *what)
{
	struct vt_dev *b = wire.b.dev;
	long before = vt_dev_counter(b, counter), all = vt_dev_counter(b, "drop_*");

	send_pieces(fd);
	vt_dev_wait_counted(b, counter, before);
	is_int(vt_dev_counter(b, counter) - before, 1, "pieces: %s: %s", what, counter);
	is_int(vt_dev_counter(b, "drop_*") - all, 1, "... and no other drop counter");
}

static void run_pieces(void)
{
	int fd = raw_open();

	drop_pieces(fd, "drop_qpn", "reassembled");
	tell("debug/fail_page_alloc/min-order", "2");
	tell("debug/fail_page_alloc/ignore-gfp-wait", "Y");
	tell("debug/fail_page_alloc/times", "-1");
	tell("debug/fail_page_alloc/probability", "100");
	drop_pieces(fd, "drop_no_memory", "no memory to reassemble");
	tell("debug/fail_page_alloc/probability", "0");
	tell("debug/fail_page_alloc/ignore-gfp-wait", "N");
	tell("debug/fail_page_alloc/min-order", "0");
	drop_pieces(fd, "drop_qpn", "reassembled again");
	close(fd);
}

/* ---- links -------------------------------------------------------------- */

/*
 * Adding a link allocates memory thousands of times, in the core and below it.
 * The test fails each of the first allocations, then a sample of the others.
 */
enum { LINK_EACH = 150, LINK_STRIDE = 61 };

struct link_tally {
	unsigned int tried, failed, no_memory, lost, no_file, wrong;
	const char *error;		/* first unexpected result */
	unsigned int error_nth;		/* which failure caused it */
	int error_is;			/* result of the call */
};

static unsigned int link_next(unsigned int n)
{
	unsigned int step = getenv("FAULT_STRIDE") ? stride : LINK_STRIDE;

	if (n < LINK_EACH)
		return n + 1;
	return n == LINK_EACH ? n + 1 + seed % step : n + step;
}

/* __sock_create() returns ENFILE if it cannot allocate a socket. */
static bool is_right_of_link(int err)
{
	return is_right(err) || err == ENFILE;
}

/*
 * Checks the state after a call that returned err, and deletes the link if it
 * exists. Returns NULL or a description of the error.
 */
static const char *link_after(bool adding, int err, bool hit, bool *has_file)
{
	bool there = link_is_there();
	const char *wrong = NULL;

	*has_file = true;
	if (err && !hit)
		return "it fails without an injected failure";
	if (err > 0 && !is_right_of_link(err))
		return "an unexpected error";
	if (err != LINK_LOST && there != (adding == !err))
		return there ? "it exists" : "it does not exist";
	if (!there)
		return NULL;
	wrong = link_is_whole(has_file);
	if (link_del())
		return "it cannot be deleted";
	return link_is_there() ? "it exists after it was deleted" : wrong;
}

/*
 * Checks that the link can be added and deleted afterwards. Returns NULL or a
 * description of the error.
 */
static const char *link_again(void)
{
	const char *wrong;
	bool has_file;

	if (link_add())
		return "afterwards: it cannot be added";
	wrong = link_is_whole(&has_file);
	if (!wrong && !has_file)
		wrong = "afterwards: no process can open it";
	if (link_del() || link_is_there())
		return "afterwards: it cannot be deleted";
	return wrong;
}

static bool fail_link_at(unsigned int n, bool adding, struct link_tally *t)
{
	const char *wrong;
	bool hit, has_file;
	int err;

	if (!adding && (link_add() || !link_is_there()))
		vt_bail("link: adding does not succeed any more");
	arm(n);
	err = adding ? link_add() : link_del();
	hit = disarm();
	wrong = link_after(adding, err, hit, &has_file);
	if (!wrong && err)
		wrong = link_again();
	t->tried++;
	t->failed += err > 0;
	t->no_memory += err == ENOMEM;
	t->lost += err == LINK_LOST;
	t->no_file += !has_file;
	if (wrong && !t->wrong++) {
		t->error = wrong;
		t->error_nth = n;
		t->error_is = err;
	}
	return hit;
}

static void fail_link(bool adding)
{
	const char *what = adding ? "adding" : "deleting";
	struct link_tally t = { 0 };
	unsigned int n = 1;

	while (n < MAX_NTH && fail_link_at(n, adding, &t))
		n = link_next(n);
	ok(n < MAX_NTH, "link: %s: at most %u calls can fail", what, n);
	ok(!t.wrong, "link: %s: %u failures, %u of them reported, all correctly",
	   what, t.tried - 1, t.failed);
	if (t.wrong)
		diag("  %u unexpected results, the first at %u, which returned %d: %s", t.wrong,
		     t.error_nth, t.error_is, t.error);
	diag("  %u returned ENOMEM, %u responses lost, %u links without a file for processes",
	     t.no_memory, t.lost, t.no_file);
}

static void run_link(void)
{
	uint64_t start = vt_now_ms();

	diag("link: FAULT_SEED=%u", seed);
	link_set_up();
	fail_link(true);
	fail_link(false);
	ok(link_tear_down(), "link: nothing holds a reference to its netdev");
	diag("link: %u s", (unsigned int)(vt_now_ms() - start) / 1000);
}

/* ---- the program -------------------------------------------------------- */

int main(int argc, char **argv)
{
	const char *env = getenv("FAULT_STRIDE"), *from = getenv("FAULT_SEED");
	char before[512];

	(void)argc;
	open_nth();
	plan(0);
	if (env && atoi(env) > 0)
		stride = (unsigned int)atoi(env);
	seed = from ? (unsigned int)atoi(from) : (unsigned int)vt_now_ms() % 1000;
	paths_set_up();
	resources(before, sizeof(before));
	for (const struct path *p = paths; p->name; p++)
		if (vt_wanted(p->name, argv + 1))
			run_path(p, before);
	if (vt_wanted("packets", argv + 1))
		run_packets();
	if (vt_wanted("pieces", argv + 1))
		run_pieces();
	paths_tear_down();
	if (vt_wanted("link", argv + 1))
		run_link();
	return done_testing();
}
