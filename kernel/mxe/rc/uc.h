/* SPDX-License-Identifier: GPL-2.0 */
/* Unreliable connections (UC), which have no acknowledgments (uc.c). */
#ifndef MXE_UC_H
#define MXE_UC_H

#include "queues/qp.h"
#include "rc/sq.h"

/**
 * mxe_uc_sent() - Complete a request of UC if all of it was sent.
 * @qp: QP of UC that has sent a packet
 *
 * Context: send_lock held.
 */
static inline void mxe_uc_sent(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;

	req->una = req->psn;
	if (req->cur == req->next)
		mxe_sq_complete(qp, IB_WC_SUCCESS);
}

/**
 * mxe_uc_request() - Execute a request of UC.
 * @qp: QP of UC that can receive
 * @pkt: request of its connection
 *
 * A message with a missing packet is dropped.
 *
 * Context: BHs disabled, recv_lock held.
 */
void mxe_uc_request(struct mxe_qp *qp, const struct mxe_pkt *pkt);

#endif /* MXE_UC_H */
