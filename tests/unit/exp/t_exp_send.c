// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libibverbs_exp against the fake device of fake.c: posting.
 */
#include <errno.h>

#include "fake.h"
#include "tap.h"

static char buffer[8];
static struct ibv_sge sges[80] = {
	[0] = { .addr = 0x1000, .length = 8, .lkey = 7 },
};

/* Some programs leave garbage in fields that the opcode does not use. */
static void init_wr(struct ibv_exp_send_wr *wr, int opcode, uint64_t wr_id)
{
	memset(wr, 0xa5, sizeof(*wr));
	wr->wr_id = wr_id;
	wr->next = NULL;
	wr->sg_list = sges;
	wr->num_sge = 1;
	wr->exp_opcode = (enum ibv_exp_wr_opcode)opcode;
	wr->exp_send_flags = IBV_EXP_SEND_SIGNALED;
	wr->ex.imm_data = 0x11223344;

	if (opcode == CS || opcode == FA) {
		wr->exp_send_flags |= IBV_EXP_SEND_EXT_ATOMIC_INLINE;
		wr->ext_op.masked_atomics.log_arg_sz = 3;
		wr->ext_op.masked_atomics.remote_addr = 0x2000;
		wr->ext_op.masked_atomics.rkey = 0x99;
	} else if (opcode == IBV_EXP_WR_ATOMIC_CMP_AND_SWP ||
		   opcode == IBV_EXP_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = 0x2000;
		wr->wr.atomic.rkey = 0x99;
		wr->wr.atomic.compare_add = 5;
		wr->wr.atomic.swap = 6;
	} else {
		wr->wr.rdma.remote_addr = 0x2000;
		wr->wr.rdma.rkey = 0x99;
	}
}

static void init_cs(struct ibv_exp_send_wr *wr, uint64_t wr_id)
{
	struct ibv_exp_cmp_swap *cs =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;

	init_wr(wr, CS, wr_id);
	cs->compare_val = 1;
	cs->compare_mask = 2;
	cs->swap_val = 3;
	cs->swap_mask = 4;
}

static void init_fa(struct ibv_exp_send_wr *wr, uint64_t wr_id)
{
	struct ibv_exp_fetch_add *fa =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;

	init_wr(wr, FA, wr_id);
	fa->add_val = 8;
	fa->field_boundary = 9;
}

#define MAX_CHAIN 40

static void link_wrs(struct ibv_exp_send_wr *wrs, int n)
{
	int i;

	for (i = 0; i + 1 < n; i++)
		wrs[i].next = &wrs[i + 1];
	wrs[n - 1].next = NULL;
}

/* A chain of masked compare-and-swaps with wr_id 0, 1, 2, ... */
static void chain_cs(struct ibv_exp_send_wr *wrs, int n)
{
	int i;

	for (i = 0; i < n; i++)
		init_cs(&wrs[i], i);
	link_wrs(wrs, n);
}

/* Checks that the first n requests were posted in order, and no more. */
static void is_posted(struct ibv_qp *qp, int n, const char *name)
{
	struct fake_qp *f = to_fake(qp);
	int i;

	for (i = 0; i < f->num_ops; i++)
		if (f->ops[i].wr_id != (uint64_t)i)
			break;
	ok(f->num_ops == n && i == n, "%s: %d posted", name, n);
	ok(!f->started, "%s: nothing is left open", name);
}

