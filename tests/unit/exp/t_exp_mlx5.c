// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the mlx5 backend of libibverbs_exp against a fake libmlx5: the
 * reported capabilities, and the creation of queue pairs.
 */
#include <errno.h>

#include "backend.h"
#include "backend_emu.h"
#include "backend_mlx5.h"
#include "backend_mlx5_dv.h"
#include "backend_mlx5_wqe.h"
#include "backend_mxe.h"
#include "fake_mlx5.h"
#include "tap.h"

#define GATED (IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS |		\
	       IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS |		\
	       IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS)
#define MASKED (IBV_EXP_DEVICE_EXT_MASKED_ATOMICS | IBV_EXP_DEVICE_EXT_ATOMICS)

static const struct caps_row {
	const char *name;
	int std_cap, devx_errno, devx_status, mode;
	uint16_t ops, size_qp, size_dc;
	/* expected; sizes of 0: not masked */
	int cap;
	uint64_t sizes, be, ext;
	int log_inline;
} caps_rows[] = {
	{ "ConnectX-6", IBV_ATOMIC_HCA, 0, 0, 1, OPS, SIZES, SIZES,
	  IBV_EXP_ATOMIC_HCA, SIZES, SIZES & ~8, 8, 5 },
	{ "more operations", IBV_ATOMIC_HCA, 0, 0, 1, 0xffff, SIZES, SIZES,
	  IBV_EXP_ATOMIC_HCA, SIZES, SIZES & ~8, 8, 5 },
	{ "GLOB", IBV_ATOMIC_GLOB, 0, 0, 1, OPS, SIZES, SIZES,
	  IBV_EXP_ATOMIC_GLOB, SIZES, SIZES & ~8, 8, 5 },
	{ "8 bytes only", IBV_ATOMIC_HCA, 0, 0, 1, OPS, 8, 8,
	  IBV_EXP_ATOMIC_HCA, 8, 0, 8, 3 },
	{ "4 bytes only", IBV_ATOMIC_HCA, 0, 0, 1, OPS, 4, 4 | 8,
	  IBV_EXP_ATOMIC_HCA, 4, 4, 0, 2 },
	{ "DC has less", IBV_ATOMIC_HCA, 0, 0, 1, OPS, SIZES, 4 | 8 | 16,
	  IBV_EXP_ATOMIC_HCA, 4 | 8 | 16, 4 | 16, 8, 4 },
	{ "queue pairs have less", IBV_ATOMIC_HCA, 0, 0, 1, OPS, 4 | 8, SIZES,
	  IBV_EXP_ATOMIC_HCA, 4 | 8, 4, 8, 3 },
	{ "sizes without WQE", IBV_ATOMIC_HCA, 0, 0, 1, OPS, 0xffff, 0xffff,
	  IBV_EXP_ATOMIC_HCA, SIZES, SIZES & ~8, 8, 5 },
	{ "no size: emulated", IBV_ATOMIC_HCA, 0, 0, 1, OPS, 0, 0,
	  IBV_EXP_ATOMIC_HCA, 15, 0, 8, 3 },
	{ "no size in common: emulated", IBV_ATOMIC_HCA, 0, 0, 1, OPS, 8, 4,
	  IBV_EXP_ATOMIC_HCA, 15, 0, 8, 3 },
	{ "no masked CMP_SWAP: emulated", IBV_ATOMIC_HCA, 0, 0, 1,
	  OPS & ~OP_MASKED_CS, SIZES, SIZES, IBV_EXP_ATOMIC_HCA, 15, 0, 8, 3 },
	{ "no masked FETCH_ADD: emulated", IBV_ATOMIC_HCA, 0, 0, 1,
	  OPS & ~OP_MASKED_FA, SIZES, SIZES, IBV_EXP_ATOMIC_HCA, 15, 0, 8, 3 },
	{ "no CMP_SWAP: emulated", IBV_ATOMIC_HCA, 0, 0, 1,
	  OPS & ~OP_CS, SIZES, SIZES, IBV_EXP_ATOMIC_HCA, 15, 0, 8, 3 },
	{ "no FETCH_ADD: emulated", IBV_ATOMIC_HCA, 0, 0, 1,
	  OPS & ~OP_FA, SIZES, SIZES, IBV_EXP_ATOMIC_HCA, 15, 0, 8, 3 },
	{ "no atomics", IBV_ATOMIC_NONE, 0, 0, 1, 0, 0, 0,
	  IBV_EXP_ATOMIC_NONE, 0, 0, 0, 0 },
	{ "no atomics in the standard verbs", IBV_ATOMIC_NONE, 0, 0, 1,
	  OPS, SIZES, SIZES, IBV_EXP_ATOMIC_NONE, 0, 0, 0, 0 },
	{ "Connect-IB", IBV_ATOMIC_NONE, 0, 0, 0, OPS, SIZES, SIZES,
	  IBV_EXP_ATOMIC_HCA_REPLY_BE, SIZES, SIZES, SIZES, 5 },
	{ "Connect-IB, plain atomics", IBV_ATOMIC_NONE, 0, 0, 0,
	  OP_CS | OP_FA, 8, 8, IBV_EXP_ATOMIC_HCA_REPLY_BE, 0, 0, 0, 0 },
	{ "Connect-IB without 8 bytes", IBV_ATOMIC_NONE, 0, 0, 0, OPS, 4, 4,
	  IBV_EXP_ATOMIC_NONE, 0, 0, 0, 0 },
	{ "Connect-IB without FETCH_ADD", IBV_ATOMIC_NONE, 0, 0, 0,
	  OP_CS | OP_MASKED_CS, 8, 8, IBV_EXP_ATOMIC_NONE, 0, 0, 0, 0 },
	{ "mode 2", IBV_ATOMIC_NONE, 0, 0, 2, OPS, SIZES, SIZES,
	  IBV_EXP_ATOMIC_HCA_REPLY_BE, SIZES, SIZES, SIZES, 5 },
	{ "no DEVX: emulated", IBV_ATOMIC_HCA, EINVAL, 0, 1, OPS, SIZES, SIZES,
	  IBV_EXP_ATOMIC_HCA, 15, 0, 8, 3 },
	{ "kernel without DEVX: emulated", IBV_ATOMIC_HCA, EOPNOTSUPP, 0, 1,
	  OPS, SIZES, SIZES, IBV_EXP_ATOMIC_HCA, 15, 0, 8, 3 },
	{ "error of the firmware: emulated", IBV_ATOMIC_HCA, 0, 3, 1,
	  OPS, SIZES, SIZES, IBV_EXP_ATOMIC_HCA, 15, 0, 8, 3 },
};

