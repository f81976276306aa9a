/* SPDX-License-Identifier: GPL-2.0 */
/* The loop of the requester over the send queue (send.c). */
#ifndef MXE_SEND_H
#define MXE_SEND_H

#include "queues/qp.h"

void mxe_send_run(struct mxe_qp *qp);

/* Steps of reliable transports, see struct mxe_transport_ops. */
enum mxe_send_verdict mxe_send_begin_acked(struct mxe_qp *qp, struct mxe_send_wr *wr);
bool mxe_send_unsent(struct mxe_qp *qp, int err);

bool mxe_send_flush(struct mxe_qp *qp);
bool mxe_send_ring(struct mxe_qp *qp, bool last);
void mxe_send_doorbell(struct mxe_qp *qp);

#endif /* MXE_SEND_H */