static void test_post_opcodes(void)
{
	struct ibv_exp_send_wr wrs[9], *bad = NULL;
	struct ibv_qp *qp;
	struct op *op;
	int i;

	fake_reset();
	qp = must_create(mxe_ctx, PD | FLAGS | ARG, 0, 32);
	for (i = 0; i < 7; i++)
		init_wr(&wrs[i], i, i);
	init_cs(&wrs[7], 7);
	init_fa(&wrs[8], 8);
	wrs[2].exp_send_flags = IBV_EXP_SEND_FENCE | IBV_EXP_SEND_SOLICITED;
	link_wrs(wrs, 9);

	is_int(ibv_exp_post_send(qp, wrs, &bad), 0, "chain of every opcode");
	is_posted(qp, 9, "every opcode");
	is_int(to_fake(qp)->doorbells, 1, "one doorbell");
	op = to_fake(qp)->ops;
	for (i = 0; i < 9; i++) {
		is_int(op[i].opcode, wrs[i].exp_opcode, "opcode of %d", i);
		ok(op[i].num_sge == 1 && op[i].sge_addr == 0x1000,
		   "buffer of %d", i);
		if (i == 2 || i == 3)
			continue;
		ok(op[i].rkey == 0x99 && op[i].addr == 0x2000, "target of %d",
		   i);
		is_int(op[i].flags, IBV_SEND_SIGNALED, "flags of %d", i);
	}
	is_int(op[2].flags, IBV_SEND_FENCE | IBV_SEND_SOLICITED, "flags of 2");
	is_u64(op[1].imm, 0x11223344, "immediate of a write");
	is_u64(op[3].imm, 0x11223344, "immediate of a send");
	ok(op[5].arg[0] == 5 && op[5].arg[1] == 6, "operands of CMP_AND_SWP");
	is_u64(op[6].arg[0], 5, "operand of FETCH_AND_ADD");
	ok(op[7].arg[0] == 1 && op[7].arg[1] == 2 && op[7].arg[2] == 3 &&
	   op[7].arg[3] == 4, "operands of masked CMP_AND_SWP");
	ok(op[8].arg[0] == 8 && op[8].arg[1] == 9,
	   "operands of masked FETCH_AND_ADD");
	ibv_destroy_qp(qp);
}

/*
 * Operands of each size. Those of up to 8 bytes are in the fields, and the
 * fields point to wider ones. The QP is created for the widest operand that the
 * device and the program support.
 */
static void test_post_sizes(void)
{
	static const struct {
		uint32_t asked, made;
	} args[] = { { 0, 0 }, { 3, 0 }, { 4, 4 }, { 7, 4 }, { 8, 8 },
		     { 31, 16 }, { 32, 32 }, { 33, 32 }, { ~0u, 32 } },
	  small[] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 4 } };
	static const uint64_t wide[4][4] = {
		{ 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 },
		{ 13, 14, 15, 16 },
	};
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_exp_cmp_swap *cs =
		&wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;
	struct ibv_qp *qp;
	uint32_t log;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(args); i++) {
		fake_reset();
		fake.mxe.log_arg_sizes = SIZES;
		qp = must_create(mxe_ctx, PD | ARG, 0, args[i].asked);
		is_u64(to_fake(qp)->max_atomic_arg, args[i].made,
		       "created for %u bytes", args[i].asked);
		ibv_destroy_qp(qp);
	}
	for (i = 0; i < ARRAY_SIZE(small); i++) {
		fake_reset();
		fake.mxe.log_arg_sizes = SIZES | 1 | 2;
		qp = must_create(mxe_ctx, PD | ARG, 0, small[i].asked);
		is_u64(to_fake(qp)->max_atomic_arg, small[i].made,
		       "with all sizes, created for %u bytes", small[i].asked);
		ibv_destroy_qp(qp);
	}
	for (log = 0; log <= 5; log++) {
		const struct op *op;

		fake_reset();
		fake.mxe.log_arg_sizes = SIZES | 1 | 2;
		qp = must_create(mxe_ctx, PD | ARG, 0, 32);
		init_cs(&wr, 0);
		wr.ext_op.masked_atomics.log_arg_sz = log;
		cs->compare_mask |= 0xabcdULL << 48;
		if (log > 3) {
			cs->compare_val = (uintptr_t)wide[0];
			cs->compare_mask = (uintptr_t)wide[1];
			cs->swap_val = (uintptr_t)wide[2];
			cs->swap_mask = (uintptr_t)wide[3];
		}
		is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "%u bytes",
		       1U << log);
		op = to_fake(qp)->ops;
		is_u64(op->log_arg_sz, log, "its size");
		if (log > 3)
			ok(!memcmp(op->wide[0], wide[0], 1U << log) &&
			   !memcmp(op->wide[1], wide[1], 1U << log) &&
			   !memcmp(op->wide[2], wide[2], 1U << log) &&
			   !memcmp(op->wide[3], wide[3], 1U << log),
			   "its operands");
		else
			ok(op->arg[0] == 1 && op->arg[2] == 3 &&
			   op->arg[3] == 4 &&
			   op->arg[1] == (log == 3 ? 2 | 0xabcdULL << 48 : 2),
			   "its operands");
		ibv_destroy_qp(qp);
	}
	fake_reset();
}

