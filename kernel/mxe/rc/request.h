/* SPDX-License-Identifier: GPL-2.0 */
/* The packets of the requester (request.c). */
#ifndef MXE_REQUEST_H
#define MXE_REQUEST_H

#include "queues/qp.h"
#include "queues/wr.h"

/*
 * Return the number of PSNs that a request takes, that of its packets; for a
 * READ that of its responses.
 */
static inline u32 mxe_request_num_pkts(const struct mxe_qp *qp,
				       const struct mxe_send_wr *wr)
{
	if (wr->length <= qp->mtu || mxe_wr_is_atomic(wr->opcode))
		return 1;
	return DIV_ROUND_UP(wr->length, qp->mtu);
}

/*
 * Return the BTH opcode of a packet that is the first or last of its message.
 */
u8 mxe_request_opcode(const struct mxe_qp *qp, const struct mxe_send_wr *wr,
		      bool first, bool last);

/*
 * As mxe_request_pkt_cost(), if the cost is not a constant. A READ costs as
 * much as all of its responses, but at most a slice.
 */
u32 mxe_request_long_pkt_cost(const struct mxe_qp *qp, const struct mxe_send_wr *wr);

/*
 * Return the cost of the next packet of a request in budget units.
 * Context: send_lock held.
 */
static inline u32 mxe_request_pkt_cost(const struct mxe_qp *qp,
				       const struct mxe_send_wr *wr)
{
	if (likely(wr->length < 2048 && wr->num_sge < 4))
		return mxe_pkt_cost(0, 0);
	return mxe_request_long_pkt_cost(qp, wr);
}

/*
 * Check whether @wr, which is at req.cur or behind it and not started, may be
 * started now. The QP is of RC, XRC or DC. The state, a fence, max_rd_atomic,
 * and the order of local operations may forbid it. A request with an error may
 * start, so that it is reported.
 * Context: send_lock held.
 */
bool mxe_request_may_start(struct mxe_qp *qp, const struct mxe_send_wr *wr);

/*
 * Start the request at req.cur: it gets its PSNs, and is outstanding.
 * Context: send_lock held.
 */
void mxe_request_start(struct mxe_qp *qp, struct mxe_send_wr *wr);

/*
 * Add the packet at req.psn of a started request to the GSO batch. The QP is of
 * RC, XRC, DC or UC. Without a route the packet is lost later.
 * Context: BHs disabled, send_lock held.
 * Return: 0, -ENOMEM, or an error of mxe_request_gather().
 */
int mxe_request_send_one(struct mxe_qp *qp, struct mxe_send_wr *wr);

/*
 * Copy @len bytes of the data that a request sends, from @offset on, to @buf.
 * Context: BHs disabled, send_lock held.
 * Return: 0, or an error of mxe_mr_copy_sges().
 */
int mxe_request_gather(struct mxe_qp *qp, const struct mxe_send_wr *wr,
		       u32 offset, void *buf, u32 len);

#endif /* MXE_REQUEST_H */
