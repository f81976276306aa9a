// SPDX-License-Identifier: GPL-2.0
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#include "mxe.h"
#include "sqpoll.h"
#include "qp.h"
#include "send.h"

/* Queue pairs that are looked at in one go, with bottom halves off. */
#define MXE_SQPOLL_LOOKS 64

/* ---- queue pairs ------------------------------------------------------- */

struct mxe_sqpoll_set *mxe_sqpoll_set_alloc(void)
{
	struct mxe_sqpoll_set *set = kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);

	if (!set)
		return NULL;
	spin_lock_init(&set->lock);
	xa_init_flags(&set->qps, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	return set;
}

void mxe_sqpoll_set_free(struct mxe_sqpoll_set *set)
{
	xa_destroy(&set->qps);
	kfree_rcu(set, rcu);
}

int mxe_sqpoll_add(struct mxe_qp *qp)
{
	if (!qp->sq.is_polled)
		return 0;
	mxe_sq_begin(qp);
	mxe_sq_set_need_doorbell(qp);
	mxe_sq_end(qp);
	return xa_alloc(&qp->sqpoll_set->qps, &qp->sq.poll_id, qp,
			XA_LIMIT(1, MXE_MAX_QP), GFP_KERNEL_ACCOUNT);
}

void mxe_sqpoll_remove(struct mxe_qp *qp)
{
	if (!qp->sq.is_polled)
		return;
	spin_lock_bh(&qp->sqpoll_set->lock);
	xa_erase(&qp->sqpoll_set->qps, qp->sq.poll_id);
	spin_unlock_bh(&qp->sqpoll_set->lock);
}

void mxe_sqpoll_wake(struct mxe_qp *qp)
{
	struct mxe_sqpoll *poller;

	/* What a thread looks at is rung for without need. */
	if (READ_ONCE(qp->sq.watched))
		return;
	poller = rcu_dereference_bh(qp->sqpoll_set->poller);
	if (!poller || test_bit(MXE_SQPOLL_KICKED, &poller->flags))
		return;
	set_bit(MXE_SQPOLL_KICKED, &poller->flags);
	wake_up(&poller->wait);
}

/* ---- the thread -------------------------------------------------------- */

/*
 * Look at some, from that number on, which becomes 0 behind the last one.  True
 * if one had something to send, which ends it; or -EIO.
 */
static int mxe_sqpoll_look(struct mxe_sqpoll *poller, bool watch,
			   unsigned long *id)
{
	struct mxe_sqpoll_set *set;
	struct mxe_qp *qp;
	int found = 0;
	int i;

	local_bh_disable();
	set = rcu_dereference_bh(poller->set);
	if (!set) {
		found = -EIO;
		goto out;
	}
	spin_lock(&set->lock);
	if (!rcu_access_pointer(poller->set))
		found = -EIO;
	for (i = 0; i < MXE_SQPOLL_LOOKS && !found; i++) {
		qp = xa_find(&set->qps, id, ULONG_MAX, XA_PRESENT);
		if (!qp) {
			*id = 0;
			break;
		}
		found = mxe_send_poll(qp, watch);
		(*id)++;
	}
	spin_unlock(&set->lock);
out:
	local_bh_enable();
	return found;
}

/* Look at all of them.  Whether there was anything to send, or -EIO. */
static int mxe_sqpoll_round(struct mxe_sqpoll *poller, bool watch)
{
	unsigned long id = 0;
	int found = 0;
	int ret;

	do {
		ret = mxe_sqpoll_look(poller, watch, &id);
		if (ret < 0)
			return ret;
		found |= ret;
		/* For the grace periods of tracers as well: it may not sleep. */
		cond_resched_tasks_rcu_qs();
	} while (id);
	return found;
}

static bool mxe_sqpoll_awake(const struct mxe_sqpoll *poller)
{
	return READ_ONCE(poller->flags) & (BIT(MXE_SQPOLL_STOP) |
					   BIT(MXE_SQPOLL_KICKED)) ||
	       !rcu_access_pointer(poller->set);
}

/* From here on the process rings, which wakes. */
static int mxe_sqpoll_sleep(struct mxe_sqpoll *poller)
{
	int ret;

	clear_bit(MXE_SQPOLL_KICKED, &poller->flags);
	/* Whoever saw that it was set before is seen by what follows. */
	smp_mb__after_atomic();
	ret = mxe_sqpoll_round(poller, false);
	if (ret)
		return min(ret, 0);
	return wait_event_interruptible(poller->wait, mxe_sqpoll_awake(poller));
}

/*
 * Others that want the processor have it now, not when the turn is over: that
 * may be who posts, or the softirq thread, with what was sent.
 */
static void mxe_sqpoll_pause(void)
{
	if (single_task_running())
		cpu_relax();
	else
		schedule();
}

static int mxe_sqpoll_loop(struct mxe_sqpoll *poller, u64 idle)
{
	u64 since = ktime_get_ns();
	int ret;

	while (!test_bit(MXE_SQPOLL_STOP, &poller->flags)) {
		if (signal_pending(current))
			return -ERESTARTSYS;
		/*
		 * Done upon return to the process only.  Being throttled is
		 * one of these things since 6.18.
		 */
		if (task_work_pending(current))
			return -EINTR;
		ret = mxe_sqpoll_round(poller, true);
		if (!ret) {
			if (ktime_get_ns() - since < idle) {
				mxe_sqpoll_pause();
				continue;
			}
			ret = mxe_sqpoll_sleep(poller);
		}
		if (ret < 0)
			return ret;
		since = ktime_get_ns();
	}
	return 0;
}

int mxe_sqpoll_run(struct mxe_sqpoll *poller, u32 idle_us)
{
	int err;

	if (test_and_set_bit_lock(MXE_SQPOLL_RUNNING, &poller->flags))
		return -EBUSY;
	WRITE_ONCE(poller->owner, current->files);
	err = mxe_sqpoll_loop(poller, (u64)idle_us * NSEC_PER_USEC);
	/* Nobody polls: what was posted is sent, and the process rings again. */
	mxe_sqpoll_round(poller, false);
	WRITE_ONCE(poller->owner, NULL);
	clear_bit_unlock(MXE_SQPOLL_RUNNING, &poller->flags);
	return err;
}

/* ---- the object -------------------------------------------------------- */

void mxe_sqpoll_stop(struct mxe_sqpoll *poller)
{
	set_bit(MXE_SQPOLL_STOP, &poller->flags);
	wake_up(&poller->wait);
}

void mxe_sqpoll_closed(struct mxe_sqpoll *poller, const void *files)
{
	if (files && READ_ONCE(poller->owner) == files)
		mxe_sqpoll_stop(poller);
}

int mxe_sqpoll_init(struct mxe_sqpoll *poller, struct mxe_sqpoll_set *set)
{
	poller->flags = 0;
	poller->owner = NULL;
	init_waitqueue_head(&poller->wait);
	RCU_INIT_POINTER(poller->set, set);
	/* Doorbells find it from here on. */
	if (cmpxchg((struct mxe_sqpoll **)&set->poller, NULL, poller))
		return -EBUSY;
	return 0;
}

void mxe_sqpoll_detach(struct mxe_sqpoll *poller)
{
	struct mxe_sqpoll_set *set = rcu_dereference_protected(poller->set, true);

	spin_lock_bh(&set->lock);
	RCU_INIT_POINTER(set->poller, NULL);
	RCU_INIT_POINTER(poller->set, NULL);
	spin_unlock_bh(&set->lock);
	wake_up(&poller->wait);
}
