/* SPDX-License-Identifier: GPL-2.0 */
/* The send queue: what was posted, checked and taken up for the requester. */
#ifndef MXE_POST_H
#define MXE_POST_H

#include "qp.h"

static inline bool mxe_opcode_is_atomic(enum ib_wr_opcode opcode)
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

/* READs and atomics: what max_rd_atomic limits and fences wait for. */
static inline bool mxe_opcode_is_rd_atomic(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_RDMA_READ || mxe_opcode_is_atomic(opcode);
}

static inline bool mxe_opcode_is_send(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM ||
	       opcode == IB_WR_SEND_WITH_INV;
}

static inline bool mxe_opcode_is_write(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_RDMA_WRITE ||
	       opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static inline bool mxe_opcode_is_local(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_REG_MR || opcode == IB_WR_LOCAL_INV ||
	       opcode == IB_WR_BIND_MW;
}

static inline bool mxe_opcode_has_remote_addr(enum ib_wr_opcode opcode)
{
	return mxe_opcode_is_write(opcode) || mxe_opcode_is_rd_atomic(opcode);
}

static inline bool mxe_opcode_takes_inline(enum ib_wr_opcode opcode)
{
	return mxe_opcode_is_send(opcode) || mxe_opcode_is_write(opcode);
}

/* Take up one more request; false if there is none.  Context: send_lock held. */
bool mxe_send_fetch(struct mxe_qp *qp);
/* How far the queue is filled. */
u32 mxe_send_produced(struct mxe_qp *qp);

int mxe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);

#endif /* MXE_POST_H */
