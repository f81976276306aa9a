// SPDX-License-Identifier: GPL-2.0
/* The timers of the requester: local ACK timeout and receiver not ready. */
#include <linux/jiffies.h>

#include "ip/cnp.h"
#include "mxe.h"
#include "rc/retry.h"
#include "rc/sq.h"
#include "trace.h"

/* Delays by RNR NAK timer code, in units of 10 microseconds (IBTA 9.7.5). */
static const u32 mxe_rnr_delay[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

/*
 * Returns the local ACK timeout in jiffies.  T is 4.096 us * 2^code, and code 0
 * means no timeout (IBTA 11.2.5.2).  A loss must be detected after T at least
 * and 4 T at most (IBTA 9.7.6.1.3).  Asking again does not make a late response
 * arrive earlier, so later attempts wait 2 T, and then 4 T.
 */
static unsigned long mxe_retry_timeout(const struct mxe_qp *qp)
{
	unsigned int tries = qp->attr.retry_cnt - qp->req.retry_left;
	u64 nsec = 4096ULL << (qp->attr.timeout + min(tries, 2U));

	return max(nsecs_to_jiffies(nsec), 2UL);
}

/*
 * Most deadlines are met, so a timer that expires early enough is not modified.
 * It finds that the deadline has moved, and is set again then.
 */
static void mxe_retry_arm(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;

	req->retry_armed = true;
	req->retry_at = jiffies + mxe_retry_timeout(qp);
	if (!timer_pending(&req->retry_timer) ||
	    time_after(req->retry_timer.expires, req->retry_at))
		mod_timer(&req->retry_timer, req->retry_at);
}

/*
 * Start the ACK timeout, unless it runs. The QP, which is of RC, XRC or DC, has
 * sent a packet.
 * Context: send_lock held.
 */
void mxe_retry_start(struct mxe_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);

	if (!qp->dying && qp->attr.timeout && !qp->req.retry_armed)
		mxe_retry_arm(qp);
}

/*
 * Send from qp->work after @delay jiffies, because memory was short, or the
 * process floods the queue.
 * Context: send_lock held.
 */
void mxe_retry_later(struct mxe_qp *qp, unsigned long delay)
{
	lockdep_assert_held(&qp->send_lock);

	if (!qp->dying)
		mod_timer(&qp->req.rnr_timer, jiffies + delay);
}

/*
 * Start the ACK timeout again after progress. Stop it instead if nothing is
 * outstanding.
 * Context: send_lock held.
 */
void mxe_retry_restart(struct mxe_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);

	if (qp->dying || !qp->attr.timeout)
		return;
	if (mxe_sq_outstanding(&qp->req))
		mxe_retry_arm(qp);
	else
		qp->req.retry_armed = false;
}

/*
 * Reset the retries after packets were acknowledged.
 * Context: send_lock held.
 */
void mxe_retry_progress(struct mxe_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);

	qp->req.retry_left = qp->attr.retry_cnt;
	qp->req.rnr_retry_left = qp->attr.rnr_retry;
	qp->req.rewound = false;
	qp->req.tx.progress = true;
	mxe_cnp_progress(qp);
	mxe_retry_restart(qp);
}

/*
 * Go back to the PSN of an outstanding request because packets seem to be lost.
 * Do nothing if it was called before and nothing was acknowledged since, so
 * that one loss is retransmitted once. Otherwise use up one of retry_cnt.
 * Context: send_lock held.
 * Return: false if no retry is left.
 */
bool mxe_retry_rewind(struct mxe_qp *qp, u32 psn)
{
	struct mxe_requester *req = &qp->req;

	lockdep_assert_held(&qp->send_lock);

	if (req->rewound)
		return true;
	if (!req->retry_left) {
		mxe_count(qp->dev, retry_exceeded);
		return false;
	}
	req->retry_left--;
	req->rewound = true;
	trace_mxe_retry(qp, psn);
	mxe_sq_rewind(qp, psn);
	return true;
}

static void mxe_retry_timer_fn(struct timer_list *timer)
{
	struct mxe_qp *qp = timer_container_of(qp, timer, req.retry_timer);
	struct mxe_requester *req = &qp->req;
	bool armed;

	mxe_qp_send_begin(qp);
	armed = req->retry_armed;
	req->retry_armed = false;
	if (!armed || qp->dying || !mxe_qp_can_send(qp->state) || req->halted ||
	    req->rnr_wait || !mxe_sq_outstanding(req))
		goto unlock;
	if (time_before(jiffies, req->retry_at)) {
		req->retry_armed = true;
		mod_timer(timer, req->retry_at);
		goto unlock;
	}

	mxe_count(qp->dev, retransmit_timeouts);
	/*
	 * A timeout ends the last attempt, even if nothing was acknowledged
	 * since it began.  qp->work sends, because the timers of many QPs may
	 * expire in one softirq.  The next deadline is set when it sends.
	 */
	req->rewound = false;
	if (mxe_retry_rewind(qp, req->una))
		req->pending |= BIT(MXE_PENDING_WORK);
	else
		mxe_sq_complete(qp, IB_WC_RETRY_EXC_ERR);
unlock:
	mxe_qp_send_end(qp);
}

/*
 * Stop sending for the time in an RNR NAK. @timer_code is of IBTA 9.7.5. The
 * ACK timeout is stopped meanwhile.
 * Context: send_lock held.
 */
void mxe_retry_rnr_wait(struct mxe_qp *qp, u8 timer_code)
{
	u32 delay = mxe_rnr_delay[timer_code & 0x1f] * 10;

	lockdep_assert_held(&qp->send_lock);

	if (qp->dying)
		return;
	qp->req.rnr_wait = true;
	qp->req.retry_armed = false;
	mod_timer(&qp->req.rnr_timer,
		  jiffies + max(usecs_to_jiffies(delay), 1UL));
}

static void mxe_retry_rnr_timer_fn(struct timer_list *timer)
{
	struct mxe_qp *qp = timer_container_of(qp, timer, req.rnr_timer);

	mxe_qp_send_begin(qp);
	qp->req.rnr_wait = false;
	/* As in the other timer, qp->work sends, or continues to flush. */
	if (!qp->dying && qp->state != IB_QPS_RESET)
		qp->req.pending |= BIT(MXE_PENDING_WORK);
	mxe_qp_send_end(qp);
}

/* Set up the timers of a QP that is being created. */
void mxe_retry_init(struct mxe_qp *qp)
{
	timer_setup(&qp->req.retry_timer, mxe_retry_timer_fn, 0);
	timer_setup(&qp->req.rnr_timer, mxe_retry_rnr_timer_fn, 0);
}

/*
 * Stop the timers of a QP that enters RESET. Do not wait for a handler that is
 * running, which then finds the QP in RESET and does nothing.
 * Context: send_lock held.
 */
void mxe_retry_reset(struct mxe_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);

	qp->req.retry_armed = false;
	timer_delete(&qp->req.retry_timer);
	timer_delete(&qp->req.rnr_timer);
}

/*
 * Stop the timers of a QP that is dying. Wait for handlers that are running.
 * Context: No lock of the QP held. May sleep.
 */
void mxe_retry_stop(struct mxe_qp *qp)
{
	timer_delete_sync(&qp->req.retry_timer);
	timer_delete_sync(&qp->req.rnr_timer);
}
