// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Mapping of receive queues, and posting to them. */
#include <errno.h>

#include "doorbell.h"
#include "qp.h"
#include "recv.h"
#include "ring.h"

static int mxe_build_recv(const struct mxe_ring *rq, uint32_t index,
			  const struct ibv_recv_wr *wr)
{
	struct mxe_recv_wqe *wqe;

	/* Also refuses negative numbers, because the stride limits max_sge. */
	if ((unsigned int)wr->num_sge > rq->max_sge)
		return EINVAL;
	if (mxe_ring_full(rq, index))
		return ENOMEM;

	wqe = mxe_ring_at(rq, index);
	*wqe = (struct mxe_recv_wqe){
		.wr_id = wr->wr_id,
		.num_sge = wr->num_sge,
	};
	mxe_ring_write_sges((struct mxe_sge *)(wqe + 1), wr->sg_list, wr->num_sge);
	return 0;
}

/**
 * mxe_recv_map() - Map the receive queue of a QP or SRQ.
 * @rq: filled in
 * @cmd_fd: uverbs file
 * @info: the kernel's description of the ring
 * @sq: mapped send queue of the QP, or NULL for an SRQ
 *
 * Return: 0 or a positive errno.
 */
int mxe_recv_map(struct mxe_ring *rq, int cmd_fd,
		 const struct mxe_ring_info *info, const struct mxe_ring *sq)
{
	return mxe_ring_map(rq, cmd_fd, info,
			    sizeof(struct mxe_recv_wqe) +
			    (size_t)info->max_sge * sizeof(struct mxe_sge), sq);
}

int mxe_recv_post(struct mxe_ring *rq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad_wr, bool *need_doorbell)
{
	bool need = false;
	uint32_t index;
	int ret = 0;

	mxe_ring_lock(rq);
	for (index = rq->index; wr; wr = wr->next, index++) {
		ret = mxe_build_recv(rq, index, wr);
		if (ret) {
			*bad_wr = wr;
			/* As in mxe_post_send(). */
			errno = ret;
			break;
		}
	}
	if (index != rq->index) {
		mxe_ring_publish(rq, index);
		/*
		 * The kernel reads receive requests when messages arrive. It
		 * needs a doorbell only if it has to flush new requests.
		 */
		need = mxe_ring_needs_doorbell(rq);
	}
	mxe_ring_unlock(rq);

	if (need_doorbell)
		*need_doorbell = need;
	return ret;
}

int mxe_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr)
{
	struct mxe_qp *qp = to_mqp(ibqp);
	bool need_doorbell;
	int ret;

	/* A QP with an SRQ has no receive queue. */
	if (ibqp->state == IBV_QPS_RESET || ibqp->srq) {
		*bad_wr = wr;
		errno = EINVAL;
		return errno;
	}
	ret = mxe_recv_post(&qp->rq, wr, bad_wr, &need_doorbell);
	if (need_doorbell)
		mxe_doorbell(qp, MXE_DOORBELL_RECV);
	return ret;
}
