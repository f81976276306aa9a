/* SPDX-License-Identifier: GPL-2.0 */
/* Requester: work requests to packets. */
#ifndef MXE_SEND_H
#define MXE_SEND_H

#include "qp.h"
#include "wr.h"

/* Packets that a request takes. */
static inline u32 mxe_wr_num_pkts(const struct mxe_qp *qp,
				  const struct mxe_send_wr *wr)
{
	if (wr->length <= qp->mtu || mxe_wr_is_atomic(wr->opcode))
		return 1;
	return DIV_ROUND_UP(wr->length, qp->mtu);
}

/* mxe_wr_pkt_cost() where that is not 2.  A READ costs what its responses cost. */
u32 mxe_wr_long_pkt_cost(struct mxe_qp *qp, const struct mxe_send_wr *wr);

/* What the next packet of wr costs, in units of a slice.  Context: send_lock held. */
static inline u32 mxe_wr_pkt_cost(struct mxe_qp *qp,
				  const struct mxe_send_wr *wr)
{
	if (likely(wr->length < 2048 && wr->num_sge < 4))
		return mxe_pkt_cost(0, 0);
	return mxe_wr_long_pkt_cost(qp, wr);
}

/*
 * Send what may be sent, up to the end of the slice; the work does the rest.
 * Requests that are not acknowledged, local operations among them, complete
 * here.  Context: send_lock held.
 */
void mxe_send_run(struct mxe_qp *qp);
/* Begin with a request: it gets its PSNs.  Context: send_lock held. */
void mxe_send_start(struct mxe_qp *qp, struct mxe_send_wr *wr);

/* Send the packet at sq->psn.  -ENOMEM, or errors of the memory layer. */
int mxe_send_one(struct mxe_qp *qp, struct mxe_send_wr *wr);
/* The packet at sq->psn was sent: on to the next. */
void mxe_send_advance(struct mxe_sq *sq, const struct mxe_send_wr *wr);
/*
 * Copy bytes offset..offset+len of what wr sends.  Errors of the memory layer.
 */
int mxe_send_gather(struct mxe_qp *qp, const struct mxe_send_wr *wr,
		    u32 offset, void *buf, u32 len);

/*
 * Complete what is posted with WR_FLUSH_ERR, a slice of it; true: there is more,
 * and the work goes on.  Context: send_lock held.
 */
bool mxe_send_flush(struct mxe_qp *qp);
/*
 * Something was posted: send a slice of it.  Returns true if there is more, which
 * is left to the work if this is the last slice of the doorbell.
 * Context: BHs off, RCU.
 */
bool mxe_send_ring(struct mxe_qp *qp, bool last);
/*
 * Has this CPU left some of a READ to a work since a process sent one here that is not
 * complete?  una: sq.una now; if again, that has to have moved.
 * Context: BHs off.
 */
bool mxe_send_is_answered_here(struct mxe_qp *qp, u32 *una, bool again);
/*
 * The same of a polled queue, if something was.  Without `watch` the process
 * rings from now on: what it does not ring for has been seen here.  True: there
 * was something.  Context: bottom halves off, RCU.
 */
bool mxe_send_poll(struct mxe_qp *qp, bool watch);
/* Tell the process whether to ring.  Context: send_lock held. */
void mxe_send_set_need_doorbell(struct mxe_qp *qp);
/* The same.  Context: any in which verbs are called. */
void mxe_send_doorbell(struct mxe_qp *qp);

#endif /* MXE_SEND_H */
