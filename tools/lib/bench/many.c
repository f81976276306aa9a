// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Measures queue pairs by the thousand, for tools/bench --many:
 *
 *	bench-many DEVICE REMOTE NUMBER...
 *
 * For each number, connects that many queue pairs of DEVICE to as many of
 * REMOTE, which may be the same device, keeps one fetch-and-add outstanding on
 * each of the former, and destroys all of them. Prints a row: the time to
 * create one, to bring it to RTS, and to destroy it, its kernel memory in bytes
 * including its rings, and the time of an operation. The clock counts
 * instructions in tools/vm --icount.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>

#define DEPTH 16
#define MIN_OPS 4000
/* Fewer queue pairs do not fill the pages that the allocator takes for them. */
#define MIN_FOR_BYTES 100
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp **qps;
	union ibv_gid gid;
	uint8_t gid_index;
	enum ibv_mtu mtu;
};

static struct side a, b;
static uint64_t word, old;

static void fail(const char *what)
{
	fprintf(stderr, "bench-many: %s\n", what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Returns slab, per-CPU and vmalloc memory. Rings are in vmalloc memory. */
static int64_t kernel_bytes(void)
{
	static const char *const names[] = { "SUnreclaim", "Percpu", "VmallocUsed" };
	int64_t sum = 0, kib;
	char line[128], name[64];
	FILE *f = fopen("/proc/meminfo", "r");

	if (!f)
		fail("/proc/meminfo cannot be read");
	while (fgets(line, sizeof(line), f))
		for (size_t i = 0; i < 3; i++)
			if (sscanf(line, "%63[^:]: %" SCNd64, name, &kib) == 2 &&
			    !strcmp(name, names[i]))
				sum += kib * 1024;
	fclose(f);
	return sum;
}

/* ---- devices ------------------------------------------------------------- */

/* Chooses the RoCE v2 GID of IPv4. */
static void choose_gid(struct side *s)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_gid_entry entries[256];
	ssize_t n = ibv_query_gid_table(s->ctx, entries, 256, 0);

	for (ssize_t i = 0; i < n; i++) {
		if (entries[i].gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(entries[i].gid.raw, mapped, sizeof(mapped)))
			continue;
		s->gid = entries[i].gid;
		s->gid_index = (uint8_t)entries[i].gid_index;
		return;
	}
	fail("a device has no RoCE v2 GID of IPv4");
}

static void open_side(struct side *s, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			s->ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!s->ctx || ibv_query_port(s->ctx, 1, &port))
		fail("a device cannot be opened");
	s->mtu = port.active_mtu;
	choose_gid(s);
	s->pd = ibv_alloc_pd(s->ctx);
	if (s->pd)
		s->mr = ibv_reg_mr(s->pd, s == &a ? &old : &word, sizeof(word),
				   ACCESS);
	if (!s->mr)
		fail("a region cannot be registered");
}

/* ---- queue pairs --------------------------------------------------------- */

static void create(struct side *s, int n)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	for (int i = 0; i < n; i++) {
		s->qps[i] = ibv_create_qp(s->pd, &attr);
		if (!s->qps[i])
			fail("a queue pair cannot be created");
	}
}

static int to_rts(const struct side *s, struct ibv_qp *qp,
		  const struct side *peer, uint32_t dest)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = ACCESS,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return -1;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = s->mtu,
		.dest_qp_num = dest,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = peer->gid, .hop_limit = 64,
				 .sgid_index = s->gid_index },
		},
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER))
		return -1;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
					IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					IBV_QP_RNR_RETRY |
					IBV_QP_MAX_QP_RD_ATOMIC);
}

static void connect_all(int n)
{
	for (int i = 0; i < n; i++)
		if (to_rts(&a, a.qps[i], &b, b.qps[i]->qp_num) ||
		    to_rts(&b, b.qps[i], &a, a.qps[i]->qp_num))
			fail("a queue pair cannot be connected");
}

