// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves, row by row, that the mlx5 backend does what MLNX_OFED 4.9 did on the
 * data path: which requests it refuses, what the operations do, and the byte
 * order of results. The rows of the other calls are in t_exp.c, t_exp_send.c
 * and t_exp_calls.c.
 */
#include <errno.h>

#include "mlx5_req.h"
#include "tap.h"

/* ---- which requests are refused ------------------------------------------ */

static const struct refusal {
	const char *name;
	uint32_t comp_mask, max_atomic_arg;
	int size_qp, opcode, log_arg_sz;
	bool not_inline;
	int want;
} refusals[] = {
	{ "argument 4, 4 bytes", PD | ARG, 4, SIZES, CS, 2, false, 0 },
	{ "argument 4, 8 bytes", PD | ARG, 4, SIZES, CS, 3, false, EINVAL },
	{ "argument 8, 8 bytes", PD | ARG, 8, SIZES, FA, 3, false, 0 },
	{ "argument 8, 16 bytes", PD | ARG, 8, SIZES, FA, 4, false, EINVAL },
	{ "argument 16, 16 bytes", PD | ARG, 16, SIZES, CS, 4, false, 0 },
	{ "argument 31, 32 bytes", PD | ARG, 31, SIZES, CS, 5, false, EINVAL },
	{ "argument 32, 32 bytes", PD | ARG, 32, SIZES, CS, 5, false, 0 },
	{ "argument 32, 4 bytes", PD | ARG, 32, SIZES, FA, 2, false, 0 },
	{ "argument 1", PD | ARG, 1, SIZES, CS, 2, false, EINVAL },
	{ "argument 0", PD | ARG, 0, SIZES, CS, 2, false, EINVAL },
	{ "argument larger than the device's", PD | ARG, 64, 8, CS, 3, false,
	  0 },
	{ "argument not given", PD | FLAGS, 32, SIZES, CS, 3, false, EINVAL },
	{ "PD alone", PD, 32, SIZES, CS, 3, false, EINVAL },
	{ "4 bytes, not supported by the device", PD | ARG, 32, 8, CS, 2, false,
	  EINVAL },
	{ "16 bytes, not supported by the device", PD | ARG, 32, 4 | 8, CS, 4, false,
	  EINVAL },
	{ "32 bytes, not supported by the device", PD | ARG, 32, 4 | 8 | 16, FA, 5, false,
	  EINVAL },
	{ "1 byte", PD | ARG, 32, 0xff, CS, 0, false, EINVAL },
	{ "2 bytes", PD | ARG, 32, 0xff, CS, 1, false, EINVAL },
	{ "64 bytes", PD | ARG, 64, 0xff, CS, 6, false, EINVAL },
	{ "2^63 bytes", PD | ARG, ~0u, SIZES, CS, 63, false, EINVAL },
	{ "2^64 bytes", PD | ARG, ~0u, SIZES, CS, 64, false, EINVAL },
	{ "2^67 bytes", PD | ARG, ~0u, SIZES, CS, 67, false, EINVAL },
	{ "operands not inline", PD | ARG, 32, SIZES, CS, 3, true, EINVAL },
	{ "operands not inline, FAA", PD | ARG, 32, SIZES, FA, 3, true, EINVAL },
};

