/* SPDX-License-Identifier: GPL-2.0 */
/* Takes up and completes receive requests for the responder (recv.c). */
#ifndef MXE_RECV_H
#define MXE_RECV_H

#include <rdma/ib_verbs.h>

struct mxe_pkt;
struct mxe_qp;
struct mxe_wc;

/**
 * mxe_recv_admit() - Check whether a request may be accepted in this state.
 * @qp: QP that received a request, which may be dying
 *
 * Counts the drop if not.  The first request in RTR raises COMM_EST (IBTA
 * 11.6.3.1), except on a UD QP, which has no peer.
 *
 * Context: recv_lock held.
 * Return: true if it may.
 */
bool mxe_recv_admit(struct mxe_qp *qp);

/**
 * mxe_recv_take() - Take up the next receive request into resp.cur.
 * @qp: responder
 *
 * Does nothing if resp.cur has a request that no message has used.
 *
 * Context: recv_lock held.
 * Return: 0; -EAGAIN if there is no request; -EIO if it cannot be used.  If
 * resp.cur_valid is then false, the whole queue cannot be used.
 */
int mxe_recv_take(struct mxe_qp *qp);

/**
 * mxe_recv_scatter() - Copy a part of a message to the request in resp.cur.
 * @qp: responder
 * @offset: first byte of the part; earlier bytes have been copied
 * @data: data
 * @len: bytes
 *
 * Context: BHs disabled, recv_lock held.
 * Return: 0; -EMSGSIZE if the part does not fit; -EIO if an SGE names memory
 * that cannot be used.
 */
int mxe_recv_scatter(struct mxe_qp *qp, u32 offset, const void *data, u32 len);

/**
 * mxe_recv_end() - Complete the receive request in resp.cur.
 * @qp: responder
 * @wc: completion, whose wr_id is set here
 *
 * Context: recv_lock held.
 */
void mxe_recv_end(struct mxe_qp *qp, struct mxe_wc *wc);

/**
 * mxe_recv_complete() - Complete the receive request in resp.cur for a packet.
 * @qp: responder; resp.offset is the length of the message in bytes
 * @status: status of the completion
 * @pkt: last packet of the message, or NULL if it failed
 *
 * Context: recv_lock held.
 */
void mxe_recv_complete(struct mxe_qp *qp, enum ib_wc_status status,
		       const struct mxe_pkt *pkt);

/**
 * mxe_recv_fatal() - Move a QP to ERR because it cannot receive.
 * @qp: responder
 * @status: status of the request in resp.cur, unless it has an error of its own
 *
 * Completes the request in resp.cur, if there is one, and raises QP_FATAL.
 *
 * Context: recv_lock held.
 */
void mxe_recv_fatal(struct mxe_qp *qp, enum ib_wc_status status);

/**
 * mxe_recv_flush() - Complete a slice of requests with IB_WC_WR_FLUSH_ERR.
 * @qp: QP in ERR
 *
 * If requests remain, qp->work continues.  The requests of an SRQ remain there.
 *
 * Context: recv_lock held.
 * Return: true if requests remain.
 */
bool mxe_recv_flush(struct mxe_qp *qp);

/**
 * mxe_recv_ring() - Flush a slice of receive requests after a doorbell.
 * @qp: QP that was rung for, which may be dying
 *
 * Does nothing unless the QP is in ERR.  In other states the responder reads
 * the ring when a message arrives.
 *
 * Context: BHs disabled, RCU read-side section.  Takes and releases recv_lock.
 */
void mxe_recv_ring(struct mxe_qp *qp);

/**
 * mxe_recv_doorbell() - Do the same for a kernel consumer.
 * @qp: QP to which receive requests were posted
 *
 * With interrupts disabled, qp->work flushes instead.
 *
 * Context: Any, in a verb.  Takes and releases recv_lock.
 */
void mxe_recv_doorbell(struct mxe_qp *qp);

#endif /* MXE_RECV_H */
