// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Measures queue pairs by the thousand, for tools/bench --many:
 *
 *	bench-many DEVICE REMOTE NUMBER...
 *
 * For each number, connects that many queue pairs of DEVICE to as many of
 * REMOTE, which may be the same device, keeps one fetch-and-add outstanding on
 * each of the former, and destroys all of them. Prints, in the form of mxe-perf
 * --json: the time to create one, to bring it to RTS, and to destroy it, its
 * kernel memory in bytes including its rings, and the time of an operation. The
 * clock counts instructions in tools/vm --icount.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rc.h"

#define DEPTH 16
#define MIN_OPS 4000
/* Fewer queue pairs do not fill the pages that the allocator takes for them. */
#define MIN_FOR_BYTES 100
struct side {
	struct rc_device rc;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp **qps;
};

static struct side a, b;
static uint64_t word, old;

/* Returns slab, per-CPU and vmalloc memory. Rings are in vmalloc memory. */
static int64_t kernel_bytes(void)
{
	static const char *const names[] = { "SUnreclaim", "Percpu", "VmallocUsed" };
	int64_t sum = 0, kib;
	char line[128], name[64];
	FILE *f = fopen("/proc/meminfo", "r");

	if (!f)
		rc_fail("/proc/meminfo cannot be read");
	while (fgets(line, sizeof(line), f))
		for (size_t i = 0; i < 3; i++)
			if (sscanf(line, "%63[^:]: %" SCNd64, name, &kib) == 2 &&
			    !strcmp(name, names[i]))
				sum += kib * 1024;
	fclose(f);
	return sum;
}

static void open_side(struct side *s, const char *name)
{
	rc_open(&s->rc, name);
	s->mr = ibv_reg_mr(s->rc.pd, s == &a ? &old : &word, sizeof(word), RC_ACCESS);
	if (!s->mr)
		rc_fail("a region cannot be registered");
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
		s->qps[i] = ibv_create_qp(s->rc.pd, &attr);
		if (!s->qps[i])
			rc_fail("a queue pair cannot be created");
	}
}

static void connect_all(int n)
{
	for (int i = 0; i < n; i++)
		rc_connect(&a.rc, a.qps[i], &b.rc, b.qps[i]);
}

static void destroy(struct side *s, int n)
{
	for (int i = 0; i < n; i++)
		if (ibv_destroy_qp(s->qps[i]))
			rc_fail("a queue pair cannot be destroyed");
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
		rc_fail("an operation cannot be posted");
}

/* Waits for a completion. Returns the index of its queue pair. */
static uint64_t wait_one(void)
{
	uint64_t until = rc_now() + 60 * 1000000000ull;
	struct ibv_wc wc;

	while (!ibv_poll_cq(a.cq, 1, &wc))
		if (rc_now() > until)
			rc_fail("a completion is missing");
	if (wc.status != IBV_WC_SUCCESS)
		rc_fail(ibv_wc_status_str(wc.status));
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

	*mark = rc_now();
	return *mark - last;
}

static void print_row(int n, bool first, uint64_t made, uint64_t ready,
		      uint64_t destroyed, int64_t bytes, uint64_t op)
{
	printf("%s\n  { \"op\": \"%d\", \"create\": %" PRIu64 ", \"connect\": %" PRIu64
	       ", \"destroy\": %" PRIu64 ", \"per_op\": %" PRIu64, first ? "" : ",", n,
	       made, ready, destroyed, op);
	if (n >= MIN_FOR_BYTES)
		printf(", \"bytes\": %" PRId64, bytes);
	printf(" }");
	fflush(stdout);
}

static void measure(int n, bool prints, bool first)
{
	int ops = 2 * n > MIN_OPS ? 2 * n : MIN_OPS;
	uint64_t all = 2 * (uint64_t)n, mark, made, ready, spent;
	int64_t bytes;

	a.cq = ibv_create_cq(a.rc.ctx, n + 1, NULL, NULL, 0);
	b.cq = ibv_create_cq(b.rc.ctx, 1, NULL, NULL, 0);
	a.qps = calloc((size_t)n, sizeof(*a.qps));
	b.qps = calloc((size_t)n, sizeof(*b.qps));
	if (!a.cq || !b.cq || !a.qps || !b.qps)
		rc_fail("no completion queue or no memory");
	word = 0;
	bytes = kernel_bytes();
	mark = rc_now();
	create(&a, n);
	create(&b, n);
	made = since(&mark);
	connect_all(n);
	ready = since(&mark);
	/* The first operations of a queue pair take a slower path. */
	operate(n, n);
	bytes = kernel_bytes() - bytes;
	mark = rc_now();
	operate(n, ops);
	spent = since(&mark);
	if (word != (uint64_t)(n + ops))
		rc_fail("the word is wrong");
	mark = rc_now();
	destroy(&a, n);
	destroy(&b, n);
	if (prints)
		print_row(n, first, made / all, ready / all, since(&mark) / all,
			  bytes / (int64_t)all, spent / (uint64_t)ops);
	ibv_destroy_cq(a.cq);
	ibv_destroy_cq(b.cq);
	free(a.qps);
	free(b.qps);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		rc_fail("usage: bench-many DEVICE REMOTE NUMBER...");
	open_side(&a, argv[1]);
	open_side(&b, argv[2]);
	printf("{ \"size\": 8, \"unit\": \"ns\", \"results\": [");
	/* The first objects of a process and a device cost more. */
	measure(MIN_FOR_BYTES, false, false);
	for (int i = 3; i < argc; i++) {
		int n = atoi(argv[i]);

		if (n < 1)
			rc_fail("a number of queue pairs is wrong");
		measure(n, true, i == 3);
	}
	printf(" ] }\n");
	return 0;
}
