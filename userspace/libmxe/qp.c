// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creation, modification and destruction of QPs, and the methods of DC targets.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/mxe_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "infiniband/mxedv.h"
#include "context.h"
#include "cq.h"
#include "ece.h"
#include "ioctl.h"
#include "pd.h"
#include "qp.h"
#include "rdmav.h"
#include "recv.h"
#include "ring.h"
#include "send.h"
#include "srq.h"

enum {
	MXE_QP_INIT_ATTRS = IBV_QP_INIT_ATTR_PD |
			    IBV_QP_INIT_ATTR_XRCD |
			    IBV_QP_INIT_ATTR_CREATE_FLAGS |
			    IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
};

struct mxe_create_qp {
	struct ibv_create_qp_ex cmd;
	struct mxe_create_qp_req drv;
};

struct mxe_create_qp_resp_full {
	__aligned_u64 core[sizeof(struct ib_uverbs_ex_create_qp_resp) / 8];
	struct mxe_create_qp_resp drv;
};

static_assert(sizeof(struct ib_uverbs_ex_create_qp_resp) % 8 == 0,
	      "the driver's response directly follows that of the core");
static_assert((int)MXEDV_QP_CREATE_ATOMIC_BE_REPLY ==
		      (int)MXE_QP_CREATE_ATOMIC_BE_REPLY,
	      "the flag is passed on unchanged");

static uint32_t mxe_kernel_flags(uint32_t create_flags)
{
	return (create_flags & MXE_QP_CREATE_ATOMIC_BE_REPLY) |
	       (create_flags & MXEDV_QP_CREATE_INLINE_RECV ?
		MXE_QP_CREATE_INLINE_RECV : 0);
}

/*
 * Checks that the device supports the requested atomics. Returns 0, EINVAL, or
 * EOPNOTSUPP.
 */
static int mxe_check_atomics(const struct mxe_atomic_caps *caps,
			     uint32_t create_flags, uint32_t max_atomic_arg)
{
	if (create_flags & MXEDV_QP_CREATE_ATOMIC_BE_REPLY &&
	    !(caps->reply_modes & MXE_ATOMIC_REPLY_BE))
		return EOPNOTSUPP;
	if (!max_atomic_arg)
		return 0;
	if (max_atomic_arg & (max_atomic_arg - 1))
		return EINVAL;
	/* max_atomic_arg is 2^n bytes, which is bit n of log_arg_sizes. */
	if (!(caps->log_arg_sizes >> __builtin_ctz(max_atomic_arg) & 1))
		return EOPNOTSUPP;
	return 0;
}

/* XRC targets are excluded: ib_core does not pass their flags to the driver. */
static bool mxe_has_inline_recv(const struct mxe_context *ctx, enum ibv_qp_type type)
{
	return ctx->max_inline_recv && (type == IBV_QPT_RC || type == IBV_QPT_UC);
}

/* Maps the rings of the queues of a QP to sq and rq. */
static int mxe_map_rings(const struct mxe_qp *qp, int cmd_fd, struct mxe_ring *sq,
			 struct mxe_ring *rq, const struct mxe_create_qp_resp *resp)
{
	/* Precede the scatter/gather list; see struct mxe_send_wqe. */
	size_t operands = qp->max_atomic_arg > sizeof(uint64_t) ?
			  4 * (size_t)qp->max_atomic_arg : 0;
	size_t sges = (size_t)resp->sq.max_sge * sizeof(struct mxe_sge);
	size_t dest = qp->is_dci ? sizeof(struct mxe_dc_dest) : 0;
	size_t data = sges > resp->sq.max_inline ? sges : resp->sq.max_inline;
	int ret;

	ret = mxe_ring_map(sq, cmd_fd, &resp->sq,
			   sizeof(struct mxe_send_wqe) + operands + data + dest,
			   NULL);
	if (ret)
		return ret;
	ret = mxe_recv_map(rq, cmd_fd, &resp->rq, sq);
	if (ret)
		mxe_ring_unmap(sq);
	return ret;
}