static void test_post_sges(void)
{
	struct ibv_exp_send_wr wr, *bad = NULL;
	struct ibv_qp *qp;
	struct op *op;

	fake_reset();
	qp = must_create(mxe_ctx, PD | ARG, 0, 8);
	op = to_fake(qp)->ops;

	init_wr(&wr, IBV_EXP_WR_SEND, 0);
	wr.num_sge = 4;
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "four pieces");
	is_int(op[0].num_sge, 4, "all arrive");

	init_wr(&wr, IBV_EXP_WR_SEND, 1);
	wr.num_sge = 0;
	wr.sg_list = NULL;
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "no piece");
	is_int(op[1].num_sge, 0, "none arrives");

	init_wr(&wr, IBV_EXP_WR_RDMA_WRITE, 2);
	wr.num_sge = 2;
	wr.exp_send_flags |= IBV_EXP_SEND_INLINE;
	sges[1].addr = (uintptr_t)buffer;
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "inline");
	ok(op[2].is_inline && op[2].num_sge == 2 &&
	   op[2].sge_addr == (uintptr_t)buffer, "inline data arrive");
	is_int(op[2].flags, IBV_SEND_SIGNALED, "without the inline flag");
	ibv_destroy_qp(qp);
}

static const struct post_row {
	const char *name;
	int opcode;
	uint32_t comp_mask;
	uint32_t max_atomic_arg;
	uint32_t log_arg_sz;
	uint64_t set, clear;	/* of exp_send_flags */
	int num_sge;
	int want;
} post_rows[] = {
#define INL IBV_EXP_SEND_EXT_ATOMIC_INLINE
	{ "as Sherman", CS, PD | FLAGS | ARG, 32, 3, 0, 0, 1, 0 },
	{ "argument 8", FA, PD | ARG, 8, 3, 0, 0, 1, 0 },
	{ "huge argument", FA, PD | ARG, ~0u, 3, 0, 0, 1, 0 },
	{ "argument 7", CS, PD | ARG, 7, 3, 0, 0, 1, EINVAL },
	{ "argument 1", FA, PD | ARG, 1, 3, 0, 0, 1, EINVAL },
	{ "argument 0", FA, PD | ARG, 0, 3, 0, 0, 1, EINVAL },
	{ "argument not given", CS, PD | FLAGS, 0, 3, 0, 0, 1, EINVAL },
	{ "plain queue pair", CS, PD, 0, 3, 0, 0, 1, EINVAL },
	{ "operands not inline", CS, PD | ARG, 8, 3, 0, INL, 1, EINVAL },
	{ "4 bytes", CS, PD | ARG, 32, 2, 0, 0, 1, EINVAL },
	{ "16 bytes", CS, PD | ARG, 32, 4, 0, 0, 1, EINVAL },
	{ "2^32 bytes", CS, PD | ARG, 32, 32, 0, 0, 1, EINVAL },
	{ "2^35 bytes", CS, PD | ARG, 32, 35, 0, 0, 1, EINVAL },
	{ "2^64 bytes", CS, PD | ARG, 32, 64, 0, 0, 1, EINVAL },
	{ "2^67 bytes", CS, PD | ARG, 32, 67, 0, 0, 1, EINVAL },
	{ "huge log_arg_sz", CS, PD | ARG, 32, ~0u, 0, 0, 1, EINVAL },
	{ "result inline", CS, PD | ARG, 8, 3, IBV_EXP_SEND_INLINE, 0, 1,
	  EINVAL },
	{ "no buffer", CS, PD | ARG, 8, 3, 0, 0, 0, 0 },
	{ "-1 pieces", FA, PD | ARG, 8, 3, 0, 0, -1, EINVAL },
	{ "five pieces", FA, PD | ARG, 8, 3, 0, 0, 5, EINVAL },
	{ "calc flag", FA, PD | ARG, 8, 3, IBV_EXP_SEND_WITH_CALC, 0, 1,
	  EINVAL },
	{ "wait flag", FA, PD | ARG, 8, 3, IBV_EXP_SEND_WAIT_EN_LAST, 0, 1,
	  EINVAL },
	{ "checksum flag", IBV_EXP_WR_SEND, PD | ARG, 8, 0,
	  IBV_EXP_SEND_IP_CSUM, 0, 1, EINVAL },
	{ "unknown flag", IBV_EXP_WR_SEND, PD | ARG, 8, 0, 1 << 4, 0, 1,
	  EINVAL },
	{ "read inline", IBV_EXP_WR_RDMA_READ, PD | ARG, 8, 0,
	  IBV_EXP_SEND_INLINE, 0, 1, EINVAL },
	{ "CMP_AND_SWP inline", IBV_EXP_WR_ATOMIC_CMP_AND_SWP, PD | ARG, 8, 0,
	  IBV_EXP_SEND_INLINE, 0, 1, EINVAL },
	{ "needless inline flag", IBV_EXP_WR_RDMA_READ, PD | ARG, 8, 0, INL, 0,
	  1, 0 },
	{ "plain atomic, argument 0", IBV_EXP_WR_ATOMIC_FETCH_AND_ADD,
	  PD | ARG, 0, 0, 0, 0, 1, 0 },
	{ "LOCAL_INV with data", IBV_EXP_WR_LOCAL_INV, PD | ARG, 8, 0, 0, 0, 1,
	  EINVAL },
	{ "LOCAL_INV inline", IBV_EXP_WR_LOCAL_INV, PD | ARG, 8, 0,
	  IBV_EXP_SEND_INLINE, 0, 0, EINVAL },
	{ "BIND_MW with data", IBV_EXP_WR_BIND_MW, PD | ARG, 8, 0, 0, 0, 1,
	  EINVAL },
	{ "TSO", IBV_EXP_WR_TSO, PD | ARG, 8, 0, 0, 0, 1, EINVAL },
	{ "CQE_WAIT", IBV_EXP_WR_CQE_WAIT, PD | ARG, 8, 0, 0, 0, 1, EINVAL },
	{ "NOP with data", IBV_EXP_WR_NOP, PD | ARG, 8, 0, 0, 0, 1, EINVAL },
	{ "NOP", IBV_EXP_WR_NOP, PD | ARG, 8, 0, 0, 0, 0, 0 },
	{ "UMR_FILL", IBV_EXP_WR_UMR_FILL, PD | ARG, 8, 0, 0, 0, 1, EINVAL },
	{ "no such opcode", 0x7fffffff, PD | ARG, 8, 0, 0, 0, 1, EINVAL },
	{ "LOCAL_INV on a plain one, with data", IBV_EXP_WR_LOCAL_INV, PD, 0, 0,
	  0, 0, 1, EINVAL },
	{ "NOP on a plain one, with data", IBV_EXP_WR_NOP, PD, 0, 0, 0, 0, 1,
	  EINVAL },
	{ "TSO on a plain one", IBV_EXP_WR_TSO, PD, 0, 0, 0, 0, 1, EINVAL },
	{ "READ on a plain one", IBV_EXP_WR_RDMA_READ, PD, 0, 0, 0, 0, 1, 0 },
};

