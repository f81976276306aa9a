/* SPDX-License-Identifier: GPL-2.0 */
/* Takes up and completes receive requests for the responder (recv.c). */
#ifndef MXE_RECV_H
#define MXE_RECV_H

#include <rdma/ib_verbs.h>

struct mxe_pkt;
struct mxe_qp;
struct mxe_wc;

/*
 * Check whether a request may be accepted in this state of the QP, which may be
 * dying. Count the drop if not. The first request in RTR raises COMM_EST (IBTA
 * 11.6.3.1), except on a UD QP, which has no peer.
 * Context: recv_lock held.
 */
bool mxe_recv_admit(struct mxe_qp *qp);

/*
 * Take up the next receive request into resp.cur. Do nothing if resp.cur has a
 * request that no message has used.
 * Context: recv_lock held.
 * Return: 0; -EAGAIN if there is no request; -EIO if it cannot be used. If
 * resp.cur_valid is then false, the whole queue cannot be used.
 */
int mxe_recv_take(struct mxe_qp *qp);

/*
 * Copy a part of a message to the request in resp.cur. Bytes before @offset
 * have been copied.
 * Context: BHs disabled, recv_lock held.
 * Return: 0; -EMSGSIZE if the part does not fit; -EIO if an SGE names memory
 * that cannot be used.
 */
int mxe_recv_scatter(struct mxe_qp *qp, u32 offset, const void *data, u32 len);

/*
 * Complete the receive request in resp.cur. Set wc->wr_id.
 * Context: recv_lock held.
 */
void mxe_recv_end(struct mxe_qp *qp, struct mxe_wc *wc);

/*
 * Complete the receive request in resp.cur. resp.offset is the length of the
 * message in bytes. @pkt is its last packet, or NULL if it failed.
 * Context: recv_lock held.
 */
void mxe_recv_complete(struct mxe_qp *qp, enum ib_wc_status status,
		       const struct mxe_pkt *pkt);

/*
 * Move a QP to ERR because it cannot receive. Complete the request in resp.cur,
 * if there is one, with @status or an error of its own, and raise QP_FATAL.
 * Context: recv_lock held.
 */
void mxe_recv_fatal(struct mxe_qp *qp, enum ib_wc_status status);

/*
 * Complete a slice of requests of a QP in ERR with IB_WC_WR_FLUSH_ERR. Return
 * true if requests remain, with which qp->work continues. The requests of an
 * SRQ remain there.
 * Context: recv_lock held.
 */
bool mxe_recv_flush(struct mxe_qp *qp);

/*
 * Flush a slice of receive requests after a doorbell. The QP may be dying. Do
 * nothing unless it is in ERR: in other states the responder reads the ring
 * when a message arrives.
 * Context: BHs disabled, RCU read-side section. Takes and releases recv_lock.
 */
void mxe_recv_ring(struct mxe_qp *qp);

/*
 * Do the same as mxe_recv_ring() for a kernel consumer. With interrupts
 * disabled, qp->work flushes instead.
 * Context: Any, in a verb. Takes and releases recv_lock.
 */
void mxe_recv_doorbell(struct mxe_qp *qp);

#endif /* MXE_RECV_H */
