// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The direct verbs of mxedv.h, which programs call. They check their arguments,
 * and that the device is an mxe device, before they call the other files.
 */
#include <errno.h>
#include <string.h>

#include <rdma/mxe_user_ioctl_cmds.h>

#include "infiniband/mxedv.h"
#include "context.h"
#include "device.h"
#include "doorbell.h"
#include "export.h"
#include "mr.h"
#include "qp.h"

enum {
	MXEDV_QP_CREATE_FLAGS = MXEDV_QP_CREATE_ATOMIC_BE_REPLY |
				MXEDV_QP_CREATE_EXP_WC_OPCODE |
				MXEDV_QP_CREATE_DEFER_DOORBELL |
				MXEDV_QP_CREATE_INLINE_RECV,
	MXEDV_QP_INIT_ATTRS = MXEDV_QP_INIT_ATTR_CREATE_FLAGS |
			      MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG |
			      MXEDV_QP_INIT_ATTR_DC,
};

static_assert(sizeof(struct mxedv_device_attr) == 48 &&
	      sizeof(struct mxedv_qp_init_attr) == 32 &&
	      sizeof(struct mxedv_qp_ex) == 48 &&
	      sizeof(struct mxedv_dct_attr) == 32,
	      "these structures are part of the library's ABI");
static_assert((int)MXEDV_MASKED_ATOMIC_CMP_SWP ==
		      (int)MXE_MASKED_ATOMIC_CMP_SWAP &&
	      (int)MXEDV_MASKED_ATOMIC_FETCH_ADD ==
		      (int)MXE_MASKED_ATOMIC_FETCH_ADD &&
	      (int)MXEDV_ATOMIC_REPLY_HOST == (int)MXE_ATOMIC_REPLY_HOST &&
	      (int)MXEDV_ATOMIC_REPLY_BE == (int)MXE_ATOMIC_REPLY_BE &&
	      (int)MXEDV_DEVICE_ATTR_NONCOHERENT ==
		      (int)MXE_ATOMIC_CAPS_NONCOHERENT &&
	      (int)MXEDV_DCT_KEY_VIOLATION == (int)MXE_ARM_DCT_KEY_VIOLATION &&
	      (int)MXEDV_SYNC_MR_FOR_CPU == (int)MXE_SYNC_MR_FOR_CPU &&
	      (int)MXEDV_SYNC_MR_FOR_DEVICE == (int)MXE_SYNC_MR_FOR_DEVICE,
	      "values of the kernel are passed on unchanged");

MXE_EXPORT bool mxedv_is_supported(struct ibv_device *device)
{
	return device && mxe_is_device(device);
}

MXE_EXPORT int mxedv_query_device(struct ibv_context *context,
				  struct mxedv_device_attr *attr,
				  uint32_t inlen)
{
	const struct mxe_atomic_caps *caps;
	struct mxedv_device_attr known;

	if (!context || !attr || inlen < sizeof(known.comp_mask))
		return EINVAL;
	if (!mxe_is_device(context->device))
		return EOPNOTSUPP;

	caps = &to_mctx(context)->caps;
	known = (struct mxedv_device_attr){
		.comp_mask = caps->comp_mask & MXE_ATOMIC_CAPS_NONCOHERENT,
		.atomic_cap = caps->atomic_cap,
		.masked_atomic_cap = caps->masked_atomic_cap,
		.masked_ops = caps->masked_ops,
		.max_fa_bit_boundary = caps->max_fa_bit_boundary,
		.log_arg_sizes = caps->log_arg_sizes,
		.log_arg_sizes_be = caps->log_arg_sizes_be,
		.reply_modes = caps->reply_modes,
		.max_inline_recv = to_mctx(context)->max_inline_recv,
	};
	memset(attr, 0, inlen);
	memcpy(attr, &known, inlen < sizeof(known) ? inlen : sizeof(known));
	return 0;
}

/*
 * Returns true if the type of the QP and the DC attributes, which may be NULL,
 * belong together.
 */
