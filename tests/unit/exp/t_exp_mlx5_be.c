// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the mlx5 backend of libibverbs_exp: results that the library
 * converts to big-endian.
 */
#include <errno.h>

#include "cq_ex.h"
#include "mlx5_req.h"
#include "tap.h"

#define VALUE 0x0123456789abcdefull
#define SWAPPED 0xefcdab8967452301ull

static struct ibv_qp *be_qp(void)
{
	start();
	remote[0] = VALUE;
	remote[1] = VALUE;
	return mlx5_qp(16, BE, false);
}

/* Each kind of atomic, with each call that posts or polls. */
static void test_be(void)
{
	struct ibv_send_wr *std_bad, std = { .num_sge = 1 };
	struct ibv_exp_wc exp_wc;
	struct ibv_wc wc;
	struct ibv_qp *qp = be_qp();
	struct req req;

	init_cs8(&req, 1, SIG, 0, 0);
	is_int(post(qp, &req), 0, "be: masked CAS");
	is_u64(result(0), VALUE, "be: nothing before it is polled");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: ibv_poll_cq()");
	is_u64(result(0), SWAPPED, "be: masked CAS: result");
	ok(wc.opcode == WC_MASKED_CS && wc.byte_len == 8, "be: masked CAS: completion");

	init_fa8(&req, 1, SIG, 0, 8);
	is_int(post(qp, &req), 0, "be: masked FAA");
	is_int(ibv_exp_poll_cq(&mlx5_cq.cq, 1, &exp_wc, sizeof(exp_wc)), 1,
	       "be: ibv_exp_poll_cq()");
	is_u64(result(8), SWAPPED, "be: masked FAA: result");
	is_u64(remote[0], VALUE + 1, "be: memory is in host order");

	init_plain(&req, IBV_EXP_WR_ATOMIC_CMP_AND_SWP, 1, SIG, 1, 16);
	is_int(post(qp, &req), 0, "be: CAS");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: CAS: completion");
	is_u64(result(16), SWAPPED, "be: CAS: result");

	init_plain(&req, IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, 1, SIG, 1, 24);
	std.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	std.send_flags = IBV_SEND_SIGNALED;
	std.sg_list = &req.sge;
	std.wr.atomic.remote_addr = (uintptr_t)&remote[1];
	std.wr.atomic.rkey = RKEY;
	is_int(ibv_post_send(qp, &std, &std_bad), 0, "be: ibv_post_send()");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: its completion");
	is_u64(result(24), SWAPPED, "be: its result");

	init_plain(&req, IBV_EXP_WR_RDMA_READ, 1, SIG, 1, 32);
	is_int(post(qp, &req), 0, "be: READ");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: READ: completion");
	is_u64(result(32), VALUE, "be: READ data is not swapped");
	ibv_destroy_qp(qp);
}

static struct ibv_context *f_open_device(struct ibv_device *device)
{
	(void)device;
	return mlx5_ctx;
}

