/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Polling of send queues in the kernel, by a thread of the process that owns
 * them, so that posting makes no system call (sqpoll.c).
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
 * The polled QPs of a user context.
 *
 * Lifetime: freed a grace period after the context, because doorbells find it
 * through a QP under RCU.
 *
 * lock is taken with BHs disabled, outside send_lock. The polling thread holds
 * it while it visits QPs. Removing a QP or the poller therefore waits for at
 * most MXE_SQPOLL_LOOKS visits, and never for a grace period.
 */
struct mxe_sqpoll_set {
	spinlock_t lock;		/* held while QPs are visited */
	struct xarray qps;		/* by sq.poll_id; removed under lock */
	struct mxe_sqpoll __rcu *poller;	/* or NULL; by cmpxchg() */
	struct rcu_head rcu;
};

#ifndef MXE_WITHOUT_SQPOLL

/* Flags that a process may set when it creates a QP. */
#define MXE_SQPOLL_CREATE_FLAGS MXE_QP_CREATE_POLLED

/**
 * mxe_sqpoll_open() - Create the set of polled QPs of a user context.
 * @uctx: the context
 *
 * Context: Process context. May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_sqpoll_open(struct mxe_ucontext *uctx);

/**
 * mxe_sqpoll_close() - Free the set of polled QPs.
 * @uctx: the context, which has no QPs any more
 *
 * Context: Process context. May sleep.
 */
void mxe_sqpoll_close(struct mxe_ucontext *uctx);

/**
 * mxe_sqpoll_init_qp() - Initialise polling of a new QP.
 * @qp: the QP
 * @uctx: context of the process that creates it
 * @flags: MXE_QP_CREATE_* flags
 *
 * Return: 0, or -EINVAL if the QP is to be polled but has no send queue.
 */
int mxe_sqpoll_init_qp(struct mxe_qp *qp, struct mxe_ucontext *uctx, u32 flags);

/**
 * mxe_sqpoll_add() - Make a QP visible to the polling thread.
 * @qp: the QP; nothing is done if it is not polled
 *
 * Context: Process context. May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_sqpoll_add(struct mxe_qp *qp);

/**
 * mxe_sqpoll_remove() - Hide a QP from the polling thread.
 * @qp: the QP; nothing is done if it is not polled
 *
 * The thread does not access the QP any more when this returns.
 *
 * Context: Process context.
 */
void mxe_sqpoll_remove(struct mxe_qp *qp);

/**
 * mxe_sqpoll_reset() - Note that the send ring was reset.
 * @qp: the QP
 *
 * Context: send_lock held.
 */
static inline void mxe_sqpoll_reset(struct mxe_qp *qp)
{
	WRITE_ONCE(qp->sq.seen, 0);
}

/**
 * mxe_sqpoll_see() - Note the producer index before the ring is read.
 * @qp: the QP
 *
 * Context: send_lock held.
 */
static inline void mxe_sqpoll_see(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;

	/* A dying QP can still be found under RCU, but its ring is freed. */
	if (sq->is_polled && !qp->dying)
		WRITE_ONCE(sq->seen, mxe_ring_producer(&sq->ring));
}

/**
 * mxe_sqpoll_needs_doorbell() - Check if the process must ring a polled QP.
 * @qp: the QP
 *
 * Context: send_lock held.
 * Return: true if the QP is polled, but no thread visits it at the moment.
 */
static inline bool mxe_sqpoll_needs_doorbell(const struct mxe_qp *qp)
{
	return qp->sq.is_polled && !qp->sq.watched;
}

/**
 * mxe_sqpoll_wake_thread() - Out-of-line part of mxe_sqpoll_wake().
 * @qp: a polled QP
 *
 * Context: BHs disabled.
 */
void mxe_sqpoll_wake_thread(struct mxe_qp *qp);

/**
 * mxe_sqpoll_wake() - Wake the polling thread after a doorbell.
 * @qp: the QP; nothing is done if it is not polled
 *
 * Context: BHs disabled.
 */
static inline void mxe_sqpoll_wake(struct mxe_qp *qp)
{
	if (unlikely(qp->sq.is_polled))
		mxe_sqpoll_wake_thread(qp);
}

/* The uverbs object whose file operations the thread runs. */
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
