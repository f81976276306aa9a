// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests that the requests of mxe-caps --selftest pass on an mlx5 device: posted
 * by libibverbs_exp as raw WQEs, executed by the fake device of tests/unit/exp.
 */
#include <endian.h>
#include <infiniband/mxedv.h>
#include <stdlib.h>

#include "case.h"
#include "fake_mlx5.h"
#include "loop.h"
#include "operands.h"
#include "post.h"
#include "tap.h"

#define RKEY 0x100
#define LKEY 0x200
#define COUNT 100

static uint8_t memory[ST_AREA] __attribute__((aligned(64)));
static uint8_t result[ST_AREA] __attribute__((aligned(64)));
static struct ibv_mr memory_mr = { .rkey = RKEY };
static struct ibv_mr result_mr = { .lkey = LKEY };
static const struct st_loop loop = {
	.context = mlx5_ctx,
	.pd = &mlx5_pd,
	.memory = memory,
	.result = result,
	.memory_mr = &memory_mr,
	.result_mr = &result_mr,
};

/* post.c refers to these for devices of mxe only. */
struct ibv_qp *mxedv_create_qp(struct ibv_context *context,
			       struct ibv_qp_init_attr_ex *attr,
			       struct mxedv_qp_init_attr *mxe_attr)
{
	(void)context, (void)attr, (void)mxe_attr;
	abort();
}

struct mxedv_qp_ex *mxedv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qpx)
{
	(void)qpx;
	abort();
}

/* Returns the first operand set with a wrong result, or -1. */
static int run(const struct st_case *c)
{
	struct st_pair pair = {
		.loop = &loop, .backend = ST_EXP, .cq = &mlx5_cq.cq,
	};
	unsigned int num = st_num_edges(c->op) + COUNT, set;
	const char *call;

	pair.qp[0] = st_qp_create(&loop, pair.cq, c, &call);
	if (!pair.qp[0])
		bail_out("%s", call);
	for (set = 0; set < num; set++) {
		struct st_mismatch m = { };
		struct st_completion wc;
		struct st_operands o;

		st_operands_make(c->op, c->size, 1, set, &o);
		st_areas_fill(c->size, set, &o, memory, result);
		if (st_post(&pair, c, set, &o, &call))
			break;
		if (st_poll(&pair, &wc) != 1 || wc.status != IBV_WC_SUCCESS ||
		    wc.byte_len != c->size)
			break;
		if (!st_check(c, set, &o, memory, result, &m)) {
			diag("%s: expected %s, got %s", m.what, m.expected,
			     m.got);
			break;
		}
	}
	ibv_destroy_qp(pair.qp[0]);
	return set < num ? (int)set : -1;
}

static void reset(int endianness_mode)
{
	fake_mlx5_reset();
	fake_mlx5.endianness_mode = endianness_mode;
	/* The library asks the device again. */
	fake_mlx5_reopen();
	fake_mlx5_region(memory, sizeof(memory), RKEY);
	fake_mlx5_region(result, sizeof(result), LKEY);
}

static void test_op(enum st_op op, uint32_t size, int endianness_mode, bool be)
{
	struct st_case c = {
		.backend = ST_EXP, .op = op, .size = size, .be_qp = be,
	};

	c.be_reply = be || !endianness_mode ||
		     (st_op_is_masked(op) && size != 8);
	reset(endianness_mode);
	is_int(run(&c), -1,
	       "operation %d, %u bytes, %s queue pair, device with %s replies",
	       op, size, be ? "be-reply" : "plain",
	       endianness_mode ? "host" : "big-endian");
}

int main(void)
{
	if (BYTE_ORDER == BIG_ENDIAN)
		skip_all("the fake adapter is in a little-endian host");
	plan(0);
	fake_init();
	fake_mlx5_init();
	for (int mode = 0; mode < 2; mode++) {
		/* With mode 0 the device has big-endian replies only. */
		for (int be = !mode; be < 2; be++) {
			test_op(ST_CMP_SWAP, 8, mode, be);
			test_op(ST_FETCH_ADD, 8, mode, be);
			for (uint32_t size = 4; size <= 32; size *= 2) {
				test_op(ST_MASKED_CMP_SWAP, size, mode, be);
				test_op(ST_MASKED_FETCH_ADD, size, mode, be);
			}
		}
	}
	return done_testing();
}
