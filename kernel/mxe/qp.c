// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs as an object: their locks with what follows when they are dropped,
 * errors, the state, and the workqueue.  All of the engine and the verbs call it; it
 * calls tx.c, cq.c, srq.c and the handlers of consumers.
 */
#include <linux/workqueue.h>

#include "cq.h"
#include "mxe.h"
#include "pending.h"
#include "qp.h"
#include "ring.h"
#include "sqpoll.h"
#include "srq.h"
#include "tx.h"

struct workqueue_struct *mxe_qp_wq;

int mxe_qp_init(void)
{
	/*
	 * Work runs where it was queued, so what it sends goes through the
	 * same CPU's backlog as what the doorbell sent, and stays in order.
	 * Processes and peers decide how much of it there is, so it has the
	 * priority of a process, and one thread on each CPU: the other work of
	 * the pool waits for one slice at most, and its threads do not compete
	 * with each other.
	 */
	mxe_qp_wq = alloc_workqueue("mxe", WQ_MEM_RECLAIM | MXE_WQ_PERCPU, 1);
	return mxe_qp_wq ? 0 : -ENOMEM;
}

void mxe_qp_exit(void)
{
	destroy_workqueue(mxe_qp_wq);
}

/* ---- locks, and what follows from them --------------------------------- */

/* What was sent leaves before the lock of its side is dropped. */
static inline void mxe_qp_flush(struct mxe_qp *qp, struct mxe_tx *tx)
{
	if (!mxe_gso_is_empty(&tx->gso))
		mxe_tx_flush(qp, tx);
}

void mxe_sq_begin(struct mxe_qp *qp) __acquires(&qp->send_lock)
{
	spin_lock_bh(&qp->send_lock);
}

void mxe_rq_begin(struct mxe_qp *qp) __acquires(&qp->recv_lock)
{
	spin_lock_bh(&qp->recv_lock);
}

void mxe_qp_begin(struct mxe_qp *qp)
	__acquires(&qp->send_lock) __acquires(&qp->recv_lock)
{
	spin_lock_bh(&qp->send_lock);
	spin_lock(&qp->recv_lock);
}

void mxe_qp_end(struct mxe_qp *qp)
	__releases(&qp->recv_lock) __releases(&qp->send_lock)
{
	mxe_qp_flush(qp, &qp->rq.tx);
	mxe_qp_flush(qp, &qp->sq.tx);
	spin_unlock(&qp->recv_lock);
	spin_unlock_bh(&qp->send_lock);
}

