// SPDX-License-Identifier: GPL-2.0
/* The parts of the QP verbs that differ for dynamically connected QPs. */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <rdma/ib_addr.h>

#include "dc/dc.h"
#include "dc/dc_verbs.h"
#include "dc/dci.h"
#include "dc/dct.h"
#include "mxe.h"

/*
 * Make a QP of type IB_QPT_DRIVER that is being created a DC QP. The flags and
 * sizes of @req are checked.
 * Context: May sleep.
 * Return: 0; -EOPNOTSUPP if @req asks for neither type; -EINVAL if it asks for
 * both, or the QP has or lacks an SRQ, or cannot have one of the flags; or
 * -ENOMEM.
 */
int mxe_dc_verbs_create(struct mxe_qp *qp, const struct mxe_create_qp_req *req)
{
	u32 kind = req->flags & (MXE_QP_CREATE_DCT | MXE_QP_CREATE_DCI);

	if (!kind)
		return mxe_refuse(qp->dev, -EOPNOTSUPP, "not a DC QP");
	if (kind == (MXE_QP_CREATE_DCT | MXE_QP_CREATE_DCI))
		return mxe_refuse(qp->dev, -EINVAL, "both a DC target and an initiator");
	if (req->flags & MXE_QP_CREATE_INLINE_RECV)
		return mxe_refuse(qp->dev, -EOPNOTSUPP, "no inline receive on DC");
	if (kind == MXE_QP_CREATE_DCI) {
		if (req->dct_key)
			return mxe_refuse(qp->dev, -EINVAL, "an initiator has no key");
		if (qp->resp.srq)
			return mxe_refuse(qp->dev, -EINVAL, "an initiator has no SRQ");
		return mxe_dci_create(qp);
	}
	if (!qp->resp.srq || qp->resp.srq->tm)
		return mxe_refuse(qp->dev, -EINVAL, "a DC target needs a basic SRQ");
	if (req->flags & MXE_QP_CREATE_ATOMIC_BE_REPLY || req->max_atomic_arg)
		return mxe_refuse(qp->dev, -EINVAL, "a DC target has no send queue");
	return mxe_dct_create(qp, req->dct_key);
}

/*
 * Call it when the QP is not found by its number any more.
 * Context: May sleep.
 */
void mxe_dc_verbs_destroy(struct mxe_qp *qp)
{
	if (mxe_qp_is_dct(qp))
		mxe_dct_destroy(qp);
	else if (qp->dc)
		mxe_dci_destroy(qp);
}

/* A transition, besides those to RESET and ERR, and between the same states. */
struct mxe_dc_verbs_transition {
	enum mxe_dc_kind kind;
	enum ib_qp_state from, to;
	int required, optional;
};

static const struct mxe_dc_verbs_transition mxe_dc_verbs_transitions[] = {
	{
		.kind = MXE_DC_TARGET,
		.from = IB_QPS_RESET,
		.to = IB_QPS_INIT,
		.required = IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS,
	}, {
		.kind = MXE_DC_TARGET,
		.from = IB_QPS_INIT,
		.to = IB_QPS_RTR,
		.required = IB_QP_PATH_MTU | IB_QP_MIN_RNR_TIMER,
		.optional = IB_QP_AV | IB_QP_MAX_DEST_RD_ATOMIC |
			    IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX,
	}, {
		.kind = MXE_DC_INITIATOR,
		.from = IB_QPS_RESET,
		.to = IB_QPS_INIT,
		.required = IB_QP_PKEY_INDEX | IB_QP_PORT,
		.optional = IB_QP_ACCESS_FLAGS,
	}, {
		.kind = MXE_DC_INITIATOR,
		.from = IB_QPS_INIT,
		.to = IB_QPS_RTR,
		.required = IB_QP_PATH_MTU,
		.optional = IB_QP_AV | IB_QP_PKEY_INDEX,
	}, {
		.kind = MXE_DC_INITIATOR,
		.from = IB_QPS_RTR,
		.to = IB_QPS_RTS,
		.required = IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			    IB_QP_MAX_QP_RD_ATOMIC,
		.optional = IB_QP_SQ_PSN,
	}, {
		.kind = MXE_DC_INITIATOR,
		.from = IB_QPS_RTS,
		.to = IB_QPS_SQD,
		.optional = IB_QP_EN_SQD_ASYNC_NOTIFY,
	}, {
		.kind = MXE_DC_INITIATOR,
		.from = IB_QPS_SQD,
		.to = IB_QPS_RTS,
	},
};

