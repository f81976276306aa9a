/* SPDX-License-Identifier: GPL-2.0 */
/* The timers of the requester: ACK timeout and receiver not ready (retry.c). */
#ifndef MXE_RETRY_H
#define MXE_RETRY_H

#include "queues/qp.h"

void mxe_retry_init(struct mxe_qp *qp);
void mxe_retry_start(struct mxe_qp *qp);
void mxe_retry_restart(struct mxe_qp *qp);
void mxe_retry_later(struct mxe_qp *qp, unsigned long delay);
void mxe_retry_rnr_wait(struct mxe_qp *qp, u8 timer_code);
bool mxe_retry_rewind(struct mxe_qp *qp, u32 psn);
void mxe_retry_progress(struct mxe_qp *qp);
void mxe_retry_reset(struct mxe_qp *qp);
void mxe_retry_stop(struct mxe_qp *qp);

#endif /* MXE_RETRY_H */
