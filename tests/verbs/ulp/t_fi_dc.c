// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric over the dynamically connected (DC) transport:
 * an endpoint with a thousand peers, peers that are killed or stopped beside
 * others, writes with remote CQ data, peers without DC, and malformed
 * addresses. Each operation is executed exactly once. The peers are processes
 * on host h2 of tools/two-hosts, and this one is on h1.
 *
 * t_fi.sh runs it.
 */
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <infiniband/verbs_exp.h>
#include "fi_end.h"
#include "kmem.h"
#include "wire.h"

#define CAPS (FI_RMA | FI_ATOMIC)
#define NUM_TARGETS 1000
#define ROUNDS 4
#define NUM_OPS 100
#define NUM_ENDS 72		/* endpoints of run_many() */
#define NUM_DOMAINS 3		/* that they use */
#define RC_PEERS 64		/* reached without DC by default */
#define RX_SIZE 512		/* receive buffers of an endpoint */
#define MAX_OPS 512		/* of an endpoint */
#define LONG_MS 20000
/*
 * Kernel memory of a peer at both ends. Most of it is that of its last session,
 * which the target keeps for some seconds.
 */
#define MAX_BYTES 4096

/* Memory of the peers, which all processes share. */
static struct shared {
	uint64_t words[NUM_TARGETS];
	uint64_t events, sum;	/* writes with data that a peer has seen */
	uint64_t keys[NUM_ENDS];
	struct mxefi_addr addrs[NUM_TARGETS];
} *shared;

/* An endpoint of another process. */
struct peer {
	struct child child;
	struct mxefi_addr name;
	uint64_t key;
	fi_addr_t addr;
};

/* ---- peers ------------------------------------------------------------- */

static struct fid_mr *reg_words(struct end *e)
{
	struct fid_mr *mr;

	must(fi_mr_reg(e->domain, shared, sizeof(*shared),
		       FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	return mr;
}

static void get_name(struct fid_ep *ep, struct mxefi_addr *name)
{
	size_t len = sizeof(*name);

	must(fi_getname(&ep->fid, name, &len), "fi_getname");
}

/* Counts writes with data, until the pipe is closed. */
static void run_peer(int to, int from)
{
	struct pollfd p = { .fd = from, .events = POLLIN };
	struct fi_cq_tagged_entry entry;
	struct peer self = { 0 };
	struct fid_mr *mr;
	struct end e;

	enter("h2");
	open_end(&e, CAPS);
	mr = reg_words(&e);
	get_name(e.ep, &self.name);
	self.key = fi_mr_key(mr);
	if (write(to, &self, sizeof(self)) != sizeof(self))
		exit(1);
	while (!poll(&p, 1, 0)) {
		if (fi_cq_sread(e.cq, &entry, 1, NULL, 20) != 1)
			continue;
		if (entry.flags != (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA))
			exit(1);
		shared->events++;
		shared->sum += entry.data;
	}
	must(fi_close(&mr->fid), "fi_close mr");
	must(close_end(&e), "fi_close");
	exit(0);
}

/* To be called before this process has threads. */
static void start_peer(struct peer *p)
{
	struct child child;

	fork_target(&child, run_peer, p, sizeof(*p));
	p->child = child;
}

static void know_peer(struct end *e, struct peer *p)
{
	must(fi_av_insert(e->av, &p->name, 1, &p->addr, 0, NULL) - 1,
	     "fi_av_insert");
}

static void kill_peer(const struct peer *p)
{
	kill(p->child.pid, SIGKILL);
	waitpid(p->child.pid, NULL, 0);
	close(p->child.to);
}

static void end_child(const struct child *child, const char *what)
{
	int status = -1;

	close(child->to);
	waitpid(child->pid, &status, 0);
	is_int(status, 0, "%s exits with 0", what);
}

/* The list also has mxe1, whose addresses are not those of h2. */
static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	while (list && *list && strcmp(ibv_get_device_name(*list), "mxe2"))
		list++;
	return list && *list ? ibv_open_device(*list) : NULL;
}

static int find_gid(struct ibv_context *ctx, uint8_t gid[16])
{
	union ibv_gid found;

	for (int i = 0; i < 128; i++) {
		if (ibv_query_gid(ctx, 1, i, &found) || found.raw[10] != 0xff)
			continue;
		memcpy(gid, found.raw, 16);
		return i;
	}
	return -1;
}

/* As many targets as thousands of endpoints have, in one process. */
static void run_targets(int to, int from)
{
	struct ibv_context *ctx;
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_exp_dct_init_attr attr = {
		.port = 1,
		.access_flags = IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_REMOTE_ATOMIC,
		.min_rnr_timer = 1,
		.hop_limit = 64,
		.mtu = IBV_MTU_4096,
	};
	struct ibv_exp_dct *dct;
	struct mxefi_addr addr = { 0 };
	struct ibv_mr *mr;
	uint64_t key;
	char byte;

	enter("h2");
	ctx = open_device();
	attr.pd = ibv_alloc_pd(ctx);
	attr.cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	attr.srq = ibv_create_srq(attr.pd, &srq);
	attr.gid_index = (uint8_t)find_gid(ctx, addr.gid);
	mr = ibv_reg_mr(attr.pd, shared, sizeof(*shared), IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_ATOMIC);
	for (uint32_t i = 0; i < NUM_TARGETS; i++) {
		addr.qpn = i + 1;
		if (getrandom(&addr.id, sizeof(addr.id), 0) < 0)
			exit(1);
		addr.id |= 1;
		attr.dc_key = addr.id;
		dct = ibv_exp_create_dct(ctx, &attr);
		if (!dct)
			exit(1);
		addr.dct = dct->dct_num | attr.mtu << MXEFI_DCT_MTU_SHIFT;
		shared->addrs[i] = addr;
	}
	key = mr->rkey;
	if (write(to, &key, sizeof(key)) != sizeof(key) ||
	    read(from, &byte, 1) < 0)
		exit(1);
	exit(0);
}

/* ---- completions ------------------------------------------------------- */

/* Outcomes of the operations whose contexts are in an array. */
struct tally {
	const uint64_t *first;
	unsigned int good, bad, next;
	bool ordered;		/* successes had their places in the array */
	int err;		/* of the first failure */
};

static void count(struct tally *t, const void *context, int err)
{
	if (err) {
		t->bad++;
		if (!t->err)
			t->err = err;
		return;
	}
	t->good++;
	if ((const uint64_t *)context - t->first != t->next++)
		t->ordered = false;
}

/* Returns the tally whose array has a context. */
static struct tally *of_context(struct tally *t, size_t n, const void *context)
{
	for (size_t i = 0; i < n; i++)
		if ((const uint64_t *)context >= t[i].first &&
		    (const uint64_t *)context < t[i].first + MAX_OPS)
			return &t[i];
	return NULL;
}

/* Takes and counts a completion. Returns false if there is none in a time. */
static bool take(struct end *e, struct tally *t, size_t n, int timeout_ms)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = fi_cq_sread(e->cq, &entry, 1, NULL, timeout_ms);

