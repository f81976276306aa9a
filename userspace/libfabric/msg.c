// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * FI_MSG. ep.c refers to the calls, and conn.c hands in what has arrived.
 *
 * A message of up to MXEFI_BUF_SIZE bytes is one SEND. For a longer one, the
 * SEND carries the address; the receiver reads the data and sends a FIN. The
 * sender's memory stays registered until then. FI_DELIVERY_COMPLETE makes the
 * receiver send a FIN for a short message, too.
 */
#include <stdlib.h>
#include <string.h>

#include "mxefi.h"

static void gather(uint8_t *to, const struct iovec *iov, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (iov[i].iov_len)
			memcpy(to, iov[i].iov_base, iov[i].iov_len);
		to += iov[i].iov_len;
	}
}

/* Makes a SEND of the header and the @len bytes after it. */
static struct mxefi_wr *send_wr(struct mxefi_conn *conn,
				const struct mxefi_msg *msg, size_t len)
{
	struct mxefi_wr *wr = mxefi_wr_get(conn);

	if (!wr)
		return NULL;
	memcpy(wr->buf, msg, sizeof(*msg));
	wr->wr.exp_opcode = IBV_EXP_WR_SEND;
	wr->sge[0].addr = (uintptr_t)wr->buf;
	wr->sge[0].length = (uint32_t)(sizeof(*msg) + len);
	wr->sge[0].lkey = wr->lkey;
	wr->wr.num_sge = 1;
	return wr;
}

/* ---- receiving --------------------------------------------------------- */

static bool fin_complete(struct mxefi_wr *wr, int err)
{
	return true;
}

/* Tells the sender of a message that it was delivered. */
static void send_fin(struct mxefi_conn *conn, const struct mxefi_msg *msg,
		     int err)
{
	struct mxefi_msg fin = {
		.type = MXEFI_MSG_FIN,
		.cookie = msg->cookie,
		.err = (uint32_t)err,
	};
	struct mxefi_wr *wr = send_wr(conn, &fin, 0);

	if (!wr) {
		mxefi_warn(FI_LOG_EP_DATA, "out of memory: no answer is sent\n");
		return;
	}
	wr->complete = fin_complete;
	mxefi_wr_submit(wr);
}

/* Ends a receive and frees it. */
static void complete_recv(struct mxefi_recv *recv)
{
	struct mxefi_ep *ep = recv->ep;
	size_t room = mxefi_iov_len(recv->iov, recv->iov_count);
	size_t len = recv->msg.len;
	struct fi_cq_err_entry event = {
		.op_context = recv->context,
		.flags = FI_MSG | FI_RECV,
		.len = len,
		.err = recv->err,
	};

	if (len > room) {
		event.len = room;
		event.olen = len - room;
		if (!event.err)
			event.err = FI_ETRUNC;
	}
	event.prov_errno = event.err;
	if (recv->msg.flags & MXEFI_MSG_HAS_DATA) {
		event.flags |= FI_REMOTE_CQ_DATA;
		event.data = recv->msg.data;
	}
	if (recv->iov_count)
		event.buf = recv->iov[0].iov_base;
	if (!ep->closing) {
		mxefi_cntr_count(ep->recv_cntr, event.err);
		if (ep->rx_cq && (recv->completion || event.err))
			mxefi_cq_push(ep->rx_cq, &event);
	}
	free(recv);
}

static void put_read(struct mxefi_recv *recv, int err)
{
	if (err && !recv->err)
		recv->err = err;
	if (--recv->reads)
		return;
	if (!recv->ep->closing)
		send_fin(recv->conn, &recv->msg, recv->err);
	complete_recv(recv);
}

static bool read_complete(struct mxefi_wr *wr, int err)
{
	put_read(wr->recv, err);
	return true;
}