static void test_post_errors(void)
{
	struct ibv_exp_send_wr wr, *bad;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(post_rows); i++) {
		const struct post_row *row = &post_rows[i];
		struct ibv_qp *qp;
		int ret;

		fake_reset();
		qp = must_create(mxe_ctx, row->comp_mask, 0,
				 row->max_atomic_arg);
		if (row->opcode == CS)
			init_cs(&wr, 0);
		else if (row->opcode == FA)
			init_fa(&wr, 0);
		else
			init_wr(&wr, row->opcode, 0);
		if (row->opcode == CS || row->opcode == FA)
			wr.ext_op.masked_atomics.log_arg_sz = row->log_arg_sz;
		wr.exp_send_flags |= row->set;
		wr.exp_send_flags &= ~row->clear;
		wr.num_sge = row->num_sge;
		bad = NULL;
		ret = ibv_exp_post_send(qp, &wr, &bad);
		is_int(ret, row->want, "post: %s", row->name);
		ok(bad == (ret ? &wr : NULL), "post: %s: bad_wr", row->name);
		is_posted(qp, ret ? 0 : 1, row->name);
		ibv_destroy_qp(qp);
	}
}

static void test_post_be_device(void)
{
	static const int atomics[] = {
		IBV_EXP_WR_ATOMIC_CMP_AND_SWP,
		IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, CS, FA,
	};
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_qp *with, *without;
	size_t i;

	fake_be_device();
	with = must_create(mxe_ctx, PD | FLAGS | ARG, BE, 8);
	without = must_create(mxe_ctx, PD | FLAGS | ARG, 0, 8);
	for (i = 0; i < ARRAY_SIZE(atomics); i++) {
		init_wr(&wr, atomics[i], i);
		is_int(ibv_exp_post_send(with, &wr, &bad), 0,
		       "be: opcode %d with the flag", atomics[i]);
		is_int(ibv_exp_post_send(without, &wr, &bad), EINVAL,
		       "be: opcode %d without the flag", atomics[i]);
	}
	init_wr(&wr, IBV_EXP_WR_RDMA_READ, 0);
	is_int(ibv_exp_post_send(without, &wr, &bad), 0,
	       "be: read without the flag");
	ibv_destroy_qp(with);
	ibv_destroy_qp(without);
}

