/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A shortcut of the loopback path for the atomics of 8 bytes of processes
 * (loop_atomic.c).
 */
#ifndef MXE_LOOP_ATOMIC_H
#define MXE_LOOP_ATOMIC_H

#include "qp.h"
#include "ring.h"
#include "wr.h"

#if !defined(MXE_WITHOUT_LOOPBACK) && !defined(MXE_WITHOUT_LOOP_ATOMIC)

/**
 * mxe_loop_atomic_run() - Execute the atomics at the head of the send ring.
 * @qp: QP, for which sq.loopback.atomics is set
 *
 * Only mxe_loop_atomic_ring() calls it.
 *
 * Context: As mxe_loop_atomic_ring().
 * Return: As mxe_loop_atomic_ring().
 */
bool mxe_loop_atomic_run(struct mxe_qp *qp);

/**
 * mxe_loop_atomic_ring() - Execute the atomics at the head of the send ring.
 * @qp: QP whose doorbell rang
 *
 * Executes only requests that mxe_loopback_request() would execute, with the
 * same effects.  The first other request remains in the ring, unchanged, and so
 * do all after it.
 *
 * Context: BHs disabled, RCU read-side section, send_lock held.  Takes and
 * releases recv_lock of the peer.
 * Return: true if all requests were executed that were in the ring at the time
 * of the call.
 */
static inline bool mxe_loop_atomic_ring(struct mxe_qp *qp)
{
	const struct mxe_sq *sq = &qp->sq;
	const struct mxe_send_wqe *next;

	/* Not for a dying QP, whose ring is freed: mxe_loopback_reset(). */
	if (!sq->loopback.atomics)
		return false;
	/* Read again before it is used. */
	next = mxe_ring_entry(&sq->ring, sq->fetched);
	return mxe_wr_is_atomic(READ_ONCE(next->opcode)) && mxe_loop_atomic_run(qp);
}

#else

static inline bool mxe_loop_atomic_ring(struct mxe_qp *qp)
{
	return false;
}

#endif /* MXE_WITHOUT_LOOP_ATOMIC */

#endif /* MXE_LOOP_ATOMIC_H */
