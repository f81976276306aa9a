/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared receive queues (SRQs), from which several QPs take requests (srq.c).
 */
#ifndef MXE_SRQ_H
#define MXE_SRQ_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <rdma/ib_verbs.h>

#include "rq.h"

/*
 * Lifetime: QPs that use the SRQ keep it alive by the use count of ib_core. XRC
 * targets do not count; mxe_xrcd_withdraw() makes them forget the SRQ.
 *
 * lock protects limit and q.consumed.  It nests inside recv_lock of a QP and is
 * taken with BHs disabled.
 */
struct mxe_srq {
	struct ib_srq ibsrq;
	struct mxe_recv_queue q;
	spinlock_t lock;		/* protects limit and q.consumed */
	u32 limit;			/* event below this level; 0: off */

	/* XRC only. */
	u32 num;			/* SRQ number */
	struct kref ref;		/* by mxe_srq_hold(), and one */
	struct completion released;	/* ref has dropped to 0 */
};

/**
 * to_msrq() - Cast an ib_srq.
 * @ibsrq: SRQ of this driver
 *
 * Return: the SRQ around it.
 */
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
 * mxe_srq_hold() - Keep an XRC SRQ alive beyond recv_lock.
 * @srq: an XRC SRQ
 *
 * Context: recv_lock of a target that found the SRQ is held.
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
