/* SPDX-License-Identifier: GPL-2.0 */
/* The loop of the requester over the send queue (send.c). */
#ifndef MXE_SEND_H
#define MXE_SEND_H

#include "queues/qp.h"

/**
 * mxe_send_run() - Send requests up to the end of the slice.
 * @qp: QP that can send
 *
 * Executes local operations, and requests on the loopback path if possible.
 * These and requests of unreliable QPs, which are never acknowledged, complete
 * here.  If the slice ends first, qp->work continues.
 *
 * Context: BHs disabled, RCU read-side section, send_lock held.  Takes and
 * releases recv_lock of a peer on this host.
 */
void mxe_send_run(struct mxe_qp *qp);

/**
 * mxe_send_flush() - Complete a slice of requests with IB_WC_WR_FLUSH_ERR.
 * @qp: QP in ERR or SQE
 *
 * Reports the error of the request that failed first.
 *
 * Context: send_lock held.
 * Return: true if requests remain, which qp->work flushes.
 */
bool mxe_send_flush(struct mxe_qp *qp);

/**
 * mxe_send_ring() - Send one slice of a send queue after a doorbell.
 * @qp: QP that was rung for, which may be dying
 * @last: true in the last slice of this doorbell; qp->work then continues
 *
 * Context: BHs disabled, RCU read-side section.  Takes and releases send_lock.
 * Return: true if requests remain.
 */
bool mxe_send_ring(struct mxe_qp *qp, bool last);

/**
 * mxe_send_doorbell() - Send one slice of a send queue of a kernel consumer.
 * @qp: QP to which requests were posted
 *
 * With interrupts disabled, qp->work sends instead.
 *
 * Context: Any, in a verb.  Takes and releases send_lock.
 */
void mxe_send_doorbell(struct mxe_qp *qp);

#endif /* MXE_SEND_H */