	if (ret == -FI_EAVAIL) {
		fi_cq_readerr(e->cq, &err, 0);
		entry.op_context = err.op_context;
	} else if (ret != 1) {
		return false;
	}
	if (n)
		count(of_context(t, n, entry.op_context), entry.op_context,
		      err.err);
	return true;
}

static void add_as(struct end *e, const struct peer *p, unsigned int word,
		   enum fi_datatype type, const void *value, void *result)
{
	must(fi_fetch_atomic(e->ep, value, 1, NULL, result, NULL, p->addr,
			     (uintptr_t)&shared->words[word], p->key, type,
			     FI_SUM, result), "fi_fetch_atomic");
}

static void add(struct end *e, const struct peer *p, unsigned int word,
		uint64_t *result)
{
	static const uint64_t one = 1;

	add_as(e, p, word, FI_UINT64, &one, result);
}

/* A loop, which holds back later requests to the peer. */
static void add_double(struct end *e, const struct peer *p, unsigned int word,
		       double *result)
{
	static const double one = 1;

	add_as(e, p, word, FI_DOUBLE, &one, result);
}

/* Counts the RC queue pairs of this host. */
static int count_rc_qps(void)
{
	char line[16];
	int n = -1;
	FILE *f = popen("rdma resource show qp link mxe1/1 | grep -c 'type RC '",
			"r");

	if (f && fgets(line, sizeof(line), f))
		n = atoi(line);
	if (f)
		pclose(f);
	return n;
}

/* ---- many peers -------------------------------------------------------- */

/*
 * Adds 1 to the words of some targets, all at once. Returns how many additions
 * succeed and fetch a value.
 */