static void test_refusals(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *row = &refusals[i];
		struct ibv_exp_qp_init_attr attr;
		struct ibv_exp_send_wr *bad;
		struct req reqs[3];
		struct ibv_qp *qp;
		int ret;

		start();
		fake_mlx5.size_qp = row->size_qp;
		fake_mlx5.size_dc = row->size_qp;
		mlx5_init_attr(&attr, 8, 0, true);
		attr.comp_mask = row->comp_mask;
		attr.max_atomic_arg = row->max_atomic_arg;
		qp = ibv_exp_create_qp(mlx5_ctx, &attr);
		if (!qp)
			bail_out("ibv_exp_create_qp: %s", strerror(errno));

		/*
		 * Posted between two others. Fields of other opcodes contain
		 * garbage.
		 */
		init_plain(&reqs[0], IBV_EXP_WR_RDMA_WRITE, 0, SIG, 0, 0);
		init_masked(&reqs[1], row->opcode, 32, 1, SIG, 4, 32);
		memset(reqs[1].operands, 0, sizeof(reqs[1].operands));
		set_operands(&reqs[1], row->opcode,
			     row->log_arg_sz > 3 ? 32 : 8);
		reqs[1].wr.ext_op.masked_atomics.log_arg_sz = row->log_arg_sz;
		if (row->not_inline)
			reqs[1].wr.exp_send_flags &=
				~(uint64_t)IBV_EXP_SEND_EXT_ATOMIC_INLINE;
		init_plain(&reqs[2], IBV_EXP_WR_RDMA_WRITE, 2, SIG, 1, 0);
		link_reqs(reqs, 3);
		bad = NULL;
		ret = ibv_exp_post_send(qp, &reqs->wr, &bad);
		is_int(ret, row->want, "%s", row->name);
		ok(bad == (ret ? &reqs[1].wr : NULL), "%s: bad_wr", row->name);
		if (to_fake(qp)->has_ex)
			is_int(fake_mlx5.executed, ret ? 1 : 3,
			       "%s: the request before it is executed", row->name);
		ibv_destroy_qp(qp);
	}
}

/* ---- the operations ------------------------------------------------------ */

static const struct operation {
	const char *name;
	int opcode;
	uint64_t before, arg[4], after;
	/* compare, compare_mask, swap, swap_mask; or add, boundary */
} operations[] = {
	{ "equal", CS, 5, { 5, ~0ull, 7, ~0ull }, 7 },
	{ "not equal", CS, 5, { 6, ~0ull, 7, ~0ull }, 5 },
	{ "compare_mask 0: always", CS, 5, { 6, 0, 7, ~0ull }, 7 },
	{ "compare_mask 0: a masked swap", CS, 0x1234, { 6, 0, 0xff, 0xf0 },
	  0x12f4 },
	{ "swap_mask 0: a masked test", CS, 5, { 5, ~0ull, 7, 0 }, 5 },
	{ "a bit that is not compared differs", CS, 0xab05, { 0xff05, 0xff, 7, 0xff },
	  0xab07 },
	{ "a compared bit differs", CS, 0xab06, { 0xff05, 0xff, 7, 0xff },
	  0xab06 },
	{ "one field compared, another swapped", CS, 0x0102,
	  { 0x0100, 0xff00, 0x00ee, 0xff }, 0x01ee },
	{ "swap bits outside of the mask are dropped", CS, 0,
	  { 0, 0, ~0ull, 1ull << 63 | 1 }, 1ull << 63 | 1 },
	{ "boundary 0: plain", FA, 0xffffffff, { 1, 0 }, 0x100000000 },
	{ "boundary 0: runs over", FA, ~0ull, { 2, 0 }, 1 },
	{ "top bit as boundary: the same", FA, ~0ull, { 2, 1ull << 63 }, 1 },
	{ "carry is dropped", FA, 0x00ff00ff, { 1, 0x80 }, 0x00ff0000 },
	{ "fields add on their own", FA, 0x7f01ff01, { 0x010101ff,
	  0x80808080 }, 0x80020000 },
	{ "a field of one bit", FA, 1, { 1, 1 }, 0 },
	{ "every bit a field: exclusive or", FA, 0xc, { 0xa, ~0ull }, 0x6 },
};

static void test_forms(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		const struct operation *row = &operations[i];
		struct ibv_wc wc;
		struct ibv_qp *qp;
		struct req req;

		start();
		remote[2] = row->before;
		qp = mlx5_qp(8, 0, false);
		init_masked(&req, row->opcode, 8, i, SIG, 2, 0);
		if (row->opcode == CS)
			set_cs(&req, row->arg[0], row->arg[1], row->arg[2],
			       row->arg[3]);
		else
			set_fa(&req, row->arg[0], row->arg[1]);
		ok(!post(qp, &req) && ibv_poll_cq(&mlx5_cq.cq, 1, &wc) == 1 &&
		   wc.status == IBV_WC_SUCCESS, "%s", row->name);
		is_u64(remote[2], row->after, "%s: memory", row->name);
		is_u64(result(0), row->before, "%s: result", row->name);
		ok(!remote[1] && !remote[3], "%s: and no more", row->name);
		ibv_destroy_qp(qp);
	}
}

