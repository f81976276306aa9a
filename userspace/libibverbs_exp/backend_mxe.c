// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The backend of mxe, which posts masked atomics with the builders of libmxe.
 */
#include <errno.h>

#include "backend.h"
#include "backend_mxe.h"
#include "backend_mxe_dv.h"
#include "qp_table.h"
#include "std.h"
#include "wc.h"
#include "wr.h"

/*
 * The reads and atomics that a target of mxe executes at a time for an
 * initiator, if it was not created for another number.
 */
#define MXE_DC_RD_ATOM 16

#define MXE_MASKED_OPS \
	(MXEDV_MASKED_ATOMIC_CMP_SWP | MXEDV_MASKED_ATOMIC_FETCH_ADD)

static bool mxe_serves(struct ibv_context *context)
{
	const struct exp_mxedv *dv = exp_mxedv(context);

	return dv && dv->is_supported(context->device);
}

static int mxe_query(struct ibv_context *context, struct exp_caps *caps)
{
	struct mxedv_device_attr attr;
	int ret;

	ret = exp_mxedv(context)->query_device(context, &attr, sizeof(attr));
	if (ret)
		return ret;

	caps->be_reply = attr.reply_modes & MXEDV_ATOMIC_REPLY_BE;
	caps->sizes = attr.log_arg_sizes;
	caps->sizes_be = attr.log_arg_sizes_be;
	caps->max_fa_bit_boundary = attr.max_fa_bit_boundary;
	caps->max_inl_recv = attr.max_inline_recv;
	caps->masked = (attr.masked_ops & MXE_MASKED_OPS) == MXE_MASKED_OPS &&
		       attr.masked_atomic_cap != IBV_ATOMIC_NONE &&
		       caps->sizes;

	caps->masked_xrc = caps->masked;
	caps->dc = true;
	caps->max_dc_req_rd_atom = MXE_DC_RD_ATOM;
	caps->max_dc_res_rd_atom = MXE_DC_RD_ATOM;

	/* All results are big-endian, as on Connect-IB. */
	if (caps->be_reply && !(attr.reply_modes & MXEDV_ATOMIC_REPLY_HOST)) {
		caps->atomic_cap = IBV_EXP_ATOMIC_HCA_REPLY_BE;
		caps->sizes_be = caps->sizes;
	} else {
		caps->atomic_cap = (enum ibv_exp_atomic_cap)attr.atomic_cap;
	}
	return 0;
}

/* Returns the largest size of the device and the program in bytes, or 0. */
static uint32_t max_atomic_arg(const struct exp_qp *entry)
{
	uint32_t size;

	for (size = 32; size; size /= 2)
		if (size <= entry->max_atomic_arg && entry->sizes & size)
			return size;
	return 0;
}

static struct ibv_qp *mxe_create_qp(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr,
				    uint32_t exp_create_flags,
				    struct exp_qp *entry)
{
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS |
			     MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG,
		/* Required by exp_wc_fix_atomic(). */
		.create_flags = MXEDV_QP_CREATE_EXP_WC_OPCODE,
		.max_atomic_arg = max_atomic_arg(entry),
	};
	const struct exp_mxedv *dv = exp_mxedv(context);
	struct ibv_qp *qp;

	if (exp_create_flags & IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY)
		mxe_attr.create_flags |= MXEDV_QP_CREATE_ATOMIC_BE_REPLY;
	if (entry->inline_recv)
		mxe_attr.create_flags |= MXEDV_QP_CREATE_INLINE_RECV;
	if (entry->is_dci) {
		mxe_attr.comp_mask |= MXEDV_QP_INIT_ATTR_DC;
		mxe_attr.dc_type = MXEDV_DCTYPE_DCI;
	}
	attr->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr->send_ops_flags = EXP_SEND_OPS | EXP_ATOMIC_OPS;

	qp = dv->create_qp(context, attr, &mxe_attr);
	if (!qp)
		return NULL;
	entry->qpx = ibv_qp_to_qp_ex(qp);
	entry->mqp = entry->qpx ? dv->qp_ex_from_ibv_qp_ex(entry->qpx) : NULL;
	if (!entry->mqp) {
		exp_std()->destroy_qp(qp);
		errno = EOPNOTSUPP;
		return NULL;
	}
	return qp;
}

static struct ibv_qp *mxe_create_inline(struct ibv_context *context,
					struct ibv_qp_init_attr_ex *attr)
{
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = MXEDV_QP_CREATE_INLINE_RECV,
	};

	return exp_mxedv(context)->create_qp(context, attr, &mxe_attr);
}

