/* SPDX-License-Identifier: GPL-2.0 */
/* request.c describes and sends the packets of the requester. */
#ifndef MXE_REQUEST_H
#define MXE_REQUEST_H

#include "qp.h"
#include "wr.h"

/* Packets that a request takes. */
static inline u32 mxe_request_num_pkts(const struct mxe_qp *qp,
				       const struct mxe_send_wr *wr)
{
	if (wr->length <= qp->mtu || mxe_wr_is_atomic(wr->opcode))
		return 1;
	return DIV_ROUND_UP(wr->length, qp->mtu);
}

/*
 * The BTH opcode of a packet, by its place in the message.  Not for atomics, whose
 * opcodes follow from the operation that they are lowered to.
 */
u8 mxe_request_opcode(const struct mxe_send_wr *wr, enum mxe_transport transport,
		      bool first, bool last);

/* mxe_request_pkt_cost() where that is not 2.  A READ costs what its responses cost. */
u32 mxe_request_long_pkt_cost(struct mxe_qp *qp, const struct mxe_send_wr *wr);

/* What the next packet of wr costs, in units of a slice.  Context: send_lock held. */
static inline u32 mxe_request_pkt_cost(struct mxe_qp *qp,
				       const struct mxe_send_wr *wr)
{
	if (likely(wr->length < 2048 && wr->num_sge < 4))
		return mxe_pkt_cost(0, 0);
	return mxe_request_long_pkt_cost(qp, wr);
}

/* May a request that was never sent begin?  Context: send_lock held. */
bool mxe_request_may_start(struct mxe_qp *qp, const struct mxe_send_wr *wr);
/* Send the packet at sq->psn.  -ENOMEM, or errors of the memory layer. */
int mxe_request_send_one(struct mxe_qp *qp, struct mxe_send_wr *wr);
/*
 * Copy bytes offset..offset+len of what wr sends.  Errors of the memory layer.
 */
int mxe_request_gather(struct mxe_qp *qp, const struct mxe_send_wr *wr,
		       u32 offset, void *buf, u32 len);

#endif /* MXE_REQUEST_H */
