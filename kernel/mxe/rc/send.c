// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of the requester over the send queue.  It starts the posted requests
 * and sends them packet by packet, or executes them on the loopback path.
 */
#include <linux/indirect_call_wrapper.h>
#include <linux/smp.h>

#include "fast/loopback.h"
#include "memory/rkey.h"
#include "mxe.h"
#include "queues/wqe.h"
#include "queues/wr.h"
#include "rc/request.h"
#include "rc/respond.h"
#include "rc/retry.h"
#include "rc/send.h"
#include "rc/sq.h"
#include "wire/psn.h"

/*
 * Called if the request at req->cur cannot be sent now.  If the last packet of
 * the previous request did not ask for an ACK, because this request was to ask
 * for both, that packet is sent again.  A retransmission always asks.
 */
static void mxe_send_ask_again(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;

	if (!req->ack_left || req->tail == req->cur)
		return;
	req->ack_left = false;
	mxe_sq_rewind(qp, mxe_sq_wr(req, req->cur - 1)->last_psn);
	req->pending |= BIT(MXE_PENDING_WORK);
}

/*
 * Records that the request at req->cur has failed before it was sent
 * completely.  qp->work or the completer reports the error when all earlier
 * requests are complete.  Until then they may be retransmitted, after which the
 * request fails here again.
 */
static void mxe_send_local_error(struct mxe_qp *qp, enum ib_wc_status status)
{
	struct mxe_requester *req = &qp->req;

	req->local_error = status;
	req->local_error_at = req->cur;
	if (req->tail == req->cur) {
		req->pending |= BIT(MXE_PENDING_WORK);
		return;
	}
	mxe_send_ask_again(qp);
}

/*
 * Returns false if the region to be invalidated is being accessed.  The request
 * stays at req->cur then, and qp->work tries again.  Out of line, because the
 * stack protector would burden the loop.
 */
static noinline bool mxe_send_local_op(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_rights rights = {
		.dev = qp->dev,
		.pd = qp->pd,
		.qpn = qp->qpn,
	};
	int err;

	switch (wr->opcode) {
	case IB_WR_REG_MR:
		err = mxe_mr_reg(qp->pd, &wr->reg);
		break;
	case IB_WR_BIND_MW:
		err = mxe_mw_bind(qp->dev, qp->pd, qp->qpn,
				  wr->rkey, &wr->bind);
		break;
	default:
		err = mxe_rkey_invalidate(&rights, wr->rkey, MXE_INV_LOCAL);
		break;
	}

	if (err == -EBUSY) {
		qp->req.pending |= BIT(MXE_PENDING_WORK);
		return false;
	}

	/* It has no packets, so it is never outstanding. */
	wr->started = true;
	mxe_sq_complete_cur(qp, err ? IB_WC_MW_BIND_ERR : IB_WC_SUCCESS);
	return true;
}

/*
 * Starts a request, or executes it if it is a local operation.  Returns false
 * if it must wait, or has failed.
 */
static bool mxe_send_begin(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	if (!mxe_request_may_start(qp, wr))
		return false;
	if (wr->error) {
		mxe_send_local_error(qp, wr->error);
		return false;
	}
	if (mxe_wr_is_rd_atomic(wr->opcode) && !qp->attr.max_rd_atomic) {
		mxe_send_local_error(qp, IB_WC_LOC_QP_OP_ERR);
		return false;
	}
	if (mxe_wr_is_local(wr->opcode))
		return mxe_send_local_op(qp, wr);
	mxe_request_start(qp, wr);
	return true;
}

/* Moves on to the next packet after the one at req->psn was sent. */
static void mxe_send_advance(struct mxe_requester *req, const struct mxe_send_wr *wr)
{
	if (mxe_wr_is_read(wr->opcode))
		req->psn = mxe_psn_add(wr->last_psn, 1);
	else
		req->psn = mxe_psn_add(req->psn, 1);
	if (mxe_psn_diff(req->psn, req->sent_psn) > 0)
		req->sent_psn = req->psn;
	if (req->psn == mxe_psn_add(wr->last_psn, 1))
		req->cur++;
}

static void mxe_send_check_drained(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;

	if (qp->state != IB_QPS_SQD || req->sqd_notified ||
	    mxe_sq_outstanding(req))
		return;
	req->sqd_notified = true;
	if (qp->attr.en_sqd_async_notify)
		req->pending |= BIT(MXE_PENDING_EV_SQ_DRAINED);
}

enum mxe_send_verdict mxe_send_begin_acked(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_requester *req = &qp->req;
	u32 cur = req->cur;

	if (unlikely(qp->ops->connect))
		qp->ops->connect(qp, wr);
	switch (mxe_loopback_request(qp, wr)) {
	case MXE_LOOPBACK_DONE:
		return MXE_SEND_VERDICT_NEXT;
	case MXE_LOOPBACK_LATER:
		mxe_send_ask_again(qp);
		return MXE_SEND_VERDICT_STOP;
	default:
		break;
	}
	if (!mxe_send_begin(qp, wr))
		return MXE_SEND_VERDICT_STOP;
	if (req->cur == cur)
		return MXE_SEND_VERDICT_GO;
	/* It is complete.  wr may already be another request. */
	req->budget--;
	return MXE_SEND_VERDICT_NEXT;
}

bool mxe_send_unsent(struct mxe_qp *qp, int err)
{
	struct mxe_requester *req = &qp->req;

	if (err == -ENOMEM) {
		/* With budget left, the timer tries again, and not qp->work. */
		req->budget = max(req->budget, 1);
		mxe_retry_later(qp, 1);
	} else {
		mxe_send_local_error(qp, IB_WC_LOC_PROT_ERR);
	}
	return false;
}

