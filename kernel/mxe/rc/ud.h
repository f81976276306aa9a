/* SPDX-License-Identifier: GPL-2.0 */
/* Unreliable datagrams of UD QPs and of QP 1, which RDMA CM uses (ud.c). */
#ifndef MXE_UD_H
#define MXE_UD_H

#include "queues/qp.h"
#include "rc/sq.h"

/*
 * Send a datagram of a UD QP or QP 1, whose request has no error. Without
 * memory or a route the datagram is lost.
 * Context: BHs disabled, send_lock held.
 * Return: status of its completion: IB_WC_SUCCESS, IB_WC_LOC_LEN_ERR or
 * IB_WC_LOC_PROT_ERR.
 */
enum ib_wc_status mxe_ud_send_one(struct mxe_qp *qp,
				  const struct mxe_send_wr *wr);

/*
 * Send and complete the request at req.cur of a UD QP or QP 1.
 * Context: BHs disabled, send_lock held.
 */
static inline void mxe_ud_send(struct mxe_qp *qp, const struct mxe_send_wr *wr)
{
	qp->req.budget -= mxe_pkt_cost(wr->length, wr->num_sge);
	mxe_sq_complete_cur(qp, wr->error ?: mxe_ud_send_one(qp, wr));
}

/*
 * Receive a datagram to a GID of the device, or to a group of the QP, which can
 * receive. A datagram with a wrong Q_Key, or without a receive request that is
 * long enough, is dropped.
 * Context: BHs disabled, recv_lock held.
 */
void mxe_ud_request(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		    const struct sk_buff *skb);

#endif /* MXE_UD_H */
