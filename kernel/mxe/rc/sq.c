// SPDX-License-Identifier: GPL-2.0
/*
 * Completes the oldest request of a send queue, and rewinds to one that has to
 * be sent again.
 */
#include "mxe.h"
#include "queues/qp.h"
#include "queues/wr.h"
#include "rc/sq.h"
#include "tm/rndv.h"
#include "wire/psn.h"

static u32 mxe_sq_byte_len(const struct mxe_send_wr *wr, u16 flags)
{
	return flags & MXE_WR_OP_ATOMIC && !wr->error ?
	       mxe_atomic_size(&wr->atomic) : wr->length;
}

/*
 * Frees the slot of the oldest request.  Returns true if the consumer posted
 * the request.  Then the consumer may overwrite the slot at once.
 */
static bool mxe_sq_free(struct mxe_qp *qp, enum ib_wc_status status)
{
	if (mxe_qp_has_tm(qp))
		return mxe_rndv_free(qp, status);
	mxe_sq_free_slot(&qp->req);
	return true;
}

/*
 * Complete the oldest request, which is at req.tail. Write a CQE if the request
 * is signalled or @status is not success. An error halts the send side, and
 * moves a reliable QP to ERR, and another one to SQE.
 * Context: send_lock held.
 */
void mxe_sq_complete(struct mxe_qp *qp, enum ib_wc_status status)
{
	struct mxe_requester *req = &qp->req;
	struct mxe_send_wr *wr = mxe_sq_wr(req, req->tail);
	bool failed = status && status != IB_WC_WR_FLUSH_ERR;
	bool reports = status || wr->flags & MXE_SEND_SIGNALED || qp->sig_all;
	const struct mxe_wr_row *row = &mxe_wr_rows[wr->opcode];
	struct mxe_wc wc = {
		.wr_id = wr->wr_id,
		.status = status,
		.opcode = row->wc_opcode,
		.byte_len = mxe_sq_byte_len(wr, row->flags),
		.flags = wr->flags & MXE_SEND_USER ? MXE_CQE_USER : 0,
		.src_qp = qp->dest_qpn,
	};

	lockdep_assert_held(&qp->send_lock);

	/*
	 * Enter SQE before the CQE is written.  A consumer that polls the CQE
	 * may modify the QP back to RTS at once.
	 */
	if (failed && !mxe_qp_is_reliable(qp))
		mxe_qp_sq_error(qp);
	if (wr->started && row->flags & MXE_WR_OP_RD_ATOMIC && req->rd_atomic)
		req->rd_atomic--;

	if (unlikely(qp->ops->forget))
		qp->ops->forget(qp, wr);
	/*
	 * Free the slot before the CQE is written.  A consumer that polls the
	 * CQE on another CPU may post at once and find the queue not full.
	 */
	if (mxe_sq_free(qp, status) && reports)
		mxe_qp_complete(qp, qp->send_cq, &wc, &req->pending);

	if (failed) {
		req->halted = true;
		if (mxe_qp_is_reliable(qp))
			req->pending |= BIT(MXE_PENDING_ERROR);
	}
}

/*
 * Complete the request with req.local_error, if it is the oldest one by now.
 * Context: send_lock held.
 */
void mxe_sq_report_error(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;
	enum ib_wc_status status = req->local_error;

	lockdep_assert_held(&qp->send_lock);

	if (!status || req->halted || req->tail != req->local_error_at)
		return;
	req->local_error = IB_WC_SUCCESS;
	/* Part of the request may have been sent, so it counts as sent. */
	req->next = req->tail + 1;
	req->cur = req->next;
	mxe_sq_complete(qp, status);
}

/*
 * As mxe_sq_complete(). The oldest request is at req.cur, and was not started.
 */
void mxe_sq_complete_cur(struct mxe_qp *qp, enum ib_wc_status status)
{
	qp->req.next++;
	qp->req.cur++;
	mxe_sq_complete(qp, status);
}

/*
 * Complete a request that needed no packets. It is at req.cur, is the oldest,
 * and was not started. Advance the PSNs as if the packets had been sent and
 * acknowledged, because the responder has advanced its own.
 * Context: send_lock held.
 */
void mxe_sq_complete_executed(struct mxe_qp *qp, u32 num_pkts)
{
	struct mxe_requester *req = &qp->req;

	req->max_psn = mxe_psn_add(req->max_psn, num_pkts);
	req->psn = req->max_psn;
	req->sent_psn = req->max_psn;
	req->una = req->max_psn;
	req->next++;
	req->cur++;
	mxe_sq_complete(qp, IB_WC_SUCCESS);
}

/*
 * Go back to the PSN of a request that was sent and is not complete. Everything
 * is sent again from there.
 * Context: send_lock held.
 */
void mxe_sq_rewind(struct mxe_qp *qp, u32 psn)
{
	struct mxe_requester *req = &qp->req;
	u32 i;

	lockdep_assert_held(&qp->send_lock);

	for (i = req->tail; i != req->next; i++) {
		const struct mxe_send_wr *wr = mxe_sq_wr(req, i);

		if (mxe_psn_diff(psn, wr->last_psn) <= 0) {
			req->cur = i;
			req->psn = psn;
			return;
		}
	}
}
