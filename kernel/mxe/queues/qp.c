// SPDX-License-Identifier: GPL-2.0
/*
 * The locks of a QP with the work that follows when they are dropped, its state
 * and its errors, and the workqueue.
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "ip/tx.h"
#include "memory/ring.h"
#include "mxe.h"
#include "queues/cq.h"
#include "queues/pending.h"
#include "queues/qp.h"
#include "queues/srq.h"

struct workqueue_struct *mxe_qp_wq;

int mxe_qp_init(void)
{
	/*
	 * A work item runs on the CPU that queued it.  Its packets pass the
	 * same backlog as those of the doorbell, and so remain in order.
	 *
	 * Processes and peers decide how much work there is.  It therefore has
	 * normal priority and one running thread on each CPU.  Other work of
	 * the pool waits for one slice at most, and the work items of mxe do
	 * not compete with each other for the CPU.
	 */
	mxe_qp_wq = alloc_workqueue("mxe", WQ_MEM_RECLAIM | MXE_WQ_PERCPU, 1);
	return mxe_qp_wq ? 0 : -ENOMEM;
}

/* Call it when no QP exists any more. */
void mxe_qp_exit(void)
{
	destroy_workqueue(mxe_qp_wq);
}

/*
 * Initialize what any QP has: its locks, work and budgets. The QP is zeroed;
 * qp->dev and qp->qpn need not be set. @late runs if @work is late. The caller
 * holds the only reference, and calls mxe_retry_init().
 */
void mxe_qp_prepare(struct mxe_qp *qp, work_func_t work,
		    void (*late)(struct timer_list *timer))
{
	spin_lock_init(&qp->send_lock);
	spin_lock_init(&qp->recv_lock);
	spin_lock_init(&qp->req.post_lock);
	mxe_rx_dst_init(&qp->rx_dst);
	skb_queue_head_init(&qp->resp.deferred);
	INIT_WORK(&qp->work, work);
	timer_setup(&qp->late_timer, late, 0);
	refcount_set(&qp->refs, 1);
	init_completion(&qp->released);
	qp->req.budget = MXE_SLICE;
	qp->resp.budget = MXE_SLICE;
}

/* ---- locks, and work after dropping them ------------------------------- */

/* Whoever sends packets has flushed their batch. */
static void mxe_qp_check_flushed(const struct mxe_tx *tx)
{
	if (IS_ENABLED(CONFIG_PROVE_LOCKING))
		WARN_ON_ONCE(!mxe_gso_is_empty(&tx->gso));
}

/*
 * Take send_lock of a QP, which may be dying, until mxe_qp_send_end().
 * Context: Process context or softirq. Disables BHs.
 */
void mxe_qp_send_begin(struct mxe_qp *qp) __acquires(&qp->send_lock)
{
	spin_lock_bh(&qp->send_lock);
}

/*
 * Take recv_lock of a QP, which may be dying, until mxe_qp_recv_end().
 * Context: As mxe_qp_send_begin().
 */
void mxe_qp_recv_begin(struct mxe_qp *qp) __acquires(&qp->recv_lock)
{
	spin_lock_bh(&qp->recv_lock);
}

/*
 * Take both locks, as every change of the state requires. The QP may be dying.
 * mxe_qp_end() ends the section.
 * Context: As mxe_qp_send_begin(). Disables BHs.
 */
void mxe_qp_begin(struct mxe_qp *qp)
	__acquires(&qp->send_lock) __acquires(&qp->recv_lock)
{
	spin_lock_bh(&qp->send_lock);
	spin_lock(&qp->recv_lock);
}

/*
 * Drop both locks. Anything pending remains so until the next section of its
 * side ends, and the budgets are unchanged.
 * Context: Both locks held since mxe_qp_begin(). Releases them, and enables
 * BHs.
 */
void mxe_qp_end(struct mxe_qp *qp)
	__releases(&qp->recv_lock) __releases(&qp->send_lock)
{
	mxe_qp_check_flushed(&qp->resp.tx);
	mxe_qp_check_flushed(&qp->req.tx);
	spin_unlock(&qp->recv_lock);
	spin_unlock_bh(&qp->send_lock);
}

/*
 * Queue qp->work on this CPU. Start late_timer, too, unless it is pending. The
 * timer is never stopped when the work has begun, so that frequent work seldom
 * starts it.
 * Context: Any, with a lock of a QP that is not dying, or in a verb, so that
 * destroy cancels the work later.
 */
