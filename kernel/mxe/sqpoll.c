// SPDX-License-Identifier: GPL-2.0
/*
 * Polls the send queues of a user context in a thread of the process. uverbs
 * calls the file operations, in which that thread runs. ucontext.c and
 * qp_verbs.c add and remove contexts and QPs, and doorbell.c wakes the thread.
 * It calls send.c.
 */
#include <linux/bottom_half.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <rdma/uverbs_types.h>

#include "mxe.h"
#include "qp.h"
#include "send.h"
#include "sqpoll.h"
#include "ucontext.h"

#define UVERBS_MODULE_NAME mxe
#include <rdma/uverbs_named_ioctl.h>

/* QPs that are visited in one section with BHs disabled. */
#define MXE_SQPOLL_LOOKS 64

enum mxe_sqpoll_flags {
	MXE_SQPOLL_RUNNING,		/* a thread polls */
	MXE_SQPOLL_STOP,		/* stopped, permanently */
	MXE_SQPOLL_KICKED,		/* a doorbell was rung */
};

/*
 * A poller.
 *
 * Lifetime: part of a uverbs object, whose file the polling thread holds. The
 * object may be destroyed earlier, with the context or the device. Then set
 * becomes NULL under set->lock, and the thread finds no QPs any more.
 * Destruction does not wait for the thread, because the process can stop its
 * threads for any time.
 */
struct mxe_sqpoll {
	struct mxe_sqpoll_set __rcu *set;	/* NULL: dead */
	unsigned long flags;		/* bits of enum mxe_sqpoll_flags */
	struct files_struct *owner;	/* of the thread; only compared */
	wait_queue_head_t wait;		/* the thread, while idle */
};

/* ---- queue pairs ------------------------------------------------------- */

int mxe_sqpoll_open(struct mxe_ucontext *uctx)
{
	struct mxe_sqpoll_set *set = kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);

	if (!set)
		return -ENOMEM;
	spin_lock_init(&set->lock);
	xa_init_flags(&set->qps, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	uctx->sqpoll_set = set;
	return 0;
}

void mxe_sqpoll_close(struct mxe_ucontext *uctx)
{
	xa_destroy(&uctx->sqpoll_set->qps);
	kfree_rcu(uctx->sqpoll_set, rcu);
}