static void set_caps(const struct caps_row *row)
{
	fake_mlx5_reset();
	fake.std.orig_attr.atomic_cap = row->std_cap;
	fake_mlx5.devx_errno = row->devx_errno;
	fake_mlx5.devx_status = row->devx_status;
	fake_mlx5.endianness_mode = row->mode;
	fake_mlx5.operations = row->ops;
	fake_mlx5.size_qp = row->size_qp;
	fake_mlx5.size_dc = row->size_dc;
}

static void test_query(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(caps_rows); i++) {
		const struct caps_row *row = &caps_rows[i];
		const struct ibv_exp_masked_atomic_params *m;
		struct ibv_exp_device_attr attr;

		set_caps(row);
		memset(&attr, 0, sizeof(attr));
		attr.comp_mask = GATED;
		is_int(ibv_exp_query_device(mlx5_ctx, &attr), 0, "%s: query",
		       row->name);
		is_int(attr.exp_atomic_cap, row->cap, "%s: exp_atomic_cap",
		       row->name);
		is_u64(attr.comp_mask, GATED, "%s: comp_mask", row->name);
		is_u64(attr.exp_device_cap_flags & MASKED,
		       row->sizes ? MASKED : 0, "%s: flags", row->name);
		ok(!(attr.exp_device_cap_flags &
		     IBV_EXP_DEVICE_MASKED_ATOMICS_EMULATED) ==
		   !strstr(row->name, "emulated"), "%s: backend",
		   row->name);
		m = &attr.masked_atomic;
		ok(m->masked_log_atomic_arg_sizes == row->sizes &&
		   m->masked_log_atomic_arg_sizes_network_endianness ==
		   row->be, "%s: sizes", row->name);
		ok(m->max_fa_bit_boundary == (row->sizes ? 64 : 0) &&
		   (int)m->log_max_atomic_inline == row->log_inline,
		   "%s: limits", row->name);
		ok(attr.ext_atom.log_atomic_arg_sizes == row->ext &&
		   attr.ext_atom.max_fa_bit_boundary == m->max_fa_bit_boundary &&
		   attr.ext_atom.log_max_atomic_inline ==
		   m->log_max_atomic_inline, "%s: the older form", row->name);
	}
}

