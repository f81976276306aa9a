// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The backend of mlx5, for ConnectX-4 and later. These devices execute masked
 * atomics, but rdma-core has no builders for them. Therefore this posts raw
 * WQEs of backend_mlx5_wqe.c.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>

#include "backend.h"
#include "backend_mlx5.h"
#include "backend_mlx5_dv.h"
#include "backend_mlx5_sq.h"
#include "backend_mlx5_wqe.h"
#include "qp_table.h"
#include "std.h"

/*
 * libmlx5 sizes the slots of the send queue for the largest requested
 * operation, which must not be smaller than the largest WQE of
 * backend_mlx5_wqe.c. Slots for BIND_MW have 192 bytes and the SGEs, and those
 * of DC initiators have 48 bytes more.
 */
static_assert(EXP_SEND_OPS & IBV_QP_EX_WITH_BIND_MW,
	      "slots have room for masked atomics");

/* ---- capabilities -------------------------------------------------------- */

/*
 * The command QUERY_HCA_CAP for the current general and atomic capabilities:
 * byte offsets of the fields that are used. All fields are big-endian.
 */
#define QUERY_HCA_CAP 0x100
#define QUERY_OP_MOD_GENERAL_CUR (0 << 1 | 1)
#define QUERY_OP_MOD_ATOMIC_CUR (3 << 1 | 1)
#define QUERY_IN_OPCODE 0
#define QUERY_IN_OP_MOD 6
#define QUERY_IN_SIZE 16
#define QUERY_OUT_STATUS 0
#define QUERY_OUT_CAPS 16
#define QUERY_OUT_SIZE (QUERY_OUT_CAPS + 4096)

/* General capabilities. */
#define CAPS_LOG_RA_REQ_DC 37	/* bits 5:0 */
#define CAPS_LOG_RA_RES_DC 39	/* bits 5:0 */
#define CAPS_DCT 67		/* bit 5 */

/* Atomic capabilities. */
#define CAPS_ENDIANNESS_MODE 8	/* bits 7:6; 1: results in host order */
#define CAPS_OPERATIONS 18
#define CAPS_SIZE_QP 22
#define CAPS_SIZE_DC 26

#define OPS_PLAIN 0x3
#define OPS_ALL 0xf

static void put16(uint8_t *to, uint16_t value)
{
	to[0] = value >> 8;
	to[1] = value;
}

static uint16_t get16(const uint8_t *from)
{
	return from[0] << 8 | from[1];
}

/* Returns false if the query fails, for example because DEVX is missing. */
static bool query_hca_caps(const struct exp_mlx5dv *dv,
			   struct ibv_context *context, uint16_t op_mod,
			   uint8_t *out)
{
	uint8_t in[QUERY_IN_SIZE] = { };

	put16(in + QUERY_IN_OPCODE, QUERY_HCA_CAP);
	put16(in + QUERY_IN_OP_MOD, op_mod);
	return !dv->devx_general_cmd(context, in, sizeof(in), out,
				     QUERY_OUT_SIZE) &&
	       !out[QUERY_OUT_STATUS];
}

static void query_dc(const struct exp_mlx5dv *dv, struct ibv_context *context,
		     struct exp_caps *caps)
{
	uint8_t out[QUERY_OUT_SIZE] = { };
	const uint8_t *general = out + QUERY_OUT_CAPS;

	if (!query_hca_caps(dv, context, QUERY_OP_MOD_GENERAL_CUR, out))
		return;
	caps->dc = general[CAPS_DCT] >> 5 & 1;
	/* The fields have six bits, but the numbers are small. */
	caps->max_dc_req_rd_atom = 1 << (general[CAPS_LOG_RA_REQ_DC] & 0xf);
	caps->max_dc_res_rd_atom = 1 << (general[CAPS_LOG_RA_RES_DC] & 0xf);
}