int mxe_sqpoll_init_qp(struct mxe_qp *qp, struct mxe_ucontext *uctx, u32 flags)
{
	if (!(flags & MXE_QP_CREATE_POLLED))
		return 0;
	if (mxe_qp_is_xrc_tgt(qp))
		return mxe_refuse(qp->dev, -EINVAL, "no send queue to poll");
	qp->sqpoll_set = uctx->sqpoll_set;
	qp->sq.is_polled = true;
	return 0;
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

void mxe_sqpoll_wake_thread(struct mxe_qp *qp)
{
	struct mxe_sqpoll *poller;

	/* The thread visits this QP anyway. */
	if (READ_ONCE(qp->sq.watched))
		return;
	poller = rcu_dereference_bh(qp->sqpoll_set->poller);
	if (!poller || test_bit(MXE_SQPOLL_KICKED, &poller->flags))
		return;
	set_bit(MXE_SQPOLL_KICKED, &poller->flags);
	wake_up(&poller->wait);
}

/* ---- the thread -------------------------------------------------------- */

static bool mxe_sqpoll_is_posted(const struct mxe_qp *qp)
{
	return mxe_ring_producer(&qp->sq.ring) != READ_ONCE(qp->sq.seen);
}

/*
 * Visits a QP: sends one slice of its requests and leaves the rest to qp->work.
 * With watch == false the process must ring from now on, and every request for
 * which it does not ring has been found here. Returns true if requests were
 * posted. Kept out of line because tools/lib/bh-off traces it.
 *
 * Context: BHs disabled, which implies an RCU read-side section. set->lock
 * held.
 */
static noinline bool mxe_sqpoll_one(struct mxe_qp *qp, bool watch)
{
	struct mxe_sq *sq = &qp->sq;
	bool posted;

	if (READ_ONCE(sq->watched) == watch && !mxe_sqpoll_is_posted(qp))
		return false;

	mxe_sq_begin_bh_off(qp);
	if (sq->watched != watch) {
		WRITE_ONCE(sq->watched, watch);
		mxe_sq_set_need_doorbell(qp);
		/*
		 * Pairs with the barrier in libmxe, which stores the producer
		 * index and then reads the flag.  At least one side sees the
		 * store of the other.
		 */
		smp_mb();
	}
	posted = mxe_sqpoll_is_posted(qp);
	if (posted) {
		mxe_sqpoll_see(qp);
		if (unlikely(qp->state >= IB_QPS_SQE))
			mxe_qp_kick(qp);
		else
			mxe_send_run(qp);
	}
	mxe_sq_end_deferred(qp);
	return posted;
}

/*
 * Visits up to MXE_SQPOLL_LOOKS QPs from number *id on, and stops after the
 * first one with posted requests. *id is the number to continue with, or 0
 * after the last QP. Returns 1 if requests were posted, 0 if not, or -EIO if
 * the poller is dead.
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
		found = mxe_sqpoll_one(qp, watch);
		(*id)++;
	}
	spin_unlock(&set->lock);
out:
	local_bh_enable();
	return found;
}

/* Visits all QPs.  Returns as mxe_sqpoll_look(). */
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
		/*
		 * The thread may never sleep, so report a quiescent state to
		 * RCU tasks.
		 */
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

/* Makes the process ring from now on, and sleeps until it does. */
static int mxe_sqpoll_sleep(struct mxe_sqpoll *poller)
{
	int ret;

	clear_bit(MXE_SQPOLL_KICKED, &poller->flags);
	/*
	 * A doorbell that saw KICKED set did not wake the thread. Its requests
	 * are visible to the round below.
	 */
	smp_mb__after_atomic();
	ret = mxe_sqpoll_round(poller, false);
	if (ret)
		return min(ret, 0);
	return wait_event_interruptible(poller->wait, mxe_sqpoll_awake(poller));
}

/*
 * Yields the CPU at once if other tasks want it. One of them may be the thread
 * that posts, or ksoftirqd, which processes the packets.
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
		 * Task work runs only on the return to user space.  Since Linux
		 * 6.18 CFS bandwidth throttling is task work.
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

/*
 * Polls in the calling thread. Returns 0 when stopped, -ERESTARTSYS for a
 * signal, -EINTR for task work, -EIO when the poller dies, or -EBUSY if another
 * thread polls.
 */
static int mxe_sqpoll_run(struct mxe_sqpoll *poller, u32 idle_us)
{
	int err;

	if (test_and_set_bit_lock(MXE_SQPOLL_RUNNING, &poller->flags))
		return -EBUSY;
	WRITE_ONCE(poller->owner, current->files);
	err = mxe_sqpoll_loop(poller, (u64)idle_us * NSEC_PER_USEC);
	/* Send the requests posted so far, and make the process ring again. */
	mxe_sqpoll_round(poller, false);
	WRITE_ONCE(poller->owner, NULL);
	clear_bit_unlock(MXE_SQPOLL_RUNNING, &poller->flags);
	return err;
}

/* ---- the object -------------------------------------------------------- */

static void mxe_sqpoll_stop(struct mxe_sqpoll *poller)
{
	set_bit(MXE_SQPOLL_STOP, &poller->flags);
	wake_up(&poller->wait);
}

/* Stops the poller if a thread with these open files runs it. */
static void mxe_sqpoll_closed(struct mxe_sqpoll *poller, const void *files)
{
	if (files && READ_ONCE(poller->owner) == files)
		mxe_sqpoll_stop(poller);
}

/* Returns 0, or -EBUSY because the context already has a poller. */
static int mxe_sqpoll_init(struct mxe_sqpoll *poller,
			   struct mxe_sqpoll_set *set)
{
	poller->flags = 0;
	poller->owner = NULL;
	init_waitqueue_head(&poller->wait);
	RCU_INIT_POINTER(poller->set, set);
	/* Publish: doorbells find the poller from here on. */
	if (cmpxchg((struct mxe_sqpoll **)&set->poller, NULL, poller))
		return -EBUSY;
	return 0;
}

/* Makes the poller dead. */
static void mxe_sqpoll_detach(struct mxe_sqpoll *poller)
{
	struct mxe_sqpoll_set *set = rcu_dereference_protected(poller->set, true);

	spin_lock_bh(&set->lock);
	RCU_INIT_POINTER(set->poller, NULL);
	RCU_INIT_POINTER(poller->set, NULL);
	spin_unlock_bh(&set->lock);
	wake_up(&poller->wait);
}

struct mxe_sqpoll_file {
	struct ib_uobject uobj;
	struct mxe_sqpoll poller;
};

static struct mxe_sqpoll *mxe_sqpoll_of(struct file *filp)
{
	return &container_of((struct ib_uobject *)filp->private_data,
			     struct mxe_sqpoll_file, uobj)->poller;
}

/*
 * A file operation rather than a uverbs method, because a method would hold a
 * reference to the context for as long as it runs.
 */
static long mxe_sqpoll_ioctl(struct file *filp, unsigned int cmd,
			     unsigned long arg)
{
	struct mxe_sqpoll *poller = mxe_sqpoll_of(filp);
	struct mxe_poll_run run;

	switch (cmd) {
	case MXE_IOC_POLL_RUN:
		if (copy_from_user(&run, (const void __user *)arg, sizeof(run)))
			return -EFAULT;
		if (run.flags || run.reserved)
			return -EINVAL;
		return mxe_sqpoll_run(poller, run.idle_us);
	case MXE_IOC_POLL_STOP:
		mxe_sqpoll_stop(poller);
		return 0;
	default:
		return -ENOTTY;
	}
}

/*
 * Closing the descriptor must stop the thread. The release function cannot do
 * that, because the thread holds the file. A close by another process, which
 * inherited the descriptor, does not stop it.
 */
static int mxe_sqpoll_flush(struct file *filp, fl_owner_t id)
{
	mxe_sqpoll_closed(mxe_sqpoll_of(filp), id);
	return 0;
}

static const struct file_operations mxe_sqpoll_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = mxe_sqpoll_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.flush = mxe_sqpoll_flush,
	.release = uverbs_uobject_fd_release,
};