static bool mxe_send_may_continue(const struct mxe_qp *qp)
{
	return BIT(qp->state) & qp->ops->send_states && !qp->req.halted &&
	       !qp->req.rnr_wait;
}

/* Sends until the slice ends (req->budget <= 0), or nothing may be sent. */
static void mxe_send_loop(struct mxe_qp *qp)
{
	const struct mxe_transport_ops *ops = qp->ops;
	struct mxe_requester *req = &qp->req;

	while (mxe_send_may_continue(qp)) {
		enum mxe_send_verdict verdict = MXE_SEND_VERDICT_GO;
		struct mxe_send_wr *wr;
		bool ack_left;
		int err;

		if (req->cur == req->fetched && !mxe_wqe_fetch(qp))
			break;
		if (req->budget <= 0)
			break;
		wr = mxe_sq_wr(req, req->cur);
		if (!wr->started)
			verdict = INDIRECT_CALL_1(ops->begin, mxe_send_begin_acked, qp, wr);
		if (verdict == MXE_SEND_VERDICT_NEXT)
			continue;
		if (verdict == MXE_SEND_VERDICT_STOP)
			break;
		if (mxe_psn_diff(req->psn, req->una) >= (s32)req->window)
			break;
		req->budget -= mxe_request_pkt_cost(qp, wr);
		ack_left = req->ack_left;
		err = mxe_request_send_one(qp, wr);
		if (unlikely(err)) {
			req->ack_left = ack_left;
			if (err != -ENOMEM)
				mxe_count(qp->dev, local_access_errors);
			if (!ops->unsent(qp, err))
				break;
		}
		mxe_send_advance(req, wr);
		INDIRECT_CALL_1(ops->sent, mxe_retry_start, qp);
	}
}

static void mxe_send_slice(struct mxe_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);

	mxe_send_loop(qp);
	mxe_send_check_drained(qp);
}

/*
 * Send requests of a QP that can send up to the end of the slice. Execute local
 * operations, and requests on the loopback path if possible. These and requests
 * of unreliable QPs, which are never acknowledged, complete here. If the slice
 * ends first, qp->work continues.
 * Context: BHs disabled, RCU read-side section, send_lock held. Takes and
 * releases recv_lock of a peer on this host.
 */
void mxe_send_run(struct mxe_qp *qp)
{
	mxe_send_slice(qp);
	if (qp->req.budget <= 0)
		qp->req.pending |= BIT(MXE_PENDING_WORK);
}

/*
 * Complete a slice of requests of a QP in ERR or SQE with IB_WC_WR_FLUSH_ERR.
 * Report the error of the request that failed first. Return true if requests
 * remain, which qp->work flushes.
 * Context: send_lock held.
 */
bool mxe_send_flush(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;
	u32 limit = MXE_FLUSH_SLICE;
	bool more = false;

	lockdep_assert_held(&qp->send_lock);

	/* First report the request that failed. */
	if (req->local_error)
		mxe_sq_report_error(qp);
	for (;;) {
		if (req->tail == req->fetched) {
			if (!mxe_wqe_index_ok(qp, mxe_wqe_produced(qp)) ||
			    !mxe_wqe_fetch(qp))
				break;
		}
		if (!limit--) {
			req->pending |= BIT(MXE_PENDING_WORK);
			more = true;
			break;
		}
		mxe_sq_complete(qp, IB_WC_WR_FLUSH_ERR);
	}
	req->cur = req->tail;
	req->next = req->tail;
	req->rd_atomic = 0;
	mxe_retry_restart(qp);
	return more;
}

static bool mxe_send_ring_locked(struct mxe_qp *qp, bool last)
{
	struct mxe_requester *req = &qp->req;

	lockdep_assert_held(&qp->send_lock);

	/*
	 * The work item might not run as long as this thread polls. It flushes
	 * what exceeds a slice.
	 */
	if (unlikely(qp->state >= IB_QPS_SQE)) {
		mxe_send_flush(qp);
		return false;
	}
	mxe_send_slice(qp);
	if (likely(req->budget > 0))
		return false;
	if (last)
		req->pending |= BIT(MXE_PENDING_WORK);
	return true;
}

/**
 * mxe_send_ring() - Send one slice of a send queue after a doorbell.
 * @qp: QP that was rung for, which may be dying
 * @last: true in the last slice of this doorbell; qp->work then continues
 *
 * Context: BHs disabled, RCU read-side section.  Takes and releases send_lock.
 * Return: true if requests remain.
 */
bool mxe_send_ring(struct mxe_qp *qp, bool last)
{
	bool more;

	mxe_qp_send_begin_bh_off(qp);
	more = mxe_send_ring_locked(qp, last);
	mxe_tx_flush(qp, &qp->req.tx);
	mxe_qp_send_end_deferred(qp);
	return more;
}

/*
 * Send one slice of a send queue of a kernel consumer. With interrupts
 * disabled, qp->work sends instead.
 * Context: Any, in a verb. Takes and releases send_lock.
 */
void mxe_send_doorbell(struct mxe_qp *qp)
{
	/*
	 * With interrupts disabled, BHs must not be enabled again, and the
	 * network stack must not be entered.
	 */
	if (irqs_disabled()) {
		mxe_qp_kick(qp);
		return;
	}
	local_bh_disable();
	mxe_send_ring(qp, true);
	local_bh_enable();
}
