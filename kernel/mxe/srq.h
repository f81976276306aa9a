/* SPDX-License-Identifier: GPL-2.0 */
/* A shared receive queue serves several queue pairs (srq.c). */
#ifndef MXE_SRQ_H
#define MXE_SRQ_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <rdma/ib_verbs.h>

#include "rq.h"

/*
 * Lifetime: queue pairs that use the queue keep it alive through the core's
 * use count.  Target queue pairs of XRC do not count; see xrcd.h for how they
 * find the queue and lose it.
 *
 * lock covers limit and the consumer's side of q.  It is taken inside a queue
 * pair's recv_lock, bottom halves off.
 */
struct mxe_srq {
	struct ib_srq ibsrq;
	struct mxe_recv_queue q;
	spinlock_t lock;		/* limit, and taking from q */
	u32 limit;			/* event when fewer are left; 0: off */

	/* XRC: its number, and who reports an event meanwhile. */
	u32 num;
	struct kref ref;
	struct completion released;
};

static inline struct mxe_srq *to_msrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct mxe_srq, ibsrq);
}

/*
 * As mxe_rq_take(); what is to be done about the shared queue is
 * added to pending.  Context: bottom halves off.
 */
int mxe_srq_take(struct mxe_srq *srq, struct mxe_recv_wr *wr,
		 unsigned long *pending);
/* A queue of XRC is about to be used without recv_lock, and is not any more. */
void mxe_srq_hold(struct mxe_srq *srq);
void mxe_srq_put(struct mxe_srq *srq);
/* Tell the consumer.  Context: no lock held. */
void mxe_srq_event(struct mxe_srq *srq, enum ib_event_type type);

#endif /* MXE_SRQ_H */
