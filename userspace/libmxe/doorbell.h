/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* doorbell.c tells the kernel of new work requests. */
#ifndef MXE_DOORBELL_H
#define MXE_DOORBELL_H

#include "mxe.h"

/* Tells the kernel that work requests have been published. */
void mxe_doorbell(struct mxe_qp *qp, uint32_t queues);

/*
 * Rings the send queues of many QPs of one context.  Returns EINVAL, without ringing any,
 * if one of them is not such a QP; else 0 or the first error.
 */
int mxe_doorbell_qps(struct ibv_context *context, struct ibv_qp *const *qps,
		     uint32_t num_qps);

/* Rings the send queue, unless the program does it or a thread polls the queue. */
static inline void mxe_doorbell_send(struct mxe_qp *qp)
{
	if (qp->defers_doorbell ||
	    (qp->is_polled && !mxe_ring_needs_doorbell(&qp->sq)))
		return;
	mxe_doorbell(qp, MXE_DOORBELL_SEND);
}

#endif /* MXE_DOORBELL_H */
