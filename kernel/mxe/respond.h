/* SPDX-License-Identifier: GPL-2.0 */
/* Responder: requests to memory and to the receive queue, and answers. */
#ifndef MXE_RESPOND_H
#define MXE_RESPOND_H

#include "qp.h"

/*
 * A request packet arrived.  skb holds pkt and is consumed.
 * Context: softirq, recv_lock held.
 */
void mxe_respond_pkt(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		     struct sk_buff *skb);
/*
 * Put the data of a packet of a SEND or WRITE where they belong, and complete
 * the message's receive request with the last one; no answer is sent.  Errors
 * as of the memory layer; -EAGAIN: no receive request, -EIO: one that cannot
 * be used, -EMSGSIZE: too short a one.  Context: recv_lock held.
 */
int mxe_respond_data(struct mxe_qp *qp, const struct mxe_pkt *pkt);
/*
 * pkt was executed, and others follow before the lock is dropped.
 * Context: recv_lock held.
 */
void mxe_respond_spend(struct mxe_qp *qp, const struct mxe_pkt *pkt);
/* Go on with a long READ and what waits for it.  Context: recv_lock held. */
void mxe_respond_continue(struct mxe_qp *qp);
/* The same for what is posted, as mxe_recv_flush(). */
void mxe_respond_flush(struct mxe_qp *qp);
/*
 * How often this CPU has left the rest of a READ to the work of a queue pair, modulo
 * 2^32.  mxe_doorbell_wait() looks whether it has changed.
 */
DECLARE_PER_CPU(u32, mxe_reads_left);
/* Leave a packet to the work; consumes skb.  Context: recv_lock held. */
void mxe_respond_defer(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		       struct sk_buff *skb);
/*
 * Leave a copy of a datagram to the work.  skb holds pkt and stays the caller's.
 * Context: recv_lock held.
 */
void mxe_respond_defer_copy(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			    struct sk_buff *skb);
/* Drop the requests that wait.  Context: recv_lock held, or no other user. */
void mxe_respond_drop_deferred(struct mxe_qp *qp);
/* Forget a message in progress and everything stored. */
void mxe_respond_reset(struct mxe_qp *qp);
/*
 * A shared receive queue of XRC goes: let go of what is in progress for it.
 * Context: recv_lock held.
 */
void mxe_respond_forget(struct mxe_qp *qp, const struct mxe_srq *srq);

#endif /* MXE_RESPOND_H */
