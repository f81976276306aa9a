// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The calls of FI_TAGGED. */
#include <rdma/fi_tagged.h>

#include "ep.h"
#include "recv.h"
#include "send.h"
#include "tagged.h"

static ssize_t tag_recvv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t src,
			 uint64_t tag, uint64_t ignore, void *context)
{
	struct fi_msg_tagged m = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = src,
		.tag = tag,
		.ignore = ignore,
		.context = context,
	};

	return mxefi_recv(ep, FI_TAGGED, &m,
			  to_handle(ep)->rx_flags & ~(uint64_t)FI_MULTI_RECV);
}

static ssize_t tag_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src, uint64_t tag, uint64_t ignore,
			void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	return tag_recvv(ep, &iov, &desc, 1, src, tag, ignore, context);
}

static ssize_t tag_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			   uint64_t flags)
{
	return mxefi_recv(ep, FI_TAGGED, msg, flags);
}

static ssize_t tag_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			   uint64_t flags)
{
	return mxefi_send(ep, FI_TAGGED, msg, flags, false);
}

static ssize_t tag_sendv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t dest,
			 uint64_t tag, void *context)
{
	struct fi_msg_tagged m = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = dest,
		.tag = tag,
		.context = context,
	};

	return mxefi_send(ep, FI_TAGGED, &m, to_handle(ep)->tx_flags, false);
}

static ssize_t tag_send(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest, uint64_t tag,
			void *context)
{
	return mxefi_send_buf(ep, FI_TAGGED, buf, len, 0, dest, tag, context,
			      to_handle(ep)->tx_flags, false);
}

static ssize_t tag_senddata(struct fid_ep *ep, const void *buf, size_t len,
			    void *desc, uint64_t data, fi_addr_t dest,
			    uint64_t tag, void *context)
{
	return mxefi_send_buf(ep, FI_TAGGED, buf, len, data, dest, tag, context,
			      to_handle(ep)->tx_flags | FI_REMOTE_CQ_DATA, false);
}

static ssize_t tag_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest, uint64_t tag)
{
	return mxefi_send_buf(ep, FI_TAGGED, buf, len, 0, dest, tag, NULL,
			      FI_INJECT, true);
}

static ssize_t tag_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest, uint64_t tag)
{
	return mxefi_send_buf(ep, FI_TAGGED, buf, len, data, dest, tag, NULL,
			      FI_INJECT | FI_REMOTE_CQ_DATA, true);
}

struct fi_ops_tagged mxefi_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = tag_recv,
	.recvv = tag_recvv,
	.recvmsg = tag_recvmsg,
	.send = tag_send,
	.sendv = tag_sendv,
	.sendmsg = tag_sendmsg,
	.inject = tag_inject,
	.senddata = tag_senddata,
	.injectdata = tag_injectdata,
};
