// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * FI_RMA. An operation is one request for each pair of a local and a remote
 * segment, and maybe messages to the target (access.c). Data of up to
 * MXEFI_BUF_SIZE bytes in unregistered memory are copied; more are registered
 * for the time of the operation.
 */
#include <endian.h>
#include <string.h>

#include "access.h"
#include "deferred.h"
#include "domain.h"
#include "ep.h"
#include "op.h"
#include "peer.h"
#include "rma.h"
#include "route.h"
#include "sizes.h"
#include "wire.h"
#include "wr.h"

/* A position in the local vector. */
struct cursor {
	const struct iovec *iov;
	void **desc;
	size_t left, offset;
};

static bool read_complete(struct mxefi_wr *wr, int err)
{
	if (!err && wr->copy_to)
		memcpy(wr->copy_to, wr->buf, wr->sge[0].length);
	return mxefi_op_wr_complete(wr, err);
}

/* Makes one request of @len bytes. Returns 0 or a negative error. */
static int add_wr(struct mxefi_op *op, struct cursor *c, size_t len,
		  uint64_t addr, uint64_t key, bool is_read, bool inject,
		  struct mxefi_wr ***tail)
{
	struct mxefi_wr *wr = mxefi_wr_alloc(op->peer);
	uint8_t *local = NULL;
	void *desc = NULL;
	int ret = 0;

	if (!wr)
		return -FI_EAGAIN;
	**tail = wr;
	*tail = &wr->next;
	wr->op = op;
	wr->copy_to = NULL;
	wr->complete = is_read ? read_complete : mxefi_op_wr_complete;
	wr->wr.opcode = is_read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
	wr->wr.wr.rdma.remote_addr = addr;
	wr->wr.wr.rdma.rkey = (uint32_t)key;
	op->refs++;
	if (!len)
		return 0;
	local = (uint8_t *)c->iov->iov_base + c->offset;
	if (c->desc && !inject)
		desc = *c->desc;
	if (desc || len > MXEFI_BUF_SIZE)
		ret = mxefi_wr_add(wr, local, len, desc,
				   is_read ? IBV_ACCESS_LOCAL_WRITE : 0);
	else {
		wr->sge[0].addr = (uintptr_t)wr->buf;
		wr->sge[0].length = (uint32_t)len;
		wr->sge[0].lkey = wr->lkey;
		wr->wr.num_sge = 1;
		if (is_read)
			wr->copy_to = local;
		else
			memcpy(wr->buf, local, len);
	}
	return ret;
}

static void advance(struct cursor *c, size_t len)
{
	c->offset += len;
	while (c->left && c->offset == c->iov->iov_len) {
		c->iov++;
		c->left--;
		c->offset = 0;
		if (c->desc)
			c->desc++;
	}
}

/*
 * Tells the target of the operation. Immediate data come with the length of one
 * request only, and name neither a region nor a context. Returns 0 or a
 * negative error.
 */
static int add_access(struct mxefi_op *op, struct mxefi_wr *first,
		      const struct fi_msg_rma *msg, size_t len, uint64_t flags,
		      bool is_read, struct mxefi_wr ***tail)
{
	uint64_t keys[MXEFI_IOV_LIMIT];
	struct mxefi_access access = {
		.reads = is_read,
		.writes = !is_read,
		.has_data = flags & FI_REMOTE_CQ_DATA,
		.rx_index = mxefi_route_index(op->ep, msg->addr),
		.data = (uint32_t)msg->data,
		.len = len,
		.keys = keys,
		.num_keys = msg->rma_iov_count,
	};

	if (!access.has_data && !op->peer->wants_events)
		return 0;
	if (op->refs == 1 && !op->peer->wants_events && !access.rx_index) {
		first->wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		first->wr.imm_data = htobe32(access.data);
		return 0;
	}
	for (size_t i = 0; i < msg->rma_iov_count; i++)
		keys[i] = msg->rma_iov[i].key;
	return mxefi_access_add(op, &access, tail);
}

/* The length of the remote vector, or SIZE_MAX if that is too long. */
static size_t remote_len(const struct fi_rma_iov *iov, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (iov[i].len > MXEFI_MAX_MSG_SIZE - sum)
			return SIZE_MAX;
		sum += iov[i].len;
	}
	return sum;
}

