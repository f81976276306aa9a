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

int mxe_srq_take(struct mxe_srq *srq, struct mxe_recv_wr *wr,
		 unsigned long *pending);
int mxe_srq_take_locked(struct mxe_srq *srq, struct mxe_recv_wr *wr,
			unsigned long *pending);
int mxe_srq_publish(struct mxe_srq *srq);
void mxe_srq_withdraw(struct mxe_srq *srq);
void mxe_srq_wait(struct mxe_srq *srq);
void mxe_srq_hold(struct mxe_srq *srq);
void mxe_srq_put(struct mxe_srq *srq);
void mxe_srq_event(struct mxe_srq *srq, enum ib_event_type type);

#endif /* MXE_SRQ_H */
