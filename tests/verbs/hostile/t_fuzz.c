// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a device continues to work with exact results while random input
 * arrives: packets of random bytes with a valid ICRC for one QP and forged
 * packets for another, random ioctls, mappings and doorbells, and rings that a
 * thread changes while the kernel reads them.
 *
 * t_fuzz [packets|abi] [STEPS [SEED]]: runs both by default, with few steps. It
 * prints the seed, which reproduces the choices.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <rdma/mxe-abi.h>
#include <rdma/mxe_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include "dc.h"
#include "random.h"
#include "raw.h"
#include "tap.h"

enum {
	MAX_BODY = 300,			/* after the BTH, RAW_BODY at most */
	AT_ONCE = 32,			/* packets between two checks */
	WORD = 128,
};

static struct vt_dev *a, *b;
static uint64_t seed = 1;

static uint32_t random_u32(void)
{
	return (uint32_t)random_next(&seed);
}

static uint32_t one_of(uint32_t n)
{
	return random_u32() % n;
}

/* ---- the work that must not be disturbed -------------------------------- */

static uint64_t sum;

/*
 * Executes a masked addition to a word of the other end that nothing else
 * changes. Returns true if the results are exact.
 */
static bool add_one(struct vt_pair *p)
{
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .compare_add = 1,
		.compare_mask = 1ULL << 47,
	};
	uint64_t old = ~0ULL;

	return vt_atomic(p, &wr, WORD, &old) == IBV_WC_SUCCESS && old == sum++ &&
	       *vt_word(&p->b, WORD) == sum;
}

/* ---- packets ------------------------------------------------------------ */

static int raw_fd;
static unsigned long sent;

/* Prefers opcodes that mxe implements. */
static uint8_t some_opcode(void)
{
	static const uint8_t others[] = {
		BTH_RC_MASKED_CMP_SWAP, BTH_RC_MASKED_FETCH_ADD,
		BTH_XRC_MASKED_CMP_SWAP, BTH_XRC_MASKED_FETCH_ADD, BTH_CNP,
	};

	switch (one_of(8)) {
	case 0:
		return (uint8_t)random_u32();
	case 1:
		return others[one_of(sizeof(others))];
	case 2:
		return (uint8_t)(BTH_XRC | one_of(BTH_OPERATIONS));
	default:
		return (uint8_t)(BTH_RC | one_of(BTH_OPERATIONS));
	}
}

/* All extended headers that address memory begin with an address and a key. */
static void put_address(uint8_t *body, const struct vt_end *to)
{
	uint64_t va = htobe64(vt_addr(to, one_of(8) ? one_of(4096) & ~31U :
						      random_u32()));
	uint32_t rkey = htobe32(one_of(8) ? to->mr->rkey : random_u32());
	uint32_t len = htobe32(one_of(4) ? one_of(512) : random_u32());

	memcpy(body, &va, 8);
	memcpy(body + 8, &rkey, 4);
	memcpy(body + 12, &len, 4);
}

enum forge { NOT_FORGED, BAD_ICRC, STRANGER, NUM_FORGES };

static void send_random(const struct vt_end *to, uint32_t psn,
			enum forge forge)
{
	struct raw r = {
		.len = one_of(4) ? one_of(64) * 4 : one_of(MAX_BODY),
		.opcode = some_opcode(),
		.flags = one_of(4) ? 0 : (uint8_t)random_u32(),
		.pkey = one_of(16) ? 0 : (uint16_t)random_u32(),
		.qpn = to->qp->qp_num,
		.psn = (psn + one_of(5) - 2) | one_of(2) << 31,
		.tos = (uint8_t)one_of(4),
		.stranger = forge == STRANGER,
	};

	random_fill(&seed, r.body, r.len);
	if (r.len >= 16)
		put_address(r.body, to);
	if (forge == BAD_ICRC)
		r.icrc_error = 1U << one_of(32);
	raw_send(raw_fd, a, b, &r);
	sent++;
}

static uint32_t expected_psn(const struct vt_end *e)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	if (ibv_query_qp(e->qp, &attr, IBV_QP_RQ_PSN, &init))
		vt_bail("query");
	return attr.rq_psn;
}