static void mxe_unmap_rings(struct mxe_qp *qp)
{
	mxe_ring_unmap(&qp->sq);
	mxe_ring_unmap(&qp->rq);
}

/**
 * mxe_create_qp_dv() - Create a QP for mxedv_create_qp().
 * @context: the context
 * @attr: as for ibv_create_qp_ex()
 * @create_flags: enum mxedv_qp_create_flags, validated
 * @max_atomic_arg: bytes, validated
 * @dc: dc_type and dct_access_key, validated; NULL: not a DC QP
 *
 * Return: the QP, or NULL with errno.
 */
struct ibv_qp *mxe_create_qp_dv(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr,
				uint32_t create_flags, uint32_t max_atomic_arg,
				const struct mxedv_qp_init_attr *dc)
{
	struct mxe_context *ctx = to_mctx(context);
	struct mxe_create_qp cmd = {
		.drv = {
			.flags = mxe_kernel_flags(create_flags),
			.max_atomic_arg = max_atomic_arg,
		},
	};
	struct mxe_create_qp_resp_full resp = { 0 };
	bool is_dci = dc && dc->dc_type == MXEDV_DCTYPE_DCI;
	bool has_builders = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	struct mxe_qp *qp;
	bool atomics;
	int ret;

	if (ctx->has_one_mapping)
		cmd.drv.flags |= MXE_QP_CREATE_ONE_MAPPING;
	if (dc) {
		cmd.drv.flags |= is_dci ? MXE_QP_CREATE_DCI : MXE_QP_CREATE_DCT;
		cmd.drv.dct_key = dc->dct_access_key;
	}
	if (attr->comp_mask & ~MXE_QP_INIT_ATTRS ||
	    (has_builders && attr->send_ops_flags & ~mxe_send_ops(attr->qp_type))) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	ret = mxe_check_atomics(&ctx->caps, create_flags, max_atomic_arg);
	if (!ret && create_flags & MXEDV_QP_CREATE_INLINE_RECV &&
	    !mxe_has_inline_recv(ctx, attr->qp_type))
		ret = EOPNOTSUPP;
	if (ret) {
		errno = ret;
		return NULL;
	}

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	qp->max_atomic_arg = max_atomic_arg ? max_atomic_arg :
					      sizeof(uint64_t);
	ret = ibv_cmd_create_qp_ex2(context, &qp->vqp, attr, &cmd.cmd,
				    sizeof(cmd), (void *)&resp, sizeof(resp),
				    NULL);
	if (ret)
		goto err_free;
	qp->is_dci = is_dci;
	ret = mxe_map_rings(qp, context->cmd_fd, &qp->sq, &qp->rq, &resp.drv);
	if (ret)
		goto err_destroy;

	qp->sq.is_single_threaded = attr->comp_mask & IBV_QP_INIT_ATTR_PD &&
				    mxe_pd_is_single_threaded(attr->pd);
	qp->rq.is_single_threaded = qp->sq.is_single_threaded;

	/*
	 * If the device replies only in big-endian, the program must request
	 * that with the flag. Otherwise atomics are refused.
	 */
	atomics = cmd.drv.flags & MXE_QP_CREATE_ATOMIC_BE_REPLY ||
		  ctx->caps.reply_modes & MXE_ATOMIC_REPLY_HOST;
	mxe_send_init(qp, attr->qp_type, atomics);
	qp->defers_doorbell = create_flags & MXEDV_QP_CREATE_DEFER_DOORBELL;
	if (create_flags & MXEDV_QP_CREATE_EXP_WC_OPCODE)
		qp->masked_flags = MXE_SEND_USER;
	mxe_ece_reset(qp);
	if (has_builders) {
		mxe_send_set_builders(qp);
		qp->has_builders = true;
		mxe_rdmav_set_qp_ex(&qp->vqp);
	}
	return &qp->vqp.qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free:
	free(qp);
	errno = ret;
	return NULL;
}

