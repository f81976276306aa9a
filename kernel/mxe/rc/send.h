/* SPDX-License-Identifier: GPL-2.0 */
/* The loop of the requester over the send queue (send.c). */
#ifndef MXE_SEND_H
#define MXE_SEND_H

#include "queues/qp.h"

/*
 * Send requests of a QP that can send up to the end of the slice. Execute local
 * operations, and requests on the loopback path if possible. These and requests
 * of unreliable QPs, which are never acknowledged, complete here. If the slice
 * ends first, qp->work continues.
 * Context: BHs disabled, RCU read-side section, send_lock held. Takes and
 * releases recv_lock of a peer on this host.
 */
void mxe_send_run(struct mxe_qp *qp);

/* Steps of reliable transports, see struct mxe_transport_ops. */
enum mxe_send_verdict mxe_send_begin_acked(struct mxe_qp *qp, struct mxe_send_wr *wr);
bool mxe_send_unsent(struct mxe_qp *qp, int err);

/*
 * Complete a slice of requests of a QP in ERR or SQE with IB_WC_WR_FLUSH_ERR.
 * Report the error of the request that failed first. Return true if requests
 * remain, which qp->work flushes.
 * Context: send_lock held.
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

/*
 * Send one slice of a send queue of a kernel consumer. With interrupts
 * disabled, qp->work sends instead.
 * Context: Any, in a verb. Takes and releases send_lock.
 */
void mxe_send_doorbell(struct mxe_qp *qp);

#endif /* MXE_SEND_H */