static void test_packets(unsigned int steps)
{
	struct vt_conf conf = vt_defaults();
	unsigned int wrong = 0, pairs = 0;
	struct vt_pair work, target;
	bool open = false;

	raw_fd = raw_open();
	vt_pair_open(&work, a, b, &conf);
	*vt_word(&work.b, WORD) = sum = 0;
	conf.timeout = 0;
	for (unsigned int i = 0; i < steps; i++) {
		if (open && vt_state(&target.b) == IBV_QPS_ERR) {
			vt_pair_close(&target);
			open = false;
		}
		if (!open) {
			vt_pair_open(&target, a, b, &conf);
			for (int j = 0; j < 4; j++)
				vt_recv(&target.b, 1, 1024, 512);
			open = true;
			pairs++;
		}
		for (int j = 0; j < AT_ONCE / 4; j++) {
			uint32_t psn = expected_psn(&target.b);

			for (int k = 0; k < 3; k++)
				send_random(&target.b, psn, NOT_FORGED);
			send_random(&work.b, expected_psn(&work.b),
				    BAD_ICRC + one_of(NUM_FORGES - 1));
		}
		wrong += !add_one(&work);
	}
	if (open)
		vt_pair_close(&target);
	is_int(wrong, 0, "%lu packets at %u queue pairs: %u additions are exact",
	       sent, pairs, steps);
	is_int(vt_state(&work.b), IBV_QPS_RTS, "forged packets do not end the connection");
	vt_pair_close(&work);
	close(raw_fd);
}

/* ---- ioctls, mappings, doorbells ---------------------------------------- */

static unsigned long calls, successes;

static void random_attr(struct ib_uverbs_attr *attr, uint8_t *buf, size_t size)
{
	static const uint16_t lens[] = { 0, 1, 2, 4, 8, 12, 16, 24, 32, 64, 256 };
	uint16_t ns = (uint16_t)(one_of(4) << 12);

	/* Attributes of the method, of the driver, or udata. */
	attr->attr_id = (uint16_t)((ns == 0x1000 || ns == 0x2000 ? ns : 0) |
				   one_of(14));
	attr->len = one_of(16) ? lens[one_of(11)] : (uint16_t)random_u32();
	attr->flags = one_of(8) ? one_of(2) : (uint16_t)random_u32();
	random_fill(&seed, buf, size);
	switch (one_of(4)) {
	case 0:
		attr->data = (uintptr_t)buf;
		break;
	case 1:
		attr->data = ((uint64_t)random_u32() << 32) ^ random_u32();
		break;
	default:
		attr->data = one_of(8);
		break;
	}
}

static void random_ioctl(int fd)
{
	static uint64_t request[(sizeof(struct ib_uverbs_ioctl_hdr) +
				 10 * sizeof(struct ib_uverbs_attr)) / 8];
	static uint8_t bufs[10][4096];
	struct ib_uverbs_ioctl_hdr *hdr = (void *)request;
	unsigned int n = one_of(11);

	memset(request, 0, sizeof(request));
	hdr->length = (uint16_t)(sizeof(*hdr) + n * sizeof(hdr->attrs[0]));
	/* Objects of the core, and ours in the namespace of the driver. */
	hdr->object_id = (uint16_t)(one_of(4) ? one_of(18) : 0x1000 + one_of(2));
	hdr->method_id = (uint16_t)((one_of(4) ? 0 : 0x1000) + one_of(8));
	hdr->num_attrs = (uint16_t)n;
	hdr->driver_id = MXE_DRIVER_ID;
	for (unsigned int i = 0; i < n; i++)
		random_attr(&hdr->attrs[i], bufs[i], sizeof(bufs[i]));
	calls++;
	if (!ioctl(fd, RDMA_VERBS_IOCTL, hdr))
		successes++;
}

static void random_mmap(int fd)
{
	static const int prots[] = { PROT_READ, PROT_READ | PROT_WRITE, PROT_NONE };
	size_t len = (size_t)(1 + one_of(20)) << 12;
	off_t offset = (off_t)(one_of(4) ? one_of(64) : random_u32()) << 12;
	void *p = mmap(NULL, len, prots[one_of(3)],
		       one_of(4) ? MAP_SHARED : MAP_PRIVATE, fd, offset);

	calls++;
	if (p == MAP_FAILED)
		return;
	successes++;
	/* Unmap only a part of the mapping. */
	munmap((char *)p + (one_of(2) << 12), len - 4096);
}

/* Rings that this process has mapped and may write to. */
struct area {
	char *at;
	size_t len;
};

static struct area areas[32];
static unsigned int num_areas;

/*
 * Finds all mapped rings. If known is set, skips those that areas lists
 * already.
 */
static void find_areas(bool known)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned int first = known ? num_areas : 0, n = 0;
	unsigned long from, to;
	char line[512];

	while (f && fgets(line, sizeof(line), f) && first + n < 32) {
		bool old = false;

		if (!strstr(line, "uverbs") || !strstr(line, "rw-s") ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		for (unsigned int i = 0; i < first; i++)
			old |= areas[i].at == (char *)from;
		if (!old)
			areas[first + n++] = (struct area){ (char *)from,
							    to - from };
	}
	if (f)
		fclose(f);
	memmove(areas, &areas[first], n * sizeof(areas[0]));
	num_areas = n;
}

/*
 * Has its own random generator, so that the choices of the main thread stay
 * reproducible.
 */