struct ibv_qp *mxe_create_qp_ex(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr)
{
	return mxe_create_qp_dv(context, attr, 0, 0, NULL);
}

struct ibv_qp *mxe_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *ibqp;

	ibqp = mxe_create_qp_dv(pd->context, &attr_ex, 0, 0, NULL);
	if (ibqp)
		attr->cap = attr_ex.cap;
	return ibqp;
}

/*
 * Opens an existing XRC target QP, of this or another process, to modify and
 * query it. The handle has no rings.
 */
struct ibv_qp *mxe_open_qp(struct ibv_context *context,
			   struct ibv_qp_open_attr *attr)
{
	const struct mxe_create_qp_resp no_rings = { 0 };
	struct ib_uverbs_create_qp_resp resp;
	struct ibv_open_qp cmd = { 0 };
	struct mxe_qp *qp;
	int ret;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	ret = mxe_map_rings(qp, context->cmd_fd, &qp->sq, &qp->rq, &no_rings);
	if (ret)
		goto err_free;
	ret = ibv_cmd_open_qp(context, &qp->vqp, sizeof(qp->vqp), attr, &cmd,
			      sizeof(cmd), &resp, sizeof(resp));
	if (ret)
		goto err_unmap;
	return &qp->vqp.qp;

err_unmap:
	mxe_unmap_rings(qp);
err_free:
	free(qp);
	errno = ret;
	return NULL;
}

static void mxe_qp_purge(struct ibv_qp *ibqp)
{
	if (ibqp->send_cq)
		mxe_cq_purge(ibqp->send_cq, ibqp->qp_num);
	if (ibqp->recv_cq && ibqp->recv_cq != ibqp->send_cq)
		mxe_cq_purge(ibqp->recv_cq, ibqp->qp_num);
	/* Receives of a tag-matching SRQ complete in the CQ of the SRQ. */
	if (ibqp->srq && to_msrq(ibqp->srq)->tm_cq)
		mxe_cq_purge(to_msrq(ibqp->srq)->tm_cq, ibqp->qp_num);
}

static int mxe_ioctl_resize_qp(struct ibv_qp *ibqp, const struct ibv_qp_cap *cap,
			       struct mxe_create_qp_resp *resp)
{
	struct ib_uverbs_attr attrs[] = {
		{ .attr_id = MXE_ATTR_RESIZE_QP_HANDLE, .data = ibqp->handle },
		{ .attr_id = MXE_ATTR_RESIZE_QP_MAX_SEND_WR,
		  .len = sizeof(uint32_t), .data = cap->max_send_wr },
		{ .attr_id = MXE_ATTR_RESIZE_QP_MAX_RECV_WR,
		  .len = sizeof(uint32_t), .data = cap->max_recv_wr },
		{ .attr_id = MXE_ATTR_RESIZE_QP_RESP, .len = sizeof(*resp),
		  .data = (uintptr_t)resp },
	};

	return mxe_ioctl(ibqp->context, UVERBS_OBJECT_QP, MXE_METHOD_QP_RESIZE,
			 attrs, 4);
}

/*
 * Replaces the rings of a QP whose rings are locked. If the new ones cannot be
 * mapped, this fails, and the QP takes no requests until another call succeeds.
 */
static int mxe_replace_rings(struct mxe_qp *qp, struct ibv_qp_cap *cap)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;
	struct mxe_create_qp_resp resp = { 0 };
	struct mxe_ring sq, rq;
	int ret;

	ret = mxe_ioctl_resize_qp(ibqp, cap, &resp);
	if (ret)
		return ret;
	ret = mxe_map_rings(qp, ibqp->context->cmd_fd, &sq, &rq, &resp);
	if (!ret && !sq.entries) {
		mxe_ring_unmap(&sq);
		mxe_ring_unmap(&rq);
		ret = EPROTO;
	}
	if (ret) {
		qp->sq.entries = 0;
		qp->rq.entries = 0;
		return ret;
	}
	mxe_ring_swap(&qp->sq, &sq);
	mxe_ring_swap(&qp->rq, &rq);
	mxe_ring_unmap(&sq);
	mxe_ring_unmap(&rq);
	cap->max_send_wr = qp->sq.entries;
	cap->max_recv_wr = qp->rq.entries;
	return 0;
}