static int mlx5_query(struct ibv_context *context, struct exp_caps *caps)
{
	const struct exp_mlx5dv *dv = exp_mlx5dv();
	uint8_t out[QUERY_OUT_SIZE] = { };
	const uint8_t *atomic = out + QUERY_OUT_CAPS;
	bool host_order, reply_be;
	uint16_t ops, sizes;

	if (!dv->has_raw_wqe ||
	    !query_hca_caps(dv, context, QUERY_OP_MOD_ATOMIC_CUR, out))
		return 0;
	query_dc(dv, context, caps);

	host_order = atomic[CAPS_ENDIANNESS_MODE] >> 6 == 1;
	ops = get16(atomic + CAPS_OPERATIONS);
	sizes = get16(atomic + CAPS_SIZE_QP) & get16(atomic + CAPS_SIZE_DC);

	/* The standard verbs report no atomics for such a device. */
	reply_be = !host_order && (ops & OPS_PLAIN) == OPS_PLAIN &&
		   (get16(atomic + CAPS_SIZE_QP) & 8);
	if (reply_be)
		caps->atomic_cap = IBV_EXP_ATOMIC_HCA_REPLY_BE;
	if (caps->atomic_cap == IBV_EXP_ATOMIC_NONE)
		return 0;

	caps->sizes = sizes & EXP_MLX5_SIZES;
	caps->masked = (ops & OPS_ALL) == OPS_ALL && caps->sizes;
	caps->masked_xrc = caps->masked;
	caps->max_fa_bit_boundary = 64;
	caps->sizes_be = caps->sizes;
	if (!reply_be && BYTE_ORDER == LITTLE_ENDIAN)
		caps->sizes_be &= ~(uint64_t)8;
	/* backend_mlx5_sq.c converts results if the device does not. */
	caps->be_reply = true;
	return 0;
}

/* ---- queue pairs --------------------------------------------------------- */

/*
 * Returns true if the library must convert results to big-endian. It need not
 * if the device does so or the CPU is big-endian.
 */
static bool swaps_replies(const struct exp_qp *entry, uint32_t exp_create_flags)
{
	return (exp_create_flags & IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY) &&
	       entry->atomic_cap != IBV_EXP_ATOMIC_HCA_REPLY_BE &&
	       BYTE_ORDER == LITTLE_ENDIAN;
}

static int adopt_qp(const struct exp_mlx5dv *dv, struct ibv_qp *qp,
		    const struct ibv_qp_init_attr_ex *attr, bool swap,
		    struct exp_qp *entry)
{
	entry->qpx = ibv_qp_to_qp_ex(qp);
	entry->mlx5_qpx = entry->qpx ? dv->qp_ex_from_ibv_qp_ex(entry->qpx) :
				       NULL;
	if (!entry->mlx5_qpx || !entry->mlx5_qpx->wr_raw_wqe)
		return EOPNOTSUPP;
	/* libmlx5 sets these even if not requested, but does not promise to. */
	if (!entry->qpx->wr_atomic_cmp_swp || !entry->qpx->wr_atomic_fetch_add)
		return EOPNOTSUPP;
	entry->mlx5_sq = exp_mlx5_sq_create(qp, attr, swap);
	return entry->mlx5_sq ? 0 : errno;
}

static struct ibv_qp *mlx5_create_qp(struct ibv_context *context,
				     struct ibv_qp_init_attr_ex *attr,
				     uint32_t exp_create_flags,
				     struct exp_qp *entry)
{
	/*
	 * The device must not place results in the CQE. libmlx5 copies them
	 * from there only for opcodes that it knows.
	 */
	struct mlx5dv_qp_init_attr mlx5_attr = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS |
			     MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
		.send_ops_flags = MLX5DV_QP_EX_WITH_RAW_WQE,
	};
	const struct exp_mlx5dv *dv = exp_mlx5dv();
	struct ibv_qp *qp;
	int err;

	if (attr->cap.max_send_sge > (entry->is_dci ? EXP_MLX5_MAX_SGE_DC :
						      EXP_MLX5_MAX_SGE)) {
		errno = EINVAL;
		return NULL;
	}
	if (entry->is_dci) {
		mlx5_attr.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DC;
		mlx5_attr.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI;
	}
	attr->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr->send_ops_flags = EXP_SEND_OPS;
	/* libmlx5 refuses these if the device always replies in big-endian. */
	if (entry->atomic_cap != IBV_EXP_ATOMIC_HCA_REPLY_BE)
		attr->send_ops_flags |= EXP_ATOMIC_OPS;

	qp = dv->create_qp(context, attr, &mlx5_attr);
	if (!qp)
		return NULL;
	err = adopt_qp(dv, qp, attr, swaps_replies(entry, exp_create_flags),
		       entry);
	if (err) {
		exp_std()->destroy_qp(qp);
		errno = err;
		return NULL;
	}
	return qp;
}

static struct ibv_qp *mlx5_create_dct(struct ibv_context *context,
				      struct ibv_qp_init_attr_ex *attr,
				      uint64_t key)
{
	struct mlx5dv_qp_init_attr mlx5_attr = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = {
			.dc_type = MLX5DV_DCTYPE_DCT,
			.dct_access_key = key,
		},
	};

	return exp_mlx5dv()->create_qp(context, attr, &mlx5_attr);
}