/* Operations that a program saves when it opens the device. */
static void test_be_saved(void)
{
	struct ibv_send_wr *std_bad, std = { .num_sge = 1 };
	struct ibv_context_ops saved;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	struct req req;

	start();
	saved = exp_open_device(mlx5_ctx->device, f_open_device)->ops;
	remote[1] = VALUE;
	qp = mlx5_qp(16, BE, false);
	init_plain(&req, IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, 1, SIG, 1, 0);
	std.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	std.send_flags = IBV_SEND_SIGNALED;
	std.sg_list = &req.sge;
	std.wr.atomic.remote_addr = (uintptr_t)&remote[1];
	std.wr.atomic.rkey = RKEY;
	is_int(saved.post_send(qp, &std, &std_bad), 0, "be: saved post_send");
	is_int(saved.poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: saved poll_cq");
	is_u64(result(0), SWAPPED, "be: its result");
	init_cs8(&req, 1, SIG, 1, 8);
	is_int(post(qp, &req), 0, "be: masked CAS");
	is_int(saved.poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: saved poll_cq");
	ok(wc.opcode == WC_MASKED_CS && wc.byte_len == 8,
	   "be: masked CAS: completion");
	ibv_destroy_qp(qp);
}

/* Results of other sizes are big-endian already and must not be swapped. */
static void test_be_sizes(void)
{
	struct ibv_qp *qp = be_qp();
	struct req req;
	struct ibv_wc wc;

	init_masked(&req, CS, 4, 1, SIG, 0, 0);
	set_cs(&req, 0, 0, 0, 0);
	is_int(post(qp, &req), 0, "be: 4 bytes");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: 4 bytes: done");
	is_u64(result(0), 0x77777777efcdab89, "be: 4 bytes: result");
	init_masked(&req, CS, 16, 1, SIG, 0, 16);
	memset(req.operands, 0, sizeof(req.operands));
	set_operands(&req, CS, 16);
	is_int(post(qp, &req), 0, "be: 16 bytes");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: 16 bytes: done");
	ok(result(16) == SWAPPED && result(24) == SWAPPED, "be: 16 bytes: result");
	ibv_destroy_qp(qp);

	/* A device with big-endian replies. */
	start();
	remote[0] = VALUE;
	fake.std.orig_attr.atomic_cap = IBV_ATOMIC_NONE;
	fake_mlx5.endianness_mode = 0;
	qp = mlx5_qp(16, BE, false);
	init_cs8(&req, 1, SIG, 0, 0);
	is_int(post(qp, &req), 0, "be: Connect-IB");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: Connect-IB: done");
	is_u64(result(0), SWAPPED, "be: Connect-IB: not swapped again");
	init_plain(&req, IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, 1, SIG, 0, 8);
	is_int(post(qp, &req), 0, "be: Connect-IB: plain FAA");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: Connect-IB: done");
	is_u64(result(8), SWAPPED, "be: Connect-IB: plain FAA: result");
	ibv_destroy_qp(qp);
}

/* Results of unsignaled requests are swapped with the next completion. */
static void test_be_unsignalled(void)
{
	struct ibv_qp *qp = be_qp();
	struct req reqs[4];
	struct ibv_wc wc;

	init_cs8(&reqs[0], 0, 0, 0, 0);
	init_cs8(&reqs[1], 1, SIG, 0, 8);
	init_cs8(&reqs[2], 2, 0, 0, 16);
	init_cs8(&reqs[3], 3, SIG, 0, 24);
	link_reqs(reqs, 4);
	is_int(post(qp, reqs), 0, "be: chain");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: one completion");
	ok(result(0) == SWAPPED && result(8) == SWAPPED,
	   "be: and the result before it");
	ok(result(16) == VALUE && result(24) == VALUE, "be: and no later ones");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: the other");
	ok(result(16) == SWAPPED && result(24) == SWAPPED, "be: the rest");
	ok(result(0) == SWAPPED && result(8) == SWAPPED, "be: and only once");
	ibv_destroy_qp(qp);
}

/* Several requests share one buffer, which keeps the last result. */
static void test_be_overwritten(void)
{
	struct ibv_qp *qp = be_qp();
	struct ibv_exp_send_wr *bad;
	struct req reqs[65];
	struct ibv_wc wcs[65];
	int i, size;

	for (i = 0; i < 3; i++)
		init_cs8(&reqs[i], i, i < 2 ? 0 : SIG, 0, 0);
	link_reqs(reqs, 3);
	is_int(post(qp, reqs), 0, "be: three to one buffer");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 4, wcs), 1, "be: done");
	is_u64(result(0), SWAPPED, "be: swapped once");

	/* all executed, and polled singly */
	for (i = 0; i < 2; i++)
		init_cs8(&reqs[i], i, SIG, 0, 0);
	link_reqs(reqs, 2);
	is_int(post(qp, reqs), 0, "be: two to one buffer");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, wcs), 1, "be: the first");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, wcs), 1, "be: the second");
	is_u64(result(0), SWAPPED, "be: swapped once");

	init_cs8(&reqs[0], 0, 0, 0, 0);
	init_plain(&reqs[1], IBV_EXP_WR_RDMA_READ, 1, SIG, 0, 0);
	link_reqs(reqs, 2);
	is_int(post(qp, reqs), 0, "be: a READ on top");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, wcs), 1, "be: done");
	is_u64(result(0), VALUE, "be: what was read stays");

	init_cs8(&reqs[0], 0, 0, 0, 0);
	init_plain(&reqs[1], IBV_EXP_WR_RDMA_WRITE, 1, SIG, 3, 0);
	link_reqs(reqs, 2);
	is_int(post(qp, reqs), 0, "be: a WRITE from there");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, wcs), 1, "be: done");
	is_u64(result(0), SWAPPED, "be: the local result is swapped");
	is_u64(remote[3], VALUE, "be: the WRITE sends the bytes that the device stored");

	/* A request with the same buffer that does not fit into the queue. */
	size = to_fake_mlx5(qp)->max_post;
	if (size >= 65)
		bail_out("the queue is too long for this test");
	for (i = 0; i <= size; i++)
		init_cs8(&reqs[i], i, SIG, 0, i ? 8 * i : 0);
	reqs[size].sge.addr = reqs[0].sge.addr;
	link_reqs(reqs, size + 1);
	ok(ibv_exp_post_send(qp, &reqs->wr, &bad) == ENOMEM &&
	   bad == &reqs[size].wr, "be: one is refused");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 65, wcs), size, "be: the others");
	is_u64(result(0), SWAPPED, "be: the result is swapped");
	ibv_destroy_qp(qp);
}

