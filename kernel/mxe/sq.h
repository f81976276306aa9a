/* SPDX-License-Identifier: GPL-2.0 */
/* The send queue: completing its work requests, and sending them again. */
#ifndef MXE_SQ_H
#define MXE_SQ_H

#include "qp.h"

/*
 * Complete the oldest work request.  With an error the queue pair goes to
 * ERR, an unreliable one to SQE.  Context: send_lock held.
 */
void mxe_sq_complete(struct mxe_qp *qp, enum ib_wc_status status);
/*
 * The request at sq->cur, of which nothing is in flight, has ended: it completes
 * in its turn.  Context: send_lock held.
 */
void mxe_sq_complete_cur(struct mxe_qp *qp, enum ib_wc_status status);
/*
 * The request at sq->cur, the oldest, was executed without its num_pkts packets: it
 * completes as if they were sent and acknowledged.  Context: send_lock held.
 */
void mxe_sq_complete_executed(struct mxe_qp *qp, u32 num_pkts);
/*
 * Report an error found while sending, once it is the oldest's turn.
 * Context: send_lock held.
 */
void mxe_sq_report_error(struct mxe_qp *qp);
/* Start sending from psn again (go-back-N).  Context: send_lock held. */
void mxe_sq_rewind(struct mxe_qp *qp, u32 psn);

/* Is anything sent and not acknowledged? */
static inline bool mxe_sq_outstanding(const struct mxe_sq *sq)
{
	return sq->tail != sq->next;
}

#endif /* MXE_SQ_H */
