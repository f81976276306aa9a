/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared receive queues (SRQs), from which several QPs take requests (srq.c).
 */
#ifndef MXE_SRQ_H
#define MXE_SRQ_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <rdma/ib_verbs.h>

#include "queues/rq.h"

struct mxe_tm;

/*
 * Lifetime: QPs that use the SRQ keep it alive by the use count of ib_core. XRC
 * targets do not count; mxe_xrcd_withdraw() makes them forget the SRQ.
 *
 * lock protects limit, q.consumed and the list of tags.  It nests inside
 * recv_lock of a QP and is taken with BHs disabled.
 */
struct mxe_srq {
	struct ib_srq ibsrq;
	struct mxe_recv_queue q;
	spinlock_t lock;		/* limit, q.consumed, tags */
	u32 limit;			/* event below this level; 0: off */

	struct mxe_tm *tm;		/* immutable; NULL: no tag matching */

	/* XRC and tag matching only: found by number. */
	u32 num;			/* SRQ number */
	struct kref ref;		/* by mxe_srq_hold(), and one */
	struct completion released;	/* ref has dropped to 0 */
};

static inline struct mxe_srq *to_msrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct mxe_srq, ibsrq);
}

/**
 * mxe_srq_take() - Take the next request from an SRQ.
 * @srq: the SRQ
 * @wr: as for mxe_rq_take()
 * @pending: MXE_PENDING_EV_SRQ_* bits are added for events of the SRQ
 *
 * Context: BHs disabled. Takes the lock of the SRQ.
 * Return: as mxe_rq_take().
 */
int mxe_srq_take(struct mxe_srq *srq, struct mxe_recv_wr *wr,
		 unsigned long *pending);

/**
 * mxe_srq_take_locked() - Take the next request from an SRQ.
 * @srq: the SRQ
 * @wr: as for mxe_rq_take()
 * @pending: as for mxe_srq_take()
 *
 * Context: BHs disabled, lock of the SRQ held.
 * Return: as mxe_rq_take().
 */
int mxe_srq_take_locked(struct mxe_srq *srq, struct mxe_recv_wr *wr,
			unsigned long *pending);

/**
 * mxe_srq_publish() - Give an SRQ its number, so that it can be found.
 * @srq: the SRQ, completely initialised
 *
 * Context: Process context. May sleep.
 * Return: 0 or a negative errno of xa_alloc_cyclic_bh().
 */
int mxe_srq_publish(struct mxe_srq *srq);

/**
 * mxe_srq_withdraw() - Take its number from an SRQ, so that no one finds it.
 * @srq: the SRQ
 *
 * Context: Process context.
 */
void mxe_srq_withdraw(struct mxe_srq *srq);

/**
 * mxe_srq_wait() - Drop the own reference and wait until there is no other.
 * @srq: the SRQ, withdrawn before
 *
 * Context: Process context. May sleep.
 */
void mxe_srq_wait(struct mxe_srq *srq);

/**
 * mxe_srq_hold() - Keep an SRQ with a number alive.
 * @srq: the SRQ
 *
 * Context: recv_lock of a target that found the SRQ, or the lock of dev->srqs,
 * is held.
 */
void mxe_srq_hold(struct mxe_srq *srq);

/**
 * mxe_srq_put() - Undo mxe_srq_hold().
 * @srq: the SRQ
 *
 * Context: Any.
 */
void mxe_srq_put(struct mxe_srq *srq);

/**
 * mxe_srq_event() - Report an asynchronous event of an SRQ to its consumer.
 * @srq: the SRQ
 * @type: the event
 *
 * Context: No lock is held, because the consumer's handler is called.
 */
void mxe_srq_event(struct mxe_srq *srq, enum ib_event_type type);

#endif /* MXE_SRQ_H */
