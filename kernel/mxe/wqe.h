/* SPDX-License-Identifier: GPL-2.0 */
/* wqe.c checks what was posted to a send queue, and takes it up for the requester. */
#ifndef MXE_WQE_H
#define MXE_WQE_H

#include "qp.h"

/* How far the queue is filled. */
static inline u32 mxe_wqe_produced(const struct mxe_qp *qp)
{
	if (qp->is_user)
		return mxe_ring_producer(&qp->sq.ring);
	/* Pairs with the release in mxe_wqe_put(). */
	return smp_load_acquire(&qp->sq.posted);
}

/* The opcodes, as bits, that a process may post on this queue pair. */
u32 mxe_wqe_user_opcodes(const struct mxe_qp *qp);

bool mxe_wqe_fetch_one(struct mxe_qp *qp, u32 produced);

/* Take up one more request; false if there is none.  Context: send_lock held. */
static inline bool mxe_wqe_fetch(struct mxe_qp *qp)
{
	u32 produced = mxe_wqe_produced(qp);

	return produced != qp->sq.fetched && mxe_wqe_fetch_one(qp, produced);
}

/*
 * Check and take up a request of a kernel consumer.  -ENOMEM: the queue is full.
 * Context: post_lock held.
 */
int mxe_wqe_put(struct mxe_qp *qp, const struct ib_send_wr *ibwr);

#endif /* MXE_WQE_H */
