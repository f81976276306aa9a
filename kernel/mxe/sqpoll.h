/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread of a process can poll its send queues in the kernel, so that posting makes
 * no system call (sqpoll.c).
 */
#ifndef MXE_SQPOLL_H
#define MXE_SQPOLL_H

#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <rdma/uverbs_ioctl.h>

struct mxe_qp;
struct mxe_sqpoll;
struct mxe_ucontext;

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

#ifndef MXE_WITHOUT_SQPOLL

/* What a process may ask for when it creates a queue pair. */
#define MXE_SQPOLL_CREATE_FLAGS MXE_QP_CREATE_POLLED

/* For a user context.  Returns 0 or -ENOMEM.  Context: may sleep. */
int mxe_sqpoll_open(struct mxe_ucontext *uctx);
/* The context has no queue pairs any more. */
void mxe_sqpoll_close(struct mxe_ucontext *uctx);

/* A doorbell was rung for one that is polled.  Context: bottom halves off. */
void mxe_sqpoll_wake(struct mxe_qp *qp);

/* A queue pair that may be polled comes, and goes.  Others are left alone. */
int mxe_sqpoll_add(struct mxe_qp *qp);
/* The thread does not look at it any more when this returns. */
void mxe_sqpoll_remove(struct mxe_qp *qp);

/* The uverbs object whose file the thread runs. */
extern const struct uapi_definition mxe_sqpoll_defs[];

#else

#define MXE_SQPOLL_CREATE_FLAGS 0

static inline int mxe_sqpoll_open(struct mxe_ucontext *uctx)
{
	return 0;
}

static inline void mxe_sqpoll_close(struct mxe_ucontext *uctx)
{
}

static inline void mxe_sqpoll_wake(struct mxe_qp *qp)
{
}

static inline int mxe_sqpoll_add(struct mxe_qp *qp)
{
	return 0;
}

static inline void mxe_sqpoll_remove(struct mxe_qp *qp)
{
}

#endif /* MXE_WITHOUT_SQPOLL */

#endif /* MXE_SQPOLL_H */
