// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Implements the attacks of t_worst with the rings of a hostile process. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rdma/mxe-abi.h>
#include "worst.h"

/* Requests of an attack that needs no full ring: some bursts. */
enum { SOME = 4 * WORST_BURST };

static bool post_and_wait(struct vt_pair *p, uint32_t n,
			  const struct worst_wr *wr)
{
	bool done;

	worst_fill(p->a.qp, n, wr);
	worst_begin();
	worst_ring(p->a.qp);
	done = worst_wait(p->a.cq, n, IBV_WC_SUCCESS);
	worst_end();
	return done;
}

/* ---- local operations -------------------------------------------------- */

static bool bind_windows(const struct worst *w)
{
	struct vt_conf conf = worst_conf(WORST_RING, 4096);
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };
	struct vt_pair p;
	struct ibv_mw *mw;
	bool done;

	conf.mr_access |= IBV_ACCESS_MW_BIND;
	worst_pair_open(&p, *w->to, &conf);
	mw = ibv_alloc_mw(worst_a->pd, IBV_MW_TYPE_1);
	if (!mw)
		vt_bail("ibv_alloc_mw");
	if (w->len)
		bind.bind_info = (struct ibv_mw_bind_info){
			p.a.mr, vt_addr(&p.a, 0), w->len, IBV_ACCESS_REMOTE_WRITE,
		};
	for (uint32_t i = 0; i < w->n; i++) {
		errno = ibv_bind_mw(p.a.qp, mw, &bind);
		if (errno)
			vt_bail("ibv_bind_mw: %u of %u", i, w->n);
	}
	worst_begin();
	worst_ring(p.a.qp);
	done = worst_wait(p.a.cq, w->n, IBV_WC_SUCCESS);
	worst_end();
	if (ibv_dealloc_mw(mw))
		vt_bail("ibv_dealloc_mw");
	vt_pair_close(&p);
	return done;
}

/* ---- one region -------------------------------------------------------- */

static bool one_region(const struct worst *w)
{
	struct vt_conf conf = worst_conf(w->n, w->len < 4096 ? 4096 : w->len);
	struct vt_pair p;
	struct ibv_sge sge;
	struct worst_wr wr = { .opcode = w->opcode, .sge = &sge, .num_sge = 1 };
	bool done;

	if (w->qp_type)
		conf.qp_type = w->qp_type;
	conf.ipv6 = w->ipv6;
	worst_pair_open(&p, *w->to, &conf);
	sge = vt_sge(&p.a, 0, w->len);
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	if (w->opcode == IBV_WR_SEND) {
		struct ibv_sge recv = vt_sge(&p.b, 0, w->len);

		worst_fill_recv(&p.b, w->n, &recv, 1);
	}
	done = post_and_wait(&p, w->n, &wr);
	vt_pair_close(&p);
	return done;
}

/* ---- 32 regions -------------------------------------------------------- */

/* Sends from 32 regions to 32 regions whose boundaries are at other offsets. */
static bool many_regions(const struct worst *w)
{
	struct vt_conf conf = worst_conf(w->n, 4096);
	struct worst_list from, into;
	struct vt_pair p;
	struct worst_wr wr = { .opcode = IBV_WR_SEND, .num_sge = WORST_SGE };
	bool done;

	worst_pair_open(&p, *w->to, &conf);
	worst_list_open(&from, worst_a, w->len, 0);
	worst_list_open(&into, *w->to, w->len, w->shift);
	wr.sge = from.sge;
	worst_fill_recv(&p.b, w->n, into.sge, WORST_SGE);
	done = post_and_wait(&p, w->n, &wr);
	vt_pair_close(&p);
	worst_list_close(&from);
	worst_list_close(&into);
	return done;
}

/* Reads into 32 regions each. */
static bool wire_read_sge(void)
{
	struct vt_conf conf = worst_conf(SOME, 4096);
	struct worst_wr wr = {
		.opcode = IBV_WR_RDMA_READ, .num_sge = WORST_SGE,
	};
	struct worst_list into;
	struct vt_pair p;
	bool done;

	worst_pair_open(&p, worst_b, &conf);
	worst_list_open(&into, worst_a, 8 * WORST_SGE, 0);
	wr.sge = into.sge;
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	done = post_and_wait(&p, SOME, &wr);
	vt_pair_close(&p);
	worst_list_close(&into);
	return done;
}

