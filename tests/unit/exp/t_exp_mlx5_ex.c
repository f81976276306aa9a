// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the mlx5 backend of libibverbs_exp: extended completion queues.
 */
#include <endian.h>
#include <errno.h>

#include "cq_ex.h"
#include "mlx5_req.h"

/*
 * ---- libmlx5 ---------------------------------------------------------------
 */

static struct ibv_wc polled;
static bool polling;

static int f_next_poll(struct ibv_cq_ex *ex)
{
	if (!fake_mlx5_poll((struct fake_mlx5_cq *)ex, 1, &polled))
		return ENOENT;
	ex->wr_id = polled.wr_id;
	ex->status = polled.status;
	return 0;
}

static int f_start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	if (polling || attr->comp_mask)
		bail_out("unexpected ibv_start_poll()");
	polling = !f_next_poll(ex);
	return polling ? 0 : ENOENT;
}

static void f_end_poll(struct ibv_cq_ex *ex)
{
	(void)ex;
	if (!polling)
		bail_out("ibv_end_poll() without ibv_start_poll()");
	polling = false;
}

static enum ibv_wc_opcode f_read_opcode(struct ibv_cq_ex *ex)
{
	if (ex->status)
		bail_out("the opcode of an error");
	return polled.opcode;
}

static uint32_t f_read_byte_len(struct ibv_cq_ex *ex)
{
	(void)ex;
	return polled.byte_len;
}

static uint32_t f_read_qp_num(struct ibv_cq_ex *ex)
{
	(void)ex;
	return polled.qp_num;
}

static uint64_t f_read_completion_ts(struct ibv_cq_ex *ex)
{
	(void)ex;
	return 0x1234;
}

static struct ibv_cq_ex *f_create_cq_ex(struct ibv_context *context,
					struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *ex = &mlx5_cq.ex;

	ex->context = context;
	ex->start_poll = f_start_poll;
	ex->next_poll = f_next_poll;
	ex->end_poll = f_end_poll;
	ex->read_opcode = f_read_opcode;
	if (attr->wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = f_read_byte_len;
	if (attr->wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = f_read_qp_num;
	ex->read_completion_ts = f_read_completion_ts;
	return ex;
}

/*
 * ---- tests -----------------------------------------------------------------
 */

static struct ibv_cq_ex *create_cq(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_cq_ex *ex;

	start();
	ex = ibv_create_cq_ex(mlx5_ctx, &attr);
	if (ex != &mlx5_cq.ex)
		bail_out("ibv_create_cq_ex");
	return ex;
}

static void test_opcodes(void)
{
	struct ibv_cq_ex *ex = create_cq();
	struct ibv_qp *qp = mlx5_qp(8, 0, false);
	struct ibv_poll_cq_attr attr = { };
	struct req reqs[3];

	is_int(ibv_start_poll(ex, &attr), ENOENT, "empty");
	init_cs8(&reqs[0], 1, SIG, 0, 0);
	init_plain(&reqs[1], IBV_EXP_WR_RDMA_READ, 2, SIG, 0, 64);
	init_fa8(&reqs[2], 3, SIG, 0, 128);
	reqs[0].wr.next = &reqs[1].wr;
	reqs[1].wr.next = &reqs[2].wr;
	is_int(post(qp, &reqs[0]), 0, "posted");
	is_int(ibv_start_poll(ex, &attr), 0, "polled");
	ok(ex->wr_id == 1 && !ex->status, "the compare-and-swap");
	is_int((int)ibv_wc_read_opcode(ex), IBV_EXP_WC_MASKED_COMP_SWAP,
	       "its opcode");
	is_int(ibv_wc_read_byte_len(ex), 8, "its length, which was not requested");
	is_u64(ibv_wc_read_completion_ts(ex), 0x1234, "its time");
	is_int(ibv_next_poll(ex), 0, "the next");
	ok(ex->wr_id == 2 && ibv_wc_read_opcode(ex) == IBV_WC_RDMA_READ,
	   "the read");
	is_int(ibv_next_poll(ex), 0, "and the next");
	is_int((int)ibv_wc_read_opcode(ex), IBV_EXP_WC_MASKED_FETCH_ADD,
	       "the fetch-and-add");
	is_int(ibv_next_poll(ex), ENOENT, "no more");
	ibv_end_poll(ex);
	ibv_destroy_qp(qp);
}

/* Polling frees entries of the send queue and swaps results. */
static void test_account(void)
{
	struct ibv_cq_ex *ex = create_cq();
	struct ibv_qp *qp = mlx5_qp(8, BE, false);
	struct ibv_poll_cq_attr attr = { };
	int i, size = to_fake_mlx5(qp)->max_post, bad = 0;
	struct req req;
	uint64_t got;

	remote[0] = 0x0102030405060708;
	for (i = 0; i < 4 * size; i++) {
		init_fa8(&req, i, SIG, 0, 0);
		bad += post(qp, &req) != 0;
		bad += ibv_start_poll(ex, &attr) != 0 ||
		       ex->wr_id != (uint64_t)i;
		if (!i) {
			memcpy(&got, local, sizeof(got));
			is_u64(got, htobe64(0x0102030405060708),
			       "the result in big-endian");
		}
		ibv_end_poll(ex);
	}
	is_int(bad, 0, "%d requests on a queue for %d", 4 * size, size);
	ibv_destroy_qp(qp);
}

static void test_error(void)
{
	struct ibv_cq_ex *ex = create_cq();
	struct ibv_qp *qp = mlx5_qp(8, 0, true);
	struct ibv_poll_cq_attr attr = { };
	struct req req;

	init_cs8(&req, 1, SIG, 0, 0);
	req.wr.ext_op.masked_atomics.rkey = RKEY + 1;
	is_int(post(qp, &req), 0, "wrong key: posted");
	is_int(ibv_start_poll(ex, &attr), 0, "wrong key: polled");
	ok(ex->wr_id == 1 && ex->status == IBV_WC_REM_ACCESS_ERR,
	   "wrong key: status");
	ibv_end_poll(ex);
	ibv_destroy_qp(qp);
}

int main(void)
{
	plan(0);
	fake_init();
	fake_mlx5_init();
	mlx5_vctx.create_cq_ex = f_create_cq_ex;
	exp_cq_ex_hook(mlx5_ctx);
	test_opcodes();
	test_account();
	test_error();
	return done_testing();
}