/* Devices of other backends, and hosts without libmlx5 or with an old one. */
static void test_absent(void)
{
	static struct exp_mlx5dv old;
	struct ibv_exp_device_attr attr = { .comp_mask = GATED };
	fake_mlx5_reset();
	ok(exp_backend_of(std_ctx) == &exp_backend_emu,
	   "another device is emulated");
	ok(exp_backend_of(mxe_ctx) == &exp_backend_mxe,
	   "mxe has its own backend");
	ok(exp_backend_of(mlx5_ctx) == &exp_backend_mlx5,
	   "mlx5 has its own backend");

	old = *fake.mlx5dv;
	old.has_raw_wqe = false;
	old.create_qp = NULL;
	old.devx_general_cmd = NULL;
	old.qp_ex_from_ibv_qp_ex = NULL;
	fake.mlx5dv = &old;
	ok(exp_backend_of(mlx5_ctx) == &exp_backend_mlx5,
	   "a context keeps its backend");
	fake_mlx5_reopen();
	ok(exp_backend_of(mlx5_ctx) == &exp_backend_emu,
	   "old libmlx5: emulated");
	is_int(ibv_exp_query_device(mlx5_ctx, &attr), 0, "old libmlx5: query");
	is_u64(attr.masked_atomic.masked_log_atomic_arg_sizes, 15,
	       "old libmlx5: masked atomics of up to 8 bytes");

	fake_mlx5_reopen();
	fake.mlx5dv = NULL;
	ok(exp_backend_of(mlx5_ctx) == &exp_backend_emu,
	   "no libmlx5: emulated");
	ok(exp_backend_of(mxe_ctx) == &exp_backend_mxe,
	   "no libmlx5: mxe has its own backend");
	is_int(ibv_exp_query_device(mlx5_ctx, &attr), 0, "no libmlx5: query");
}

static void test_create(void)
{
	struct ibv_exp_qp_init_attr attr;
	struct ibv_qp *qp;

	fake_mlx5_reset();
	mlx5_init_attr(&attr, 16, 0, true);
	attr.cap.max_send_sge = 1;
	attr.cap.max_inline_data = 0;
	qp = ibv_exp_create_qp(mlx5_ctx, &attr);
	ok(qp && fake_mlx5.created == 1, "created by mlx5dv_create_qp()");
	is_u64(fake_mlx5.last_mlx5.comp_mask,
	       MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS |
	       MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS, "attributes");
	is_u64(fake_mlx5.last_mlx5.create_flags,
	       MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
	       "no results in completions");
	is_u64(fake_mlx5.last_mlx5.send_ops_flags, MLX5DV_QP_EX_WITH_RAW_WQE,
	       "raw WQEs");
	is_u64(fake_mlx5.last.comp_mask, IBV_QP_INIT_ATTR_PD |
	       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, "standard attributes");
	is_u64(fake_mlx5.last.send_ops_flags &
	       (IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD),
	       IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
	       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, "plain atomics");
	ok(to_fake_mlx5(qp)->wqe_size >= EXP_MLX5_MAX_FIXED + 16,
	   "a slot of the send queue has room for the largest WQE");
	is_int(attr.cap.max_send_wr, to_fake_mlx5(qp)->max_post,
	       "the size of the queue is returned");
	ibv_destroy_qp(qp);

	/* With the PD alone, the queue pair has no masked atomics. */
	attr.comp_mask = PD;
	qp = ibv_exp_create_qp(mlx5_ctx, &attr);
	ok(qp && fake.plain_created == 1, "PD alone: a plain queue pair");
	ibv_destroy_qp(qp);
	attr.comp_mask = PD | ARG;
	attr.qp_type = IBV_QPT_UC;
	qp = ibv_exp_create_qp(mlx5_ctx, &attr);
	ok(qp && fake.plain_created == 2, "UC: a plain queue pair");
	ibv_destroy_qp(qp);
}

