/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rendezvous of QPs with a tag-matching SRQ (rndv.c).  The responder queues
 * those whose tag has matched.  The send side reads the data from the peer into
 * the buffer of the tag, and then sends the FIN.  It takes both requests from
 * here, before those in the ring of the process.
 */
#ifndef MXE_RNDV_H
#define MXE_RNDV_H

#include "queues/qp.h"
#include "queues/srq.h"

/* Rendezvous of a QP that may be in progress.  A power of two. */
#define MXE_RNDV_DEPTH		64

struct mxe_rndv_item {
	u64 recv_wr_id;
	u32 num_sge;
	struct ib_sge sge[MXE_TM_MAX_SGE];
	struct mxe_rndv_hdr hdr;
};

/*
 * A queue whose items pass through all stages in order, because the requests of
 * a QP complete in order.  The indices run freely, with
 * finished <= fin <= valid <= read <= queued.
 *
 * Lifetime: that of the QP.  recv_lock protects queued and the item behind it,
 * and send_lock everything else.
 */
struct mxe_rndv {
	u32 queued;			/* store-release */
	u32 read;			/* first without a READ in the send queue */
	u32 valid;			/* first whose data have not arrived */
	u32 fin;			/* first without a FIN in the send queue */
	u32 finished;			/* first to be finished; store-release */
	/* Own requests in the send queue, as free-running counts. */
	u32 fetched;
	u32 completed;
	struct mxe_rndv_item items[MXE_RNDV_DEPTH];
};

bool mxe_rndv_has_room(const struct mxe_qp *qp);
bool mxe_rndv_can_read(const struct mxe_qp *qp);
void mxe_rndv_queue(struct mxe_qp *qp);
bool mxe_rndv_fetch(struct mxe_qp *qp);
bool mxe_rndv_free(struct mxe_qp *qp, enum ib_wc_status status);
void mxe_rndv_reset(struct mxe_qp *qp);

/*
 * Convert req.fetched to an index of the ring of the process, in which the own
 * requests have no place.
 * Context: send_lock held.
 */
static inline u32 mxe_rndv_fetched(const struct mxe_qp *qp)
{
	return qp->req.fetched - (mxe_qp_has_tm(qp) ? qp->rndv->fetched : 0);
}

/*
 * Convert req.tail to an index of the ring.
 * Context: send_lock held.
 */
static inline u32 mxe_rndv_tail(const struct mxe_qp *qp)
{
	return qp->req.tail - (mxe_qp_has_tm(qp) ? qp->rndv->completed : 0);
}

/*
 * Count the entries of the ring that are not free: those between
 * mxe_rndv_tail() and mxe_rndv_fetched().
 * Context: send_lock held.
 */
static inline u32 mxe_rndv_held(const struct mxe_qp *qp)
{
	u32 held = qp->req.fetched - qp->req.tail;

	return mxe_qp_has_tm(qp) ?
	       held - (qp->rndv->fetched - qp->rndv->completed) : held;
}

/*
 * Check whether a request of the send queue is the kernel's own.
 * Context: send_lock held.
 */
static inline bool mxe_rndv_owns(const struct mxe_qp *qp,
				 const struct mxe_send_wr *wr)
{
	return mxe_qp_has_tm(qp) && wr->flags & MXE_SEND_OWN;
}

/*
 * Return the PD of the local keys of a send request: that of the QP, or for an
 * own request that of the SRQ.
 * Context: send_lock held.
 */
static inline struct ib_pd *mxe_rndv_pd(const struct mxe_qp *qp,
					const struct mxe_send_wr *wr)
{
	return mxe_rndv_owns(qp, wr) ? qp->resp.srq->ibsrq.pd : qp->pd;
}

#endif /* MXE_RNDV_H */