/* Requests of invalidation and binding, and NOP, on both kinds of QPs. */
static void test_post_keys(void)
{
	const uint64_t lazy = IBV_EXP_ACCESS_MW_ZERO_BASED |
			      IBV_ACCESS_REMOTE_READ;
	struct ibv_exp_send_wr wrs[4], *bad;
	struct ibv_mr mr = { };
	struct ibv_mw mw = { };
	struct ibv_qp *qp;
	struct op *op;
	int with_builders, i;

	for (i = 0; i < 4; i++) {
		memset(&wrs[i], 0, sizeof(wrs[i]));
		wrs[i].wr_id = i;
		wrs[i].exp_send_flags = IBV_EXP_SEND_SIGNALED;
		wrs[i].next = i < 3 ? &wrs[i + 1] : NULL;
	}
	wrs[0].exp_opcode = IBV_EXP_WR_NOP;
	wrs[1].exp_opcode = IBV_EXP_WR_SEND_WITH_INV;
	wrs[1].ex.invalidate_rkey = 0x1111;
	wrs[2].exp_opcode = IBV_EXP_WR_LOCAL_INV;
	wrs[2].ex.invalidate_rkey = 0x2222;
	wrs[3].exp_opcode = IBV_EXP_WR_BIND_MW;
	wrs[3].bind_mw.mw = &mw;
	wrs[3].bind_mw.rkey = 0x3333;
	wrs[3].bind_mw.bind_info = (struct ibv_exp_mw_bind_info) {
		.mr = &mr, .addr = 0x4444, .length = 55,
		.exp_mw_access_flags = lazy,
	};
	for (with_builders = 0; with_builders < 2; with_builders++) {
		fake_reset();
		qp = must_create(mxe_ctx, with_builders ? PD | ARG : PD, 0, 8);
		op = to_fake(qp)->ops;
		is_int(ibv_exp_post_send(qp, wrs, &bad), 0, "keys: posted");
		ok(op[0].opcode == IBV_EXP_WR_RDMA_WRITE && !op[0].num_sge,
		   "keys: NOP writes nothing");
		ok(op[1].opcode == IBV_EXP_WR_SEND_WITH_INV &&
		   op[1].rkey == 0x1111, "keys: SEND_WITH_INV");
		ok(op[2].opcode == IBV_EXP_WR_LOCAL_INV &&
		   op[2].rkey == 0x2222, "keys: LOCAL_INV");
		ok(op[3].opcode == IBV_EXP_WR_BIND_MW && op[3].mw == &mw &&
		   op[3].rkey == 0x3333 && op[3].bind.mr == &mr &&
		   op[3].bind.addr == 0x4444 && op[3].bind.length == 55,
		   "keys: BIND_MW");
		is_int(op[3].bind.mw_access_flags,
		       IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_READ,
		       "keys: its access flags");

		wrs[3].bind_mw.bind_info.exp_mw_access_flags =
			IBV_EXP_ACCESS_PHYSICAL_ADDR;
		is_int(ibv_exp_post_send(qp, wrs, &bad), ENOSYS,
		       "keys: access that is not supported");
		ok(bad == &wrs[3], "keys: bad_wr");
		wrs[3].bind_mw.bind_info.exp_mw_access_flags = lazy;
		ibv_destroy_qp(qp);
	}
}

