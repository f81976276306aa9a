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

#include "qp.h"

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

/*
 * Prepare a queue pair that a process creates with those flags.  Returns 0, or -EINVAL
 * if it has no send queue to poll.
 */
int mxe_sqpoll_init_qp(struct mxe_qp *qp, struct mxe_ucontext *uctx, u32 flags);
/* Let the thread look at a queue pair that may be polled.  Returns 0 or -ENOMEM. */
int mxe_sqpoll_add(struct mxe_qp *qp);
/* The thread does not look at it any more when this returns. */
void mxe_sqpoll_remove(struct mxe_qp *qp);

/* The ring was reset.  Context: send_lock held. */
static inline void mxe_sqpoll_reset(struct mxe_qp *qp)
{
	WRITE_ONCE(qp->sq.seen, 0);
}

/* What is in the ring now is about to be sent.  Context: send_lock held. */
static inline void mxe_sqpoll_see(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;

	/* One that is dying was found under RCU, and has no ring any more. */
	if (sq->is_polled && !qp->dying)
		WRITE_ONCE(sq->seen, mxe_ring_producer(&sq->ring));
}

/*
 * Returns true if the queue is polled, but no thread looks at it now, so that the
 * process has to ring.  Context: send_lock held.
 */
static inline bool mxe_sqpoll_needs_doorbell(const struct mxe_qp *qp)
{
	return qp->sq.is_polled && !qp->sq.watched;
}

/* mxe_sqpoll_wake() of a queue that is polled. */
void mxe_sqpoll_wake_thread(struct mxe_qp *qp);

/* A doorbell was rung: wake the thread if the queue is polled.  Context: BHs off. */
static inline void mxe_sqpoll_wake(struct mxe_qp *qp)
{
	if (unlikely(qp->sq.is_polled))
		mxe_sqpoll_wake_thread(qp);
}

/* The uverbs object whose file the thread runs. */
extern const struct uapi_definition mxe_sqpoll_defs[];

#else

#define MXE_SQPOLL_CREATE_FLAGS 0

static const struct uapi_definition mxe_sqpoll_defs[] __maybe_unused = { {} };

static inline int mxe_sqpoll_open(struct mxe_ucontext *uctx)
{
	return 0;
}

static inline void mxe_sqpoll_close(struct mxe_ucontext *uctx)
{
}

static inline int mxe_sqpoll_init_qp(struct mxe_qp *qp, struct mxe_ucontext *uctx,
				     u32 flags)
{
	return 0;
}

static inline int mxe_sqpoll_add(struct mxe_qp *qp)
{
	return 0;
}

static inline void mxe_sqpoll_remove(struct mxe_qp *qp)
{
}

static inline void mxe_sqpoll_reset(struct mxe_qp *qp)
{
}

static inline void mxe_sqpoll_see(struct mxe_qp *qp)
{
}

static inline bool mxe_sqpoll_needs_doorbell(const struct mxe_qp *qp)
{
	return false;
}

static inline void mxe_sqpoll_wake(struct mxe_qp *qp)
{
}

#endif /* MXE_WITHOUT_SQPOLL */

#endif /* MXE_SQPOLL_H */
