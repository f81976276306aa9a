/* SPDX-License-Identifier: GPL-2.0 */
/* The requester's loop sends what may be sent of a send queue (send.c). */
#ifndef MXE_SEND_H
#define MXE_SEND_H

#include "qp.h"

/*
 * Send what may be sent, up to the end of the slice; the work does the rest.
 * Requests that are not acknowledged, local operations among them, complete
 * here.  Context: send_lock held.
 */
void mxe_send_run(struct mxe_qp *qp);
/*
 * Complete what is posted with WR_FLUSH_ERR, a slice of it; true: there is more,
 * and the work goes on.  Context: send_lock held.
 */
bool mxe_send_flush(struct mxe_qp *qp);
/*
 * Something was posted: send a slice of it.  Returns true if there is more, which
 * is left to the work if this is the last slice of the doorbell.
 * Context: BHs off, RCU.
 */
bool mxe_send_ring(struct mxe_qp *qp, bool last);
/*
 * Has this CPU left some of a READ to a work since a process sent one here that is not
 * complete?  una: sq.una now; if again, that has to have moved.
 * Context: BHs off.
 */
bool mxe_send_is_answered_here(struct mxe_qp *qp, u32 *una, bool again);
/* mxe_send_ring() for one slice.  Context: any in which verbs are called. */
void mxe_send_doorbell(struct mxe_qp *qp);

#endif /* MXE_SEND_H */
