/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The doorbell, which tells the kernel of new work requests (doorbell.c). */
#ifndef MXE_DOORBELL_H
#define MXE_DOORBELL_H

#include "mxe.h"

/**
 * mxe_doorbell() - Ring the doorbell.
 * @qp: QP to which work requests were posted
 * @queues: bits of enum mxe_doorbell_queues
 */
void mxe_doorbell(struct mxe_qp *qp, uint32_t queues);

/**
 * mxe_doorbell_srq() - Ring the doorbell for the tag operations of an SRQ.
 * @srq: SRQ to which operations were posted
 */
void mxe_doorbell_srq(struct mxe_srq *srq);

/**
 * mxe_doorbell_qps() - Ring the doorbell for the send queues of many QPs.
 * @context: the context
 * @qps: QPs of the context
 * @num_qps: number of QPs
 *
 * Return: 0; EINVAL without ringing for any if one is not a QP of the context;
 * or the first error, a positive errno.
 */
int mxe_doorbell_qps(struct ibv_context *context, struct ibv_qp *const *qps,
		     uint32_t num_qps);

/**
 * mxe_doorbell_send() - Ring for a send queue, if that is necessary.
 * @qp: QP to which requests were posted
 *
 * It is not necessary if the program rings itself or a thread polls the queue.
 */
static inline void mxe_doorbell_send(struct mxe_qp *qp)
{
	if (qp->defers_doorbell ||
	    (qp->is_polled && !mxe_ring_needs_doorbell(&qp->sq)))
		return;
	mxe_doorbell(qp, MXE_DOORBELL_SEND);
}

#endif /* MXE_DOORBELL_H */
