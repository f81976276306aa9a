/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Polling: a thread of a process, in the kernel, that looks at its send queues
 * so that posting takes no system call.
 */
#ifndef MXE_SQPOLL_H
#define MXE_SQPOLL_H

#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/xarray.h>

struct files_struct;
struct mxe_qp;

enum mxe_sqpoll_flags {
	MXE_SQPOLL_RUNNING,		/* by one thread */
	MXE_SQPOLL_STOP,		/* for ever */
	MXE_SQPOLL_KICKED,		/* a doorbell was rung */
};

/*
 * The polled queue pairs of a user context.
 *
 * Lifetime: freed a grace period after the context, since doorbells find it
 * through a queue pair under RCU.  lock is outside send_lock, BHs off; the thread
 * that polls holds it while it looks at queue pairs, so that removing a queue
 * pair or the poller waits for one look at most, and for no grace period.
 */
struct mxe_sqpoll_set {
	spinlock_t lock;		/* held while a QP is looked at */
	struct xarray qps;		/* by sq.poll_id; removed under lock */
	struct mxe_sqpoll __rcu *poller;	/* or NULL; by cmpxchg() */
	struct rcu_head rcu;
};

/* NULL: no memory.  Context: may sleep. */
struct mxe_sqpoll_set *mxe_sqpoll_set_alloc(void);
/* Nothing is in it any more. */
void mxe_sqpoll_set_free(struct mxe_sqpoll_set *set);

/*
 * Lifetime: part of a uverbs object, whose file the thread that runs it holds.
 * The object may die before, with the context or the device: then set becomes
 * NULL under its lock, and the thread finds no queue pairs any more.  The thread
 * is not waited for: it may be stopped for as long as the process likes.
 */
struct mxe_sqpoll {
	struct mxe_sqpoll_set __rcu *set;	/* NULL: dead */
	unsigned long flags;		/* bits of enum mxe_sqpoll_flags */
	struct files_struct *owner;	/* of who runs it; compared only */
	wait_queue_head_t wait;		/* of who runs it, while idle */
};

/* A context has one.  0 or -EBUSY. */
int mxe_sqpoll_init(struct mxe_sqpoll *poller, struct mxe_sqpoll_set *set);
/* The object dies. */
void mxe_sqpoll_detach(struct mxe_sqpoll *poller);

/*
 * Poll in the calling thread until stopped (0), a signal comes (-ERESTARTSYS),
 * the thread has other things to do (-EINTR), or the poller dies (-EIO).
 */
int mxe_sqpoll_run(struct mxe_sqpoll *poller, u32 idle_us);
void mxe_sqpoll_stop(struct mxe_sqpoll *poller);
/* Those files are closing the poller: if theirs is who runs it he stops. */
void mxe_sqpoll_closed(struct mxe_sqpoll *poller, const void *files);

/* A doorbell was rung for one that is polled.  Context: bottom halves off. */
void mxe_sqpoll_wake(struct mxe_qp *qp);

/* A queue pair that may be polled comes, and goes.  Others are left alone. */
int mxe_sqpoll_add(struct mxe_qp *qp);
/* The thread does not look at it any more when this returns. */
void mxe_sqpoll_remove(struct mxe_qp *qp);

#endif /* MXE_SQPOLL_H */