void mxe_qp_kick(struct mxe_qp *qp)
{
	if (queue_work(mxe_qp_wq, &qp->work))
		WRITE_ONCE(qp->work_queued, jiffies);
	if (!timer_pending(&qp->late_timer))
		mod_timer(&qp->late_timer, jiffies + MXE_WORK_LATE);
}

/*
 * Stop qp->work and late_timer of a QP that is dying, and wait for both.
 * Context: No lock of the QP held. May sleep.
 */
void mxe_qp_stop_work(struct mxe_qp *qp)
{
	cancel_work_sync(&qp->work);
	timer_delete_sync(&qp->late_timer);
}

static void mxe_qp_event(struct mxe_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp->device,
		.element.qp = qp->ibqp,
		.event = type,
	};

	if (qp->ibqp->event_handler)
		qp->ibqp->event_handler(&event, qp->ibqp->qp_context);
}

struct mxe_qp_pending_event {
	enum mxe_pending bit;
	enum ib_event_type type;
};

/* Events of a QP are reported in this order. */
static const struct mxe_qp_pending_event mxe_qp_events[] = {
	{ MXE_PENDING_EV_COMM_EST, IB_EVENT_COMM_EST },
	{ MXE_PENDING_EV_SQ_DRAINED, IB_EVENT_SQ_DRAINED },
	{ MXE_PENDING_EV_REQ_ERR, IB_EVENT_QP_REQ_ERR },
	{ MXE_PENDING_EV_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR },
	{ MXE_PENDING_EV_FATAL, IB_EVENT_QP_FATAL },
	{ MXE_PENDING_EV_LAST_WQE, IB_EVENT_QP_LAST_WQE_REACHED },
};

/* Events of the SRQ of a QP are reported in this order. */
static const struct mxe_qp_pending_event mxe_qp_srq_events[] = {
	{ MXE_PENDING_EV_SRQ_LIMIT, IB_EVENT_SRQ_LIMIT_REACHED },
	{ MXE_PENDING_EV_SRQ_ERR, IB_EVENT_SRQ_ERR },
};

static void mxe_qp_report(struct mxe_qp *qp, struct mxe_srq *srq, unsigned long pending)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mxe_qp_events); i++)
		if (pending & BIT(mxe_qp_events[i].bit))
			mxe_qp_event(qp, mxe_qp_events[i].type);
	for (i = 0; i < ARRAY_SIZE(mxe_qp_srq_events); i++)
		if (pending & BIT(mxe_qp_srq_events[i].bit))
			mxe_srq_event(srq, mxe_qp_srq_events[i].type);
}

static void mxe_qp_do(struct mxe_qp *qp, struct mxe_cq *cq,
		      struct mxe_srq *srq, unsigned long pending)
{
	if (pending & BIT(MXE_PENDING_ERROR))
		mxe_qp_error(qp);
	if (pending & BIT(MXE_PENDING_NOTIFY))
		mxe_cq_notify(cq);
	if (pending & BIT(MXE_PENDING_CQ_ERROR))
		mxe_cq_error(cq);
	if (pending & MXE_PENDING_EVENTS)
		mxe_qp_report(qp, srq, pending);
}

/*
 * Call the handlers that mxe_qp_send_end_deferred() and
 * mxe_qp_recv_end_deferred() have deferred, and change the state to ERR if the
 * latter has deferred that.
 * Context: qp->work or late_timer, no lock held.
 */
void mxe_qp_do_deferred(struct mxe_qp *qp)
{
	mxe_qp_do(qp, qp->send_cq, NULL, xchg(&qp->work_events, 0));
	/*
	 * The loopback path, the rendezvous and flushing defer work of the
	 * receive side.  None is for XRC targets, and the CQ and SRQ of all
	 * other QPs never change.
	 */
	mxe_qp_do(qp, qp->recv_cq, qp->resp.srq, xchg(&qp->recv_work_events, 0));
}

/*
 * Takes a reference before a lock is dropped, so that the QP exists until the
 * handlers have returned.  The work is queued while the lock is held, which is
 * before mxe_qp_kill() marks the QP dying, so mxe_qp_kill() cancels it.
 */
static void mxe_qp_hold(struct mxe_qp *qp, unsigned long pending)
{
	WARN_ON_ONCE(qp->dying);
	refcount_inc(&qp->refs);
	if (pending & BIT(MXE_PENDING_WORK))
		mxe_qp_kick(qp);
}

/*
 * Drop a reference. The last one wakes up mxe_destroy_qp().
 * Context: Any.
 */