void mxe_qp_kick(struct mxe_qp *qp)
{
	queue_work(mxe_qp_wq, &qp->work);
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

/* In the order in which they are reported. */
static const struct mxe_qp_pending_event mxe_qp_events[] = {
	{ MXE_PENDING_EV_COMM_EST, IB_EVENT_COMM_EST },
	{ MXE_PENDING_EV_SQ_DRAINED, IB_EVENT_SQ_DRAINED },
	{ MXE_PENDING_EV_REQ_ERR, IB_EVENT_QP_REQ_ERR },
	{ MXE_PENDING_EV_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR },
	{ MXE_PENDING_EV_FATAL, IB_EVENT_QP_FATAL },
	{ MXE_PENDING_EV_LAST_WQE, IB_EVENT_QP_LAST_WQE_REACHED },
};

/* The same of the shared receive queue. */
static const struct mxe_qp_pending_event mxe_qp_srq_events[] = {
	{ MXE_PENDING_EV_SRQ_LIMIT, IB_EVENT_SRQ_LIMIT_REACHED },
	{ MXE_PENDING_EV_SRQ_ERR, IB_EVENT_SRQ_ERR },
};

static noinline void mxe_qp_report(struct mxe_qp *qp, struct mxe_srq *srq,
				   unsigned long pending)
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

void mxe_qp_do_deferred(struct mxe_qp *qp)
{
	mxe_qp_do(qp, qp->send_cq, NULL, xchg(&qp->work_events, 0));
	/* Only the loopback path defers these, so the queues are its own. */
	mxe_qp_do(qp, qp->recv_cq, qp->rq.srq, xchg(&qp->recv_work_events, 0));
}

/*
 * Called before a lock is dropped if something is left to do.  The reference keeps
 * the queue pair for handlers.  The work is queued under the lock, so before
 * mxe_qp_kill() can cancel it.
 */
static void mxe_qp_hold(struct mxe_qp *qp, unsigned long pending)
{
	WARN_ON_ONCE(qp->dying);
	refcount_inc(&qp->refs);
	if (pending & BIT(MXE_PENDING_WORK))
		mxe_qp_kick(qp);
}

void mxe_qp_put(struct mxe_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		complete(&qp->released);
}

/* Leave what calls handlers to the work.  Context: a lock is held. */
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

void mxe_sq_end(struct mxe_qp *qp) __releases(&qp->send_lock)
{
	unsigned long pending = qp->sq.pending;

	mxe_qp_flush(qp, &qp->sq.tx);
	qp->sq.pending = 0;
	qp->sq.budget = MXE_SLICE;
	if (likely(!pending)) {
		spin_unlock_bh(&qp->send_lock);
		return;
	}
	mxe_qp_hold(qp, pending);
	spin_unlock_bh(&qp->send_lock);

	mxe_qp_do(qp, qp->send_cq, NULL, pending);
	mxe_qp_put(qp);
}

void mxe_sq_end_deferred_slow(struct mxe_qp *qp) __releases(&qp->send_lock)
{
	unsigned long pending = qp->sq.pending;

	mxe_qp_flush(qp, &qp->sq.tx);
	qp->sq.pending = 0;
	qp->sq.budget = MXE_SLICE;
	if (likely(!pending)) {
		spin_unlock(&qp->send_lock);
		return;
	}
	mxe_qp_defer(qp, &qp->work_events, pending & ~BIT(MXE_PENDING_ERROR));
	spin_unlock(&qp->send_lock);

	/* The state changes now.  The caller's RCU read section keeps qp. */
	if (pending & BIT(MXE_PENDING_ERROR))
		mxe_qp_error(qp);
}

void mxe_rq_end(struct mxe_qp *qp) __releases(&qp->recv_lock)
{
	unsigned long pending = qp->rq.pending;
	struct mxe_srq *srq;
	struct mxe_cq *cq;
	bool hold;

	mxe_qp_flush(qp, &qp->rq.tx);
	qp->rq.pending = 0;
	qp->rq.budget = MXE_SLICE;
	if (likely(!pending)) {
		spin_unlock_bh(&qp->recv_lock);
		return;
	}
	cq = mxe_qp_recv_cq(qp);
	srq = qp->rq.srq;
	/* Its completion queue stays as long as it does. */
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

void mxe_rq_end_deferred(struct mxe_qp *qp) __releases(&qp->recv_lock)
{
	unsigned long pending = qp->rq.pending;

	qp->rq.pending = 0;
	if (pending)
		mxe_qp_defer(qp, &qp->recv_work_events, pending);
	spin_unlock(&qp->recv_lock);
}

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
		/* Completions are lost: the queue pair cannot go on. */
		if (pending == &qp->sq.pending)
			qp->sq.halted = true;
		else
			qp->rq.halted = true;
		if (qp->state != IB_QPS_ERR)
			*pending |= BIT(MXE_PENDING_ERROR) | BIT(MXE_PENDING_EV_FATAL);
		break;
	}
}

/* ---- state ------------------------------------------------------------- */

void mxe_qp_set_state(struct mxe_qp *qp, enum ib_qp_state state)
{
	lockdep_assert_held(&qp->send_lock);
	lockdep_assert_held(&qp->recv_lock);

	qp->state = state;
	qp->attr.qp_state = state;
}

void mxe_sq_set_need_doorbell(struct mxe_qp *qp)
{
	struct mxe_ring_hdr *hdr = qp->sq.ring.hdr;

	lockdep_assert_held(&qp->send_lock);

	if (hdr)
		WRITE_ONCE(hdr->flags, qp->state == IB_QPS_ERR ||
			   mxe_sqpoll_needs_doorbell(qp) ?
			   MXE_RING_NEED_DOORBELL : 0);
}

static void mxe_rq_set_need_doorbell(struct mxe_ring *ring)
{
	if (ring->hdr)
		WRITE_ONCE(ring->hdr->flags, MXE_RING_NEED_DOORBELL);
}

void mxe_qp_set_error(struct mxe_qp *qp)
{
	mxe_qp_set_state(qp, IB_QPS_ERR);
	mxe_sq_set_need_doorbell(qp);
	mxe_rq_set_need_doorbell(&qp->rq.q.ring);
	/*
	 * A process stores its index, then reads the flag; we store the flag,
	 * then read the index (in the flush).
	 */
	smp_mb();
}

/*
 * The side that failed has halted.  If none is, the queue pair was reset, and
 * maybe connected anew, before its error got here.
 */
static bool mxe_qp_has_failed(const struct mxe_qp *qp)
{
	return qp->sq.halted || qp->rq.halted;
}

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