static struct ibv_qp *mxe_create_dct(struct ibv_context *context,
				     struct ibv_qp_init_attr_ex *attr,
				     uint64_t key)
{
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_DC,
		.dc_type = MXEDV_DCTYPE_DCT,
		.dct_access_key = key,
	};

	return exp_mxedv(context)->create_qp(context, attr, &mxe_attr);
}

static int mxe_query_dct(struct ibv_qp *qp, uint32_t *key_violations)
{
	const struct exp_mxedv *dv = exp_mxedv(qp->context);
	struct mxedv_dct_attr attr;
	int ret;

	if (!dv->query_dct)
		return EOPNOTSUPP;
	ret = dv->query_dct(qp, &attr, sizeof(attr));
	if (ret)
		return ret;
	*key_violations = attr.key_violations < UINT32_MAX ?
			  (uint32_t)attr.key_violations : UINT32_MAX;
	return 0;
}

static int mxe_arm_dct(struct ibv_qp *qp)
{
	const struct exp_mxedv *dv = exp_mxedv(qp->context);

	return dv->arm_dct ? dv->arm_dct(qp, MXEDV_DCT_KEY_VIOLATION) :
			     EOPNOTSUPP;
}

/*
 * An operand of less than 8 bytes is the low part of its field. MLNX_OFED
 * defines 8 bytes, and 4 bytes in the low half of the field. Shorter operands
 * follow the same rule.
 */
union low {
	uint32_t of_4;
	uint16_t of_2;
	uint8_t of_1;
};

/*
 * Returns the address of an operand of 1 << log_arg_sz bytes. 8 bytes are the
 * field itself. For larger sizes the field is the address of an array.
 */
static const void *operand(const uint64_t *field, uint32_t log_arg_sz,
			   union low *low)
{
	if (log_arg_sz > 3)
		return (const void *)(uintptr_t)*field;
	if (log_arg_sz == 3)
		return field;
	if (log_arg_sz == 2)
		low->of_4 = (uint32_t)*field;
	else if (log_arg_sz == 1)
		low->of_2 = (uint16_t)*field;
	else
		low->of_1 = (uint8_t)*field;
	return low;
}

static void mxe_set_dc_addr(const struct exp_qp *entry,
			    const struct ibv_exp_send_wr *wr)
{
	mxedv_wr_set_dc_addr(entry->mqp, wr->dc.ah, wr->dc.dct_number,
			     wr->dc.dct_access_key);
}

static void mxe_build_masked(const struct exp_qp *entry,
			     const struct ibv_exp_send_wr *wr)
{
	const struct ibv_exp_cmp_swap *cs = exp_wr_cmp_swap(wr);
	const struct ibv_exp_fetch_add *fa = exp_wr_fetch_add(wr);
	uint64_t remote_addr = wr->ext_op.masked_atomics.remote_addr;
	uint32_t rkey = wr->ext_op.masked_atomics.rkey;
	uint32_t log = wr->ext_op.masked_atomics.log_arg_sz;
	union low low[4];

	if (wr->exp_opcode == IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP)
		mxedv_wr_ext_masked_atomic_cmp_swp(
			entry->mqp, rkey, remote_addr, log,
			operand(&cs->compare_val, log, &low[0]),
			operand(&cs->compare_mask, log, &low[1]),
			operand(&cs->swap_val, log, &low[2]),
			operand(&cs->swap_mask, log, &low[3]));
	else
		mxedv_wr_ext_masked_atomic_fetch_add(
			entry->mqp, rkey, remote_addr, log,
			operand(&fa->add_val, log, &low[0]),
			operand(&fa->field_boundary, log, &low[1]));
	ibv_wr_set_sge_list(entry->qpx, wr->num_sge, wr->sg_list);
	if (entry->qp->qp_type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(entry->qpx, wr->qp_type.xrc.remote_srqn);
	if (entry->is_dci)
		mxe_set_dc_addr(entry, wr);
}

const struct exp_backend exp_backend_mxe = {
	.serves = mxe_serves,
	.query = mxe_query,
	.create_qp = mxe_create_qp,
	.create_inline = mxe_create_inline,
	.create_dct = mxe_create_dct,
	.query_dct = mxe_query_dct,
	.arm_dct = mxe_arm_dct,
	.set_dc_addr = mxe_set_dc_addr,
	.build_masked = mxe_build_masked,
	.fix_wc = exp_wc_fix_atomic,
};