/* ---- atomics of 32 bytes ----------------------------------------------- */

static void post_atomic(struct vt_pair *p, uint32_t n)
{
	static const uint64_t operands[4][4] = { { 1 }, { 2 }, { ~0ULL }, { 3 } };
	struct ibv_sge sge = vt_sge(&p->a, 64, 32);
	struct vt_wr wr = {
		.op = VT_MCAS, .via = VT_WR, .flags = IBV_SEND_SIGNALED,
		.sge = &sge, .num_sge = 1, .raddr = vt_addr(&p->b, 0),
		.rkey = p->b.mr->rkey, .log_arg_sz = 5,
		.operands = { operands[0], operands[1], operands[2],
			      operands[3] },
	};

	for (uint32_t i = 0; i < n; i++) {
		errno = vt_post(&p->a, &wr);
		if (errno)
			vt_bail("masked atomic %u of %u", i, n);
	}
}

static bool atomics(const struct worst *w)
{
	struct vt_conf conf = worst_conf(w->n, 4096);
	struct vt_pair p;
	bool done;

	worst_pair_open(&p, *w->to, &conf);
	/* The first wide atomic enables the locks, permanently. */
	post_atomic(&p, 1);
	worst_ring(p.a.qp);
	done = worst_wait(p.a.cq, 1, IBV_WC_SUCCESS);
	post_atomic(&p, w->n);
	worst_begin();
	worst_ring(p.a.qp);
	done = worst_wait(p.a.cq, w->n, IBV_WC_SUCCESS) && done;
	worst_end();
	vt_pair_close(&p);
	return done;
}

/* ---- ending QPs with full rings ----------------------------------------- */

enum end { TO_ERR, TO_RESET, DESTROY };

static bool end_full_rings(enum end end, uint32_t n)
{
	struct vt_conf conf = worst_conf(n, 4096);
	struct vt_pair p;
	struct ibv_sge sge, recv;
	struct worst_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .sge = &sge, .num_sge = 1,
	};
	bool done = true;

	worst_pair_open(&p, worst_b, &conf);
	sge = vt_sge(&p.a, 0, 8);
	recv = vt_sge(&p.a, 0, 4096);
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	worst_fill(p.a.qp, n, &wr);
	worst_fill_recv(&p.a, n, &recv, 1);
	worst_begin();
	if (end == TO_ERR) {
		if (vt_to_state(&p.a, IBV_QPS_ERR))
			vt_bail("to ERR");
		done = worst_wait(p.a.cq, n, IBV_WC_WR_FLUSH_ERR) &&
		       worst_wait(p.a.rcq, n, IBV_WC_WR_FLUSH_ERR);
	} else if (end == TO_RESET) {
		done = !vt_to_state(&p.a, IBV_QPS_RESET);
	} else {
		done = !ibv_destroy_qp(p.a.qp);
		p.a.qp = NULL;
	}
	worst_end();
	vt_pair_close(&p);
	return done;
}

static bool flush_full(void)
{
	return end_full_rings(TO_ERR, WORST_RING);
}

static bool reset_full(void)
{
	return end_full_rings(TO_RESET, WORST_RING);
}

static bool destroy_full(void)
{
	return end_full_rings(DESTROY, WORST_RING);
}

/* Fills the ring of a QP in SQE, which the transition to RTS flushes. */
static bool sqe_full(void)
{
	struct vt_conf conf = worst_conf(WORST_RING, 4096);
	struct ibv_sge sge = { .length = 8 };
	struct worst_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .sge = &sge, .num_sge = 1,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE,
	};
	struct vt_pair p;
	bool done;

	conf.qp_type = IBV_QPT_UC;
	worst_pair_open(&p, worst_b, &conf);
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	/* The lkey of no region. */
	sge.lkey = 0;
	worst_fill(p.a.qp, 1, &wr);
	worst_ring(p.a.qp);
	done = worst_wait(p.a.cq, 1, IBV_WC_LOC_PROT_ERR);
	worst_fill(p.a.qp, WORST_RING - 1, &wr);
	worst_begin();
	if (ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE))
		vt_bail("from SQE to RTS");
	done = worst_wait(p.a.cq, WORST_RING - 1, IBV_WC_WR_FLUSH_ERR) && done;
	worst_end();
	vt_pair_close(&p);
	return done;
}

