// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues. libibverbs calls these functions through the table in
 * device.c. There is no doorbell, because the kernel reads the requests when
 * messages arrive.
 */
#include <errno.h>
#include <stdlib.h>

#include "mxe.h"

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
	ret = ibv_cmd_create_srq_ex(context, &srq->vsrq, attr, &cmd.cmd,
				    sizeof(cmd), (void *)&resp, sizeof(resp));
	if (ret)
		goto err_free;
	if (!resp.drv.ring.entries) {
		ret = EPROTO;
		goto err_destroy;
	}
	ret = mxe_recv_map(&srq->ring, context->cmd_fd, &resp.drv.ring);
	if (ret)
		goto err_destroy;
	srq->ring.is_single_threaded = attr->comp_mask & IBV_SRQ_INIT_ATTR_PD &&
				       mxe_pd_is_single_threaded(attr->pd);
	return &srq->vsrq.srq;

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