/* Reads the data of a long message, as much of it as there is room for. */
static void start_reads(struct mxefi_recv *recv)
{
	size_t done = 0;
	int ret = 0;

	/* One for this function. */
	recv->reads = 1;
	for (size_t i = 0; i < recv->iov_count && !ret; i++) {
		size_t len = recv->iov[i].iov_len;
		struct mxefi_wr *wr;

		if (len > recv->msg.len - done)
			len = recv->msg.len - done;
		if (!len)
			continue;
		wr = mxefi_wr_get(recv->conn);
		if (!wr) {
			ret = -FI_ENOMEM;
			break;
		}
		wr->recv = recv;
		wr->complete = read_complete;
		wr->wr.exp_opcode = IBV_EXP_WR_RDMA_READ;
		wr->wr.wr.rdma.remote_addr = recv->msg.addr + done;
		wr->wr.wr.rdma.rkey = recv->msg.rkey;
		ret = mxefi_wr_add(wr, recv->iov[i].iov_base, len,
				   recv->desc[i], IBV_ACCESS_LOCAL_WRITE);
		if (ret) {
			mxefi_wr_put(wr);
			break;
		}
		recv->reads++;
		mxefi_wr_submit(wr);
		done += len;
	}
	put_read(recv, -ret);
}

static void deliver(struct mxefi_recv *recv, struct mxefi_conn *conn,
		    const struct mxefi_msg *msg, const uint8_t *data)
{
	size_t left = msg->len;

	recv->conn = conn;
	recv->msg = *msg;
	if (msg->type == MXEFI_MSG_RTS) {
		start_reads(recv);
		return;
	}
	for (size_t i = 0; i < recv->iov_count && left; i++) {
		size_t len = recv->iov[i].iov_len;

		if (len > left)
			len = left;
		if (len)
			memcpy(recv->iov[i].iov_base, data, len);
		data += len;
		left -= len;
	}
	if (msg->flags & MXEFI_MSG_WANT_FIN)
		send_fin(conn, msg, 0);
	complete_recv(recv);
}

static void keep(struct mxefi_conn *conn, const struct mxefi_msg *msg,
		 const uint8_t *data, size_t len)
{
	struct mxefi_unexpected *u = malloc(sizeof(*u) + len);

	if (!u) {
		mxefi_warn(FI_LOG_EP_DATA, "out of memory: a message is lost\n");
		if (msg->type == MXEFI_MSG_RTS ||
		    msg->flags & MXEFI_MSG_WANT_FIN)
			send_fin(conn, msg, FI_ENOMEM);
		return;
	}
	u->next = NULL;
	u->conn = conn;
	u->msg = *msg;
	memcpy(u->data, data, len);
	*conn->ep->unexpected_tail = u;
	conn->ep->unexpected_tail = &u->next;
}

static void on_message(struct mxefi_conn *conn, const struct mxefi_msg *msg,
		       const uint8_t *data, size_t len)
{
	struct mxefi_ep *ep = conn->ep;
	struct mxefi_recv *recv = ep->recvs;
	struct mxefi_op *op;

	if (msg->type == MXEFI_MSG_FIN) {
		op = mxefi_op_find(ep, msg->cookie);
		if (op && op->conn == conn && op->wants_fin) {
			op->wants_fin = false;
			mxefi_op_put(op, (int)(msg->err & 0xffff));
		}
		return;
	}
	if (!(msg->type == MXEFI_MSG_EAGER && msg->len == len) &&
	    !(msg->type == MXEFI_MSG_RTS && !len &&
	      msg->len <= MXEFI_MAX_MSG_SIZE)) {
		mxefi_info(FI_LOG_EP_DATA, "a malformed message is ignored\n");
		return;
	}
	if (!recv) {
		keep(conn, msg, data, len);
		return;
	}
	ep->recvs = recv->next;
	if (!ep->recvs)
		ep->recvs_tail = &ep->recvs;
	deliver(recv, conn, msg, data);
}