static void test_create_xrc(void)
{
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_exp_qp_init_attr attr;
	struct ibv_sge sge = { .length = 8 };
	const uint8_t *wqe;
	struct ibv_qp *qp;
	uint32_t srqn;

	fake_mlx5_reset();
	mlx5_init_attr(&attr, 16, 0, true);
	attr.qp_type = IBV_QPT_XRC_SEND;
	qp = ibv_exp_create_qp(mlx5_ctx, &attr);
	if (!ok(qp && fake_mlx5.created == 1 && to_fake_mlx5(qp)->mqp.wr_raw_wqe,
		"XRC: created for raw WQEs"))
		return;
	memset(&wr, 0, sizeof(wr));
	wr.exp_opcode = FA;
	wr.exp_send_flags = IBV_EXP_SEND_EXT_ATOMIC_INLINE;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.ext_op.masked_atomics.log_arg_sz = 3;
	wr.qp_type.xrc.remote_srqn = 0xabcdef;
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "XRC: posted");
	wqe = to_fake_mlx5(qp)->sq;
	memcpy(&srqn, wqe + 16, sizeof(srqn));
	is_u64(be32toh(srqn), 0xabcdef, "XRC: the number of the SRQ");
	is_int(wqe[7], 5, "XRC: the units of the WQE");
	ibv_destroy_qp(qp);
}

static void test_create_errors(void)
{
	static const struct {
		const char *name;
		int create_errno;
		bool no_qpx, no_dv_qpx, no_raw_wqe, no_atomics;
		int sges;
		int want;
	} rows[] = {
		{ "kernel refuses", EPERM, false, false, false, false, 1, EPERM },
		{ "no raw WQEs", EOPNOTSUPP, false, false, false, false, 1,
		  EOPNOTSUPP },
		{ "no ibv_qp_ex", 0, true, false, false, false, 1, EOPNOTSUPP },
		{ "no mlx5dv_qp_ex", 0, false, true, false, false, 1,
		  EOPNOTSUPP },
		{ "no builder", 0, false, false, true, false, 1, EOPNOTSUPP },
		{ "no builder of atomics", 0, false, false, false, true, 1,
		  EOPNOTSUPP },
		{ "52 buffers", 0, false, false, false, false, 52, 0 },
		{ "53 buffers", 0, false, false, false, false, 53, EINVAL },
	};
	struct ibv_exp_qp_init_attr attr;
	struct ibv_qp *qp;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		fake_mlx5_reset();
		fake_mlx5.create_errno = rows[i].create_errno;
		fake_mlx5.no_qpx = rows[i].no_qpx;
		fake_mlx5.no_dv_qpx = rows[i].no_dv_qpx;
		fake_mlx5.no_raw_wqe = rows[i].no_raw_wqe;
		fake_mlx5.no_atomic_builders = rows[i].no_atomics;
		mlx5_init_attr(&attr, 16, 0, true);
		attr.cap.max_send_sge = rows[i].sges;
		errno = 0;
		qp = ibv_exp_create_qp(mlx5_ctx, &attr);
		ok(!qp == !!rows[i].want && (qp || errno == rows[i].want),
		   "create: %s", rows[i].name);
		if (qp)
			ibv_destroy_qp(qp);
		is_int(fake.destroyed, fake_mlx5.created, "create: %s: nothing left",
		       rows[i].name);
	}
}

/* Effect of the flag for big-endian results on each kind of device. */
static void test_create_be(void)
{
	struct ibv_exp_send_wr wr = {
		.exp_opcode = IBV_EXP_WR_ATOMIC_FETCH_AND_ADD,
	}, *bad;
	struct ibv_qp *qp;

	fake_mlx5_reset();
	qp = mlx5_qp(16, BE, true);
	ok(to_fake_mlx5(qp)->f.has_ex, "flag with a device in host order");
	ibv_destroy_qp(qp);

	set_caps(&caps_rows[16]);
	qp = mlx5_qp(16, BE, true);
	is_u64(fake_mlx5.last.send_ops_flags &
	       (IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD), 0,
	       "Connect-IB: no atomics are requested from libmlx5");
	is_int(ibv_exp_post_send(qp, &wr, &bad), 0,
	       "Connect-IB: atomics with the flag");
	ibv_destroy_qp(qp);
	qp = mlx5_qp(16, 0, true);
	is_int(ibv_exp_post_send(qp, &wr, &bad), EINVAL,
	       "Connect-IB: no atomics without the flag");
	ibv_destroy_qp(qp);
}

int main(void)
{
	plan(0);
	fake_init();
	fake_mlx5_init();
	test_query();
	test_absent();
	test_create();
	test_create_xrc();
	test_create_errors();
	test_create_be();
	return done_testing();
}
