/* SPDX-License-Identifier: GPL-2.0 */
/* The timers of the requester: ACK timeout and receiver not ready (retry.c). */
#ifndef MXE_RETRY_H
#define MXE_RETRY_H

#include "queues/qp.h"

/* Set up the timers of a QP that is being created. */
void mxe_retry_init(struct mxe_qp *qp);

/*
 * Start the ACK timeout, unless it runs. The QP, which is of RC, XRC or DC, has
 * sent a packet.
 * Context: send_lock held.
 */
void mxe_retry_start(struct mxe_qp *qp);

/*
 * Start the ACK timeout again after progress. Stop it instead if nothing is
 * outstanding.
 * Context: send_lock held.
 */
void mxe_retry_restart(struct mxe_qp *qp);

/*
 * Send from qp->work after @delay jiffies, because memory was short, or the
 * process floods the queue.
 * Context: send_lock held.
 */
void mxe_retry_later(struct mxe_qp *qp, unsigned long delay);

/*
 * Stop sending for the time in an RNR NAK. @timer_code is of IBTA 9.7.5. The
 * ACK timeout is stopped meanwhile.
 * Context: send_lock held.
 */
void mxe_retry_rnr_wait(struct mxe_qp *qp, u8 timer_code);

/*
 * Go back to the PSN of an outstanding request because packets seem to be lost.
 * Do nothing if it was called before and nothing was acknowledged since, so
 * that one loss is retransmitted once. Otherwise use up one of retry_cnt.
 * Context: send_lock held.
 * Return: false if no retry is left.
 */
bool mxe_retry_rewind(struct mxe_qp *qp, u32 psn);

/*
 * Reset the retries after packets were acknowledged.
 * Context: send_lock held.
 */
void mxe_retry_progress(struct mxe_qp *qp);

/*
 * Stop the timers of a QP that enters RESET. Do not wait for a handler that is
 * running, which then finds the QP in RESET and does nothing.
 * Context: send_lock held.
 */
void mxe_retry_reset(struct mxe_qp *qp);

/*
 * Stop the timers of a QP that is dying. Wait for handlers that are running.
 * Context: No lock of the QP held. May sleep.
 */
void mxe_retry_stop(struct mxe_qp *qp);

#endif /* MXE_RETRY_H */