/* A batch with the same buffer that libmlx5 refuses, and one that fails. */
static void test_be_not_overwritten(void)
{
	static char big[512];
	struct ibv_qp *qp = be_qp();
	struct ibv_exp_send_wr *bad;
	struct req reqs[3];
	struct ibv_wc wcs[8];

	init_cs8(&reqs[0], 0, SIG, 0, 0);
	is_int(post(qp, reqs), 0, "be: one");
	init_plain(&reqs[1], IBV_EXP_WR_RDMA_WRITE, 1,
		   SIG | IBV_EXP_SEND_INLINE, 1, 0);
	reqs[1].sge.addr = (uintptr_t)big;
	reqs[1].sge.length = sizeof(big);
	init_cs8(&reqs[2], 2, SIG, 0, 0);
	link_reqs(reqs + 1, 2);
	is_int(ibv_exp_post_send(qp, &reqs[1].wr, &bad), ENOMEM,
	       "be: a batch that is refused");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, wcs), 1, "be: the one");
	is_u64(result(0), SWAPPED, "be: the batch has overwritten nothing");

	memset(local, FILL, sizeof(local));
	init_cs8(&reqs[0], 0, 0, 0, 0);
	init_cs8(&reqs[1], 1, SIG, 0, 0);
	reqs[1].wr.ext_op.masked_atomics.rkey = 1;
	init_cs8(&reqs[2], 2, SIG, 0, 8);
	link_reqs(reqs, 3);
	is_int(post(qp, reqs), 0, "be: the second fails");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 8, wcs), 2, "be: two completions");
	ok(wcs[0].status == IBV_WC_REM_ACCESS_ERR, "be: the first with an error");
	is_u64(result(0), SWAPPED, "be: the first result is there");
	is_u64(result(8), 0x7777777777777777, "be: the third has no result");
	ibv_destroy_qp(qp);
}

/*
 * The last of three requests fails. The second result stays and is swapped
 * once.
 */
static void test_be_chain_fails(void)
{
	struct ibv_qp *qp = be_qp();
	struct req reqs[3];
	struct ibv_wc wcs[4];
	int i;

	for (i = 0; i < 3; i++)
		init_cs8(&reqs[i], i, 0, 0, 0);
	reqs[2].wr.ext_op.masked_atomics.rkey = 1;
	link_reqs(reqs, 3);
	is_int(post(qp, reqs), 0, "be: the last of three fails");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 4, wcs), 1, "be: one completion");
	is_u64(result(0), SWAPPED, "be: the second result is swapped once");

	/* and again after a reset */
	is_int(fake_mlx5_modify(qp, IBV_QPS_RESET), 0, "be: reset");
	memset(local, FILL, sizeof(local));
	init_cs8(&reqs[0], 0, 0, 0, 0);
	init_cs8(&reqs[1], 1, 0, 0, 8);
	reqs[1].wr.ext_op.masked_atomics.rkey = 1;
	link_reqs(reqs, 2);
	is_int(post(qp, reqs), 0, "be: fails again");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 4, wcs), 1, "be: one completion");
	is_u64(result(0), SWAPPED, "be: the result before it is swapped");
	ibv_destroy_qp(qp);
}

/* Flushed without a completion: there is no result to swap. */
static void test_be_flushed(void)
{
	struct ibv_qp *qp = be_qp();
	struct req reqs[3];
	struct ibv_wc wcs[4];
	int i;

	fake_mlx5.quiet_flush = true;
	for (i = 0; i < 3; i++)
		init_cs8(&reqs[i], i, i == 2 ? SIG : 0, 0, 8 * i);
	reqs[0].wr.ext_op.masked_atomics.rkey = 1;
	memcpy(local + 8, "\1\2\3\4\5\6\7\10", 8);
	link_reqs(reqs, 3);
	is_int(post(qp, reqs), 0, "be: to be flushed");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 4, wcs), 2, "be: two completions");
	ok(wcs[1].status == IBV_WC_WR_FLUSH_ERR && wcs[1].wr_id == 2,
	   "be: flushed");
	is_u64(result(8), 0x0807060504030201, "be: the buffer is unchanged");
	ibv_destroy_qp(qp);
}

