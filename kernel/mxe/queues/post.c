// SPDX-License-Identifier: GPL-2.0
/*
 * The post verbs of kernel consumers. They put the requests into the queues
 * (wqe.c, rq.c) and run the requester (send.c), or in ERR the flush of receive
 * requests (recv.c).
 */
#include "mxe.h"
#include "queues/post.h"
#include "queues/qp.h"
#include "queues/rq.h"
#include "queues/wqe.h"
#include "rc/recv.h"
#include "rc/send.h"

int mxe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *ibwr,
		  const struct ib_send_wr **bad_wr)
{
	struct mxe_qp *qp = to_mqp(ibqp);
	struct mxe_requester *req = &qp->req;
	unsigned long flags;
	int err = 0;

	/*
	 * Processes post through their rings, so the legacy write command is
	 * refused.  XRC and DC targets have no send queue.
	 */
	if (qp->is_user || !req->entries) {
		*bad_wr = ibwr;
		return mxe_refuse(qp->dev, -EOPNOTSUPP, "queue of a process");
	}
	if (READ_ONCE(qp->state) < IB_QPS_RTS) {
		*bad_wr = ibwr;
		return mxe_refuse(qp->dev, -EINVAL, "cannot post in state %d", qp->state);
	}

	spin_lock_irqsave(&req->post_lock, flags);
	for (; ibwr; ibwr = ibwr->next) {
		err = mxe_wqe_post(qp, ibwr);
		if (err) {
			mxe_refuse(qp->dev, err, "cannot post opcode %d", ibwr->opcode);
			*bad_wr = ibwr;
			break;
		}
	}
	spin_unlock_irqrestore(&req->post_lock, flags);

	mxe_send_doorbell(qp);
	return err;
}

int mxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *ibwr,
		  const struct ib_recv_wr **bad_wr)
{
	struct mxe_qp *qp = to_mqp(ibqp);
	int err;

	/* Processes post through their rings; refuse the legacy command. */
	if (qp->is_user) {
		*bad_wr = ibwr;
		return mxe_refuse(qp->dev, -EOPNOTSUPP, "queue of a process");
	}
	if (READ_ONCE(qp->state) == IB_QPS_RESET || !qp->resp.q.entries) {
		*bad_wr = ibwr;
		return mxe_refuse(qp->dev, -EINVAL, "cannot post in state %d to %u entries",
				  qp->state, qp->resp.q.entries);
	}

	err = mxe_rq_post(qp->dev, &qp->resp.q, ibwr, bad_wr);
	mxe_recv_doorbell(qp);
	return err;
}
