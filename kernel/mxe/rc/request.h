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

u8 mxe_request_opcode(const struct mxe_qp *qp, const struct mxe_send_wr *wr,
		      bool first, bool last);
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

bool mxe_request_may_start(struct mxe_qp *qp, const struct mxe_send_wr *wr);
void mxe_request_start(struct mxe_qp *qp, struct mxe_send_wr *wr);
int mxe_request_send_one(struct mxe_qp *qp, struct mxe_send_wr *wr);
int mxe_request_gather(struct mxe_qp *qp, const struct mxe_send_wr *wr,
		       u32 offset, void *buf, u32 len);

#endif /* MXE_REQUEST_H */