/**
 * mxefi_rma_start() - Read or write remote memory.
 * @by: endpoint or context with the call
 * @msg: local and remote memory
 * @flags: flags of the call
 * @is_read: true reads, false writes
 * @report: how it reports its end, or NULL
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_rma_start(const struct mxefi_handle *by,
			const struct fi_msg_rma *msg, uint64_t flags,
			bool is_read, const struct mxefi_report *report)
{
	struct mxefi_ep *ep = by->ep;
	uint64_t need = is_read ? FI_READ : FI_WRITE;
	struct mxefi_wr *first = NULL, **tail = &first;
	struct cursor c = { msg->msg_iov, msg->desc, msg->iov_count, 0 };
	struct mxefi_peer *peer;
	struct mxefi_op *op;
	size_t len;
	int ret = 0;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (!by->tx || !(ep->caps & FI_RMA) || !(ep->caps & need))
		return -FI_EOPNOTSUPP;
	if (msg->iov_count > MXEFI_IOV_LIMIT || !msg->rma_iov_count ||
	    msg->rma_iov_count > MXEFI_IOV_LIMIT)
		return -FI_EINVAL;
	len = remote_len(msg->rma_iov, msg->rma_iov_count);
	if (len == SIZE_MAX)
		return -FI_EMSGSIZE;
	if (len != mxefi_iov_len(msg->msg_iov, msg->iov_count) ||
	    (flags & FI_INJECT && is_read))
		return -FI_EINVAL;
	if (flags & FI_INJECT && len > MXEFI_INJECT_SIZE)
		return -FI_EMSGSIZE;
	peer = mxefi_route_get(ep, msg->addr);
	if (!peer)
		return mxefi_route_error(ep);
	op = mxefi_op_alloc(by, peer, msg->context, flags, FI_RMA | need,
			    report);
	if (!op)
		return -FI_EAGAIN;
	advance(&c, 0);
	for (size_t i = 0; i < msg->rma_iov_count && !ret; i++) {
		const struct fi_rma_iov *r = &msg->rma_iov[i];
		size_t done = 0;

		do {
			size_t n = r->len - done;

			if (n && n > c.iov->iov_len - c.offset)
				n = c.iov->iov_len - c.offset;
			ret = add_wr(op, &c, n, r->addr + done, r->key, is_read,
				     flags & FI_INJECT, &tail);
			if (n)
				advance(&c, n);
			done += n;
		} while (done < r->len && !ret);
	}
	if (!ret)
		ret = add_access(op, first, msg, len, flags, is_read, &tail);
	if (ret) {
		mxefi_wr_free_list(first);
		mxefi_op_free(op);
		return ret;
	}
	mxefi_wr_submit_list(first);
	return 0;
}

static ssize_t call(struct fid_ep *fid, const struct fi_msg_rma *msg,
		    uint64_t flags, bool is_read, bool no_event)
{
	const struct mxefi_report *report = no_event ? &mxefi_report_errors :
						       NULL;
	const struct mxefi_handle *by = to_handle(fid);
	struct mxefi_ep *ep = by->ep;
	ssize_t ret;

	pthread_mutex_lock(&ep->dom->lock);
	if (flags & FI_TRIGGER)
		ret = ep->on_trigger(by, is_read ? FI_OP_READ : FI_OP_WRITE,
				     &(struct mxefi_call){
					     .flags = flags, .rma = *msg });
	else
		ret = mxefi_rma_start(by, msg, flags, is_read, report);
	return mxefi_call_end(ep, ret);
}

static ssize_t simple(struct fid_ep *fid, const struct iovec *iov, void **desc,
		      size_t count, fi_addr_t peer, uint64_t addr, uint64_t key,
		      uint64_t data, void *context, uint64_t flags,
		      bool is_read, bool no_event)
{
	struct fi_rma_iov rma = {
		.addr = addr,
		.len = mxefi_iov_len(iov, count),
		.key = key,
	};
	struct fi_msg_rma msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = peer,
		.rma_iov = &rma,
		.rma_iov_count = 1,
		.context = context,
		.data = data,
	};

	return call(fid, &msg, flags, is_read, no_event);
}

static ssize_t rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			   uint64_t flags)
{
	return call(ep, msg, flags & ~(uint64_t)FI_REMOTE_CQ_DATA, true, false);
}

static ssize_t rma_readv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t src,
			 uint64_t addr, uint64_t key, void *context)
{
	return simple(ep, iov, desc, count, src, addr, key, 0, context,
		      to_handle(ep)->tx_flags & ~(uint64_t)FI_INJECT, true, false);
}

static ssize_t rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src, uint64_t addr, uint64_t key,
			void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	return rma_readv(ep, &iov, &desc, 1, src, addr, key, context);
}

static ssize_t rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	return call(ep, msg, flags, false, false);
}

static ssize_t rma_writev(struct fid_ep *ep, const struct iovec *iov,
			  void **desc, size_t count, fi_addr_t dest,
			  uint64_t addr, uint64_t key, void *context)
{
	return simple(ep, iov, desc, count, dest, addr, key, 0, context,
		      to_handle(ep)->tx_flags, false, false);
}

static ssize_t rma_write(struct fid_ep *ep, const void *buf, size_t len,
			 void *desc, fi_addr_t dest, uint64_t addr,
			 uint64_t key, void *context)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };

	return rma_writev(ep, &iov, &desc, 1, dest, addr, key, context);
}

static ssize_t rma_writedata(struct fid_ep *ep, const void *buf, size_t len,
			     void *desc, uint64_t data, fi_addr_t dest,
			     uint64_t addr, uint64_t key, void *context)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };

	return simple(ep, &iov, &desc, 1, dest, addr, key, data, context,
		      to_handle(ep)->tx_flags | FI_REMOTE_CQ_DATA, false, false);
}

static ssize_t rma_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest, uint64_t addr,
			      uint64_t key)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };

	return simple(ep, &iov, NULL, 1, dest, addr, key, data, NULL,
		      FI_INJECT | FI_REMOTE_CQ_DATA, false, true);
}

static ssize_t rma_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest, uint64_t addr, uint64_t key)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };

	return simple(ep, &iov, NULL, 1, dest, addr, key, 0, NULL, FI_INJECT,
		      false, true);
}

struct fi_ops_rma mxefi_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = rma_read,
	.readv = rma_readv,
	.readmsg = rma_readmsg,
	.write = rma_write,
	.writev = rma_writev,
	.writemsg = rma_writemsg,
	.inject = rma_inject,
	.writedata = rma_writedata,
	.injectdata = rma_injectdata,
};