static bool mxedv_dc_ok(const struct ibv_qp_init_attr_ex *attr,
			const struct mxedv_qp_init_attr *dc)
{
	if (!dc)
		return attr->qp_type != IBV_QPT_DRIVER;
	if (attr->qp_type != IBV_QPT_DRIVER || dc->reserved)
		return false;
	if (dc->dc_type == MXEDV_DCTYPE_DCT)
		return attr->srq && !(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
	return dc->dc_type == MXEDV_DCTYPE_DCI && !attr->srq &&
	       !dc->dct_access_key;
}

MXE_EXPORT struct ibv_qp *mxedv_create_qp(struct ibv_context *context,
					  struct ibv_qp_init_attr_ex *attr,
					  struct mxedv_qp_init_attr *mxe_attr)
{
	const struct mxedv_qp_init_attr *dc = NULL;
	uint32_t max_atomic_arg = 0;
	uint32_t flags = 0;

	if (!context || !attr) {
		errno = EINVAL;
		return NULL;
	}
	if (!mxe_is_device(context->device)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	if (mxe_attr) {
		if (mxe_attr->comp_mask & ~(uint64_t)MXEDV_QP_INIT_ATTRS) {
			errno = EINVAL;
			return NULL;
		}
		if (mxe_attr->comp_mask & MXEDV_QP_INIT_ATTR_CREATE_FLAGS)
			flags = mxe_attr->create_flags;
		if (mxe_attr->comp_mask & MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG)
			max_atomic_arg = mxe_attr->max_atomic_arg;
		if (mxe_attr->comp_mask & MXEDV_QP_INIT_ATTR_DC)
			dc = mxe_attr;
	}
	if (!mxedv_dc_ok(attr, dc) || flags & ~MXEDV_QP_CREATE_FLAGS) {
		errno = EINVAL;
		return NULL;
	}
	return mxe_create_qp_dv(context, attr, flags, max_atomic_arg, dc);
}

MXE_EXPORT struct mxedv_qp_ex *
mxedv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qpx)
{
	struct mxe_qp *qp;

	if (!qpx || !mxe_is_device(qpx->qp_base.context->device))
		return NULL;
	qp = to_mqp_ex(qpx);
	return qp->has_builders ? &qp->dv : NULL;
}

/*
 * The library does not record deferred doorbells, because the program passes
 * the QPs and the kernel finds the posted requests in their rings.
 */
MXE_EXPORT int mxedv_ring_doorbells(struct ibv_context *context,
				    struct ibv_qp *const *qps, uint32_t num_qps)
{
	if (!context || (num_qps && !qps))
		return EINVAL;
	if (!mxe_is_device(context->device))
		return EOPNOTSUPP;
	return mxe_doorbell_qps(context, qps, num_qps);
}

MXE_EXPORT int mxedv_sync_mr(struct ibv_mr *mr, uint64_t addr, uint64_t length,
			     uint32_t flags)
{
	if (!mr)
		return EINVAL;
	if (!mxe_is_device(mr->context->device))
		return EOPNOTSUPP;
	return mxe_ioctl_sync_mr(mr, addr, length, flags);
}

MXE_EXPORT int mxedv_query_dct(struct ibv_qp *qp, struct mxedv_dct_attr *attr,
			       uint32_t inlen)
{
	struct mxe_query_dct_resp resp = { 0 };
	struct mxedv_dct_attr known;
	int ret;

	if (!qp || !attr || inlen < sizeof(known.comp_mask))
		return EINVAL;
	if (!mxe_is_device(qp->context->device))
		return EOPNOTSUPP;
	ret = mxe_qp_query_dct(qp, &resp);
	if (ret)
		return ret;
	known = (struct mxedv_dct_attr) {
		.key_violations = resp.key_violations,
		.state = (enum ibv_qp_state)resp.state,
		.num_sessions = resp.num_sessions,
		.num_initiators = resp.num_initiators,
		.armed_events = resp.armed_events,
	};
	memset(attr, 0, inlen);
	memcpy(attr, &known, inlen < sizeof(known) ? inlen : sizeof(known));
	return 0;
}

MXE_EXPORT int mxedv_arm_dct(struct ibv_qp *qp, uint32_t events)
{
	if (!qp)
		return EINVAL;
	if (!mxe_is_device(qp->context->device))
		return EOPNOTSUPP;
	return mxe_qp_arm_dct(qp, events);
}
