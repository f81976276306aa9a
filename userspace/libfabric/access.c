// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * RMA and atomics that are reported to the target: those with remote CQ data,
 * and all if the target has FI_RMA_EVENT. The device executes an operation
 * without the process of the target, so a message follows it on the same queue
 * pair, one for each memory region.
 */
#include "access.h"
#include "cntr.h"
#include "cq.h"
#include "domain.h"
#include "ep.h"
#include "mr.h"
#include "op.h"
#include "peer.h"
#include "wire.h"
#include "wr.h"

/**
 * mxefi_access_add() - Make the requests that tell the target of an operation.
 * @op: operation, whose other requests were made
 * @access: its accesses at the target
 * @tail: where its last request has its pointer to the next one
 *
 * To be called if the operation has remote CQ data or the peer wants events.
 *
 * Return: 0, or -FI_EAGAIN if no request is free.
 */
int mxefi_access_add(struct mxefi_op *op, const struct mxefi_access *access,
		     struct mxefi_wr ***tail)
{
	struct mxefi_msg msg = {
		.type = MXEFI_MSG_ACCESS,
		.flags = (access->reads ? MXEFI_MSG_READS : 0) |
			 (access->writes ? MXEFI_MSG_WRITES : 0) |
			 (access->has_data ? MXEFI_MSG_HAS_DATA : 0) |
			 MXEFI_MSG_MORE,
		.rx_index = access->rx_index,
		.data = access->data,
		.len = access->len,
	};
	size_t i = op->peer->wants_events ? 0 : access->num_keys - 1;

	for (; i < access->num_keys; i++) {
		struct mxefi_wr *wr;

		if (i == access->num_keys - 1)
			msg.flags &= (uint8_t)~MXEFI_MSG_MORE;
		msg.rkey = (uint32_t)access->keys[i];
		wr = mxefi_wr_alloc_send(op->peer, &msg, 0);
		if (!wr)
			return -FI_EAGAIN;
		**tail = wr;
		*tail = &wr->next;
		wr->op = op;
		wr->is_access = true;
		wr->complete = mxefi_op_wr_complete;
		op->refs++;
	}
	return 0;
}

static void push_data(const struct mxefi_rx *rx, const struct mxefi_msg *msg)
{
	uint64_t need = FI_RMA | FI_REMOTE_WRITE;
	struct mxefi_completion *event;

	if (!rx->cq || (rx->ep->caps & need) != need)
		return;
	event = mxefi_cq_begin(rx->cq, NULL, need | FI_REMOTE_CQ_DATA, 0);
	if (!event)
		return;
	event->entry.len = msg->len;
	event->entry.data = msg->data;
	mxefi_cq_add(rx->cq);
}

static void on_access(struct mxefi_ep *ep, const struct mxefi_msg *msg)
{
	const struct mxefi_rx *rx;

	if (ep->caps & FI_RMA_EVENT)
		mxefi_mr_count(ep->dom, msg->rkey, msg->flags & MXEFI_MSG_READS,
			       msg->flags & MXEFI_MSG_WRITES);
	if (msg->flags & MXEFI_MSG_MORE || msg->rx_index >= ep->num_rxs)
		return;
	rx = &ep->rxs[msg->rx_index];
	/* An atomic that fetches counts as a read (fi_endpoint(3)). */
	mxefi_cntr_count(msg->flags & MXEFI_MSG_READS ? rx->remote_read_cntr :
							rx->remote_write_cntr,
			 false);
	if (msg->flags & MXEFI_MSG_HAS_DATA)
		push_data(rx, msg);
}

/**
 * mxefi_access_setup() - Prepare an endpoint to learn of accesses.
 * @ep: endpoint
 */
void mxefi_access_setup(struct mxefi_ep *ep)
{
	ep->on_access = on_access;
}