/* The peer has written with remote CQ data. */
static void on_write_data(struct mxefi_conn *conn, uint32_t data, size_t len)
{
	struct mxefi_ep *ep = conn->ep;
	struct fi_cq_err_entry event = {
		.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
		.len = len,
		.data = data,
	};

	if (ep->rx_cq)
		mxefi_cq_push(ep->rx_cq, &event);
}

static ssize_t start_recv(struct mxefi_ep *ep, const struct iovec *iov,
			  void **desc, size_t count, void *context,
			  uint64_t flags)
{
	struct mxefi_unexpected *u = ep->unexpected;
	struct mxefi_recv *recv;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (!(ep->caps & FI_MSG) || !(ep->caps & FI_RECV))
		return -FI_EOPNOTSUPP;
	if (flags & (FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD))
		return -FI_EOPNOTSUPP;
	if (count > MXEFI_IOV_LIMIT)
		return -FI_EINVAL;
	recv = calloc(1, sizeof(*recv));
	if (!recv)
		return -FI_ENOMEM;
	recv->ep = ep;
	recv->context = context;
	recv->completion = !ep->rx_selective || flags & FI_COMPLETION;
	recv->iov_count = count;
	for (size_t i = 0; i < count; i++) {
		recv->iov[i] = iov[i];
		recv->desc[i] = desc ? desc[i] : NULL;
	}
	if (!u) {
		*ep->recvs_tail = recv;
		ep->recvs_tail = &recv->next;
		return 0;
	}
	ep->unexpected = u->next;
	if (!ep->unexpected)
		ep->unexpected_tail = &ep->unexpected;
	deliver(recv, u->conn, &u->msg, u->data);
	free(u);
	return 0;
}