static void test_post_xrc(void)
{
	static const int opcodes[] = { IBV_EXP_WR_SEND, CS };
	struct ibv_exp_qp_init_attr attr;
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_qp *qp;
	size_t i;

	fake_reset();
	init_attr(&attr, mxe_ctx, PD | FLAGS | ARG);
	attr.exp_create_flags = 0;
	attr.max_atomic_arg = 8;
	attr.qp_type = IBV_QPT_XRC_SEND;
	qp = ibv_exp_create_qp(mxe_ctx, &attr);
	if (!qp)
		bail_out("no XRC queue pair");
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		init_wr(&wr, opcodes[i], i);
		wr.qp_type.xrc.remote_srqn = 0x1234 + (uint32_t)i;
		is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "xrc: opcode %d",
		       opcodes[i]);
		is_int(to_fake(qp)->ops[i].srqn, 0x1234 + (int)i,
		       "xrc: ... to its receive queue");
	}
	ibv_destroy_qp(qp);
}

/* A bad request, or a full queue, at each place of a chain of five. */
static void test_post_chain(void)
{
	struct ibv_exp_send_wr wrs[5], *bad;
	struct ibv_qp *qp;
	int i, ret;

	for (i = 0; i < 5; i++) {
		fake_reset();
		qp = must_create(mxe_ctx, PD | ARG, 0, 8);
		chain_cs(wrs, 5);
		wrs[i].ext_op.masked_atomics.log_arg_sz = 9;
		bad = NULL;
		ret = ibv_exp_post_send(qp, wrs, &bad);
		is_int(ret, EINVAL, "bad request at %d", i);
		ok(bad == &wrs[i], "bad request at %d: bad_wr", i);
		is_posted(qp, i, "bad request");
		ok(to_fake(qp)->doorbells <= 1, "with at most one doorbell");
		ibv_destroy_qp(qp);

		qp = must_create(mxe_ctx, PD | ARG, 0, 8);
		chain_cs(wrs, 5);
		to_fake(qp)->room = i;
		bad = NULL;
		ret = ibv_exp_post_send(qp, wrs, &bad);
		is_int(ret, ENOMEM, "room for %d", i);
		ok(bad == &wrs[i], "room for %d: bad_wr", i);
		is_posted(qp, i, "full queue");
		ibv_destroy_qp(qp);

		qp = must_create(mxe_ctx, PD | ARG, 0, 8);
		chain_cs(wrs, 5);
		to_fake(qp)->poison = i;
		bad = NULL;
		ret = ibv_exp_post_send(qp, wrs, &bad);
		is_int(ret, EMSGSIZE, "refused by the device at %d", i);
		ok(bad == &wrs[i], "refused at %d: bad_wr", i);
		is_posted(qp, i, "refused");
		ibv_destroy_qp(qp);
	}

	/* The queue is full before the bad request is reached. */
	qp = must_create(mxe_ctx, PD | ARG, 0, 8);
	chain_cs(wrs, 5);
	to_fake(qp)->room = 2;
	wrs[3].exp_opcode = IBV_EXP_WR_CQE_WAIT;
	is_int(ibv_exp_post_send(qp, wrs, &bad), ENOMEM, "full, then bad");
	ok(bad == &wrs[2], "full, then bad: bad_wr");
	is_posted(qp, 2, "full, then bad");
	ibv_destroy_qp(qp);

	qp = must_create(mxe_ctx, PD | ARG, 0, 8);
	is_int(ibv_exp_post_send(qp, NULL, &bad), 0, "an empty list");
	is_posted(qp, 0, "an empty list");
	ibv_destroy_qp(qp);
}

