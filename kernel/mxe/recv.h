/* SPDX-License-Identifier: GPL-2.0 */
/* recv.c takes the receive requests of a queue pair up, and completes them. */
#ifndef MXE_RECV_H
#define MXE_RECV_H

#include <rdma/ib_verbs.h>

struct mxe_pkt;
struct mxe_qp;
struct mxe_wc;

/*
 * May a packet that has come be taken in this state?  If not it is counted, and
 * remains the caller's.  The first one in RTR is told of (IBTA 11.6.3.1) but on
 * datagram queue pairs, which have no peer.  Context: recv_lock held.
 */
bool mxe_recv_admit(struct mxe_qp *qp);
/*
 * Take up the next receive request into rq->cur, unless one that no message
 * has used is there still: -EAGAIN if there is none, -EIO if it
 * (rq->cur_valid) or the whole queue cannot be used.
 * Context: recv_lock held.
 */
int mxe_recv_take(struct mxe_qp *qp);
/*
 * Put bytes offset..offset+len of the message into the request in rq->cur, which
 * holds all before offset.  Returns 0, -EMSGSIZE if they do not fit, or -EIO if the
 * consumer's list names memory that cannot be used.  Context: recv_lock held.
 */
int mxe_recv_put(struct mxe_qp *qp, u32 offset, const void *data, u32 len);
/* Complete the request in rq->cur, whose wr_id it gets.  Context: recv_lock held. */
void mxe_recv_end(struct mxe_qp *qp, struct mxe_wc *wc);
/*
 * The same.  pkt: the last packet of its message, or
 * NULL if it fails.  Context: recv_lock held.
 */
void mxe_recv_complete(struct mxe_qp *qp, enum ib_wc_status status,
		       const struct mxe_pkt *pkt);
/*
 * The receive queue, or the request in use, cannot be used: complete that one
 * with its error or, if it has none, status; the queue pair goes to ERR.
 * Context: recv_lock held.
 */
void mxe_recv_fatal(struct mxe_qp *qp, enum ib_wc_status status);
/*
 * Complete what is posted with WR_FLUSH_ERR, a slice of it; the work goes on.
 * Context: recv_lock held.
 */
void mxe_recv_flush(struct mxe_qp *qp);
/* A process has posted: flush it if in ERR.  Context: BHs off, RCU. */
void mxe_recv_ring(struct mxe_qp *qp);

#endif /* MXE_RECV_H */
