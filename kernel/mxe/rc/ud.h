/* SPDX-License-Identifier: GPL-2.0 */
/* Unreliable datagrams of UD QPs and of QP 1, which RDMA CM uses (ud.c). */
#ifndef MXE_UD_H
#define MXE_UD_H

#include "queues/qp.h"

/*
 * Steps of UD, see struct mxe_transport_ops. A datagram is to a GID of the
 * device, or to a group of the QP.
 */
enum ib_wc_status mxe_ud_parse_dest(struct mxe_qp *qp, struct mxe_send_wr *wr,
				    const struct mxe_send_wqe *wqe,
				    const struct mxe_send_wqe *entry);
int mxe_ud_copy_dest(struct mxe_send_wr *wr, const struct ib_send_wr *ibwr);
enum mxe_send_verdict mxe_ud_begin(struct mxe_qp *qp, struct mxe_send_wr *wr);
void mxe_ud_forget(struct mxe_qp *qp, struct mxe_send_wr *wr);
void mxe_ud_reset(struct mxe_qp *qp);
int mxe_ud_request(struct mxe_qp *qp, const struct mxe_pkt *pkt, const struct sk_buff *skb);

#endif /* MXE_UD_H */
