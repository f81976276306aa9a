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

/*
 * As mxe_rq_take(). Add MXE_PENDING_EV_SRQ_* bits for events of the SRQ to
 * @pending.
 * Context: BHs disabled. Takes the lock of the SRQ.
 */
int mxe_srq_take(struct mxe_srq *srq, struct mxe_recv_wr *wr,
		 unsigned long *pending);

/*
 * As mxe_srq_take().
 * Context: BHs disabled, lock of the SRQ held.
 */
int mxe_srq_take_locked(struct mxe_srq *srq, struct mxe_recv_wr *wr,
			unsigned long *pending);

/*
 * Give an SRQ that is completely initialised its number, so that it can be
 * found.
 * Context: May sleep.
 * Return: 0 or a negative errno of xa_alloc_cyclic_bh().
 */
int mxe_srq_publish(struct mxe_srq *srq);

/*
 * Take its number from an SRQ, so that no one finds it.
 * Context: Process context.
 */
void mxe_srq_withdraw(struct mxe_srq *srq);

/*
 * Drop the own reference to an SRQ that was withdrawn, and wait until there is
 * no other.
 * Context: May sleep.
 */
void mxe_srq_wait(struct mxe_srq *srq);

/*
 * Keep an SRQ with a number alive until mxe_srq_put().
 * Context: recv_lock of a target that found the SRQ, or the lock of dev->srqs,
 * is held.
 */
void mxe_srq_hold(struct mxe_srq *srq);

/* Context: Any. */
void mxe_srq_put(struct mxe_srq *srq);

/* Context: No lock is held, because the consumer's handler is called. */
void mxe_srq_event(struct mxe_srq *srq, enum ib_event_type type);

#endif /* MXE_SRQ_H */
