// SPDX-License-Identifier: GPL-2.0
/* XRC domains: their verbs, and the end of the SRQs of a domain. */
#include "mxe.h"
#include "queues/srq.h"
#include "queues/xrc.h"
#include "queues/xrcd.h"
#include "rc/respond.h"
#include "resource.h"
#include "udata.h"

int mxe_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct mxe_xrcd *xrcd = to_mxrcd(ibxrcd);
	struct mxe_dev *dev = to_mdev(ibxrcd->device);

	if (!mxe_udata_cleared(udata))
		return mxe_refuse(dev, -EINVAL, "non-zero udata");
	mutex_init(&xrcd->lock);
	INIT_LIST_HEAD(&xrcd->tgts);
	return mxe_resource_take(dev, MXE_RESOURCE_XRCD);
}

int mxe_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	mutex_destroy(&to_mxrcd(ibxrcd)->lock);
	mxe_resource_give(to_mdev(ibxrcd->device), MXE_RESOURCE_XRCD);
	return 0;
}

/*
 * Undo mxe_srq_publish() for an XRC SRQ. Wait until no target uses it.
 *
 * A target uses an SRQ that it has looked up only under its recv_lock. Once the
 * number is erased, taking recv_lock of each target in turn therefore reaches
 * every use of the SRQ. A target that reports an event of the SRQ holds a
 * reference.
 *
 * Context: May sleep.
 */
void mxe_xrcd_withdraw(struct mxe_srq *srq)
{
	struct mxe_xrcd *xrcd = to_mxrcd(srq->ibsrq.ext.xrc.xrcd);
	struct mxe_qp *qp;

	/* Waits for targets of other domains, which compare the domain only. */
	mxe_srq_withdraw(srq);

	mutex_lock(&xrcd->lock);
	list_for_each_entry(qp, &xrcd->tgts, xrcd_entry) {
		mxe_qp_recv_begin(qp);
		mxe_respond_forget(qp, srq);
		mxe_qp_recv_end(qp);
	}
	mutex_unlock(&xrcd->lock);

	mxe_srq_wait(srq);
}