static void *scribble(void *arg)
{
	uint64_t state = (uintptr_t)arg, x;

	for (;;) {
		struct area *area;

		x = random_next(&state);
		area = &areas[(x >> 60) % num_areas];
		/* Indices and small values more often than anything else. */
		if (x >> 40 & 1)
			__atomic_fetch_add((uint32_t *)(area->at +
							(x >> 50 & 1) * 64),
					   (uint32_t)(x >> 52) % 5 - 2,
					   __ATOMIC_RELAXED);
		else
			__atomic_store_n(&area->at[(x >> 20) % area->len],
					 (char)(x >> 41 & 1 ? x >> 42 & 7 :
							      x >> 33),
					 __ATOMIC_RELAXED);
		if (!(x >> 30 & 63))
			sched_yield();
	}
	return NULL;
}

/* Posts with the library into rings that another thread writes to. */
static void post_some(struct vt_pair *p)
{
	struct ibv_wc wc[4];
	struct ibv_sge sge = vt_sge(&p->a, 0, 64);
	struct vt_wr wr = {
		.op = (enum vt_opcode)one_of(VT_MFADD + 1),
		.via = VT_WR,
		.flags = IBV_SEND_SIGNALED,
		.sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
	};

	if (wr.op >= VT_CAS)
		sge.length = 8;
	vt_post(&p->a, &wr);
	vt_recv(&p->b, 1, 0, 64);
	ibv_poll_cq(p->a.cq, 4, wc);
	ibv_poll_cq(p->b.rcq, 4, wc);
	calls++;
}

/* The same at a DC initiator. */
static void post_dc(struct dc_initiator *i, struct dc_target *t)
{
	struct ibv_wc wc[4];

	dc_post_fadd(i, t, 1, 64 + one_of(8) * 8);
	ibv_poll_cq(i->cq, 4, wc);
	if (!one_of(64))
		dc_initiator_reset(i);
	calls++;
}

/*
 * A corrupted ring may make the library access a wrong address. Caught here,
 * because the kernel logs a signal that ends the process.
 */
static void on_fault(int signo __attribute__((unused)))
{
	_exit(0);
}

/*
 * Does everything that a process can do wrong at the same time. The kernel
 * destroys its objects at exit.
 */
static void child(unsigned int steps)
{
	struct rlimit limit = { 256, 256 };
	struct vt_conf conf = vt_defaults();
	struct dc_initiator dci;
	struct dc_target dct;
	struct vt_pair p;
	pthread_t thread;

	alarm(240);
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	/* The mappings of the parent exist here too and must remain. */
	find_areas(false);
	setrlimit(RLIMIT_NOFILE, &limit);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	vt_pair_open(&p, a, b, &conf);
	dc_target_open(&dct, b, a, 1, false);
	dc_initiator_open(&dci, a);
	find_areas(true);
	if (!num_areas || pthread_create(&thread, NULL, scribble,
					 (void *)(uintptr_t)random_u32()))
		_exit(2);
	for (unsigned int i = 0; i < steps; i++) {
		/* Restart the timeout. A slow process does not hang. */
		if (i % 64 == 0)
			alarm(240);
		if (!one_of(64) && vt_state(&p.a) == IBV_QPS_ERR)
			vt_to_state(&p.a, IBV_QPS_RESET);
		if (!one_of(8))
			post_dc(&dci, &dct);
		else if (one_of(3))
			post_some(&p);
		else if (one_of(8))
			random_ioctl(a->ctx->cmd_fd);
		else
			random_mmap(a->ctx->cmd_fd);
	}
	_exit(0);
}

static void test_abi(unsigned int steps)
{
	struct vt_conf conf = vt_defaults();
	unsigned int wrong = 0, ended = 0;
	struct vt_pair work;

	vt_pair_open(&work, a, b, &conf);
	*vt_word(&work.b, WORD) = sum = 0;
	for (unsigned int i = 0; i < steps; i++) {
		int status = 0;
		pid_t pid;

		random_u32();
		pid = fork();
		if (pid < 0)
			vt_bail("fork");
		if (!pid)
			child(2000);
		while (!waitpid(pid, &status, WNOHANG)) {
			wrong += !add_one(&work);
			usleep(2000);
		}
		/* The allocator may find its own data corrupted. */
		ended += WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT;
		ended += WIFEXITED(status) && WEXITSTATUS(status) == 2;
	}
	is_int(ended, 0, "%u processes of 2000 calls: none hangs", steps);
	is_int(wrong, 0, "... and %" PRIu64 " additions in parallel are exact",
	       sum);
	vt_pair_close(&work);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned int steps = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;

	if (argc > 3)
		seed = strtoull(argv[3], NULL, 0);
	plan(0);
	diag("seed %#" PRIx64, seed);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	if (strcmp(what, "abi"))
		test_packets(steps ? steps : 200);
	if (strcmp(what, "packets"))
		test_abi(steps ? steps : 5);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
