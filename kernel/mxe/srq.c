// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues from the side of the responder: taking requests,
 * references, and events.  recv.c and qp.c call it.  It calls rq.c.
 */
#include "mxe.h"
#include "pending.h"
#include "rq.h"
#include "srq.h"

int mxe_srq_take(struct mxe_srq *srq, struct mxe_recv_wr *wr,
		 unsigned long *pending)
{
	int err;

	spin_lock(&srq->lock);
	err = mxe_rq_take(to_mdev(srq->ibsrq.device), &srq->q, wr);
	if (err == -EPIPE)
		*pending |= BIT(MXE_PENDING_EV_SRQ_ERR);
	if (!err && srq->limit &&
	    mxe_rq_filled(&srq->q) < srq->limit) {
		/*
		 * The limit is disarmed until it is set again (IBTA 10.2.9.3).
		 */
		srq->limit = 0;
		*pending |= BIT(MXE_PENDING_EV_SRQ_LIMIT);
	}
	spin_unlock(&srq->lock);
	return err;
}

static void mxe_srq_release(struct kref *ref)
{
	complete(&container_of(ref, struct mxe_srq, ref)->released);
}

void mxe_srq_hold(struct mxe_srq *srq)
{
	kref_get(&srq->ref);
}

void mxe_srq_put(struct mxe_srq *srq)
{
	kref_put(&srq->ref, mxe_srq_release);
}

void mxe_srq_event(struct mxe_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = type,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}
