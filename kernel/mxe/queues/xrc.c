// SPDX-License-Identifier: GPL-2.0
/*
 * XRC targets: membership in a domain, and the lookup of the SRQ that a request
 * names.
 */
#include "mxe.h"
#include "queues/qp.h"
#include "queues/srq.h"
#include "queues/xrc.h"

/*
 * Add an XRC target to its domain.
 * Context: May sleep.
 */
void mxe_xrc_join(struct mxe_qp *qp, struct ib_xrcd *ibxrcd)
{
	struct mxe_xrcd *xrcd = to_mxrcd(ibxrcd);

	qp->xrcd = xrcd;
	mutex_lock(&xrcd->lock);
	list_add_tail(&qp->xrcd_entry, &xrcd->tgts);
	mutex_unlock(&xrcd->lock);
}

/*
 * Remove an XRC target from its domain.
 * Context: May sleep.
 */
void mxe_xrc_leave(struct mxe_qp *qp)
{
	mutex_lock(&qp->xrcd->lock);
	list_del(&qp->xrcd_entry);
	mutex_unlock(&qp->xrcd->lock);
}

/*
 * Look up an SRQ in the domain of a target. Return NULL if there is none. The
 * result is valid until recv_lock is dropped, or while resp->srq or
 * resp->read.srq points to it: mxe_xrcd_withdraw() clears these before an SRQ
 * is freed.
 * Context: recv_lock of @qp held.
 */
struct mxe_srq *mxe_xrc_find(struct mxe_qp *qp, u32 srqn)
{
	struct mxe_srq *srq;

	lockdep_assert_held(&qp->recv_lock);

	/*
	 * The SRQ may belong to another domain. mxe_xrcd_withdraw() does not
	 * take recv_lock of this target then, so only the xarray's lock keeps
	 * the SRQ while its domain is compared.  A tag-matching SRQ has none.
	 */
	xa_lock_bh(&qp->dev->srqs);
	srq = xa_load(&qp->dev->srqs, srqn);
	if (srq && to_mxrcd(srq->ibsrq.ext.xrc.xrcd) != qp->xrcd)
		srq = NULL;
	xa_unlock_bh(&qp->dev->srqs);
	return srq;
}

/*
 * Set resp->srq to the SRQ that the next packet in sequence names. @start: the
 * packet begins a message.
 * Context: recv_lock of @qp held.
 * Return: 0, or -EINVAL if the SRQ does not exist or differs from that of the
 * first packet of the message.
 */
int mxe_xrc_select(struct mxe_qp *qp, u32 srqn, bool start)
{
	struct mxe_responder *resp = &qp->resp;

	/* The SRQ of the last message is valid until it is withdrawn. */
	if (resp->srq && resp->srq->num == srqn)
		return 0;
	if (!start)
		return -EINVAL;
	resp->srq = mxe_xrc_find(qp, srqn);
	return resp->srq ? 0 : -EINVAL;
}
