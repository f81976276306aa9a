/* SPDX-License-Identifier: GPL-2.0 */
/* Unreliable connections (UC), which have no acknowledgments (uc.c). */
#ifndef MXE_UC_H
#define MXE_UC_H

#include "queues/qp.h"

/* Steps of UC, see struct mxe_transport_ops. */
enum mxe_send_verdict mxe_uc_begin(struct mxe_qp *qp, struct mxe_send_wr *wr);
void mxe_uc_sent(struct mxe_qp *qp);
bool mxe_uc_unsent(struct mxe_qp *qp, int err);
int mxe_uc_request(struct mxe_qp *qp, const struct mxe_pkt *pkt, const struct sk_buff *skb);

#endif /* MXE_UC_H */