/* The program may reuse operands by address after the call. */
static void test_operands_are_copied(void)
{
	struct ibv_wc wc;
	struct ibv_qp *qp;
	struct req req;

	start();
	qp = mlx5_qp(8, 0, false);
	fake_mlx5.defer = true;
	init_masked(&req, FA, 16, 1, SIG, 4, 0);
	memset(req.operands, 0, sizeof(req.operands));
	req.operands[0][0] = 3;
	req.operands[0][1] = 5;
	set_operands(&req, FA, 16);
	is_int(post(qp, &req), 0, "operands by address");
	memset(&req, 0xff, sizeof(req));
	fake_mlx5_run(qp);
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "done");
	ok(remote[4] == 3 && remote[5] == 5, "are taken at the call");
	ibv_destroy_qp(qp);
}

/* ---- the order of results ------------------------------------------------ */

static const struct order {
	const char *name;
	int std_cap, mode;
	uint32_t flags;
	int size;
	const char *want;
} orders[] = {
	{ "host", IBV_ATOMIC_HCA, 1, 0, 4, "\x05\x06\x07\x08" },
	{ "host", IBV_ATOMIC_HCA, 1, 0, 8, "\x08\x07\x06\x05\x04\x03\x02\x01" },
	{ "host", IBV_ATOMIC_HCA, 1, 0, 16, "\x01\x02\x03\x04\x05\x06\x07\x08"
	  "\x11\x12\x13\x14\x15\x16\x17\x18" },
	{ "big-endian", IBV_ATOMIC_NONE, 0, BE, 4, "\x05\x06\x07\x08" },
	{ "big-endian", IBV_ATOMIC_NONE, 0, BE, 8,
	  "\x01\x02\x03\x04\x05\x06\x07\x08" },
	{ "big-endian", IBV_ATOMIC_NONE, 0, BE, 16,
	  "\x01\x02\x03\x04\x05\x06\x07\x08"
	  "\x11\x12\x13\x14\x15\x16\x17\x18" },
	{ "host, swapped here", IBV_ATOMIC_HCA, 1, BE, 4, "\x05\x06\x07\x08" },
	{ "host, swapped here", IBV_ATOMIC_HCA, 1, BE, 8,
	  "\x01\x02\x03\x04\x05\x06\x07\x08" },
	{ "host, swapped here", IBV_ATOMIC_HCA, 1, BE, 16,
	  "\x01\x02\x03\x04\x05\x06\x07\x08"
	  "\x11\x12\x13\x14\x15\x16\x17\x18" },
};

static void test_orders(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		const struct order *row = &orders[i];
		struct ibv_exp_device_attr attr = {
			.comp_mask = IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS,
		};
		bool announced;
		struct ibv_wc wc;
		struct ibv_qp *qp;
		struct req req;

		start();
		fake.std.orig_attr.atomic_cap = row->std_cap;
		fake_mlx5.endianness_mode = row->mode;
		remote[4] = 0x0102030405060708;
		remote[5] = 0x1112131415161718;
		qp = mlx5_qp(8, row->flags, false);
		init_masked(&req, CS, row->size, 1, SIG, 4, 0);
		memset(req.operands, 0, sizeof(req.operands));
		set_operands(&req, CS, row->size);
		ok(!post(qp, &req) && ibv_poll_cq(&mlx5_cq.cq, 1, &wc) == 1 &&
		   wc.byte_len == (uint32_t)row->size, "%s, %d bytes",
		   row->name, row->size);
		ok(!memcmp(local, row->want, row->size),
		   "%s, %d bytes: order of the result", row->name, row->size);
		is_int(local[row->size], FILL, "%s, %d bytes: and no more",
		       row->name, row->size);

		/* Without the flag, the query reports the order of results. */
		ibv_exp_query_device(mlx5_ctx, &attr);
		announced = attr.masked_atomic
			.masked_log_atomic_arg_sizes_network_endianness &
			row->size;
		ok(announced == (row->size != 8 || !row->mode),
		   "%s, %d bytes: as announced", row->name, row->size);
		ibv_destroy_qp(qp);
	}
}

int main(void)
{
	plan(0);
	fake_init();
	fake_mlx5_init();
	test_refusals();
	test_forms();
	test_operands_are_copied();
	test_orders();
	return done_testing();
}