/*
 * Check that the transition of a DC QP exists, and has the attributes in @mask,
 * IB_QP_*, that it needs and no others.
 * Context: Both locks held.
 */
bool mxe_dc_verbs_modify_ok(const struct mxe_qp *qp, enum ib_qp_state from,
			    enum ib_qp_state to, int mask)
{
	unsigned int i;

	mask &= ~(IB_QP_STATE | IB_QP_CUR_STATE);
	if (to == IB_QPS_RESET || to == IB_QPS_ERR)
		return !mask;
	for (i = 0; i < ARRAY_SIZE(mxe_dc_verbs_transitions); i++) {
		const struct mxe_dc_verbs_transition *t = &mxe_dc_verbs_transitions[i];

		if (t->kind == qp->dc->kind && t->from == from && t->to == to)
			return (mask & t->required) == t->required &&
			       !(mask & ~(t->required | t->optional));
	}
	return false;
}

/*
 * Make room for the headers of DC in packets: lower path_mtu of a DC initiator
 * if packets would exceed the MTU of the netdev. The QP is of any type.
 * Context: Process context.
 * Return: 0, or -EINVAL if a DC packet cannot have 256 bytes.
 */
int mxe_dc_verbs_fit_mtu(const struct mxe_qp *qp, struct ib_qp_attr *attr)
{
	int mtu = READ_ONCE(qp->dev->ndev->mtu);
	int max = iboe_get_mtu(mtu - MXE_DC_EXTRA_HEADERS);

	/* Responses have no longer headers than requests of RC. */
	if (!mxe_qp_is_dci(qp))
		return 0;
	if (!max)
		return mxe_refuse(qp->dev, -EINVAL, "netdev MTU %d is too small for DC", mtu);
	attr->path_mtu = min_t(int, attr->path_mtu, max);
	return 0;
}

/*
 * Add the attributes that DC makes optional to @attr and @mask, IB_QP_*.
 * mxe_dc_verbs_modify_ok() is true.
 * Context: Both locks held.
 */
void mxe_dc_verbs_set_defaults(struct mxe_qp *qp, enum ib_qp_state to,
			       struct ib_qp_attr *attr, int *mask)
{
	if (mxe_qp_is_dci(qp)) {
		/* A session begins with a random PSN, and continues in SQD. */
		if (qp->state != IB_QPS_RTR || to != IB_QPS_RTS ||
		    *mask & IB_QP_SQ_PSN)
			return;
		attr->sq_psn = 0;
		*mask |= IB_QP_SQ_PSN;
		return;
	}
	if (to != IB_QPS_RTR)
		return;
	/* Otherwise those of an earlier time in RTR would be used again. */
	if (!(*mask & IB_QP_AV))
		memset(&qp->attr.ah_attr, 0, sizeof(qp->attr.ah_attr));
	if (!(*mask & IB_QP_MAX_DEST_RD_ATOMIC))
		qp->attr.max_dest_rd_atomic = MXE_DCT_RD_ATOMIC;
}

/*
 * Finish a transition of a QP of any type whose state may have changed.
 * Context: No lock of a QP held. May sleep.
 */
void mxe_dc_verbs_modified(struct mxe_qp *qp)
{
	if (mxe_qp_is_dct(qp))
		mxe_dct_update(qp);
}
