/* SPDX-License-Identifier: GPL-2.0 */
/* Checks and copies the requests of a send queue for the requester (wqe.c). */
#ifndef MXE_WQE_H
#define MXE_WQE_H

#include "qp.h"
#include "rndv.h"
#include "wr.h"

/**
 * mxe_wqe_produced() - Return the producer index of a send queue.
 * @qp: QP with a send queue
 *
 * A load-acquire: the requests before the index can be read afterwards.
 *
 * Context: send_lock held.
 * Return: the index, which for a process may be any number.
 */
static inline u32 mxe_wqe_produced(const struct mxe_qp *qp)
{
	if (qp->is_user)
		return mxe_ring_producer(&qp->sq.ring);
	/* Pairs with the release in mxe_wqe_put(). */
	return smp_load_acquire(&qp->sq.posted);
}

/**
 * mxe_wqe_index_ok() - Check the producer index of a send queue.
 * @qp: QP with a send queue
 * @produced: the index
 *
 * Context: send_lock held.
 * Return: false if it moved back, or beyond the free entries.  Requests that
 * were fetched and are not complete must not be overwritten.
 */
static inline bool mxe_wqe_index_ok(const struct mxe_qp *qp, u32 produced)
{
	return produced - mxe_rndv_fetched(qp) <= qp->sq.entries - mxe_rndv_held(qp);
}

/**
 * mxe_wqe_user_opcodes() - Return the opcodes that a process may post.
 * @qp: QP with type and be_reply set
 *
 * An atomic is missing if the device returns big-endian results only, and the
 * QP was created without MXE_QP_CREATE_ATOMIC_BE_REPLY.
 *
 * Return: bit n is set if opcode n may be posted.
 */
u32 mxe_wqe_user_opcodes(const struct mxe_qp *qp);

/**
 * mxe_wqe_fetch_one() - Fetch a request of a send queue that is not empty.
 * @qp: QP with a send queue
 * @produced: its producer index, from mxe_wqe_produced(), not
 *	mxe_rndv_fetched()
 *
 * Copies the WQE of a process, and checks the copy.  A bad one gets an error
 * that is reported when its turn comes.  If the index is invalid, the QP moves
 * to ERR.
 *
 * Context: send_lock held.
 * Return: false if the index is invalid, or MXE_MAX_FETCHED requests are not
 * complete.
 */
bool mxe_wqe_fetch_one(struct mxe_qp *qp, u32 produced);

/**
 * mxe_wqe_fetch() - Fetch the next request of a send queue.
 * @qp: QP with a send queue
 *
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

/**
 * mxe_wqe_set_atomic() - Set operands of up to 8 bytes.
 * @a: set to the operation, which is lowered if possible
 * @opcode: opcode of an atomic
 * @log_size: log2 of the operand size in bytes
 * @compare_add: as in struct mxe_send_wqe
 * @swap: as in struct mxe_send_wqe
 * @compare_add_mask: as in struct mxe_send_wqe
 * @swap_mask: as in struct mxe_send_wqe
 */
static inline void mxe_wqe_set_atomic(struct mxe_atomic_args *a,
				      enum ib_wr_opcode opcode, u8 log_size,
				      u64 compare_add, u64 swap, u64 compare_add_mask,
				      u64 swap_mask)
{
	a->log_size = log_size;
	switch (opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
		a->op = MXE_ATOMIC_CMP_SWAP;
		a->swap_add = swap;
		a->compare = compare_add;
		a->swap_mask = 0;
		a->compare_mask = 0;
		return;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		a->op = MXE_ATOMIC_FETCH_ADD;
		a->swap_add = compare_add;
		a->compare = 0;
		a->swap_mask = 0;
		a->compare_mask = 0;
		return;
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
		a->op = MXE_ATOMIC_MASKED_CMP_SWAP;
		a->swap_add = swap;
		a->compare = compare_add;
		a->swap_mask = swap_mask;
		a->compare_mask = compare_add_mask;
		mxe_atomic_lower(a);
		return;
	default:
		a->op = MXE_ATOMIC_MASKED_FETCH_ADD;
		a->swap_add = compare_add;
		a->compare = 0;
		a->swap_mask = 0;
		a->compare_mask = compare_add_mask;
		mxe_atomic_lower(a);
	}
}

/**
 * mxe_wqe_fetch_atomic_8() - Copy the operands of an atomic of 8 bytes.
 * @qp: QP of a process, which may post masked atomics of 8 bytes
 * @wqe: entry of its send ring
 * @opcode: opcode of the entry, as read before
 * @flags: its flags, as read before
 * @args: set to the operation, which is lowered if possible
 *
 * For the shortcuts.  The process may write the entry at any time, so each
 * member is read once.
 *
 * Context: send_lock held.
 * Return: false if this is another request, or not certain to be valid.
 */
static inline bool mxe_wqe_fetch_atomic_8(const struct mxe_qp *qp,
					  const struct mxe_send_wqe *wqe, u8 opcode,
					  u8 flags, struct mxe_atomic_args *args)
{
	const u8 known = MXE_SEND_FENCE | MXE_SEND_SIGNALED | MXE_SEND_SOLICITED |
			 MXE_SEND_USER;
	const struct mxe_sq *sq = &qp->sq;
	u16 row = mxe_wr_flags(opcode);
	u8 log_size = READ_ONCE(wqe->log_arg_sz);

	if (flags & ~known || !(row & MXE_WR_OP_ATOMIC) || !(sq->opcodes & BIT(opcode)) ||
	    READ_ONCE(wqe->num_sge) != 1 || READ_ONCE(wqe->remote_srqn) ||
	    READ_ONCE(wqe->reserved1))
		return false;
	if (row & MXE_WR_OP_MASKED ? log_size != 3 : log_size)
		return false;
	mxe_wqe_set_atomic(args, opcode, 3, READ_ONCE(wqe->atomic.compare_add),
			   READ_ONCE(wqe->atomic.swap),
			   READ_ONCE(wqe->atomic.compare_add_mask),
			   READ_ONCE(wqe->atomic.swap_mask));
	return true;
}

/**
 * mxe_wqe_put() - Check and copy a request of a kernel consumer.
 * @qp: QP with a send queue
 * @ibwr: request
 *
 * Context: sq.post_lock held.
 * Return: 0; -EOPNOTSUPP for an opcode that the QP may not use; -EINVAL for
 * invalid SGEs, inline data or AH; -ENOMEM if the queue is full.
 */
int mxe_wqe_put(struct mxe_qp *qp, const struct ib_send_wr *ibwr);

#endif /* MXE_WQE_H */