static void mxe_sqpoll_destroy(struct ib_uobject *uobj,
			       enum rdma_remove_reason why)
{
	mxe_sqpoll_detach(&container_of(uobj, struct mxe_sqpoll_file,
					uobj)->poller);
}

static int UVERBS_HANDLER(MXE_METHOD_POLLER_ALLOC)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, MXE_ATTR_POLLER_ALLOC_FD);
	struct mxe_sqpoll_file *file =
		container_of(uobj, struct mxe_sqpoll_file, uobj);

	return mxe_sqpoll_init(&file->poller,
			       to_muctx(attrs->context)->sqpoll_set);
}

DECLARE_UVERBS_NAMED_METHOD(
	MXE_METHOD_POLLER_ALLOC,
	UVERBS_ATTR_FD(MXE_ATTR_POLLER_ALLOC_FD, MXE_OBJECT_POLLER,
		       UVERBS_ACCESS_NEW, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(
	MXE_OBJECT_POLLER,
	UVERBS_TYPE_ALLOC_FD(sizeof(struct mxe_sqpoll_file),
			     mxe_sqpoll_destroy, &mxe_sqpoll_fops,
			     "[mxe-poller]", O_RDWR),
	&UVERBS_METHOD(MXE_METHOD_POLLER_ALLOC));

const struct uapi_definition mxe_sqpoll_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MXE_OBJECT_POLLER),
	{},
};