void mxe_qp_put(struct mxe_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		complete(&qp->released);
}

/* Leaves pending bits to qp->work.  Context: the lock of that side held. */
static void mxe_qp_defer(struct mxe_qp *qp, unsigned long *work_events,
			 unsigned long pending)
{
	unsigned int bit;

	WARN_ON_ONCE(qp->dying);
	pending &= ~BIT(MXE_PENDING_WORK);
	for_each_set_bit(bit, &pending, BITS_PER_LONG)
		set_bit(bit, work_events);
	mxe_qp_kick(qp);
}

/*
 * Leave @pending, bits of enum mxe_pending, of the receive side to qp->work.
 * The QP is not dying.
 * Context: A lock of the QP held.
 */
void mxe_qp_defer_recv(struct mxe_qp *qp, unsigned long pending)
{
	mxe_qp_defer(qp, &qp->recv_work_events, pending);
}

/**
 * mxe_qp_send_end() - End a section of the send side, and a slice of its work.
 * @qp: QP
 *
 * - refills the budget of the side
 * - queues qp->work if it is pending
 * - drops send_lock, then does everything else that is pending: changes the
 *   state to ERR, calls the completion handler, and reports events
 *
 * Context: send_lock held since mxe_qp_send_begin(), and no other lock of a QP.
 * Releases it, and enables BHs.  Calls handlers, so a verb that may have caused
 * one must not use it.
 */
void mxe_qp_send_end(struct mxe_qp *qp) __releases(&qp->send_lock)
{
	unsigned long pending = qp->req.pending;

	mxe_qp_check_flushed(&qp->req.tx);
	qp->req.pending = 0;
	qp->req.budget = MXE_SLICE;
	if (likely(!pending)) {
		spin_unlock_bh(&qp->send_lock);
		return;
	}
	mxe_qp_hold(qp, pending);
	spin_unlock_bh(&qp->send_lock);

	mxe_qp_do(qp, qp->send_cq, NULL, pending);
	mxe_qp_put(qp);
}

/*
 * End a section of the send side inside a verb. Refill the budget, drop
 * send_lock, and change the state to ERR if that is pending. Completion
 * handlers and events are left to qp->work, because no handler may run inside
 * the verb that caused it.
 * Context: send_lock held since mxe_qp_send_begin_bh_off(), and no other lock
 * of a QP. Releases it. BHs disabled, RCU read-side section.
 */
void mxe_qp_send_end_deferred(struct mxe_qp *qp) __releases(&qp->send_lock)
{
	unsigned long pending = qp->req.pending;

	mxe_qp_check_flushed(&qp->req.tx);
	qp->req.pending = 0;
	qp->req.budget = MXE_SLICE;
	if (likely(!pending)) {
		spin_unlock(&qp->send_lock);
		return;
	}
	mxe_qp_defer(qp, &qp->work_events, pending & ~BIT(MXE_PENDING_ERROR));
	spin_unlock(&qp->send_lock);

	/* The RCU read-side section of the caller keeps the QP. */
	if (pending & BIT(MXE_PENDING_ERROR))
		mxe_qp_error(qp);
}

/*
 * Do for the receive side what mxe_qp_send_end() does for the send side. Report
 * events of an SRQ, too.
 * Context: recv_lock held since mxe_qp_recv_begin(), and no other lock of a QP.
 * Releases it, and enables BHs. Calls handlers, as mxe_qp_send_end() does.
 */
void mxe_qp_recv_end(struct mxe_qp *qp) __releases(&qp->recv_lock)
{
	unsigned long pending = qp->resp.pending;
	struct mxe_srq *srq;
	struct mxe_cq *cq;
	bool hold;

	mxe_qp_check_flushed(&qp->resp.tx);
	qp->resp.pending = 0;
	qp->resp.budget = MXE_SLICE;
	if (likely(!pending)) {
		spin_unlock_bh(&qp->recv_lock);
		return;
	}
	cq = mxe_qp_recv_cq(qp);
	srq = qp->resp.srq;
	/* The SRQ holds its CQ, so this keeps both for the handlers. */
	hold = srq && mxe_qp_is_xrc_tgt(qp);
	if (hold)
		mxe_srq_hold(srq);
	mxe_qp_hold(qp, pending);
	spin_unlock_bh(&qp->recv_lock);

	mxe_qp_do(qp, cq, srq, pending);
	mxe_qp_put(qp);
	if (hold)
		mxe_srq_put(srq);
}

