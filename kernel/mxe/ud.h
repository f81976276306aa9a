/* SPDX-License-Identifier: GPL-2.0 */
/*
 * UD queue pairs and the general services interface (QP 1, which the connection
 * manager uses) send and receive unreliable datagrams (ud.c).
 */
#ifndef MXE_UD_H
#define MXE_UD_H

#include "qp.h"
#include "sq.h"

/* Send the datagram of wr; the status of its completion. */
enum ib_wc_status mxe_ud_send_one(struct mxe_qp *qp,
				  const struct mxe_send_wr *wr);

/*
 * The request at sq->cur.  Nothing is acknowledged: what is sent is complete.
 * Context: send_lock held.
 */
static inline void mxe_ud_send(struct mxe_qp *qp, const struct mxe_send_wr *wr)
{
	qp->sq.budget -= mxe_pkt_cost(wr->length, wr->num_sge);
	mxe_sq_complete_cur(qp, wr->error ?: mxe_ud_send_one(qp, wr));
}

/*
 * A datagram to an address of the device, whose turn it is; skb holds pkt.
 * Context: recv_lock held.
 */
void mxe_ud_request(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		    const struct sk_buff *skb);

#endif /* MXE_UD_H */
