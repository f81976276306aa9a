/* SPDX-License-Identifier: GPL-2.0 */
/* The requester has two timers: local ACK timeout, and receiver not ready (retry.c). */
#ifndef MXE_RETRY_H
#define MXE_RETRY_H

#include "qp.h"

void mxe_retry_init(struct mxe_qp *qp);
/* Context: send_lock held. */
void mxe_retry_start(struct mxe_qp *qp);	/* if it does not run */
void mxe_retry_restart(struct mxe_qp *qp);	/* after progress */
/*
 * Send after that many jiffies, whatever the timeout: memory was short, or the
 * queue is flooded.
 */
void mxe_retry_later(struct mxe_qp *qp, unsigned long delay);
void mxe_retry_rnr_wait(struct mxe_qp *qp, u8 timer_code);
/*
 * Go back to psn because packets seem lost: unless that was done already and
 * nothing has moved since.  Counts against retry_cnt; returns false when that
 * is used up.
 */
bool mxe_retry_rewind(struct mxe_qp *qp, u32 psn);
/* Something was acknowledged: the counts start again. */
void mxe_retry_progress(struct mxe_qp *qp);
/*
 * Forget what runs: the next connection has times of its own.  A handler that
 * waits for the lock finds a queue pair in RESET.  Context: send_lock held.
 */
void mxe_retry_reset(struct mxe_qp *qp);
/* Context: may sleep; qp->dying set. */
void mxe_retry_stop(struct mxe_qp *qp);

#endif /* MXE_RETRY_H */
