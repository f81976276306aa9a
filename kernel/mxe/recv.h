/* SPDX-License-Identifier: GPL-2.0 */
/* The receive queue: taking up and completing what was posted to it. */
#ifndef MXE_RECV_H
#define MXE_RECV_H

#include "qp.h"

/*
 * Take up the next receive request into rq->cur: -EAGAIN if there is none,
 * -EIO if it (rq->cur_valid) or the whole queue cannot be used.
 * Context: recv_lock held.
 */
int mxe_recv_take(struct mxe_qp *qp);
/*
 * Complete the request in rq->cur.  pkt: the last packet of its message, or
 * NULL if it fails.  Context: recv_lock held.
 */
void mxe_recv_complete(struct mxe_qp *qp, enum ib_wc_status status,
		       const struct mxe_pkt *pkt);

int mxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *ibwr,
		  const struct ib_recv_wr **bad_wr);

#endif /* MXE_RECV_H */