static ssize_t call_recv(struct fid_ep *fid, const struct iovec *iov,
			 void **desc, size_t count, void *context,
			 uint64_t flags)
{
	struct mxefi_ep *ep = to_ep(fid);
	ssize_t ret;

	pthread_mutex_lock(&ep->dom->lock);
	ret = start_recv(ep, iov, desc, count, context, flags);
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

ssize_t mxefi_msg_cancel(struct mxefi_ep *ep, void *context)
{
	struct mxefi_recv **p, *recv;

	for (p = &ep->recvs; *p && (*p)->context != context; p = &(*p)->next)
		;
	recv = *p;
	if (!recv)
		return -FI_ENOENT;
	*p = recv->next;
	if (!*p)
		ep->recvs_tail = p;
	recv->err = FI_ECANCELED;
	complete_recv(recv);
	return 0;
}

void mxefi_msg_setup(struct mxefi_ep *ep)
{
	ep->recvs_tail = &ep->recvs;
	ep->unexpected_tail = &ep->unexpected;
	ep->on_message = on_message;
	ep->on_write_data = on_write_data;
}

void mxefi_msg_teardown(struct mxefi_ep *ep)
{
	while (ep->recvs) {
		struct mxefi_recv *recv = ep->recvs;

		ep->recvs = recv->next;
		free(recv);
	}
	while (ep->unexpected) {
		struct mxefi_unexpected *u = ep->unexpected;

		ep->unexpected = u->next;
		free(u);
	}
}

/* ---- sending ----------------------------------------------------------- */

/* Makes the data of a long message readable for the receiver. */
static int expose(struct mxefi_op *op, const struct fi_msg *m, size_t len,
		  struct mxefi_msg *msg)
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

static ssize_t start_send(struct mxefi_ep *ep, const struct fi_msg *m,
			  uint64_t flags, bool no_event)
{
	struct mxefi_msg msg = { .type = MXEFI_MSG_EAGER };
	struct mxefi_conn *conn;
	struct mxefi_wr *wr;
	struct mxefi_op *op;
	bool is_long;
	size_t len;
	int ret;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (!(ep->caps & FI_MSG) || !(ep->caps & FI_SEND) || flags & FI_FENCE)
		return -FI_EOPNOTSUPP;
	if (m->iov_count > MXEFI_IOV_LIMIT)
		return -FI_EINVAL;
	len = mxefi_iov_len(m->msg_iov, m->iov_count);
	if (len == SIZE_MAX || (flags & FI_INJECT && len > MXEFI_INJECT_SIZE))
		return -FI_EINVAL;
	is_long = len > MXEFI_BUF_SIZE;
	msg.len = len;
	conn = mxefi_conn_get(ep, m->addr);
	if (!conn)
		return -FI_EINVAL;
	op = mxefi_op_get(ep, conn, m->context, flags, FI_MSG | FI_SEND,
			  no_event);
	if (!op)
		return -FI_EAGAIN;
	op->refs = 1;
	if (flags & FI_REMOTE_CQ_DATA) {
		msg.flags |= MXEFI_MSG_HAS_DATA;
		msg.data = (uint32_t)m->data;
	}
	if (is_long || flags & FI_DELIVERY_COMPLETE) {
		msg.flags |= MXEFI_MSG_WANT_FIN;
		msg.cookie = mxefi_op_cookie(op);
	}
	ret = is_long ? expose(op, m, len, &msg) : 0;
	wr = ret ? NULL : send_wr(conn, &msg, is_long ? 0 : len);
	if (!wr) {
		mxefi_op_drop(op);
		return ret ? ret : -FI_EAGAIN;
	}
	if (!is_long)
		gather(wr->buf + sizeof(msg), m->msg_iov, m->iov_count);
	if (msg.flags & MXEFI_MSG_WANT_FIN) {
		op->wants_fin = true;
		op->refs++;
	}
	wr->op = op;
	wr->complete = mxefi_op_wr_complete;
	mxefi_wr_submit(wr);
	return 0;
}

static ssize_t call_send(struct fid_ep *fid, const struct fi_msg *m,
			 uint64_t flags, bool no_event)
{
	struct mxefi_ep *ep = to_ep(fid);

	pthread_mutex_lock(&ep->dom->lock);
	return mxefi_call_end(ep, start_send(ep, m, flags, no_event));
}

static ssize_t simple_send(struct fid_ep *ep, const void *buf, size_t len,
			   uint64_t data, fi_addr_t dest, void *context,
			   uint64_t flags, bool no_event)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
	struct fi_msg m = {
		.msg_iov = &iov,
		.iov_count = 1,
		.addr = dest,
		.context = context,
		.data = data,
	};

	return call_send(ep, &m, flags, no_event);
}

/* ---- calls ------------------------------------------------------------- */

static ssize_t msg_recvv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t src,
			 void *context)
{
	return call_recv(ep, iov, desc, count, context, to_ep(ep)->rx_flags);
}

static ssize_t msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src, void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	return msg_recvv(ep, &iov, &desc, 1, src, context);
}

static ssize_t msg_recvmsg(struct fid_ep *ep, const struct fi_msg *m,
			   uint64_t flags)
{
	return call_recv(ep, m->msg_iov, m->desc, m->iov_count, m->context,
			 flags);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *m,
			   uint64_t flags)
{
	return call_send(ep, m, flags, false);
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t dest,
			 void *context)
{
	struct fi_msg m = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = dest,
		.context = context,
	};

	return call_send(ep, &m, to_ep(ep)->tx_flags, false);
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest, void *context)
{
	return simple_send(ep, buf, len, 0, dest, context, to_ep(ep)->tx_flags,
			   false);
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t len,
			    void *desc, uint64_t data, fi_addr_t dest,
			    void *context)
{
	return simple_send(ep, buf, len, data, dest, context,
			   to_ep(ep)->tx_flags | FI_REMOTE_CQ_DATA, false);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest)
{
	return simple_send(ep, buf, len, 0, dest, NULL, FI_INJECT, true);
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest)
{
	return simple_send(ep, buf, len, data, dest, NULL,
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
