/* SPDX-License-Identifier: GPL-2.0 */
/* Gives requests to the responder of their transport (deliver.c). */
#ifndef MXE_DELIVER_H
#define MXE_DELIVER_H

#include "queues/qp.h"

void mxe_deliver(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		 struct sk_buff *skb);
void mxe_deliver_copy(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		      struct sk_buff *skb, bool now);

/*
 * Charge the budget of the slice for a request that was delivered. Only needed
 * if more packets follow before the lock is dropped.
 * Context: recv_lock held.
 */
static inline void mxe_deliver_spend(struct mxe_qp *qp,
				     const struct mxe_pkt *pkt)
{
	struct mxe_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->recv_lock);

	/* The data of a SEND were copied to the SGEs of resp->cur. */
	if (!qp->dying)
		resp->budget -= mxe_pkt_cost(pkt->payload_len,
					   pkt->flags & MXE_OP_SEND ?
					   resp->cur->num_sge : 0);
}

void mxe_deliver_continue(struct mxe_qp *qp);
void mxe_deliver_drop_deferred(struct mxe_qp *qp);

#endif /* MXE_DELIVER_H */
