// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A part of a program as written for OFED 1.3 to 4.9, in C and C++: the XRC
 * interface with its members, and names of verbs.h that today's does not have.
 * It has members of the same names, too.
 */
#include <infiniband/verbs.h>
#include "old.h"

struct peer {
	struct ibv_xrc_domain *xrc_domain;
	uint32_t xrc_remote_srq_num;
	uint32_t xrc_srq_num;
};

uint32_t send_to(struct ibv_qp *qp, struct peer *peer)
{
	struct ibv_send_wr wr, *bad = 0;

	wr.next = 0;
	wr.num_sge = 0;
	wr.sg_list = 0;
	wr.send_flags = 0;
	wr.opcode = IBV_WR_SEND;
	wr.xrc_remote_srq_num = peer->xrc_remote_srq_num;
	messages++;
	return (uint32_t)ibv_post_send(qp, &wr, &bad);
}

struct ibv_qp *make(struct ibv_pd *pd, struct ibv_srq *srq, struct peer *peer)
{
	struct ibv_qp_init_attr attr;
	uint32_t num = 0;

	attr.qp_type = IBV_QPT_XRC;
	attr.xrc_domain = peer->xrc_domain;
	if (ibv_create_xrc_rcv_qp(&attr, &num))
		return 0;
	peer->xrc_srq_num = srq->xrc_srq_num;
	return ibv_create_qp(pd, &attr);
}

int event(struct ibv_context *context)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event))
		return -1;
	ibv_ack_async_event(&event);
	if (event.event_type & IBV_XRC_QP_EVENT_FLAG)
		return (int)event.element.xrc_qp_num;
	if ((int)event.event_type == IBV_EXP_EVENT_DCT_REQ_ERR)
		return (int)event.element.dct->dct_num;
	return IBV_QPT_RAW_ETH == 8;
}