static void destroy(struct side *s, int n)
{
	for (int i = 0; i < n; i++)
		if (ibv_destroy_qp(s->qps[i]))
			fail("a queue pair cannot be destroyed");
}

/* ---- operations ---------------------------------------------------------- */

static void post(uint64_t i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)&old, .length = 8, .lkey = a.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = i,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = {
			.remote_addr = (uintptr_t)&word,
			.rkey = b.mr->rkey,
			.compare_add = 1,
		},
	}, *bad;

	if (ibv_post_send(a.qps[i], &wr, &bad))
		fail("an operation cannot be posted");
}

/* Waits for a completion. Returns the index of its queue pair. */
static uint64_t wait_one(void)
{
	uint64_t until = now() + 60 * 1000000000ull;
	struct ibv_wc wc;

	while (!ibv_poll_cq(a.cq, 1, &wc))
		if (now() > until)
			fail("a completion is missing");
	if (wc.status != IBV_WC_SUCCESS)
		fail(ibv_wc_status_str(wc.status));
	return wc.wr_id;
}

/* Keeps one operation outstanding on each of n queue pairs. */
static void operate(int n, int ops)
{
	int posted = 0;

	while (posted < n)
		post((uint64_t)posted++);
	for (; posted < ops; posted++)
		post(wait_one());
	while (n--)
		wait_one();
}

static uint64_t since(uint64_t *mark)
{
	uint64_t last = *mark;

	*mark = now();
	return *mark - last;
}

static void print_row(int n, uint64_t made, uint64_t ready, uint64_t destroyed,
		      int64_t bytes, uint64_t op)
{
	printf("%-32d %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64, n, made,
	       ready, made + ready, destroyed);
	if (n < MIN_FOR_BYTES)
		printf(" %9s", "-");
	else
		printf(" %9" PRId64, bytes);
	printf(" %9" PRIu64 "\n", op);
	fflush(stdout);
}

static void measure(int n, bool prints)
{
	int ops = 2 * n > MIN_OPS ? 2 * n : MIN_OPS;
	uint64_t all = 2 * (uint64_t)n, mark, made, ready, spent;
	int64_t bytes;

	a.cq = ibv_create_cq(a.ctx, n + 1, NULL, NULL, 0);
	b.cq = ibv_create_cq(b.ctx, 1, NULL, NULL, 0);
	a.qps = calloc((size_t)n, sizeof(*a.qps));
	b.qps = calloc((size_t)n, sizeof(*b.qps));
	if (!a.cq || !b.cq || !a.qps || !b.qps)
		fail("no completion queue or no memory");
	word = 0;
	bytes = kernel_bytes();
	mark = now();
	create(&a, n);
	create(&b, n);
	made = since(&mark);
	connect_all(n);
	ready = since(&mark);
	/* The first operations of a queue pair take a slower path. */
	operate(n, n);
	bytes = kernel_bytes() - bytes;
	mark = now();
	operate(n, ops);
	spent = since(&mark);
	if (word != (uint64_t)(n + ops))
		fail("the word is wrong");
	mark = now();
	destroy(&a, n);
	destroy(&b, n);
	if (prints)
		print_row(n, made / all, ready / all, since(&mark) / all,
			  bytes / (int64_t)all, spent / (uint64_t)ops);
	ibv_destroy_cq(a.cq);
	ibv_destroy_cq(b.cq);
	free(a.qps);
	free(b.qps);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		fail("usage: bench-many DEVICE REMOTE NUMBER...");
	open_side(&a, argv[1]);
	open_side(&b, argv[2]);
	/* The first objects of a process and a device cost more. */
	measure(MIN_FOR_BYTES, false);
	for (int i = 3; i < argc; i++) {
		int n = atoi(argv[i]);

		if (n < 1)
			fail("a number of queue pairs is wrong");
		measure(n, true);
	}
	return 0;
}
