// SPDX-License-Identifier: GPL-2.0
/*
 * The function of qp->work, which mxe_qp_kick() queues, and of qp->late_timer.
 */
#include <linux/bottom_half.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/sched/stat.h>

#include "memory/atomic.h"
#include "queues/qp.h"
#include "queues/qp_work.h"
#include "rc/deliver.h"
#include "rc/respond.h"
#include "rc/retry.h"
#include "rc/send.h"
#include "rc/sq.h"

/*
 * Throttles a process that floods its send queue.  Its doorbell has already
 * sent MXE_DOORBELL_SLICES slices, and the process can ring again.  If other
 * threads want the CPU, the process must not get a second share of it by this
 * work item, so the next slice is 50 ms later.  A QP that waits for
 * acknowledgments is limited by its peer, and is not delayed.
 */
static void mxe_qp_slow_down(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;
	bool waits = mxe_qp_is_reliable(qp) && mxe_sq_outstanding(req);

	lockdep_assert_held(&qp->send_lock);

	if (!qp->is_user || req->budget > 0 || waits || single_task_running())
		return;
	req->pending &= ~BIT(MXE_PENDING_WORK);
	mxe_retry_later(qp, msecs_to_jiffies(50));
}

static void mxe_qp_work_recv(struct mxe_qp *qp)
{
	mxe_qp_recv_begin(qp);
	if (qp->state == IB_QPS_ERR) {
		mxe_deliver_drop_deferred(qp);
		mxe_respond_flush(qp);
	} else {
		mxe_deliver_continue(qp);
	}
	mxe_tx_flush(qp, &qp->resp.tx);
	mxe_qp_recv_end(qp);
}

static void mxe_qp_work_send(struct mxe_qp *qp, bool slow_down)
{
	mxe_qp_send_begin(qp);
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE) {
		mxe_send_flush(qp);
	} else if (mxe_qp_can_send(qp->state)) {
		mxe_sq_report_error(qp);
		mxe_send_run(qp);
	}
	if (slow_down)
		mxe_qp_slow_down(qp);
	mxe_tx_flush(qp, &qp->req.tx);
	mxe_qp_send_end(qp);
}

/*
 * Do one slice of each side of a QP. First call the handlers that verbs have
 * deferred, and prepare the locks for the first wide atomic. Then continue the
 * receive side and the send side, or flush them after an error. Queue it again
 * if work is left.
 *
 * BHs remain disabled while pending events are handled, after the lock is
 * dropped.  Otherwise, a thread that does not yield the CPU could preempt the
 * work item at this point, and late_timer would not know of it.
 *
 * Context: Runs on mxe_qp_wq. May sleep. Disables BHs in each half.
 */
void mxe_qp_work(struct work_struct *work)
{
	struct mxe_qp *qp = container_of(work, struct mxe_qp, work);

	local_bh_disable();
	mxe_qp_do_deferred(qp);
	local_bh_enable();

	if (READ_ONCE(qp->resp.wants_locks)) {
		WRITE_ONCE(qp->resp.wants_locks, false);
		mxe_atomic_use_locks();
	}

	local_bh_disable();
	mxe_qp_work_recv(qp);
	local_bh_enable();

	local_bh_disable();
	mxe_qp_work_send(qp, true);
	local_bh_enable();
}

/* ---- work that its CPU does not begin ----------------------------------- */

static void mxe_qp_locks_work(struct work_struct *work)
{
	mxe_atomic_use_locks();
}

static DECLARE_WORK(mxe_qp_locks, mxe_qp_locks_work);

/* The last jiffy in which late_timer did a slice on this CPU. */
static DEFINE_PER_CPU(unsigned long, mxe_qp_late_jiffy);

/*
 * Returns true if a slice may be done now.  It is not charged to the process
 * that caused it, so there is only one in a jiffy, for all QPs of the CPU.
 */
static bool mxe_qp_late_turn(void)
{
	unsigned long now = jiffies;

	if (__this_cpu_read(mxe_qp_late_jiffy) == now)
		return false;
	__this_cpu_write(mxe_qp_late_jiffy, now);
	return true;
}

/*
 * Do a slice of the work of a QP that has not begun. Continue one side of the
 * QP, and the other one a jiffy later, as long as the work item is queued or
 * preempted. Do nothing if it is neither.
 * Context: Timer, BHs disabled.
 */
void mxe_qp_work_late(struct timer_list *timer)
{
	struct mxe_qp *qp = timer_container_of(qp, timer, late_timer);
	unsigned long due = READ_ONCE(qp->work_queued) + MXE_WORK_LATE;

	/*
	 * mxe_qp_kick() queues the work, then checks whether the timer is
	 * pending.  With this barrier and that of queue_work(), the work is
	 * seen here, or the timer is started again there.
	 */
	smp_mb();
	if (!work_busy(&qp->work))
		return;
	if (time_before(jiffies, due)) {
		mod_timer(timer, due);
		return;
	}
	if (!mxe_qp_late_turn()) {
		/* At random, so that no QP always comes last. */
		mod_timer(timer, jiffies + 1 + get_random_u32() % 8);
		return;
	}

	mxe_qp_do_deferred(qp);
	/* This needs process context, but not that of this CPU. */
	if (READ_ONCE(qp->resp.wants_locks))
		queue_work(system_unbound_wq, &mxe_qp_locks);
	/* Both sides would exceed a slice. */
	if (qp->late_send)
		mxe_qp_work_send(qp, false);
	else
		mxe_qp_work_recv(qp);
	qp->late_send = !qp->late_send;
	/* Until the work has been done. */
	mod_timer(timer, jiffies + 1);
}

/*
 * End the work that mxe_qp_work_late() may have queued. No QP exists any more.
 * Context: May sleep.
 */
void mxe_qp_work_exit(void)
{
	cancel_work_sync(&mxe_qp_locks);
}