static int add_to(struct end *e, uint64_t key, const fi_addr_t *addrs,
		  unsigned int first, unsigned int n, uint64_t want)
{
	static uint64_t results[NUM_TARGETS];
	int good = 0;

	for (unsigned int i = first; i < first + n; i++) {
		struct peer p = { .key = key, .addr = addrs[i] };

		results[i] = UINT64_MAX;
		add(e, &p, i, &results[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		take(e, NULL, 0, LONG_MS);
	for (unsigned int i = first; i < first + n; i++)
		good += results[i] == want;
	return good;
}

static void test_targets(void)
{
	static fi_addr_t addrs[NUM_TARGETS];
	const unsigned int half = NUM_TARGETS / 2;
	struct child child;
	long connects;
	int64_t bytes;
	int good = 0;
	struct end e;
	uint64_t key;

	memset(shared->words, 0, sizeof(shared->words));
	fork_target(&child, run_targets, &key, sizeof(key));
	open_end(&e, CAPS);
	is_int(fi_av_insert(e.av, shared->addrs, NUM_TARGETS, addrs, 0, NULL),
	       NUM_TARGETS, "addresses of %d targets", NUM_TARGETS);
	connects = vt_counter("mxe1", "dc_connects");
	good += add_to(&e, key, addrs, 0, half, 0);
	bytes = kmem_settled();
	good += add_to(&e, key, addrs, half, half, 0);
	bytes = (kmem_settled() - bytes) / half;
	/* lockdep makes every lock larger. */
	ok(bytes < MAX_BYTES || !access("/proc/lockdep", F_OK),
	   "a peer takes %" PRId64 " bytes of kernel memory", bytes);
	for (unsigned int round = 1; round < ROUNDS; round++) {
		good += add_to(&e, key, addrs, 0, half, round);
		good += add_to(&e, key, addrs, half, half, round);
	}
	is_int(good, NUM_TARGETS * ROUNDS,
	       "one endpoint adds to the words of all, repeatedly");
	good = 0;
	for (int i = 0; i < NUM_TARGETS; i++)
		good += shared->words[i] == ROUNDS;
	is_int(good, NUM_TARGETS, "... each time exactly once");
	is_int(count_rc_qps(), 0, "... without RC queue pairs");
	ok(vt_counter("mxe1", "dc_connects") - connects >=
	   NUM_TARGETS * ROUNDS, "... and by DC");
	is_int(close_end(&e), 0, "all objects are closed");
	end_child(&child, "the process of the targets");
}

/* Without $FI_MXE_DC, further peers are reached by DC. */
static void run_many(int to, int from)
{
	struct fid_mr *mrs[NUM_DOMAINS];
	struct end ends[NUM_DOMAINS];
	struct fid_ep *eps[NUM_ENDS];
	char byte;

	enter("h2");
	open_many(ends, NUM_DOMAINS, CAPS, eps, NUM_ENDS);
	for (int i = 0; i < NUM_DOMAINS; i++)
		mrs[i] = reg_words(&ends[i]);
	for (int i = 0; i < NUM_ENDS; i++) {
		get_name(eps[i], &shared->addrs[i]);
		shared->keys[i] = fi_mr_key(mrs[i % NUM_DOMAINS]);
	}
	if (write(to, "", 1) != 1 || read(from, &byte, 1) < 0)
		exit(1);
	for (int i = 0; i < NUM_DOMAINS; i++)
		must(fi_close(&mrs[i]->fid), "fi_close mr");
	close_many(ends, NUM_DOMAINS, eps, NUM_ENDS);
	exit(0);
}

static void test_auto(void)
{
	uint64_t results[NUM_ENDS];
	struct child child;
	long connects[2] = { vt_counter("mxe1", "dc_connects") };
	int good = 0;
	struct end e;
	char byte;

	unsetenv("FI_MXE_DC");
	memset(shared->words, 0, sizeof(shared->words));
	fork_target(&child, run_many, &byte, 1);
	open_end(&e, CAPS);
	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < NUM_ENDS; i++) {
			struct peer p = { .key = shared->keys[i] };

			if (!round)
				must(fi_av_insert(e.av, &shared->addrs[i], 1,
						  NULL, 0, NULL) - 1,
				     "fi_av_insert");
			p.addr = i;
			add(&e, &p, i, &results[i]);
			good += !wait_one(e.cq, &results[i]) &&
				results[i] == (uint64_t)round;
			if (!round && i + 1 == RC_PEERS)
				connects[1] = vt_counter("mxe1", "dc_connects");
		}
	}
	is_int(good, 2 * NUM_ENDS, "by default, operations on %d endpoints",
	       NUM_ENDS);
	is_int(count_rc_qps(), RC_PEERS, "... have connections to the first");
	is_int((int)connects[1], (int)connects[0], "... without DC");
	/* On a slow host, sessions may end before the second round. */
	ok(vt_counter("mxe1", "dc_connects") - connects[1] >=
	   NUM_ENDS - RC_PEERS, "... and use DC for the others");
	is_int(close_end(&e), 0, "all objects are closed");
	end_child(&child, "the process of the endpoints");
	setenv("FI_MXE_DC", "1", 1);
}

/* ---- peers that do not answer ------------------------------------------ */

/* All peers share one initiator, and one is killed. */
static void test_killed(void)
{
	static uint64_t a[MAX_OPS], b[MAX_OPS], c[MAX_OPS];
	struct tally t[] = {
		{ .first = a, .ordered = true },
		{ .first = b, .ordered = true },
		{ .first = c, .ordered = true },
	};
	unsigned int right = 0;
	struct peer dead, live;
	double was;
	struct end e;

	memset(shared->words, 0, sizeof(shared->words));
	setenv("FI_MXE_DC_INITIATORS", "1", 1);
	start_peer(&dead);
	start_peer(&live);
	open_end(&e, CAPS);
	know_peer(&e, &dead);
	know_peer(&e, &live);
	for (unsigned int i = 0; i < NUM_OPS; i++) {
		if (i == NUM_OPS / 2)
			kill_peer(&dead);
		add(&e, &dead, 0, &a[i]);
		add(&e, &live, 1, &b[i]);
		add_double(&e, &live, 2, (double *)&c[i]);
	}
	for (unsigned int i = 0; i < 3 * NUM_OPS; i++)
		if (!take(&e, t, 3, LONG_MS))
			break;
	is_int((int)(t[0].good + t[0].bad), NUM_OPS,
	       "all operations to a killed peer end");
	ok(t[0].bad >= NUM_OPS / 2, "... %u with errors", t[0].bad);
	/* A dying process may lose its memory before its target. */
	ok(t[0].err == FI_ECONNABORTED || t[0].err == FI_EACCES,
	   "... FI_ECONNABORTED or FI_EACCES");
	for (unsigned int i = 0; i < t[0].good; i++)
		right += a[i] == i;
	ok(t[0].ordered && right == t[0].good && shared->words[0] >= right,
	   "... and %u were executed before, in order", right);
	is_int((int)t[1].good, NUM_OPS, "those to another peer succeed");
	is_int((int)t[2].good, NUM_OPS, "... those with loops, too");
	for (unsigned int i = right = 0; i < NUM_OPS; i++)
		right += b[i] == i;
	ok(t[1].ordered && right == NUM_OPS && shared->words[1] == NUM_OPS,
	   "... exactly once and in order");
	for (unsigned int i = right = 0; i < NUM_OPS; i++) {
		memcpy(&was, &c[i], sizeof(was));
		right += was == i;
	}
	memcpy(&was, &shared->words[2], sizeof(was));
	ok(t[2].ordered && right == NUM_OPS && was == NUM_OPS,
	   "... those with loops, too");

	/* The killed peer has the spare initiator now. */
	add(&e, &dead, 0, &a[0]);
	for (unsigned int i = 0; i < NUM_OPS; i++)
		add(&e, &live, 1, &b[i]);
	for (unsigned int i = right = 0; i < NUM_OPS; i++)
		right += !wait_one(e.cq, &b[i]) && b[i] == NUM_OPS + i;
	is_int((int)right, NUM_OPS, "the other peer is not held up again");
	is_int(wait_one(e.cq, &a[0]), FI_ECONNABORTED, "... by the killed one");

	add(&e, &dead, 0, &a[0]);
	alarm(LONG_MS / 1000);
	is_int(close_end(&e), 0, "an endpoint with requests in flight is closed");
	alarm(0);
	end_child(&live.child, "the other peer");
	unsetenv("FI_MXE_DC_INITIATORS");
}

static void write_data(struct end *e, const struct peer *p, uint64_t *context)
{
	must(fi_writedata(e->ep, context, sizeof(*context), NULL, 3, p->addr,
			  (uintptr_t)&shared->words[1], p->key, context),
	     "fi_writedata");
}

/* Stops a peer. It must not replace receive buffers afterwards. */
static void stop_peer(const struct peer *p)
{
	int status;

	kill(p->child.pid, SIGSTOP);
	if (waitpid(p->child.pid, &status, WUNTRACED) != p->child.pid ||
	    !WIFSTOPPED(status))
		bail_out("the peer has not stopped");
}

/* A peer that is stopped takes writes with data while it has buffers. */
static void test_stopped(void)
{
	static uint64_t a[MAX_OPS], b[MAX_OPS], c[MAX_OPS];
	struct tally t[] = {
		{ .first = a, .ordered = true },
		{ .first = c, .ordered = true },
		{ .first = b, .ordered = true },
	};
	struct peer stopped, live;
	struct end e;

	memset(shared->words, 0, sizeof(shared->words));
	shared->events = 0;
	shared->sum = 0;
	setenv("FI_MXE_DC_INITIATORS", "1", 1);
	setenv("FI_MXE_CONNECT_TIMEOUT", "2000", 1);
	start_peer(&stopped);
	start_peer(&live);
	open_end(&e, CAPS);
	know_peer(&e, &stopped);
	know_peer(&e, &live);
	stop_peer(&stopped);
	for (unsigned int i = 0; i < MAX_OPS; i++)
		write_data(&e, &stopped, &a[i]);
	for (unsigned int i = 0; i < MAX_OPS; i++)
		take(&e, t, 3, LONG_MS);
	is_int((int)t[0].good, RX_SIZE,
	       "a peer that is stopped has room for %d writes with data", RX_SIZE);
	for (unsigned int i = 0; i < NUM_OPS; i++)
		write_data(&e, &stopped, &c[i]);
	ok(!take(&e, t, 3, 5000), "more of them wait");
	for (unsigned int i = 0; i < NUM_OPS; i++)
		add(&e, &live, 0, &b[i]);
	for (unsigned int i = 0; i < 2 * NUM_OPS; i++)
		take(&e, t, 3, LONG_MS);
	is_int((int)t[2].good, NUM_OPS, "... and do not hold up another peer forever");
	ok(t[2].ordered && shared->words[0] == NUM_OPS,
	   "... whose operations are executed exactly once and in order");
	is_int((int)t[1].bad, NUM_OPS, "... but fail");
	is_int(t[1].err, FI_ECONNABORTED, "... with FI_ECONNABORTED");
	kill(stopped.child.pid, SIGCONT);
	for (unsigned int i = 0; i < 2; i++) {
		write_data(&e, &stopped, &a[i]);
		is_int(wait_one(e.cq, &a[i]), 0, "the peer goes on");
	}
	is_int(close_end(&e), 0, "all objects are closed");
	/* The latter has inherited the pipe of the former. */
	end_child(&live.child, "the other peer");
	end_child(&stopped.child, "the peer");
	is_u64(shared->events, RX_SIZE + 2, "the writes are reported to the peer");
	is_u64(shared->sum, 3 * (RX_SIZE + 2), "... with their data");
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
	unsetenv("FI_MXE_DC_INITIATORS");
}

/* ---- addresses --------------------------------------------------------- */

/* A peer that does not offer DC is reached by a connection. */
static void test_without(void)
{
	uint64_t result = 7;
	struct peer p;
	struct end e;

	memset(shared->words, 0, sizeof(shared->words));
	setenv("FI_MXE_DC", "0", 1);
	start_peer(&p);
	setenv("FI_MXE_DC", "1", 1);
	open_end(&e, CAPS);
	know_peer(&e, &p);
	is_u64(p.name.dct, 0, "an address without a DC target");
	add(&e, &p, 0, &result);
	is_int(wait_one(e.cq, &result), 0, "... an operation succeeds");
	is_u64(result, 0, "... and fetches the value");
	is_int(count_rc_qps(), 1, "... over an RC queue pair");
	is_int(close_end(&e), 0, "all objects are closed");
	end_child(&p.child, "the peer");
}

static void test_malformed(void)
{
	static const struct {
		const char *what;
		uint32_t qpn, dct;
	} bad[] = {
		{ "a target without an MTU", 17, 0x000012 },
		{ "an unknown MTU", 17, 0x6000012 },
		{ "an MTU without a target", 17, 0x5000000 },
		{ "no UD queue pair", 0, 0x5000012 },
		{ "a UD queue pair of 25 bits", 0x1000001, 0x5000012 },
	};
	struct mxefi_addr addr = { .id = 1, .qpn = 17, .dct = 0x5000012 };
	fi_addr_t fi_addr;
	struct end e;

	open_end(&e, CAPS);
	is_int(fi_av_insert(e.av, &addr, 1, &fi_addr, 0, NULL), 1,
	       "a well-formed address is inserted");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		addr.qpn = bad[i].qpn;
		addr.dct = bad[i].dct;
		is_int(fi_av_insert(e.av, &addr, 1, &fi_addr, 0, NULL), 0,
		       "%s is refused", bad[i].what);
	}
	is_int(close_end(&e), 0, "all objects are closed");
}

int main(void)
{
	plan(0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		must(-errno, "mmap");
	setenv("FI_MXE_DC", "1", 1);
	enter("h1");
	test_targets();
	test_killed();
	test_stopped();
	test_without();
	test_malformed();
	test_auto();
	return done_testing();
}
