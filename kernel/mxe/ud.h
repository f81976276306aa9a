/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unreliable datagrams: UD queue pairs and the general services interface
 * (QP 1, by which the connection manager speaks).
 */
#ifndef MXE_UD_H
#define MXE_UD_H

#include "qp.h"

static inline bool mxe_qp_is_ud(const struct mxe_qp *qp)
{
	return qp->type == IB_QPT_UD || qp->type == IB_QPT_GSI;
}

/* Send what is posted, up to the end of the slice.  Context: send_lock held. */
void mxe_ud_send_run(struct mxe_qp *qp);

/*
 * A datagram to an address of the device, whose turn it is; skb holds pkt.
 * Context: recv_lock held.
 */
void mxe_ud_request(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		    const struct sk_buff *skb);

#endif /* MXE_UD_H */