/* ibv_post_send() posts to the same queue between two calls of the library. */
static void test_post_mixed(void)
{
	struct ibv_send_wr std = { .wr_id = 1, .opcode = IBV_WR_SEND };
	struct ibv_send_wr *std_bad;
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_qp *qp;

	fake_reset();
	qp = must_create(mxe_ctx, PD | ARG, 0, 8);
	init_cs(&wr, 0);
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "mixed: first");
	is_int(ibv_post_send(qp, &std, &std_bad), 0, "mixed: plain");
	init_fa(&wr, 2);
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "mixed: last");
	is_posted(qp, 3, "mixed");
	ibv_destroy_qp(qp);
}

static void test_post_other(void)
{
	struct ibv_exp_send_wr wrs[MAX_CHAIN], *bad;
	struct ibv_qp *qp;
	struct op *op;
	int i;

	fake_reset();
	qp = must_create(std_ctx, PD | FLAGS | ARG, 0, 32);
	op = to_fake(qp)->ops;
	for (i = 0; i < MAX_CHAIN; i++)
		init_wr(&wrs[i], i % 7, i);
	link_wrs(wrs, MAX_CHAIN);
	wrs[0].exp_send_flags = IBV_EXP_SEND_INLINE | IBV_EXP_SEND_IP_CSUM;
	is_int(ibv_exp_post_send(qp, wrs, &bad), 0, "other: long chain");
	is_posted(qp, MAX_CHAIN, "other: long chain");
	is_int(op[0].flags, IBV_SEND_INLINE | IBV_SEND_IP_CSUM, "other: flags");
	for (i = 0; i < 7; i++)
		is_int(op[i].opcode, i, "other: opcode %d", i);
	ok(op[4].rkey == 0x99 && op[4].addr == 0x2000, "other: target");
	ok(op[5].rkey == 0x99 && op[5].addr == 0x2000 && op[5].arg[0] == 5 &&
	   op[5].arg[1] == 6, "other: operands");
	is_u64(op[1].imm, 0x11223344, "other: immediate");
	ibv_destroy_qp(qp);

	for (i = 0; i < MAX_CHAIN; i++) {
		qp = must_create(std_ctx, PD | ARG, 0, 32);
		init_cs(&wrs[i], i);
		link_wrs(wrs, MAX_CHAIN);
		bad = NULL;
		is_int(ibv_exp_post_send(qp, wrs, &bad), ENOSYS,
		       "other: masked atomic at %d", i);
		ok(bad == &wrs[i], "other: masked atomic at %d: bad_wr", i);
		is_posted(qp, i, "other: before a masked atomic");
		ibv_destroy_qp(qp);

		init_wr(&wrs[i], IBV_EXP_WR_SEND, i);
		link_wrs(wrs, MAX_CHAIN);
		qp = must_create(std_ctx, PD | ARG, 0, 32);
		to_fake(qp)->room = i;
		bad = NULL;
		is_int(ibv_exp_post_send(qp, wrs, &bad), ENOMEM,
		       "other: room for %d", i);
		ok(bad == &wrs[i], "other: room for %d: bad_wr", i);
		is_posted(qp, i, "other: full queue");
		ibv_destroy_qp(qp);
	}
}

static void test_post_datagram(void)
{
	struct ibv_exp_qp_init_attr attr;
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_qp *qp;
	struct op *op;

	fake_reset();
	init_attr(&attr, std_ctx, PD | FLAGS);
	attr.qp_type = IBV_QPT_UD;
	qp = ibv_exp_create_qp(std_ctx, &attr);
	if (!qp)
		bail_out("ibv_exp_create_qp: %s", strerror(errno));
	op = to_fake(qp)->ops;
	init_wr(&wr, IBV_EXP_WR_SEND, 0);
	wr.wr.ud.ah = (struct ibv_ah *)&attr;
	wr.wr.ud.remote_qpn = 17;
	wr.wr.ud.remote_qkey = 18;
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "datagram");
	ok(op[0].arg[0] == (uintptr_t)&attr && op[0].arg[1] == 17 &&
	   op[0].arg[2] == 18, "datagram: destination");
	ibv_destroy_qp(qp);
}

