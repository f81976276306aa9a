/* SPDX-License-Identifier: GPL-2.0 */
/* Unreliable connections (UC), which have no acknowledgments (uc.c). */
#ifndef MXE_UC_H
#define MXE_UC_H

#include "queues/qp.h"
#include "rc/sq.h"

/*
 * Complete a request of UC if all of it was sent.
 * Context: send_lock held.
 */
static inline void mxe_uc_sent(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;

	req->una = req->psn;
	if (req->cur == req->next)
		mxe_sq_complete(qp, IB_WC_SUCCESS);
}

/*
 * Execute a request of UC. The QP can receive. A message with a missing packet
 * is dropped.
 * Context: BHs disabled, recv_lock held.
 */
void mxe_uc_request(struct mxe_qp *qp, const struct mxe_pkt *pkt);

#endif /* MXE_UC_H */