/*
 * Resizes a QP with as many outstanding requests as the kernel takes, which it
 * copies with BHs disabled, and a full ring behind them.
 */
static bool resize_qp(void)
{
	struct vt_conf conf = worst_conf(WORST_RING, 4096);
	struct ibv_qp_attr attr = {
		.cap = { .max_send_wr = WORST_RING, .max_recv_wr = WORST_RING },
	};
	struct ibv_sge sge;
	struct worst_wr wr = {
		.opcode = IBV_WR_SEND, .sge = &sge, .num_sge = 1,
	};
	struct vt_pair p;
	bool done;

	/* The peer does not answer, and no retry ends the requests. */
	conf.timeout = 0;
	worst_pair_open(&p, worst_b, &conf);
	if (vt_to_state(&p.b, IBV_QPS_ERR))
		vt_bail("to ERR");
	sge = vt_sge(&p.a, 0, 1);
	worst_fill(p.a.qp, WORST_RING, &wr);
	worst_ring(p.a.qp);
	worst_begin();
	done = !ibv_modify_qp(p.a.qp, &attr, IBV_QP_CAP);
	worst_end();
	vt_pair_close(&p);
	return done;
}

/* ---- completion queues -------------------------------------------------- */

/*
 * The consumer index, which the process writes, determines whether a CQ is
 * full, so the process needs no completions for that.
 */
static bool resize_full(void)
{
	enum { ENTRIES = 65536 };
	struct vt_mapping before[64], after[64];
	int num_before = vt_find_rings(before, 64), num_after, i, j;
	struct mxe_ring_hdr *hdr = NULL;
	struct ibv_cq *cq;
	bool done;

	cq = ibv_create_cq(worst_a->ctx, ENTRIES, NULL, NULL, 0);
	if (!cq)
		vt_bail("ibv_create_cq");
	num_after = vt_find_rings(after, 64);
	for (i = 0; i < num_after; i++) {
		for (j = 0; j < num_before; j++)
			if (after[i].addr == before[j].addr)
				break;
		if (j == num_before)
			hdr = (void *)after[i].addr;
	}
	if (!hdr)
		vt_bail("no ring of the completion queue");
	hdr->consumer = hdr->producer - ENTRIES;
	worst_begin();
	done = !ibv_resize_cq(cq, 2 * ENTRIES);
	worst_end();
	if (ibv_destroy_cq(cq))
		vt_bail("ibv_destroy_cq");
	return done;
}

