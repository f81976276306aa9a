/* SPDX-License-Identifier: GPL-2.0 */
/* The send queue: what was posted, checked and taken up for the requester. */
#ifndef MXE_POST_H
#define MXE_POST_H

#include "qp.h"

static inline bool mxe_wr_is_atomic(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		return true;
	default:
		return false;
	}
}

/* Those of memory placement: their response is that of a READ of nothing. */
static inline bool mxe_wr_is_placement(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_FLUSH || opcode == IB_WR_ATOMIC_WRITE;
}

/* What has a response: max_rd_atomic limits it and fences wait for it. */
static inline bool mxe_wr_is_rd_atomic(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_RDMA_READ || mxe_wr_is_atomic(opcode) ||
	       mxe_wr_is_placement(opcode);
}

static inline bool mxe_wr_is_send(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM ||
	       opcode == IB_WR_SEND_WITH_INV;
}

static inline bool mxe_wr_is_write(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_RDMA_WRITE ||
	       opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static inline bool mxe_wr_is_local(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_REG_MR || opcode == IB_WR_LOCAL_INV ||
	       opcode == IB_WR_BIND_MW;
}

static inline bool mxe_wr_has_remote_addr(enum ib_wr_opcode opcode)
{
	return mxe_wr_is_write(opcode) || mxe_wr_is_rd_atomic(opcode);
}

static inline bool mxe_wr_takes_inline(enum ib_wr_opcode opcode)
{
	return mxe_wr_is_send(opcode) || mxe_wr_is_write(opcode);
}

/* How far the queue is filled. */
static inline u32 mxe_send_produced(const struct mxe_qp *qp)
{
	if (qp->is_user)
		return mxe_ring_producer(&qp->sq.ring);
	/* Pairs with the release in mxe_post_send(). */
	return smp_load_acquire(&qp->sq.posted);
}

/* The opcodes, as bits, that a process may post on this queue pair. */
u32 mxe_qp_user_opcodes(const struct mxe_qp *qp);

bool mxe_send_fetch_one(struct mxe_qp *qp, u32 produced);

/* Take up one more request; false if there is none.  Context: send_lock held. */
static inline bool mxe_send_fetch(struct mxe_qp *qp)
{
	u32 produced = mxe_send_produced(qp);

	return produced != qp->sq.fetched && mxe_send_fetch_one(qp, produced);
}

int mxe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);

#endif /* MXE_POST_H */
