/* SPDX-License-Identifier: GPL-2.0 */
/* Takes up and completes receive requests for the responder (recv.c). */
#ifndef MXE_RECV_H
#define MXE_RECV_H

#include <rdma/ib_verbs.h>

struct mxe_pkt;
struct mxe_qp;
struct mxe_wc;

bool mxe_recv_admit(struct mxe_qp *qp);
int mxe_recv_take(struct mxe_qp *qp);
int mxe_recv_scatter(struct mxe_qp *qp, u32 offset, const void *data, u32 len);
void mxe_recv_end(struct mxe_qp *qp, struct mxe_wc *wc);
void mxe_recv_complete(struct mxe_qp *qp, enum ib_wc_status status,
		       const struct mxe_pkt *pkt);
void mxe_recv_fatal(struct mxe_qp *qp, enum ib_wc_status status);
bool mxe_recv_flush(struct mxe_qp *qp);
void mxe_recv_ring(struct mxe_qp *qp);
void mxe_recv_doorbell(struct mxe_qp *qp);

#endif /* MXE_RECV_H */
