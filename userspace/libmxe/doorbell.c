// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The doorbell, a write() that tells the kernel about new work requests of one
 * or more QPs, or of an SRQ.
 */
#include <errno.h>
#include <unistd.h>

#include "context.h"
#include "doorbell.h"
#include "qp.h"
#include "srq.h"

enum { DOORBELLS = 128 };	/* maximum in one system call */

/*
 * Returns 0 or the first error, a positive errno. Skips a QP that does not
 * exist any more, and rings for the others. Leaves errno unchanged.
 */
static int mxe_doorbell_write(int fd, const struct mxe_doorbell *db, size_t num)
{
	int saved = errno;
	int ret = 0;

	while (num) {
		ssize_t n = write(fd, db, num * sizeof(*db));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			if (!ret)
				ret = errno;
			if (errno != ENOENT)
				break;
			n = sizeof(*db);
		}
		db += (size_t)n / sizeof(*db);
		num -= (size_t)n / sizeof(*db);
	}
	errno = saved;
	return ret;
}

/**
 * mxe_doorbell() - Ring the doorbell.
 * @qp: QP to which work requests were posted
 * @queues: bits of enum mxe_doorbell_queues
 */
void mxe_doorbell(struct mxe_qp *qp, uint32_t queues)
{
	mxe_doorbell_ring(qp->vqp.qp.context, qp->vqp.qp.qp_num, queues);
}

/**
 * mxe_doorbell_srq() - Ring the doorbell for the tag operations of an SRQ.
 * @srq: SRQ to which operations were posted
 */
void mxe_doorbell_srq(struct mxe_srq *srq)
{
	mxe_doorbell_ring(srq->vsrq.srq.context, srq->num, MXE_DOORBELL_TM);
}

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
		     uint32_t num_qps)
{
	struct mxe_doorbell db[DOORBELLS];
	uint32_t i, n = 0;
	int ret = 0, err;

	for (i = 0; i < num_qps; i++)
		if (!qps[i] || qps[i]->context != context ||
		    !to_mqp(qps[i])->sq.entries)
			return EINVAL;

	for (i = 0; i < num_qps; i++) {
		db[n++] = (struct mxe_doorbell){
			.qp_num = qps[i]->qp_num,
			.queues = MXE_DOORBELL_SEND,
		};
		if (n < DOORBELLS && i + 1 < num_qps)
			continue;
		err = mxe_doorbell_write(to_mctx(context)->doorbell_fd, db, n);
		if (!ret)
			ret = err;
		n = 0;
	}
	return ret;
}
