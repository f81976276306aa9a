// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting to receive queues.  libibverbs calls mxe_post_recv(), and srq.c shares the
 * writing of the ring.
 */
#include <errno.h>

#include "doorbell.h"

static int mxe_build_recv(const struct mxe_ring *rq, uint32_t index,
			  const struct ibv_recv_wr *wr)
{
	struct mxe_recv_wqe *wqe;
	struct mxe_sge *to;
	int i;

	if (wr->num_sge < 0 || (unsigned int)wr->num_sge > rq->max_sge)
		return EINVAL;
	if (mxe_ring_full(rq, index))
		return ENOMEM;

	wqe = mxe_ring_at(rq, index);
	*wqe = (struct mxe_recv_wqe){
		.wr_id = wr->wr_id,
		.num_sge = wr->num_sge,
	};
	to = (struct mxe_sge *)(wqe + 1);
	for (i = 0; i < wr->num_sge; i++)
		to[i] = (struct mxe_sge){
			.addr = wr->sg_list[i].addr,
			.length = wr->sg_list[i].length,
			.lkey = wr->sg_list[i].lkey,
		};
	return 0;
}

/*
 * The kernel takes receives up when messages arrive, so it need not be told of
 * new ones, except where it waits for them in order to flush them.
 */
static bool mxe_publish_recv(struct mxe_ring *rq, uint32_t index)
{
	rq->index = index;
	mxe_store_release(&rq->hdr->producer, index);
	return mxe_ring_needs_doorbell(rq);
}

int mxe_ring_post_recv(struct mxe_ring *rq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad_wr, bool *need_doorbell)
{
	bool need = false;
	uint32_t index;
	int ret = 0;

	pthread_spin_lock(&rq->lock);
	for (index = rq->index; wr; wr = wr->next, index++) {
		ret = mxe_build_recv(rq, index, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	if (index != rq->index)
		need = mxe_publish_recv(rq, index);
	pthread_spin_unlock(&rq->lock);

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

	/* With a shared queue it has none of its own. */
	if (ibqp->state == IBV_QPS_RESET || ibqp->srq) {
		*bad_wr = wr;
		return EINVAL;
	}
	ret = mxe_ring_post_recv(&qp->rq, wr, bad_wr, &need_doorbell);
	if (need_doorbell)
		mxe_doorbell(qp, MXE_DOORBELL_RECV);
	return ret;
}