/* A queue pair at the address of one that has been destroyed. */
static void test_post_stale(void)
{
	static struct fake_qp place;
	struct ibv_qp_init_attr plain = { .qp_type = IBV_QPT_RC };
	struct ibv_exp_send_wr wr, *bad;
	uint32_t qpn;
	struct ibv_qp *qp;

	fake_reset();
	fake.reuse = &place;
	init_cs(&wr, 0);
	qp = must_create(mxe_ctx, PD | ARG, 0, 8);
	qpn = qp->qp_num;
	ok(qp == &place.qp, "stale: the address is known");
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "stale: first");
	ibv_destroy_qp(qp);

	qp = ibv_create_qp(&mxe_pd, &plain);
	qp->qp_num = qpn;
	qp->handle = qpn;
	is_int(ibv_exp_post_send(qp, &wr, &bad), EINVAL,
	       "stale: a plain successor takes no masked atomic");
	init_wr(&wr, IBV_EXP_WR_SEND, 0);
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0,
	       "stale: but a plain request");
	is_int(place.num_ops, 1, "stale: by ibv_post_send()");
	ibv_destroy_qp(qp);

	qp = must_create(mxe_ctx, PD | ARG, 0, 4);
	init_cs(&wr, 0);
	is_int(ibv_exp_post_send(qp, &wr, &bad), EINVAL,
	       "stale: the successor's own max_atomic_arg");
	ibv_destroy_qp(qp);
	qp = must_create(mxe_ctx, PD | ARG, 0, 8);
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "stale: and again");
	qpn = qp->qp_num;
	ibv_destroy_qp(qp);

	qp = must_create(mxe_ctx, PD, 0, 0);
	place.has_ex = true;
	qp->qp_num = qpn;
	qp->handle = qpn;
	is_int(ibv_exp_post_send(qp, &wr, &bad), EINVAL,
	       "stale: forgotten when created with PD alone");
	ibv_destroy_qp(qp);

	qp = must_create(std_ctx, PD | ARG, 0, 8);
	is_int(ibv_exp_post_send(qp, &wr, &bad), ENOSYS,
	       "stale: of another device");
	ibv_destroy_qp(qp);

	/*
	 * Successors that the library did not create, but that have builders.
	 */
	qp = must_create(mxe_ctx, PD | ARG, 0, 8);
	qpn = qp->qp_num;
	ibv_destroy_qp(qp);
	qp = ibv_create_qp(&std_pd, &plain);
	place.has_ex = true;
	qp->qp_num = qpn;
	qp->handle = qpn;
	is_int(ibv_exp_post_send(qp, &wr, &bad), ENOSYS,
	       "stale: of another context");
	qp->context = mxe_ctx;
	qp->handle++;
	is_int(ibv_exp_post_send(qp, &wr, &bad), EINVAL,
	       "stale: with another handle");
	qp->handle--;
	qp->qp_num++;
	is_int(ibv_exp_post_send(qp, &wr, &bad), EINVAL,
	       "stale: with another number");
	ibv_destroy_qp(qp);
}

#define THREADS 4
#define QPS_PER_THREAD 1000

static void *create_and_post(void *failed)
{
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_qp *kept[8] = { };
	int i;

	for (i = 0; i < QPS_PER_THREAD; i++) {
		struct ibv_qp **slot = &kept[i % ARRAY_SIZE(kept)];

		init_cs(&wr, 0);
		if (*slot) {
			if (ibv_exp_post_send(*slot, &wr, &bad) ||
			    to_fake(*slot)->num_ops != 1)
				__atomic_add_fetch((int *)failed, 1,
						   __ATOMIC_RELAXED);
			free(to_fake(*slot));
		}
		*slot = must_create(mxe_ctx, PD | ARG, 0, 8);
	}
	for (i = 0; i < (int)ARRAY_SIZE(kept); i++)
		free(to_fake(kept[i]));
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];
	int failed = 0;
	int i;

	fake_reset();
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, create_and_post, &failed))
			bail_out("pthread_create");
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int(failed, 0, "%d threads create and post", THREADS);
}

int main(void)
{
	plan(0);
	fake_init();

	test_post_opcodes();
	test_post_sizes();
	test_post_sges();
	test_post_errors();
	test_post_be_device();
	test_post_keys();
	test_post_xrc();
	test_post_chain();
	test_post_mixed();
	test_post_other();
	test_post_datagram();
	test_post_stale();
	test_threads();
	return done_testing();
}
