/* SPDX-License-Identifier: GPL-2.0 */
/* The packets of the requester (request.c). */
#ifndef MXE_REQUEST_H
#define MXE_REQUEST_H

#include "queues/qp.h"
#include "queues/wr.h"

/**
 * mxe_request_num_pkts() - Return the number of PSNs that a request takes.
 * @qp: QP
 * @wr: request
 *
 * Return: number of its packets; for a READ that of its responses.
 */
static inline u32 mxe_request_num_pkts(const struct mxe_qp *qp,
				       const struct mxe_send_wr *wr)
{
	if (wr->length <= qp->mtu || mxe_wr_is_atomic(wr->opcode))
		return 1;
	return DIV_ROUND_UP(wr->length, qp->mtu);
}

/**
 * mxe_request_opcode() - Return the BTH opcode of a packet.
 * @qp: QP
 * @wr: request
 * @first: the packet is the first of its message
 * @last: the packet is the last of its message
 *
 * Return: BTH opcode.
 */
u8 mxe_request_opcode(const struct mxe_qp *qp, const struct mxe_send_wr *wr,
		      bool first, bool last);

/**
 * mxe_request_long_pkt_cost() - Return the cost of a packet of a long request.
 * @qp: QP
 * @wr: request for which mxe_request_pkt_cost() is not a constant
 *
 * A READ costs as much as all of its responses, but at most a slice.
 *
 * Context: send_lock held.
 * Return: budget units.
 */
u32 mxe_request_long_pkt_cost(const struct mxe_qp *qp, const struct mxe_send_wr *wr);

/**
 * mxe_request_pkt_cost() - Return the cost of the next packet of a request.
 * @qp: QP
 * @wr: request
 *
 * Context: send_lock held.
 * Return: budget units.
 */
static inline u32 mxe_request_pkt_cost(const struct mxe_qp *qp,
				       const struct mxe_send_wr *wr)
{
	if (likely(wr->length < 2048 && wr->num_sge < 4))
		return mxe_pkt_cost(0, 0);
	return mxe_request_long_pkt_cost(qp, wr);
}

/**
 * mxe_request_may_start() - Check whether a request may be started now.
 * @qp: QP of RC or XRC
 * @wr: its request at req.cur or behind it, not started
 *
 * The state, a fence, max_rd_atomic, and the order of local operations may
 * forbid it.  A request with an error may start, so that it is reported.
 *
 * Context: send_lock held.
 * Return: true if it may.
 */
bool mxe_request_may_start(struct mxe_qp *qp, const struct mxe_send_wr *wr);

/**
 * mxe_request_send_one() - Send the packet at req.psn.
 * @qp: QP of RC, XRC or UC
 * @wr: started request that has this PSN
 *
 * The packet is added to the GSO batch.  Without a route it is lost later.
 *
 * Context: BHs disabled, send_lock held.
 * Return: 0, -ENOMEM, or an error of mxe_request_gather().
 */
int mxe_request_send_one(struct mxe_qp *qp, struct mxe_send_wr *wr);

/**
 * mxe_request_gather() - Copy a part of the data that a request sends.
 * @qp: QP
 * @wr: request
 * @offset: first byte of the part
 * @buf: where to copy it
 * @len: bytes
 *
 * Context: BHs disabled, send_lock held.
 * Return: 0, or an error of mxe_mr_copy_sges().
 */
int mxe_request_gather(struct mxe_qp *qp, const struct mxe_send_wr *wr,
		       u32 offset, void *buf, u32 len);

#endif /* MXE_REQUEST_H */
