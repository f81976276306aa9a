// SPDX-License-Identifier: GPL-2.0
/*
 * Domains of extended reliable connections: their verbs, and the numbers by which
 * target queue pairs find the shared receive queues of a domain.  ib_core calls the
 * verbs through the table in device.c, srq_verbs.c calls the rest; it calls respond.c
 * and srq.c.
 */
#include "mxe.h"
#include "resource.h"
#include "respond.h"
#include "srq.h"
#include "udata.h"
#include "xrc.h"
#include "xrcd.h"

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

int mxe_xrcd_publish(struct mxe_srq *srq)
{
	struct mxe_dev *dev = to_mdev(srq->ibsrq.device);
	struct xa_limit limit = XA_LIMIT(1, MXE_XRC_SRQN_MASK);
	int err;

	kref_init(&srq->ref);
	init_completion(&srq->released);
	/* Numbers of queues that have gone are not met again soon. */
	err = xa_alloc_cyclic_bh(&dev->xrc_srqs, &srq->num, srq, limit,
				 &dev->next_srqn, GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err;
	srq->ibsrq.ext.xrc.srq_num = srq->num;
	return 0;
}

/*
 * A queue that is looked up is used under the recv_lock of the target, so with
 * the number gone one visit to every target finds all that know the queue.  One
 * that reports an event of it has a reference.
 */
void mxe_xrcd_withdraw(struct mxe_srq *srq)
{
	struct mxe_xrcd *xrcd = to_mxrcd(srq->ibsrq.ext.xrc.xrcd);
	struct mxe_qp *qp;

	/* Waits for a target of another domain that is comparing its own with it. */
	xa_erase_bh(&to_mdev(srq->ibsrq.device)->xrc_srqs, srq->num);

	mutex_lock(&xrcd->lock);
	list_for_each_entry(qp, &xrcd->tgts, xrcd_entry) {
		mxe_rq_begin(qp);
		mxe_respond_forget(qp, srq);
		mxe_rq_end(qp);
	}
	mutex_unlock(&xrcd->lock);

	mxe_srq_put(srq);
	wait_for_completion(&srq->released);
}
