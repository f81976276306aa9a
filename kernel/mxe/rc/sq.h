/* SPDX-License-Identifier: GPL-2.0 */
/* Completes send requests, and rewinds for retransmission (sq.c). */
#ifndef MXE_SQ_H
#define MXE_SQ_H

#include "queues/qp.h"
#include "wire/psn.h"

/**
 * mxe_sq_complete() - Complete the oldest request.
 * @qp: QP with a request at req.tail
 * @status: IB_WC_SUCCESS, IB_WC_WR_FLUSH_ERR or an error
 *
 * Writes a CQE if the request is signalled or @status is not success.  An error
 * halts the send side, and moves a reliable QP to ERR, and another one to SQE.
 *
 * Context: send_lock held.
 */
void mxe_sq_complete(struct mxe_qp *qp, enum ib_wc_status status);

/**
 * mxe_sq_complete_cur() - Complete a request that was never sent.
 * @qp: QP whose request at req.cur is the oldest, and was not started
 * @status: as of mxe_sq_complete()
 *
 * Context: send_lock held.
 */
void mxe_sq_complete_cur(struct mxe_qp *qp, enum ib_wc_status status);

/**
 * mxe_sq_complete_executed() - Complete a request that needed no packets.
 * @qp: QP whose request at req.cur is the oldest, and was not started
 * @num_pkts: packets that the request would have taken
 *
 * Advances the PSNs as if the packets had been sent and acknowledged, because
 * the responder has advanced its own.
 *
 * Context: send_lock held.
 */
void mxe_sq_complete_executed(struct mxe_qp *qp, u32 num_pkts);

/**
 * mxe_sq_report_error() - Report an error that was found while sending.
 * @qp: QP
 *
 * Completes the request with req.local_error, if it is the oldest one by now.
 *
 * Context: send_lock held.
 */
void mxe_sq_report_error(struct mxe_qp *qp);

/**
 * mxe_sq_rewind() - Go back to a PSN, from which everything is sent again.
 * @qp: QP
 * @psn: PSN of a request that was sent and is not complete
 *
 * Context: send_lock held.
 */
void mxe_sq_rewind(struct mxe_qp *qp, u32 psn);

/**
 * mxe_sq_renumber() - Let the oldest request begin with another PSN.
 * @req: requester whose request at cur is the oldest, and was just started
 * @wr: that request, of which nothing was sent
 * @psn: its first PSN
 *
 * Context: send_lock held.
 */
static inline void mxe_sq_renumber(struct mxe_requester *req, struct mxe_send_wr *wr,
				   u32 psn)
{
	wr->last_psn = mxe_psn_add(psn, mxe_psn_diff(wr->last_psn, wr->first_psn));
	wr->first_psn = psn;
	req->max_psn = mxe_psn_add(wr->last_psn, 1);
	req->psn = psn;
	req->sent_psn = psn;
	req->una = psn;
}

/**
 * mxe_sq_free_slot() - Free the slot of the oldest request of the consumer.
 * @req: requester
 *
 * Context: send_lock held.
 */
static inline void mxe_sq_free_slot(struct mxe_requester *req)
{
	/* Pairs with the control dependency in mxe_wqe_post(). */
	smp_store_release(&req->tail, req->tail + 1);
	mxe_ring_set_consumer(&req->ring, req->tail);
}

/**
 * mxe_sq_outstanding() - Check whether requests are outstanding.
 * @req: requester
 *
 * Context: send_lock held.
 * Return: true if a request was sent and is not complete.
 */
static inline bool mxe_sq_outstanding(const struct mxe_requester *req)
{
	return req->tail != req->next;
}

#endif /* MXE_SQ_H */
