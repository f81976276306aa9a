/* SPDX-License-Identifier: GPL-2.0 */
/* Unreliable connections: SEND and RDMA WRITE without acknowledgements. */
#ifndef MXE_UC_H
#define MXE_UC_H

#include "qp.h"

static inline bool mxe_qp_is_uc(const struct mxe_qp *qp)
{
	return qp->type == IB_QPT_UC;
}

/* Send what is posted, up to the end of the slice.  Context: send_lock held. */
void mxe_uc_send_run(struct mxe_qp *qp);
/* A request whose turn it is.  Context: recv_lock held. */
void mxe_uc_request(struct mxe_qp *qp, const struct mxe_pkt *pkt);

#endif /* MXE_UC_H */