/*
 * End a section of the receive side of a QP, or of the peer of the QP, inside a
 * verb. Everything that is pending is left to qp->work of @qp. This includes
 * the change to ERR, which needs its send_lock. The budget is unchanged,
 * because the loopback path and flushing do not use it.
 * Context: recv_lock held since mxe_qp_recv_begin_bh_off(). Releases it.
 */
void mxe_qp_recv_end_deferred(struct mxe_qp *qp) __releases(&qp->recv_lock)
{
	unsigned long pending = qp->resp.pending;

	qp->resp.pending = 0;
	if (pending)
		mxe_qp_defer_recv(qp, pending);
	spin_unlock(&qp->recv_lock);
}

/*
 * Set the bits that follow from the result of mxe_cq_add() in the pending bits
 * of the side that has completed a request. After an overrun, the side is
 * halted and the QP moves to ERR, because completions are lost.
 * Context: Lock of that side held.
 */
void mxe_qp_completed(struct mxe_qp *qp, enum mxe_cq_result result,
		      unsigned long *pending)
{
	switch (result) {
	case MXE_CQ_ADDED:
		break;
	case MXE_CQ_ADDED_NOTIFY:
		*pending |= BIT(MXE_PENDING_NOTIFY);
		break;
	case MXE_CQ_OVERRUN_FIRST:
		*pending |= BIT(MXE_PENDING_CQ_ERROR);
		fallthrough;
	case MXE_CQ_OVERRUN:
		/* Completions are lost, so the QP cannot continue. */
		if (pending == &qp->req.pending)
			qp->req.halted = true;
		else
			qp->resp.halted = true;
		if (qp->state != IB_QPS_ERR)
			*pending |= BIT(MXE_PENDING_ERROR) | BIT(MXE_PENDING_EV_FATAL);
		break;
	}
}

/* ---- state ------------------------------------------------------------- */

/* Context: Both locks held. */
void mxe_qp_set_state(struct mxe_qp *qp, enum ib_qp_state state)
{
	lockdep_assert_held(&qp->send_lock);
	lockdep_assert_held(&qp->recv_lock);

	qp->state = state;
	qp->attr.qp_state = state;
}

static void mxe_rq_set_need_doorbell(struct mxe_ring *ring)
{
	if (ring->hdr)
		WRITE_ONCE(ring->hdr->flags, MXE_RING_NEED_DOORBELL);
}

/*
 * From now on a process has to ring the doorbells of both queues. A flush that
 * begins later sees everything that was posted without ringing.
 * Context: Both locks held.
 */
void mxe_qp_set_error(struct mxe_qp *qp)
{
	mxe_qp_set_state(qp, IB_QPS_ERR);
	mxe_rq_set_need_doorbell(&qp->resp.q.ring);
	/*
	 * A process stores its index, then reads the flag.  The kernel stores
	 * the flag, then reads the index when it flushes.  With a full barrier
	 * on each side, at least one of them sees the store of the other.
	 */
	smp_mb();
}

/*
 * Returns true if a side has halted.  Otherwise the QP was reset, and possibly
 * connected again, between the error and this call.
 */
static bool mxe_qp_has_failed(const struct mxe_qp *qp)
{
	return qp->req.halted || qp->resp.halted;
}

/*
 * Change the state to ERR after a side has halted, and queue qp->work, which
 * flushes both queues. Do nothing if neither side is halted, or if the QP is in
 * RESET or ERR, or dying.
 * Context: No lock of a QP held. Takes both.
 */
void mxe_qp_error(struct mxe_qp *qp)
{
	mxe_qp_begin(qp);
	if (qp->state != IB_QPS_RESET && qp->state != IB_QPS_ERR &&
	    !qp->dying && mxe_qp_has_failed(qp)) {
		mxe_qp_set_error(qp);
		mxe_qp_kick(qp);
	}
	mxe_qp_end(qp);
}

/*
 * Change the state of an unreliable QP whose send queue has failed from RTS to
 * SQE (IBTA 10.3.1.7), and queue qp->work, which flushes the send queue. Do
 * nothing in other states.
 * Context: send_lock held. Takes and releases recv_lock.
 */
void mxe_qp_sq_error(struct mxe_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);

	spin_lock(&qp->recv_lock);
	if (qp->state == IB_QPS_RTS && !qp->dying) {
		mxe_qp_set_state(qp, IB_QPS_SQE);
		mxe_qp_kick(qp);
	}
	spin_unlock(&qp->recv_lock);
}
