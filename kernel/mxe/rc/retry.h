/* SPDX-License-Identifier: GPL-2.0 */
/* The timers of the requester: ACK timeout and receiver not ready (retry.c). */
#ifndef MXE_RETRY_H
#define MXE_RETRY_H

#include "queues/qp.h"

/**
 * mxe_retry_init() - Set up the timers of a new QP.
 * @qp: QP that is being created
 */
void mxe_retry_init(struct mxe_qp *qp);

/**
 * mxe_retry_start() - Start the ACK timeout, unless it runs.
 * @qp: QP of RC or XRC that has sent a packet
 *
 * Context: send_lock held.
 */
void mxe_retry_start(struct mxe_qp *qp);

/**
 * mxe_retry_restart() - Start the ACK timeout again after progress.
 * @qp: QP
 *
 * Stops it instead if nothing is outstanding.
 *
 * Context: send_lock held.
 */
void mxe_retry_restart(struct mxe_qp *qp);

/**
 * mxe_retry_later() - Send from qp->work after a delay.
 * @qp: QP for which memory was short, or whose process floods the queue
 * @delay: jiffies
 *
 * Context: send_lock held.
 */
void mxe_retry_later(struct mxe_qp *qp, unsigned long delay);

/**
 * mxe_retry_rnr_wait() - Stop sending for the time in an RNR NAK.
 * @qp: QP
 * @timer_code: RNR timer code (IBTA 9.7.5)
 *
 * The ACK timeout is stopped meanwhile.
 *
 * Context: send_lock held.
 */
void mxe_retry_rnr_wait(struct mxe_qp *qp, u8 timer_code);

/**
 * mxe_retry_rewind() - Go back to a PSN because packets seem to be lost.
 * @qp: QP
 * @psn: PSN of an outstanding request
 *
 * Does nothing if it was called before and nothing was acknowledged since, so
 * that one loss is retransmitted once.  Otherwise uses up one of retry_cnt.
 *
 * Context: send_lock held.
 * Return: false if no retry is left.
 */
bool mxe_retry_rewind(struct mxe_qp *qp, u32 psn);

/**
 * mxe_retry_progress() - Reset the retries after packets were acknowledged.
 * @qp: QP
 *
 * Context: send_lock held.
 */
void mxe_retry_progress(struct mxe_qp *qp);

/**
 * mxe_retry_reset() - Stop the timers of a QP that enters RESET.
 * @qp: QP
 *
 * Does not wait for a handler that is running, which then finds the QP in RESET
 * and does nothing.
 *
 * Context: send_lock held.
 */
void mxe_retry_reset(struct mxe_qp *qp);

/**
 * mxe_retry_stop() - Stop the timers of a QP that is being destroyed.
 * @qp: QP that is dying
 *
 * Waits for handlers that are running.
 *
 * Context: Process context, no lock of the QP held.  May sleep.
 */
void mxe_retry_stop(struct mxe_qp *qp);

#endif /* MXE_RETRY_H */
