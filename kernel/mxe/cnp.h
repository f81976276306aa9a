/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion notification (IBTA annex A17.9): who receives a marked packet of
 * a connection tells its sender by a CNP, and that one slows down.
 */
#ifndef MXE_CNP_H
#define MXE_CNP_H

#include "qp.h"

/*
 * A packet of the connection has come: if a switch has marked it, tell the
 * peer.  Context: softirq, one of the locks held.
 */
void mxe_cnp_check(struct mxe_qp *qp, const struct sk_buff *skb);
/* The peer says that our packets are marked.  Context: send_lock held. */
void mxe_cnp_rcv(struct mxe_qp *qp);
/* Something was acknowledged: go faster again.  Context: send_lock held. */
void mxe_cnp_progress(struct mxe_qp *qp);

#endif /* MXE_CNP_H */
