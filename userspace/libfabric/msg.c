// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The calls of FI_MSG. */
#include <rdma/fi_tagged.h>

#include "ep.h"
#include "msg.h"
#include "recv.h"
#include "send.h"

static ssize_t msg_recvv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t src,
			 void *context)
{
	struct fi_msg_tagged m = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = src,
		.context = context,
	};

	return mxefi_recv(ep, FI_MSG, &m, to_handle(ep)->rx_flags);
}

static ssize_t msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src, void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	return msg_recvv(ep, &iov, &desc, 1, src, context);
}

/* The same message without a tag. */
static struct fi_msg_tagged without_tag(const struct fi_msg *m)
{
	return (struct fi_msg_tagged){
		.msg_iov = m->msg_iov,
		.desc = m->desc,
		.iov_count = m->iov_count,
		.addr = m->addr,
		.context = m->context,
		.data = m->data,
	};
}

static ssize_t msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg,
			   uint64_t flags)
{
	struct fi_msg_tagged m = without_tag(msg);

	return mxefi_recv(ep, FI_MSG, &m, flags);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg,
			   uint64_t flags)
{
	struct fi_msg_tagged m = without_tag(msg);

	return mxefi_send(ep, FI_MSG, &m, flags, false);
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t dest,
			 void *context)
{
	struct fi_msg_tagged m = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = dest,
		.context = context,
	};

	return mxefi_send(ep, FI_MSG, &m, to_handle(ep)->tx_flags, false);
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest, void *context)
{
	return mxefi_send_buf(ep, FI_MSG, buf, len, 0, dest, 0, context,
			      to_handle(ep)->tx_flags, false);
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t len,
			    void *desc, uint64_t data, fi_addr_t dest,
			    void *context)
{
	return mxefi_send_buf(ep, FI_MSG, buf, len, data, dest, 0, context,
			      to_handle(ep)->tx_flags | FI_REMOTE_CQ_DATA, false);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest)
{
	return mxefi_send_buf(ep, FI_MSG, buf, len, 0, dest, 0, NULL, FI_INJECT,
			      true);
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest)
{
	return mxefi_send_buf(ep, FI_MSG, buf, len, data, dest, 0, NULL,
			      FI_INJECT | FI_REMOTE_CQ_DATA, true);
}

struct fi_ops_msg mxefi_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};
