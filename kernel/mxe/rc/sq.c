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
	mxe_sq_free_slot(&qp->sq);
	return true;
}

void mxe_sq_complete(struct mxe_qp *qp, enum ib_wc_status status)
{
	struct mxe_sq *sq = &qp->sq;
	struct mxe_send_wr *wr = mxe_sq_wr(sq, sq->tail);
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
	if (wr->started && row->flags & MXE_WR_OP_RD_ATOMIC && sq->rd_atomic)
		sq->rd_atomic--;

	/*
	 * Free the slot before the CQE is written.  A consumer that polls the
	 * CQE on another CPU may post at once and find the queue not full.
	 */
	if (mxe_sq_free(qp, status) && reports)
		mxe_qp_complete(qp, qp->send_cq, &wc, &sq->pending);

	if (failed) {
		sq->halted = true;
		if (mxe_qp_is_reliable(qp))
			sq->pending |= BIT(MXE_PENDING_ERROR);
	}
}

void mxe_sq_report_error(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;
	enum ib_wc_status status = sq->local_error;

	lockdep_assert_held(&qp->send_lock);

	if (!status || sq->halted || sq->tail != sq->local_error_at)
		return;
	sq->local_error = IB_WC_SUCCESS;
	/* Part of the request may have been sent, so it counts as sent. */
	sq->next = sq->tail + 1;
	sq->cur = sq->next;
	mxe_sq_complete(qp, status);
}

void mxe_sq_complete_cur(struct mxe_qp *qp, enum ib_wc_status status)
{
	qp->sq.next++;
	qp->sq.cur++;
	mxe_sq_complete(qp, status);
}

void mxe_sq_complete_executed(struct mxe_qp *qp, u32 num_pkts)
{
	struct mxe_sq *sq = &qp->sq;

	sq->max_psn = mxe_psn_add(sq->max_psn, num_pkts);
	sq->psn = sq->max_psn;
	sq->sent_psn = sq->max_psn;
	sq->una = sq->max_psn;
	sq->next++;
	sq->cur++;
	mxe_sq_complete(qp, IB_WC_SUCCESS);
}

void mxe_sq_rewind(struct mxe_qp *qp, u32 psn)
{
	struct mxe_sq *sq = &qp->sq;
	u32 i;

	lockdep_assert_held(&qp->send_lock);

	for (i = sq->tail; i != sq->next; i++) {
		const struct mxe_send_wr *wr = mxe_sq_wr(sq, i);

		if (mxe_psn_diff(psn, wr->last_psn) <= 0) {
			sq->cur = i;
			sq->psn = psn;
			return;
		}
	}
}