/* Buffers that are adjacent, and buffers that overlap by one byte. */
static void test_be_neighbours(void)
{
	struct ibv_sge far_sges[2] = {
		{ (uintptr_t)local + 512, 4, LKEY },
		{ (uintptr_t)local, 4, LKEY },
	};
	struct ibv_send_wr *std_bad, std = { .num_sge = 1 };
	struct ibv_qp *qp = be_qp();
	struct req reqs[3];
	struct ibv_wc wcs[4];

	init_cs8(&reqs[0], 0, 0, 0, 8);
	init_plain(&reqs[1], IBV_EXP_WR_RDMA_READ, 1, 0, 1, 0);
	init_plain(&reqs[2], IBV_EXP_WR_RDMA_READ, 2, SIG, 1, 16);
	link_reqs(reqs, 3);
	is_int(post(qp, reqs), 0, "be: READs to both sides");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 4, wcs), 1, "be: done");
	is_u64(result(8), SWAPPED, "be: the result between them");

	init_cs8(&reqs[0], 0, 0, 0, 0);
	init_plain(&reqs[1], IBV_EXP_WR_RDMA_READ, 1, SIG, 1, 0);
	reqs[1].wr.sg_list = far_sges;
	reqs[1].wr.num_sge = 2;
	link_reqs(reqs, 2);
	is_int(post(qp, reqs), 0, "be: a READ in pieces on top");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 4, wcs), 1, "be: done");
	is_u64(result(0), VALUE >> 32 | VALUE >> 32 << 32,
	       "be: what was read stays");

	init_cs8(&reqs[0], 0, 0, 0, 0);
	init_plain(&reqs[1], IBV_EXP_WR_RDMA_READ, 1, SIG, 1, 0);
	is_int(post(qp, reqs), 0, "be: and one by ibv_post_send()");
	std.opcode = IBV_WR_RDMA_READ;
	std.send_flags = IBV_SEND_SIGNALED;
	std.sg_list = &reqs[1].sge;
	std.wr.rdma.remote_addr = (uintptr_t)&remote[1];
	std.wr.rdma.rkey = RKEY;
	is_int(ibv_post_send(qp, &std, &std_bad), 0, "be: posted");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 4, wcs), 1, "be: done");
	is_u64(result(0), VALUE, "be: what was read stays");
	ibv_destroy_qp(qp);
}

static void test_be_pieces(void)
{
	struct ibv_qp *qp = be_qp();
	struct ibv_sge sges[4] = {
		{ (uintptr_t)local, 1, LKEY },
		{ (uintptr_t)local + 8, 4, LKEY },
		{ (uintptr_t)local + 300, 0, LKEY },
		{ (uintptr_t)local + 16, 16, LKEY },
	};
	struct req req;
	struct ibv_wc wc;

	init_cs8(&req, 1, SIG, 0, 0);
	req.wr.sg_list = sges;
	req.wr.num_sge = 4;
	is_int(post(qp, &req), 0, "be: in pieces");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "be: in pieces: done");
	ok(local[0] == 0x01 && !memcmp(local + 8, "\x23\x45\x67\x89", 4) &&
	   !memcmp(local + 16, "\xab\xcd\xef\x77", 4),
	   "be: in pieces: result");
	ibv_destroy_qp(qp);
}

/* A buffer shorter than a result: the library must not convert it. */
static void test_be_short(void)
{
	struct ibv_qp *qp = be_qp();
	struct ibv_wc wc;
	struct req req;

	fake_mlx5.defer = true;
	init_cs8(&req, 1, SIG, 0, 0);
	req.sge.length = 7;
	memcpy(local, "\1\2\3\4\5\6\7\10", 8);
	is_int(post(qp, &req), 0, "be: short");
	fake_mlx5_other(qp->qp_num, &mlx5_cq, 1, IBV_WC_DRIVER2,
			IBV_WC_SUCCESS);
	ok(ibv_poll_cq(&mlx5_cq.cq, 1, &wc) == 1 && wc.opcode == WC_MASKED_CS,
	   "be: short: done");
	is_u64(result(0), 0x0807060504030201, "be: short: unchanged");
	ibv_destroy_qp(qp);
}

/* A queue pair without the flag on the same completion queue. */
static void test_be_only_there(void)
{
	struct ibv_qp *be = be_qp();
	struct ibv_qp *host = mlx5_qp(16, 0, false);
	struct req reqs[2];
	struct ibv_wc wcs[2];

	init_cs8(&reqs[0], 1, SIG, 0, 0);
	init_cs8(&reqs[1], 1, SIG, 0, 8);
	ok(!post(be, &reqs[0]) && !post(host, &reqs[1]), "be: one of two");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 2, wcs), 2, "be: one of two: done");
	ok(result(0) == SWAPPED && result(8) == VALUE, "be: is swapped");
	ibv_destroy_qp(be);
	ibv_destroy_qp(host);
}

int main(void)
{
	plan(0);
	fake_init();
	fake_mlx5_init();
	test_be();
	test_be_saved();
	test_be_sizes();
	test_be_unsignalled();
	test_be_overwritten();
	test_be_not_overwritten();
	test_be_chain_fails();
	test_be_flushed();
	test_be_neighbours();
	test_be_pieces();
	test_be_short();
	test_be_only_there();
	return done_testing();
}