/* ---- requests ------------------------------------------------------------ */

static void mlx5_set_dc_addr(const struct exp_qp *entry,
			     const struct ibv_exp_send_wr *wr)
{
	mlx5dv_wr_set_dc_addr(entry->mlx5_qpx, wr->dc.ah, wr->dc.dct_number,
			      wr->dc.dct_access_key);
}

/* Returns NULL if the address handle is not one of mlx5. */
static const struct mlx5_wqe_av *av_of(struct ibv_ah *ah)
{
	struct mlx5dv_ah out = { };
	struct mlx5dv_obj obj = { .ah = { .in = ah, .out = &out } };

	return exp_mlx5dv()->init_obj(&obj, MLX5DV_OBJ_AH) ? NULL : out.av;
}

static void mlx5_build_masked(const struct exp_qp *entry,
			      const struct ibv_exp_send_wr *wr)
{
	union {
		struct mlx5_wqe_ctrl_seg ctrl;
		uint8_t bytes[EXP_MLX5_MAX_WQE];
		uint64_t align;
	} wqe;
	bool signaled = (wr->exp_send_flags & IBV_EXP_SEND_SIGNALED) ||
			exp_mlx5_sq_signals_all(entry->mlx5_sq);

	exp_mlx5_wqe(&wqe, entry->qp_num,
		     entry->qp->qp_type == IBV_QPT_XRC_SEND,
		     entry->is_dci ? av_of(wr->dc.ah) : NULL, signaled, wr);
	mlx5dv_wr_raw_wqe(entry->mlx5_qpx, &wqe);
}

static void mlx5_fix_wc(const struct ibv_wc *std, struct ibv_exp_wc *wc)
{
	/* From backend_mlx5_sq.c. The standard verbs use 9 differently. */
	switch ((int)std->opcode) {
	case IBV_EXP_WC_MASKED_COMP_SWAP:
	case IBV_EXP_WC_MASKED_FETCH_ADD:
		wc->exp_opcode = (enum ibv_exp_wc_opcode)std->opcode;
		break;
	default:
		break;
	}
}

/* ---- the backend --------------------------------------------------------- */

/*
 * Returns false if the device has only standard atomics, or cannot be queried.
 * Then masked atomics are emulated.
 */
static bool mlx5_serves(struct ibv_context *context)
{
	const struct exp_mlx5dv *dv = exp_mlx5dv();
	/* Not NONE, so that the result depends only on the device. */
	struct exp_caps caps = { .atomic_cap = IBV_EXP_ATOMIC_HCA };

	return dv && dv->is_supported(context->device) &&
	       !mlx5_query(context, &caps) &&
	       (caps.masked || caps.atomic_cap == IBV_EXP_ATOMIC_HCA_REPLY_BE);
}

static void mlx5_batch_begin(const struct exp_qp *entry)
{
	exp_mlx5_sq_begin(entry->mlx5_sq);
}

static int mlx5_batch_add(const struct exp_qp *entry,
			  const struct ibv_exp_send_wr *wr)
{
	if (entry->is_dci && !av_of(wr->dc.ah))
		return EINVAL;
	return exp_mlx5_sq_add(entry->mlx5_sq, wr);
}

static void mlx5_batch_end(const struct exp_qp *entry, bool posted)
{
	exp_mlx5_sq_end(entry->mlx5_sq, posted);
}

static void mlx5_reset(const struct exp_qp *entry)
{
	exp_mlx5_sq_reset(entry->mlx5_sq);
}

static void mlx5_release(struct exp_qp *entry)
{
	exp_mlx5_sq_destroy(entry->mlx5_sq);
	entry->mlx5_sq = NULL;
}

const struct exp_backend exp_backend_mlx5 = {
	.serves = mlx5_serves,
	.adopt = exp_mlx5_sq_adopt,
	.query = mlx5_query,
	.create_qp = mlx5_create_qp,
	.create_dct = mlx5_create_dct,
	.set_dc_addr = mlx5_set_dc_addr,
	.build_masked = mlx5_build_masked,
	.fix_wc = mlx5_fix_wc,
	.adopt_cq_ex = exp_mlx5_sq_adopt_cq_ex,
	.batch_begin = mlx5_batch_begin,
	.batch_add = mlx5_batch_add,
	.batch_end = mlx5_batch_end,
	.reset = mlx5_reset,
	.release = mlx5_release,
};
