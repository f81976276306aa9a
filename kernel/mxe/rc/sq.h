/* SPDX-License-Identifier: GPL-2.0 */
/* Completes send requests, and rewinds for retransmission (sq.c). */
#ifndef MXE_SQ_H
#define MXE_SQ_H

#include "queues/qp.h"
#include "wire/psn.h"

/*
 * Complete the oldest request, which is at req.tail. Write a CQE if the request
 * is signalled or @status is not success. An error halts the send side, and
 * moves a reliable QP to ERR, and another one to SQE.
 * Context: send_lock held.
 */
void mxe_sq_complete(struct mxe_qp *qp, enum ib_wc_status status);

/*
 * As mxe_sq_complete(). The oldest request is at req.cur, and was not started.
 */
void mxe_sq_complete_cur(struct mxe_qp *qp, enum ib_wc_status status);

/*
 * Complete a request that needed no packets. It is at req.cur, is the oldest,
 * and was not started. Advance the PSNs as if the packets had been sent and
 * acknowledged, because the responder has advanced its own.
 * Context: send_lock held.
 */
void mxe_sq_complete_executed(struct mxe_qp *qp, u32 num_pkts);

/*
 * Complete the request with req.local_error, if it is the oldest one by now.
 * Context: send_lock held.
 */
void mxe_sq_report_error(struct mxe_qp *qp);

/*
 * Go back to the PSN of a request that was sent and is not complete. Everything
 * is sent again from there.
 * Context: send_lock held.
 */
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
