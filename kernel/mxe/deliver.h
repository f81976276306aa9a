/* SPDX-License-Identifier: GPL-2.0 */
/*
 * deliver.c gives requests to the responder of a queue pair: now or, in order, later.
 */
#ifndef MXE_DELIVER_H
#define MXE_DELIVER_H

#include "qp.h"

/*
 * A request of the queue pair's peer, or a datagram; consumes skb, which holds pkt.
 * Context: recv_lock held.
 */
void mxe_deliver(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		 struct sk_buff *skb);
/*
 * A datagram to a group of the queue pair; skb stays the caller's.  If not now, a
 * copy waits for the work.  Context: recv_lock held.
 */
void mxe_deliver_copy(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		      struct sk_buff *skb, bool now);

/*
 * pkt was delivered, and others follow before the lock is dropped.
 * Context: recv_lock held.
 */
static inline void mxe_deliver_spend(struct mxe_qp *qp,
				     const struct mxe_pkt *pkt)
{
	struct mxe_rq *rq = &qp->rq;

	lockdep_assert_held(&qp->recv_lock);

	/* A SEND has been scattered to the list of rq->cur. */
	if (!qp->dying)
		rq->budget -= mxe_pkt_cost(pkt->payload_len,
					   pkt->flags & MXE_OP_SEND ?
					   rq->cur->num_sge : 0);
}

/* Go on with a long READ and what waits for it.  Context: recv_lock held. */
void mxe_deliver_continue(struct mxe_qp *qp);
/* Drop the requests that wait.  Context: recv_lock held, or no other user. */
void mxe_deliver_drop_deferred(struct mxe_qp *qp);

#endif /* MXE_DELIVER_H */
