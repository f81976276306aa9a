// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sending messages, tagged or not.
 *
 * A message of up to MXEFI_BUF_SIZE bytes is one SEND. For a longer one, the
 * SEND carries the address; the receiver reads the data and sends a FIN. The
 * sender's memory stays registered until then. FI_DELIVERY_COMPLETE makes the
 * receiver send a FIN for a short message, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_tagged.h>

#include "deferred.h"
#include "domain.h"
#include "ep.h"
#include "op.h"
#include "peer.h"
#include "route.h"
#include "send.h"
#include "sizes.h"
#include "wire.h"
#include "wr.h"

static void gather(uint8_t *to, const struct iovec *iov, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (iov[i].iov_len)
			memcpy(to, iov[i].iov_base, iov[i].iov_len);
		to += iov[i].iov_len;
	}
}

/* Makes the data of a long message readable for the receiver. */
static int expose(struct mxefi_op *op, const struct fi_msg_tagged *m,
		  size_t len, struct mxefi_msg *msg)
{
	void *buf = m->msg_iov[0].iov_base;

	if (m->iov_count > 1) {
		op->copy = malloc(len);
		if (!op->copy)
			return -FI_ENOMEM;
		gather(op->copy, m->msg_iov, m->iov_count);
		buf = op->copy;
	}
	op->mr = ibv_reg_mr(op->ep->dom->pd, buf, len, IBV_ACCESS_REMOTE_READ);
	if (!op->mr)
		return -errno;
	msg->type = MXEFI_MSG_RTS;
	msg->addr = (uintptr_t)buf;
	msg->rkey = op->mr->rkey;
	return 0;
}

/* Returns the length of the message or a negative error. */
static ssize_t check(const struct mxefi_handle *by, uint64_t kind,
		     const struct fi_msg_tagged *m, uint64_t flags)
{
	uint64_t caps = by->ep->caps;
	size_t len;

	if (!by->ep->enabled)
		return -FI_EOPBADSTATE;
	if (!by->tx || !(caps & kind) || !(caps & FI_SEND))
		return -FI_EOPNOTSUPP;
	if (m->iov_count > MXEFI_IOV_LIMIT)
		return -FI_EINVAL;
	len = mxefi_iov_len(m->msg_iov, m->iov_count);
	if (len == SIZE_MAX || (flags & FI_INJECT && len > MXEFI_INJECT_SIZE))
		return -FI_EMSGSIZE;
	return (ssize_t)len;
}

/**
 * mxefi_send_submit() - Submit the request of an operation that is a message.
 * @op: operation
 * @wr: SEND of the message
 * @wants_fin: true if the operation also waits for a FIN
 */
void mxefi_send_submit(struct mxefi_op *op, struct mxefi_wr *wr, bool wants_fin)
{
	op->refs = 1 + wants_fin;
	op->wants_fin = wants_fin;
	wr->op = op;
	wr->is_message = true;
	wr->complete = mxefi_op_wr_complete;
	mxefi_wr_submit(wr);
}

/**
 * mxefi_send_start() - Send a message.
 * @by: endpoint or context with the call
 * @kind: FI_MSG or FI_TAGGED
 * @m: message
 * @flags: flags of the call
 * @report: how it reports its end, or NULL
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_send_start(const struct mxefi_handle *by, uint64_t kind,
			 const struct fi_msg_tagged *m, uint64_t flags,
			 const struct mxefi_report *report)
{
	struct mxefi_ep *ep = by->ep;
	struct mxefi_msg msg = {
		.type = MXEFI_MSG_EAGER,
		.rx_index = mxefi_route_index(ep, m->addr),
	};
	ssize_t len = check(by, kind, m, flags);
	bool is_long = len > MXEFI_BUF_SIZE;
	struct mxefi_peer *peer;
	struct mxefi_wr *wr;
	struct mxefi_op *op;
	int ret;

	if (len < 0)
		return len;
	msg.len = (uint64_t)len;
	peer = mxefi_route_get(ep, m->addr);
	if (!peer)
		return mxefi_route_error(ep);
	op = mxefi_op_alloc(by, peer, m->context, flags, kind | FI_SEND,
			    report);
	if (!op)
		return -FI_EAGAIN;
	if (kind == FI_TAGGED) {
		msg.flags |= MXEFI_MSG_TAGGED;
		msg.tag = m->tag;
	}
	if (flags & FI_REMOTE_CQ_DATA) {
		msg.flags |= MXEFI_MSG_HAS_DATA;
		msg.data = (uint32_t)m->data;
	}
	if (is_long || flags & FI_DELIVERY_COMPLETE) {
		msg.flags |= MXEFI_MSG_WANT_FIN;
		msg.cookie = mxefi_op_cookie(op);
	}
	ret = is_long ? expose(op, m, msg.len, &msg) : 0;
	wr = ret ? NULL : mxefi_wr_alloc_send(peer, &msg, is_long ? 0 : msg.len);
	if (!wr) {
		mxefi_op_free(op);
		return ret ? ret : -FI_EAGAIN;
	}
	if (!is_long)
		gather(wr->buf + sizeof(msg), m->msg_iov, m->iov_count);
	mxefi_send_submit(op, wr, msg.flags & MXEFI_MSG_WANT_FIN);
	return 0;
}

/**
 * mxefi_send() - Send a message. Takes the lock itself.
 * @fid: endpoint
 * @kind: FI_MSG or FI_TAGGED
 * @m: message
 * @flags: flags of the call
 * @no_event: true reports no success
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_send(struct fid_ep *fid, uint64_t kind,
		   const struct fi_msg_tagged *m, uint64_t flags,
		   bool no_event)
{
	const struct mxefi_report *report = no_event ? &mxefi_report_errors :
						       NULL;
	const struct mxefi_handle *by = to_handle(fid);
	struct mxefi_ep *ep = by->ep;
	ssize_t ret;

	/* A shared receive context. */
	if (!ep)
		return -FI_EOPNOTSUPP;
	pthread_mutex_lock(&ep->dom->lock);
	if (flags & FI_TRIGGER)
		ret = ep->on_trigger(by, kind == FI_TAGGED ? FI_OP_TSEND :
							     FI_OP_SEND,
				     &(struct mxefi_call){
					     .flags = flags, .msg = *m });
	else
		ret = mxefi_send_start(by, kind, m, flags, report);
	return mxefi_call_end(ep, ret);
}

/**
 * mxefi_send_buf() - Send a message of one buffer. Takes the lock itself.
 * @fid: endpoint
 * @kind: FI_MSG or FI_TAGGED
 * @buf: data
 * @len: length of the data in bytes
 * @data: remote CQ data
 * @dest: destination
 * @tag: tag
 * @context: context of the program
 * @flags: flags of the call
 * @no_event: true reports no success
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_send_buf(struct fid_ep *fid, uint64_t kind, const void *buf,
		       size_t len, uint64_t data, fi_addr_t dest, uint64_t tag,
		       void *context, uint64_t flags, bool no_event)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
	struct fi_msg_tagged m = {
		.msg_iov = &iov,
		.iov_count = 1,
		.addr = dest,
		.tag = tag,
		.context = context,
		.data = data,
	};

	return mxefi_send(fid, kind, &m, flags, no_event);
}
