/* SPDX-License-Identifier: GPL-2.0 */
/* Checks and copies the requests of a send queue for the requester (wqe.c). */
#ifndef MXE_WQE_H
#define MXE_WQE_H

#include "queues/qp.h"
#include "queues/wr.h"
#include "tm/rndv.h"

/*
 * Return the producer index of a send queue, which for a process may be any
 * number. This is a load-acquire: the requests before the index can be read
 * afterwards.
 * Context: send_lock held.
 */
static inline u32 mxe_wqe_produced(const struct mxe_qp *qp)
{
	if (qp->is_user)
		return mxe_ring_producer(&qp->req.ring);
	/* Pairs with the release in mxe_wqe_post(). */
	return smp_load_acquire(&qp->req.posted);
}

/*
 * Return false if the producer index moved back, or beyond the free entries.
 * Requests that were fetched and are not complete must not be overwritten.
 * Context: send_lock held.
 */
static inline bool mxe_wqe_index_ok(const struct mxe_qp *qp, u32 produced)
{
	return produced - mxe_rndv_fetched(qp) <= qp->req.entries - mxe_rndv_held(qp);
}

u32 mxe_wqe_user_opcodes(const struct mxe_qp *qp);
bool mxe_wqe_fetch_one(struct mxe_qp *qp, u32 produced);

/*
 * Fetch the next request of a send queue.
 * Context: send_lock held.
 * Return: false if there is none, or mxe_wqe_fetch_one() fails.
 */
static inline bool mxe_wqe_fetch(struct mxe_qp *qp)
{
	u32 produced;

	if (mxe_qp_has_tm(qp) && mxe_rndv_fetch(qp))
		return true;
	produced = mxe_wqe_produced(qp);
	return produced != mxe_rndv_fetched(qp) && mxe_wqe_fetch_one(qp, produced);
}

int mxe_wqe_post(struct mxe_qp *qp, const struct ib_send_wr *ibwr);

#endif /* MXE_WQE_H */