const struct worst worst_rings[] = {
	{ "bind_nothing", "16,384 length-0 binds of a window", .run_with = bind_windows,
	  .to = &worst_b, .n = WORST_RING },
	{ "bind_region", "4,096 binds of a window to a region", .run_with = bind_windows,
	  .to = &worst_b, .n = WORST_RING / 4, .len = 4096 },
	{ "loop_write_8", "8-byte WRITEs on the loopback path", .run_with = one_region,
	  .to = &worst_a, .opcode = IBV_WR_RDMA_WRITE, .n = SOME, .len = 8 },
	{ "loop_write_4k", "4-KiB WRITEs on the loopback path", .run_with = one_region,
	  .to = &worst_a, .opcode = IBV_WR_RDMA_WRITE, .n = SOME, .len = 4096 },
	{ "loop_write_256k", "256-KiB WRITEs on the loopback path", .run_with = one_region,
	  .to = &worst_a, .opcode = IBV_WR_RDMA_WRITE, .n = 4,
	  .len = WORST_BURST * WORST_MTU },
	{ "loop_send_8", "8-byte SENDs on the loopback path", .run_with = one_region,
	  .to = &worst_a, .opcode = IBV_WR_SEND, .n = SOME, .len = 8 },
	{ "loop_sge_1", "SENDs on the loopback path, 32 SGEs of 1 byte at both ends",
	  .run_with = many_regions, .to = &worst_a, .n = SOME, .len = WORST_SGE },
	{ "loop_sge_3", "SENDs on the loopback path, 32 SGEs of 3 bytes, 63 pieces",
	  .run_with = many_regions, .to = &worst_a, .n = SOME, .len = 3 * WORST_SGE,
	  .shift = 1 },
	{ "loop_sge_256k", "256-KiB SENDs on the loopback path, 32 SGEs at both ends",
	  .run_with = many_regions, .to = &worst_a, .n = 4,
	  .len = WORST_BURST * WORST_MTU, .shift = 1000 },
	{ "loop_atomic_32", "masked atomics of 32 bytes on the loopback path",
	  .run_with = atomics, .to = &worst_a, .n = SOME },
	{ "wire_write_8", "8-byte WRITEs on the wire", .run_with = one_region,
	  .to = &worst_b, .opcode = IBV_WR_RDMA_WRITE, .n = SOME, .len = 8 },
	{ "wire_write_4k", "4-KiB WRITEs on the wire", .run_with = one_region,
	  .to = &worst_b, .opcode = IBV_WR_RDMA_WRITE, .n = SOME, .len = WORST_MTU },
	{ "wire6_write_4k", "4-KiB WRITEs over IPv6", .run_with = one_region,
	  .to = &worst_b, .opcode = IBV_WR_RDMA_WRITE, .ipv6 = true, .n = SOME,
	  .len = WORST_MTU },
	{ "wire_send_4k", "4-KiB SENDs on the wire", .run_with = one_region,
	  .to = &worst_b, .opcode = IBV_WR_SEND, .n = SOME, .len = WORST_MTU },
	{ "wire_sge_1", "SENDs on the wire, 32 SGEs of 1 byte at both ends",
	  .run_with = many_regions, .to = &worst_b, .n = SOME, .len = WORST_SGE },
	{ "wire_sge_4k", "4-KiB SENDs on the wire, 32 SGEs at both ends",
	  .run_with = many_regions, .to = &worst_b, .n = SOME, .len = WORST_MTU },
	{ "wire_atomic_32", "masked atomics of 32 bytes on the wire",
	  .run_with = atomics, .to = &worst_b, .n = SOME },
	{ "wire_read_4k", "4-KiB READs, 64 in a GSO batch", .run_with = one_region,
	  .to = &worst_b, .opcode = IBV_WR_RDMA_READ, .n = SOME, .len = WORST_MTU },
	{ "wire_read_8k", "8-KiB READs, 64 in a GSO batch", .run_with = one_region,
	  .to = &worst_b, .opcode = IBV_WR_RDMA_READ, .n = SOME, .len = 2 * WORST_MTU },
	{ "wire_read_sge", "256-byte READs into 32 SGEs", .run = wire_read_sge },
	{ "wire_read_4m", "one READ of 4 MiB", .run_with = one_region,
	  .to = &worst_b, .opcode = IBV_WR_RDMA_READ, .n = 1, .len = 4 << 20 },
	{ "uc_write_4k", "4-KiB WRITEs over UC", .run_with = one_region,
	  .to = &worst_b, .opcode = IBV_WR_RDMA_WRITE, .qp_type = IBV_QPT_UC, .n = SOME,
	  .len = WORST_MTU },
	{ "flush_full", "two rings of 16,384 requests, flushed in ERR", .run = flush_full },
	{ "reset_full", "a QP with full rings moves to RESET", .run = reset_full },
	{ "destroy_full", "a QP with full rings is destroyed", .run = destroy_full },
	{ "sqe_full", "a full ring of a QP in SQE, which moves to RTS", .run = sqe_full },
	{ "resize_qp", "a QP with full rings is resized", .run = resize_qp },
	{ "resize_full", "a full CQ of 65,536 entries is resized", .run = resize_full },
	{ .name = NULL },
};
