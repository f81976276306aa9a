/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The doorbell, which tells the kernel of new work requests (doorbell.c). */
#ifndef MXE_DOORBELL_H
#define MXE_DOORBELL_H

#include <errno.h>
#include <unistd.h>

#include "context.h"
#include "qp.h"

struct mxe_srq;

/**
 * mxe_doorbell_ring() - Ring the doorbell of a QP or an SRQ.
 * @context: its context
 * @num: its number
 * @queues: bits of enum mxe_doorbell_queues
 *
 * Returns no error, because the requests belong to the kernel once they are
 * published. The doorbell fails only if the device was removed. Posting to a
 * removed device succeeds on adapters, too; the process learns of the removal
 * from IBV_EVENT_DEVICE_FATAL. A failure may change errno, because saving it
 * would cost every doorbell a call.
 */
static inline void mxe_doorbell_ring(struct ibv_context *context, uint32_t num,
				     uint32_t queues)
{
	int fd = to_mctx(context)->doorbell_fd;
	struct mxe_doorbell db = {
		.qp_num = num,
		.queues = queues,
	};

	while (__builtin_expect(write(fd, &db, sizeof(db)) < 0, 0) &&
	       errno == EINTR)
		;
}

void mxe_doorbell(struct mxe_qp *qp, uint32_t queues);
void mxe_doorbell_srq(struct mxe_srq *srq);
int mxe_doorbell_qps(struct ibv_context *context, struct ibv_qp *const *qps,
		     uint32_t num_qps);

/**
 * mxe_doorbell_send() - Ring for a send queue, if that is necessary.
 * @qp: QP to which requests were posted
 *
 * It is not necessary if the program rings itself.
 */
static inline void mxe_doorbell_send(struct mxe_qp *qp)
{
	if (!qp->defers_doorbell)
		mxe_doorbell_ring(qp->vqp.qp.context, qp->vqp.qp.qp_num, MXE_DOORBELL_SEND);
}

#endif /* MXE_DOORBELL_H */
