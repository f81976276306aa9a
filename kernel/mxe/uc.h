/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An unreliable connection carries SEND and RDMA WRITE without acknowledgments
 * (uc.c).
 */
#ifndef MXE_UC_H
#define MXE_UC_H

#include "qp.h"
#include "sq.h"

/*
 * A packet was sent.  Nothing is acknowledged: a message that is sent is complete.
 * Context: send_lock held.
 */
static inline void mxe_uc_sent(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;

	sq->una = sq->psn;
	if (sq->cur == sq->next)
		mxe_sq_complete(qp, IB_WC_SUCCESS);
}

/* A request whose turn it is.  Context: recv_lock held. */
void mxe_uc_request(struct mxe_qp *qp, const struct mxe_pkt *pkt);

#endif /* MXE_UC_H */
