// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues. Receive requests need no doorbell, because the kernel
 * reads them when messages arrive, nor do the first tags.
 */
#include <errno.h>
#include <stdlib.h>

#include "doorbell.h"
#include "pd.h"
#include "rdmav.h"
#include "recv.h"
#include "ring.h"
#include "srq.h"

struct mxe_create_srq {
	struct ibv_create_xsrq cmd;
	struct mxe_create_srq_req drv;
};

struct mxe_create_srq_resp_full {
	__aligned_u64 core[sizeof(struct ib_uverbs_create_srq_resp) / 8];
	struct mxe_create_srq_resp drv;
};

static_assert(sizeof(struct ib_uverbs_create_srq_resp) % 8 == 0,
	      "the driver's response directly follows that of the core");

static bool mxe_srq_has_tm(const struct ibv_srq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE &&
	       attr->srq_type == IBV_SRQT_TM;
}

/* libibverbs itself checks the attributes that the kernel gets. */
static int mxe_srq_check_tm(const struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t needed = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
				IBV_SRQ_INIT_ATTR_TM;

	return (attr->comp_mask & needed) == needed && attr->cq &&
	       attr->tm_cap.max_ops ? 0 : EINVAL;
}

static int mxe_srq_map_tm(struct mxe_srq *srq, int cmd_fd,
			  const struct mxe_create_srq_resp *resp)
{
	if (!resp->tm_ops.entries)
		return EPROTO;
	srq->num = resp->srq_num;
	srq->max_num_tags = resp->max_num_tags;
	return mxe_ring_map(&srq->tm_ops, cmd_fd, &resp->tm_ops,
			    sizeof(struct mxe_tm_wqe) +
			    (size_t)resp->tm_ops.max_sge * sizeof(struct mxe_sge), NULL);
}

struct ibv_srq *mxe_create_srq_ex(struct ibv_context *context,
				  struct ibv_srq_init_attr_ex *attr)
{
	struct mxe_create_srq cmd = { 0 };
	struct mxe_create_srq_resp_full resp = { 0 };
	struct mxe_srq *srq;
	int ret;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	if (mxe_srq_has_tm(attr)) {
		ret = mxe_srq_check_tm(attr);
		if (ret)
			goto err_free;
		cmd.drv.max_tm_ops = attr->tm_cap.max_ops;
		srq->tm_cq = attr->cq;
	}
	ret = ibv_cmd_create_srq_ex(context, &srq->vsrq, attr, &cmd.cmd,
				    sizeof(cmd), (void *)&resp, sizeof(resp));
	if (ret)
		goto err_free;
	if (!resp.drv.ring.entries) {
		ret = EPROTO;
		goto err_destroy;
	}
	ret = mxe_recv_map(&srq->ring, context->cmd_fd, &resp.drv.ring, NULL);
	if (ret)
		goto err_destroy;
	if (srq->tm_cq) {
		ret = mxe_srq_map_tm(srq, context->cmd_fd, &resp.drv);
		if (ret)
			goto err_unmap;
	}
	srq->ring.is_single_threaded = attr->comp_mask & IBV_SRQ_INIT_ATTR_PD &&
				       mxe_pd_is_single_threaded(attr->pd);
	srq->tm_ops.is_single_threaded = srq->ring.is_single_threaded;
	return &srq->vsrq.srq;

err_unmap:
	mxe_ring_unmap(&srq->ring);
err_destroy:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
err_free:
	free(srq);
	errno = ret;
	return NULL;
}

struct ibv_srq *mxe_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex attr_ex = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = pd,
	};
	struct ibv_srq *ibsrq = mxe_create_srq_ex(pd->context, &attr_ex);

	if (ibsrq)
		attr->attr = attr_ex.attr;
	return ibsrq;
}

int mxe_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		   int attr_mask)
{
	struct ibv_modify_srq cmd = { 0 };

	return ibv_cmd_modify_srq(ibsrq, attr, attr_mask, &cmd, sizeof(cmd));
}

int mxe_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd = { 0 };

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