/* Nothing is posted meanwhile, because it would stay in the old rings. */
static int mxe_resize_qp(struct mxe_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	int ret;

	if (!to_mctx(qp->vqp.qp.context)->has_resize_qp || !qp->sq.hdr)
		return EOPNOTSUPP;
	if (attr_mask != IBV_QP_CAP)
		return EINVAL;
	mxe_ring_lock(&qp->sq);
	mxe_ring_lock(&qp->rq);
	ret = mxe_replace_rings(qp, &attr->cap);
	mxe_ring_unlock(&qp->rq);
	mxe_ring_unlock(&qp->sq);
	return ret;
}

/*
 * Purges the CQs after the kernel has reset the QP, because only then it adds
 * no more completions.
 */
int mxe_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct mxe_qp *qp = to_mqp(ibqp);
	struct ibv_modify_qp cmd = { 0 };
	int ret;

	if (attr_mask & IBV_QP_CAP)
		return mxe_resize_qp(qp, attr, attr_mask);
	ret = ibv_cmd_modify_qp(ibqp, attr, attr_mask, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	if (attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET) {
		mxe_ring_reset(&qp->sq);
		mxe_ring_reset(&qp->rq);
		mxe_ece_reset(qp);
		mxe_qp_purge(ibqp);
	}
	return 0;
}

int mxe_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd;

	return ibv_cmd_query_qp(ibqp, attr, attr_mask, init_attr, &cmd,
				sizeof(cmd));
}

/*
 * The kernel destroys the QP first, so that a failure changes nothing. It
 * returns EBUSY if the QP is attached to a multicast group or another thread
 * is using it.
 *
 * The kernel then adds no more completions for the QP, and the remaining ones
 * are dropped. This cannot drop completions of a new QP, because the kernel
 * assigns QP numbers cyclically and assigns all others before it reuses one.
 */
int mxe_destroy_qp(struct ibv_qp *ibqp)
{
	struct mxe_qp *qp = to_mqp(ibqp);
	int ret;

	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret)
		return ret;
	mxe_qp_purge(ibqp);
	mxe_unmap_rings(qp);
	free(qp);
	return 0;
}

/**
 * mxe_qp_query_dct() - Call MXE_METHOD_DCT_QUERY.
 * @qp: QP of an mxe device
 * @resp: zeroed by the caller, filled in
 *
 * Return: 0 or a positive errno.
 */
int mxe_qp_query_dct(struct ibv_qp *qp, struct mxe_query_dct_resp *resp)
{
	struct ib_uverbs_attr attrs[] = {
		{ .attr_id = MXE_ATTR_QUERY_DCT_HANDLE, .data = qp->handle },
		{ .attr_id = MXE_ATTR_QUERY_DCT_RESP, .len = sizeof(*resp),
		  .data = (uintptr_t)resp },
	};

	return mxe_ioctl_optional(qp->context, UVERBS_OBJECT_QP,
				  MXE_METHOD_DCT_QUERY, attrs, 2);
}

/**
 * mxe_qp_arm_dct() - Call MXE_METHOD_DCT_ARM.
 * @qp: QP of an mxe device
 * @events: enum mxe_arm_dct_events
 *
 * Return: 0 or a positive errno.
 */
int mxe_qp_arm_dct(struct ibv_qp *qp, uint32_t events)
{
	struct ib_uverbs_attr attrs[] = {
		{ .attr_id = MXE_ATTR_ARM_DCT_HANDLE, .data = qp->handle },
		{ .attr_id = MXE_ATTR_ARM_DCT_EVENTS, .len = sizeof(events),
		  .data = events },
	};

	return mxe_ioctl_optional(qp->context, UVERBS_OBJECT_QP,
				  MXE_METHOD_DCT_ARM, attrs, 2);
}
