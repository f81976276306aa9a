// SPDX-License-Identifier: GPL-2.0
/*
 * The function of qp->work, which mxe_qp_kick() queues.  It calls deliver.c and
 * respond.c for the receive side, send.c, sq.c and retry.c for the send side,
 * and atomic.c before the first wide atomic.
 */
#include <linux/jiffies.h>
#include <linux/sched/stat.h>

#include "atomic.h"
#include "deliver.h"
#include "qp.h"
#include "qp_work.h"
#include "respond.h"
#include "retry.h"
#include "send.h"
#include "sq.h"

/*
 * Throttles a process that floods its send queue.  Its doorbell has already
 * sent MXE_DOORBELL_SLICES slices, and the process can ring again.  If other
 * threads want the CPU, the process must not get a second share of it by this
 * work item, so the next slice is 50 ms later.  A QP that waits for
 * acknowledgments is limited by its peer, and is not delayed.
 */
static void mxe_qp_slow_down(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;
	bool waits = mxe_qp_is_reliable(qp) && mxe_sq_outstanding(sq);

	lockdep_assert_held(&qp->send_lock);

	if (!qp->is_user || sq->budget > 0 || waits || single_task_running())
		return;
	sq->pending &= ~BIT(MXE_PENDING_WORK);
	mxe_retry_later(qp, msecs_to_jiffies(50));
}

void mxe_qp_work(struct work_struct *work)
{
	struct mxe_qp *qp = container_of(work, struct mxe_qp, work);

	mxe_qp_do_deferred(qp);

	if (READ_ONCE(qp->rq.wants_locks)) {
		WRITE_ONCE(qp->rq.wants_locks, false);
		mxe_atomic_use_locks();
	}
	mxe_rq_begin(qp);
	if (qp->state == IB_QPS_ERR) {
		mxe_deliver_drop_deferred(qp);
		mxe_respond_flush(qp);
	} else {
		mxe_deliver_continue(qp);
	}
	mxe_rq_end(qp);

	mxe_sq_begin(qp);
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE) {
		mxe_send_flush(qp);
	} else if (mxe_qp_can_send(qp->state)) {
		mxe_sq_report_error(qp);
		mxe_send_run(qp);
	}
	mxe_qp_slow_down(qp);
	mxe_sq_end(qp);
}
