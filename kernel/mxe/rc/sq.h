/* SPDX-License-Identifier: GPL-2.0 */
/* Completes send requests, and rewinds for retransmission (sq.c). */
#ifndef MXE_SQ_H
#define MXE_SQ_H

#include "queues/qp.h"
#include "wire/psn.h"

void mxe_sq_complete(struct mxe_qp *qp, enum ib_wc_status status);
void mxe_sq_complete_cur(struct mxe_qp *qp, enum ib_wc_status status);
void mxe_sq_complete_executed(struct mxe_qp *qp, u32 num_pkts);
void mxe_sq_report_error(struct mxe_qp *qp);
void mxe_sq_rewind(struct mxe_qp *qp, u32 psn);

/*
 * Begin the next request with @psn. None is outstanding.
 * Context: send_lock held.
 */
static inline void mxe_sq_set_psn(struct mxe_requester *req, u32 psn)
{
	req->max_psn = psn;
	req->psn = psn;
	req->sent_psn = psn;
	req->una = psn;
}

/*
 * Free the slot of the oldest request of the consumer.
 * Context: send_lock held.
 */
static inline void mxe_sq_free_slot(struct mxe_requester *req)
{
	/* Pairs with the control dependency in mxe_wqe_post(). */
	smp_store_release(&req->tail, req->tail + 1);
	mxe_ring_set_consumer(&req->ring, req->tail);
}

/*
 * True if a request was sent and is not complete.
 * Context: send_lock held.
 */
static inline bool mxe_sq_outstanding(const struct mxe_requester *req)
{
	return req->tail != req->next;
}

#endif /* MXE_SQ_H */
