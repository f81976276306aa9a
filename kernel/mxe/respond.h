/* SPDX-License-Identifier: GPL-2.0 */
/* Responder: requests to memory and to the receive queue, and answers. */
#ifndef MXE_RESPOND_H
#define MXE_RESPOND_H

#include "qp.h"

/*
 * A request of a reliable connection, whose turn it is; consumes skb, which holds
 * pkt.  Returns -EBUSY, and leaves skb to the caller, if what it invalidates is being
 * accessed: to be called again.  Other errors have been answered.
 * Context: recv_lock held.
 */
int mxe_respond_request(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			struct sk_buff *skb);
/* Returns true if the atomic would be executed, but for its key. */
bool mxe_respond_may_atomic(const struct mxe_qp *qp, const struct mxe_pkt *pkt);
/*
 * Put the data of a packet of a SEND or WRITE where they belong, and complete
 * the message's receive request with the last one; no answer is sent.  Errors
 * as of the memory layer; -EAGAIN: no receive request, -EIO: one that cannot
 * be used, -EMSGSIZE: too short a one.  Context: recv_lock held.
 */
int mxe_respond_data(struct mxe_qp *qp, const struct mxe_pkt *pkt);
/* Send more of a long READ, up to the end of the slice.  Context: recv_lock held. */
void mxe_respond_read_run(struct mxe_qp *qp);
/*
 * The queue pair is in ERR: forget a READ, and flush what is posted as
 * mxe_recv_flush() does.  Context: recv_lock held.
 */
void mxe_respond_flush(struct mxe_qp *qp);
/*
 * How often this CPU has left the rest of a READ to the work of a queue pair, modulo
 * 2^32.  mxe_doorbell_wait() looks whether it has changed.
 */
DECLARE_PER_CPU(u32, mxe_reads_left);
/* Forget a message in progress and everything stored. */
void mxe_respond_reset(struct mxe_qp *qp);
/*
 * A shared receive queue of XRC goes: let go of what is in progress for it.
 * Context: recv_lock held.
 */
void mxe_respond_forget(struct mxe_qp *qp, const struct mxe_srq *srq);

#endif /* MXE_RESPOND_H */