int mxe_destroy_srq(struct ibv_srq *ibsrq)
{
	struct mxe_srq *srq = to_msrq(ibsrq);
	int ret = ibv_cmd_destroy_srq(ibsrq);

	if (ret)
		return ret;
	mxe_ring_unmap(&srq->ring);
	if (srq->tm_cq)
		mxe_ring_unmap(&srq->tm_ops);
	free(srq);
	return 0;
}

int mxe_get_srq_num(struct ibv_srq *ibsrq, uint32_t *num)
{
	*num = to_msrq(ibsrq)->vsrq.srq_num;
	return 0;
}

int mxe_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr)
{
	return mxe_recv_post(&to_msrq(ibsrq)->ring, wr, bad_wr, NULL);
}

/* ---- tag matching ------------------------------------------------------ */

/* Returns true if the list has room for one more tag. */
static bool mxe_srq_has_tag(const struct mxe_srq *srq)
{
	return srq->tags_added - mxe_load_acquire(&srq->tm_ops.hdr->tags_freed) <
	       srq->max_num_tags;
}

/*
 * Writes an operation at @index.  The handle of a tag is the index of its ADD,
 * so it is unique while the tag is in the list.
 */
static int mxe_srq_build_op(const struct mxe_srq *srq, uint32_t index,
			    struct ibv_ops_wr *wr)
{
	const struct mxe_ring *ring = &srq->tm_ops;
	unsigned int num_sge;
	struct mxe_tm_wqe *wqe;

	if ((unsigned int)wr->opcode > IBV_WR_TAG_SYNC ||
	    wr->flags & ~(IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC))
		return EINVAL;
	if (mxe_ring_full(ring, index))
		return ENOMEM;
	wqe = mxe_ring_at(ring, index);
	*wqe = (struct mxe_tm_wqe){
		.wr_id = wr->wr_id,
		.opcode = (uint8_t)wr->opcode,
		.flags = (uint8_t)wr->flags,
		.unexpected_cnt = wr->tm.unexpected_cnt,
	};
	if (wr->opcode == IBV_WR_TAG_DEL)
		wqe->handle = wr->tm.handle;
	if (wr->opcode != IBV_WR_TAG_ADD)
		return 0;

	/* Also refuses negative numbers. */
	num_sge = (unsigned int)wr->tm.add.num_sge;
	if (num_sge > ring->max_sge)
		return EINVAL;
	if (!mxe_srq_has_tag(srq))
		return ENOMEM;
	wqe->num_sge = (uint8_t)num_sge;
	wqe->recv_wr_id = wr->tm.add.recv_wr_id;
	wqe->tag = wr->tm.add.tag;
	wqe->mask = wr->tm.add.mask;
	wqe->handle = index;
	wr->tm.handle = index;
	mxe_ring_write_sges((struct mxe_sge *)(wqe + 1), wr->tm.add.sg_list, num_sge);
	return 0;
}

/*
 * Returns true if the kernel must execute an operation before a message
 * arrives.
 */
static bool mxe_srq_op_is_awaited(const struct ibv_ops_wr *wr)
{
	return wr->opcode != IBV_WR_TAG_ADD || wr->flags & IBV_OPS_SIGNALED;
}

int mxe_post_srq_ops(struct ibv_srq *ibsrq, struct ibv_ops_wr *wr,
		     struct ibv_ops_wr **bad_wr)
{
	struct mxe_srq *srq = to_msrq(ibsrq);
	struct mxe_ring *ring = &srq->tm_ops;
	uint32_t index, begin;
	bool ring_now = false;
	int ret = 0;

	if (!srq->tm_cq) {
		*bad_wr = wr;
		return EINVAL;
	}
	mxe_ring_lock(ring);
	begin = ring->index;
	for (index = begin; wr; wr = wr->next, index++) {
		ret = mxe_srq_build_op(srq, index, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		srq->tags_added += wr->opcode == IBV_WR_TAG_ADD;
		ring_now |= mxe_srq_op_is_awaited(wr);
	}
	if (index != begin)
		mxe_ring_publish(ring, index);
	ring_now |= index - mxe_load_acquire(&ring->hdr->consumer) > MXE_TM_MAX_UNRUNG;
	mxe_ring_unlock(ring);

	if (ring_now && index != begin)
		mxe_doorbell_srq(srq);
	return ret;
}
