// SPDX-License-Identifier: GPL-2.0
/*
 * Inline receive: the completion of a short message contains the data, and the
 * library of the process copies them to the receive buffer.
 */
#include "memory/mr.h"
#include "memory/pin.h"
#include "mxe.h"
#include "queues/qp.h"
#include "queues/srq.h"
#include "rc/inline_recv.h"
#include "wire/pkt.h"

DEFINE_STATIC_KEY_FALSE(mxe_inline_recv_used);

/*
 * Give a QP of a process that is being created inline receive.
 * Context: May sleep.
 * Return: 0, or -EOPNOTSUPP if the type of the QP or its SRQ excludes that.
 */
int mxe_inline_recv_init(struct mxe_qp *qp)
{
	if (qp->type != IB_QPT_RC && qp->type != IB_QPT_UC)
		return mxe_refuse(qp->dev, -EOPNOTSUPP, "no inline receive with QP type %d",
				  qp->type);
	/* The header of a tagged message has its place in the completion. */
	if (qp->resp.srq && qp->resp.srq->tm)
		return mxe_refuse(qp->dev, -EOPNOTSUPP,
				  "no inline receive with a tag-matching SRQ");
	qp->resp.inline_recv = true;
	static_branch_enable(&mxe_inline_recv_used);
	return 0;
}

/*
 * Returns true if the process that polls the CQ can use the addresses of the
 * region as they are: its own memory, without an iova that differs.
 */
static bool mxe_inline_recv_is_own(const struct mxe_mr *mr, const struct mxe_cq *cq)
{
	return mr->pin && mr->pin->key.start == mr->iova &&
	       mr->pin->key.mm == cq->mm;
}

/*
 * Keep the data of a SEND for its completion. The QP has inline receive, and a
 * receive request in resp.cur.
 * Context: BHs disabled, recv_lock held.
 * Return: true if the data are kept; false if the packet must be copied to the
 * buffer, which also finds the errors.
 */
bool mxe_inline_recv_store(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_responder *resp = &qp->resp;
	const struct ib_sge *sge = resp->cur->sge;
	const struct mxe_cq *cq = qp->recv_cq;
	u32 len = pkt->payload_len;
	const struct ib_pd *pd;
	struct mxe_mr *mr;
	bool usable;

	lockdep_assert_held(&qp->recv_lock);

	resp->inl.len = 0;
	if (~pkt->flags & (MXE_OP_START | MXE_OP_END) || !len ||
	    len > MXE_CQE_INLINE_SIZE || !resp->cur->num_sge ||
	    len > sge->length || cq->timestamps)
		return false;

	pd = resp->srq ? resp->srq->ibsrq.pd : qp->pd;
	mr = mxe_mr_get(qp->dev, sge->lkey, &resp->local_cache);
	if (!mr)
		return false;
	usable = mxe_inline_recv_is_own(mr, cq) &&
		 !mxe_mr_check(mr, pd, IB_ACCESS_LOCAL_WRITE, sge->addr, len);
	mxe_mr_put(mr);
	if (!usable)
		return false;
	resp->inl.addr = sge->addr;
	resp->inl.len = len;
	memcpy(resp->inl.data, pkt->payload, len);
	return true;
}

/*
 * Add the data that were kept to a completion, which keeps a pointer to
 * resp.inl. A completion in error has no data.
 * Context: recv_lock held.
 */
void mxe_inline_recv_end(struct mxe_qp *qp, struct mxe_wc *wc)
{
	struct mxe_inline_recv *inl = &qp->resp.inl;

	lockdep_assert_held(&qp->recv_lock);

	if (inl->len && !wc->status) {
		wc->flags |= MXE_CQE_INLINE;
		wc->inl = inl;
	}
	inl->len = 0;
}
