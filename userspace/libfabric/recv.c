// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receiving messages, tagged or not, and atomics to tagged receive buffers.
 * send.c and atomic.c describe the protocol.
 */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_tagged.h>

#include "cntr.h"
#include "conn.h"
#include "cq.h"
#include "deferred.h"
#include "domain.h"
#include "ep.h"
#include "match.h"
#include "op.h"
#include "peer.h"
#include "progress.h"
#include "provider.h"
#include "recv.h"
#include "route.h"
#include "sizes.h"
#include "srx.h"
#include "tagged_atomic.h"
#include "trigger.h"
#include "wire.h"
#include "wr.h"

/* ---- answers ----------------------------------------------------------- */

/* Tells the sender of a message that it was delivered, with results. */
static void send_results(struct mxefi_conn *conn, uint32_t epoch,
			 const struct mxefi_msg *msg, int err,
			 const uint8_t *results, size_t len)
{
	struct mxefi_msg fin = {
		.type = MXEFI_MSG_FIN,
		.cookie = msg->cookie,
		.err = (uint32_t)err,
	};

	mxefi_conn_send(conn, epoch, &fin, results, len);
}

static void send_fin(struct mxefi_conn *conn, uint32_t epoch,
		     const struct mxefi_msg *msg, int err)
{
	send_results(conn, epoch, msg, err, NULL, 0);
}

/* ---- delivery ---------------------------------------------------------- */

/*
 * Begins the event of a message of a peer, or of no peer. Returns NULL if the
 * program gets none.
 */
static struct mxefi_completion *begin_event(const struct mxefi_rx *rx,
					    void *context, uint64_t flags,
					    struct mxefi_conn *conn,
					    bool completion, int err)
{
	struct mxefi_completion *event;
	uint64_t caps = rx->ep->caps;
	fi_addr_t src = FI_ADDR_NOTAVAIL;
	bool is_unknown = false;

	if (conn && caps & FI_SOURCE) {
		src = mxefi_route_source(&conn->peer);
		is_unknown = src == FI_ADDR_NOTAVAIL &&
			     caps & FI_SOURCE_ERR && !err;
	}
	if (is_unknown)
		err = FI_EADDRNOTAVAIL;
	if (!rx->cq || !(completion || err))
		return NULL;
	event = mxefi_cq_begin(rx->cq, context, flags, err);
	if (!event)
		return NULL;
	event->src = src;
	if (is_unknown)
		event->from = conn->peer.addr;
	return event;
}

/* Describes a message in an event. */
static void set_message(struct fi_cq_err_entry *event,
			const struct mxefi_msg *msg)
{
	event->len = msg->len;
	event->tag = msg->tag;
	if (msg->type == MXEFI_MSG_ATOMIC)
		event->flags |= FI_ATOMIC;
	if (msg->flags & MXEFI_MSG_HAS_DATA) {
		event->flags |= FI_REMOTE_CQ_DATA;
		event->data = msg->data;
	}
}

static uint64_t event_flags(bool tagged)
{
	return FI_RECV | (tagged ? FI_TAGGED : FI_MSG);
}

/* True if the success of a receive is reported. */
static bool reports(const struct mxefi_recv *recv)
{
	return recv->completion || (recv->by_rx && !recv->rx->selective);
}

/* Adds the event of a receive. @len bytes of the message, and @over more. */
static void push_recv(const struct mxefi_recv *recv, const struct mxefi_msg *msg,
		      uint64_t flags, size_t len, size_t over, int err)
{
	const struct mxefi_rx *rx = recv->rx;
	struct mxefi_completion *event =
		begin_event(rx, recv->context, flags, recv->conn, reports(recv),
			    err);

	if (!event)
		return;
	set_message(&event->entry, msg);
	event->entry.len = len;
	event->entry.olen = over;
	if (recv->iov_count)
		event->entry.buf = recv->iov[0].iov_base;
	mxefi_cq_add(rx->cq);
}

/* Ends a receive, of a message or canceled, and frees it. */
static void complete_recv(struct mxefi_recv *recv, const struct mxefi_msg *msg)
{
	const struct mxefi_rx *rx = recv->rx;
	struct mxefi_recv *multi = recv->parent;
	size_t room = mxefi_iov_len(recv->iov, recv->iov_count);
	uint64_t flags = event_flags(recv->tagged);
	size_t len = msg->len, over = 0;
	int err = recv->err;

	/* An atomic that fails has changed nothing. */
	if (err && msg->type == MXEFI_MSG_ATOMIC)
		len = 0;
	if (len > room) {
		over = len - room;
		len = room;
		err = err ? : FI_ETRUNC;
	}
	/* The last message of a buffer says that the buffer is free. */
	if (multi && !--multi->parts && multi->retired) {
		flags |= FI_MULTI_RECV;
		if (multi != recv)
			mxefi_match_free(multi);
	}
	if (recv->multi && !recv->parts)
		flags |= FI_MULTI_RECV;
	if (!rx->ep->closing) {
		mxefi_cntr_count(recv->has_cntr ? recv->cntr : rx->recv_cntr,
				 err);
		push_recv(recv, msg, flags, len, over, err);
	}
	/* Messages that are being read still refer to a canceled buffer. */
	if (!recv->parts)
		mxefi_match_free(recv);
}

static void put_read(struct mxefi_recv *recv, int err)
{
	if (err && !recv->err)
		recv->err = err;
	if (--recv->reads)
		return;
	if (!recv->rx->ep->closing)
		send_fin(recv->conn, recv->epoch, &recv->msg, recv->err);
	complete_recv(recv, &recv->msg);
}

static bool read_complete(struct mxefi_wr *wr, int err)
{
	put_read(wr->recv, err);
	return true;
}

/* Makes a READ of the next @len bytes. Returns 0 or a negative error. */
static int start_read(struct mxefi_recv *recv, size_t len)
{
	struct mxefi_wr *wr = mxefi_wr_alloc_answer(&recv->conn->peer);
	size_t i = recv->next_iov;
	int ret;

	if (!wr)
		return -FI_EAGAIN;
	wr->recv = recv;
	wr->complete = read_complete;
	wr->wr.opcode = IBV_WR_RDMA_READ;
	wr->wr.wr.rdma.remote_addr = recv->msg.addr + recv->done;
	wr->wr.wr.rdma.rkey = recv->msg.rkey;
	ret = mxefi_wr_add(wr, recv->iov[i].iov_base, len, recv->desc[i],
			   IBV_ACCESS_LOCAL_WRITE);
	if (ret) {
		mxefi_wr_free(wr);
		return ret;
	}
	recv->reads++;
	mxefi_wr_answer(wr);
	return 0;
}

/*
 * Reads the data of a long message, as much of it as there is room for. Returns
 * false if no request is free.
 */
static bool try_reads(struct mxefi_recv *recv)
{
	int ret = 0;

	if (!mxefi_conn_is_current(recv->conn, recv->epoch))
		ret = -FI_ECONNABORTED;
	for (; recv->next_iov < recv->iov_count && !ret; recv->next_iov++) {
		size_t len = recv->iov[recv->next_iov].iov_len;

		if (len > recv->msg.len - recv->done)
			len = recv->msg.len - recv->done;
		if (len)
			ret = start_read(recv, len);
		if (ret == -FI_EAGAIN)
			return false;
		recv->done += len;
	}
	put_read(recv, -ret);
	return true;
}

static void start_reads(struct mxefi_recv *recv)
{
	struct mxefi_ep *ep = recv->rx->ep;

	/* One until all are started. */
	recv->reads = 1;
	recv->next_iov = 0;
	recv->done = 0;
	if (!ep->readers && try_reads(recv))
		return;
	recv->conn->kept++;
	recv->next = NULL;
	*ep->readers_tail = recv;
	ep->readers_tail = &recv->next;
}

/* Requests may be free again. */
static void on_room(struct mxefi_ep *ep)
{
	while (ep->readers) {
		struct mxefi_recv *recv = ep->readers;
		struct mxefi_recv *next = recv->next;
		struct mxefi_conn *conn = recv->conn;

		if (!try_reads(recv))
			return;
		/* The receive may be freed now. */
		conn->kept--;
		ep->readers = next;
		if (!next)
			ep->readers_tail = &ep->readers;
	}
}

/* Executes an atomic on its receive buffer. */
static void execute(struct mxefi_recv *recv, const struct mxefi_msg *msg,
		    const uint8_t *operands)
{
	uint8_t results[MXEFI_MAX_TAGGED_SIZE];
	bool fetches = msg->atomic.form != MXEFI_BASE;

	/* The initiator of an older epoch has reported an error. */
	if (mxefi_conn_is_current(recv->conn, recv->epoch))
		recv->err = mxefi_tagged_atomic_execute(msg, operands, recv->iov,
							recv->iov_count,
							results);
	else
		recv->err = FI_ECONNABORTED;
	send_results(recv->conn, recv->epoch, msg, recv->err, results,
		     fetches && !recv->err ? msg->len : 0);
	complete_recv(recv, msg);
}

static void deliver(struct mxefi_recv *recv, struct mxefi_conn *conn,
		    uint32_t epoch, const struct mxefi_msg *msg,
		    const uint8_t *data)
{
	size_t left = msg->len;

	recv->conn = conn;
	recv->epoch = epoch;
	if (msg->type == MXEFI_MSG_RTS) {
		recv->msg = *msg;
		start_reads(recv);
		return;
	}
	if (msg->type == MXEFI_MSG_ATOMIC) {
		execute(recv, msg, data);
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
		send_fin(conn, epoch, msg, 0);
	complete_recv(recv, msg);
}

static void deliver_unexpected(struct mxefi_recv *recv,
			       struct mxefi_unexpected *u)
{
	deliver(recv, u->conn, u->epoch, &u->msg, u->data);
	free(u);
}

/* ---- arrival ----------------------------------------------------------- */

static void keep(struct mxefi_rx *rx, struct mxefi_conn *conn, uint32_t epoch,
		 const struct mxefi_msg *msg, const uint8_t *data, size_t len)
{
	struct mxefi_unexpected *u = malloc(sizeof(*u) + len);

	if (!u) {
		mxefi_warn(FI_LOG_EP_DATA, "out of memory: a message is lost\n");
		mxefi_conn_abort(conn, FI_ENOMEM);
		return;
	}
	u->rx = rx;
	u->conn = conn;
	u->epoch = epoch;
	u->msg = *msg;
	u->len = len;
	memcpy(u->data, data, len);
	mxefi_match_keep(u);
}

static void on_fin(struct mxefi_conn *conn, const struct mxefi_msg *msg,
		   const uint8_t *results, size_t len)
{
	struct mxefi_op *op = mxefi_op_find(conn->peer.ep, msg->cookie);
	int err = (int)(msg->err & 0xffff);
	size_t count;

	if (!op || op->peer != &conn->peer || !op->wants_fin)
		return;
	count = mxefi_op_num_results(op);
	if (count && !err) {
		if (len == count * mxefi_type_size(op->datatype))
			mxefi_op_store(op, 0, results, count);
		else
			err = FI_EREMOTEIO;
	}
	op->wants_fin = false;
	mxefi_op_put(op, err);
	/* A fence may have waited for it. */
	mxefi_peer_flush(&conn->peer);
}

/* Messages with data, messages to be read, and atomics. */
static bool is_well_formed(const struct mxefi_msg *msg, size_t len)
{
	switch (msg->type) {
	case MXEFI_MSG_EAGER:
		return msg->len == len;
	case MXEFI_MSG_RTS:
		return !len && msg->flags & MXEFI_MSG_WANT_FIN &&
		       msg->len <= MXEFI_MAX_MSG_SIZE;
	case MXEFI_MSG_ATOMIC:
		return msg->flags & MXEFI_MSG_WANT_FIN &&
		       msg->flags & MXEFI_MSG_TAGGED;
	default:
		return false;
	}
}

/* Returns 0 if the program may post a receive for the message, or an error. */
static int check_arrival(const struct mxefi_ep *ep, const struct mxefi_msg *msg,
			 size_t len)
{
	uint64_t need = FI_RECV | (msg->flags & MXEFI_MSG_TAGGED ? FI_TAGGED :
								   FI_MSG);

	if (msg->rx_index >= ep->num_rxs)
		return FI_EINVAL;
	if ((ep->caps & need) != need)
		return FI_EOPNOTSUPP;
	return msg->type == MXEFI_MSG_ATOMIC ?
	       mxefi_tagged_atomic_check(ep, msg, len) : 0;
}

static void on_message(struct mxefi_conn *conn, uint32_t epoch,
		       const struct mxefi_msg *msg, const uint8_t *data,
		       size_t len)
{
	struct mxefi_ep *ep = conn->peer.ep;
	struct mxefi_recv *recv;
	struct mxefi_rx *rx;
	int err;

	switch (msg->type) {
	case MXEFI_MSG_PROBE:
		return;
	case MXEFI_MSG_FIN:
		on_fin(conn, msg, data, len);
		return;
	case MXEFI_MSG_STOP:
	case MXEFI_MSG_GO:
		if (!mxefi_conn_is_current(conn, epoch))
			return;
		conn->peer.is_stopped = msg->type == MXEFI_MSG_STOP;
		if (!conn->peer.is_stopped)
			mxefi_peer_flush(&conn->peer);
		return;
	case MXEFI_MSG_BYE:
		mxefi_conn_abort(conn, FI_ESHUTDOWN);
		return;
	}
	if (!is_well_formed(msg, len)) {
		mxefi_info(FI_LOG_EP_DATA, "a malformed message is ignored\n");
		return;
	}
	/* The sender has reported an error, and no receive is for it. */
	if (msg->type != MXEFI_MSG_EAGER && !mxefi_conn_is_current(conn, epoch))
		return;
	err = check_arrival(ep, msg, len);
	if (err) {
		mxefi_info(FI_LOG_EP_DATA, "a message is refused: %s\n",
			   fi_strerror(err));
		if (msg->flags & MXEFI_MSG_WANT_FIN)
			send_fin(conn, epoch, msg, err);
		return;
	}
	rx = &ep->rxs[msg->rx_index];
	recv = mxefi_match_arrival(rx, conn, msg);
	if (recv)
		deliver(recv, conn, epoch, msg, data);
	else
		keep(rx, conn, epoch, msg, data, len);
}

/* ---- the end of receives ------------------------------------------------ */

static bool cancel(struct mxefi_recvs *recvs, const void *context, bool any)
{
	struct mxefi_recv *recv = mxefi_match_cancel(recvs, context, any);

	if (!recv)
		return false;
	recv->err = FI_ECANCELED;
	/* A shared context has no completion queue. */
	if (recv->rx)
		complete_recv(recv, &recv->msg);
	else if (!recv->parts)
		mxefi_match_free(recv);
	return true;
}

/* True if no message will arrive any more. */
static bool has_ended(const struct mxefi_ep *ep)
{
	return ep->dom->lost || (ep->is_msg && ep->conns &&
				 ep->conns->state == MXEFI_CONN_BROKEN);
}

/* Receives in a shared context are not those of the endpoint. */
static void cancel_all(struct mxefi_ep *ep)
{
	for (size_t i = 0; i < ep->num_rxs; i++) {
		const struct mxefi_rx *rx = &ep->rxs[i];

		if (!rx->srx)
			mxefi_recv_cancel_all(rx->recvs);
	}
}

static void on_broken(struct mxefi_conn *conn)
{
	if (has_ended(conn->peer.ep))
		cancel_all(conn->peer.ep);
}

/* ---- calls ------------------------------------------------------------- */

/* Frees a message that no receive will get. */
static void discard(struct mxefi_unexpected *u)
{
	if (u->msg.flags & MXEFI_MSG_WANT_FIN)
		send_fin(u->conn, u->epoch, &u->msg,
			 u->msg.type == MXEFI_MSG_ATOMIC ? FI_ECANCELED : 0);
	free(u);
}

static ssize_t peek(const struct mxefi_recv *recv, uint64_t flags)
{
	const struct mxefi_rx *rx = recv->rx;
	struct mxefi_completion *event;
	struct mxefi_unexpected *u;

	if (!rx->cq)
		return -FI_ENOCQ;
	/* Finds every message whose arrival the sender knows of. */
	mxefi_progress(rx->ep->dom);
	u = mxefi_match_find(recv);
	event = begin_event(rx, recv->context, event_flags(true),
			    u ? u->conn : NULL, true, u ? 0 : FI_ENOMSG);
	if (event) {
		event->entry.tag = recv->tag;
		if (u)
			set_message(&event->entry, &u->msg);
		mxefi_cq_add(rx->cq);
	}
	if (u && flags & FI_CLAIM) {
		mxefi_match_claim(u, recv->context);
	} else if (u && flags & FI_DISCARD) {
		mxefi_match_unlink(u);
		discard(u);
	}
	return 0;
}

/* Receives or discards a message that a peek has claimed. */
static ssize_t claim(struct mxefi_recv *recv, uint64_t flags)
{
	struct mxefi_unexpected *u = mxefi_match_claimed(recv->recvs,
							 recv->context);
	struct mxefi_completion *event;

	if (!u)
		return -FI_EINVAL;
	if (!(flags & FI_DISCARD)) {
		deliver_unexpected(recv, u);
		return 0;
	}
	event = begin_event(recv->rx, recv->context, event_flags(true), u->conn,
			    reports(recv), 0);
	if (event) {
		set_message(&event->entry, &u->msg);
		mxefi_cq_add(recv->rx->cq);
	}
	discard(u);
	mxefi_match_free(recv);
	return 0;
}

static ssize_t post(struct mxefi_recv *recv)
{
	struct mxefi_recvs *recvs = recv->recvs;
	struct mxefi_rx *rx = recv->rx;
	bool is_over = rx && has_ended(rx->ep);
	struct mxefi_unexpected *u;
	struct mxefi_recv *taken;
	bool is_part;

	if (is_over && !mxefi_match_find(recv))
		return rx->ep->dom->lost ? -FI_ENODEV : -FI_ENOTCONN;
	taken = mxefi_match_post(recv, true, &u);
	while (taken) {
		is_part = taken != recv;
		deliver_unexpected(taken, u);
		/*
		 * The last message of a buffer frees it, and so does the end of
		 * the connection.
		 */
		if (!is_part || !mxefi_match_is_posted(recvs, recv))
			break;
		taken = mxefi_match_post(recv, false, &u);
	}
	/* A buffer for several messages may still be posted. */
	if (is_over)
		cancel_all(rx->ep);
	return 0;
}

static int check(const struct mxefi_recvs *recvs, uint64_t caps, uint64_t kind,
		 const struct fi_msg_tagged *m, uint64_t flags)
{
	uint64_t search = flags & (FI_PEEK | FI_CLAIM | FI_DISCARD);

	if (!(caps & kind) || !(caps & FI_RECV))
		return -FI_EOPNOTSUPP;
	if (m->iov_count > MXEFI_IOV_LIMIT)
		return -FI_EINVAL;
	if (flags & FI_MULTI_RECV &&
	    (kind != FI_MSG || !(caps & FI_MULTI_RECV)))
		return -FI_EOPNOTSUPP;
	if (flags & FI_MULTI_RECV &&
	    (m->iov_count != 1 ||
	     m->msg_iov[0].iov_len < recvs->min_multi_recv))
		return -FI_EINVAL;
	if (search && kind != FI_TAGGED)
		return -FI_EOPNOTSUPP;
	if (search == FI_DISCARD ||
	    search == (FI_PEEK | FI_CLAIM | FI_DISCARD))
		return -FI_EINVAL;
	return 0;
}

/* Without @rx, the receive is for all endpoints that share @recvs. */
static ssize_t start(struct mxefi_recvs *recvs, struct mxefi_rx *rx,
		     uint64_t caps, uint64_t kind,
		     const struct fi_msg_tagged *m, uint64_t flags,
		     const struct mxefi_report *report)
{
	struct mxefi_peer *from = NULL;
	struct mxefi_recv *recv;
	ssize_t ret = check(recvs, caps, kind, m, flags);

	if (ret)
		return ret;
	if (caps & FI_DIRECTED_RECV && m->addr != FI_ADDR_UNSPEC) {
		from = mxefi_route_get(rx->ep, m->addr);
		if (!from)
			return -FI_EINVAL;
	}
	recv = mxefi_match_new(recvs, from, report ? report->cntr : NULL);
	if (!recv)
		return -FI_ENOMEM;
	recv->rx = rx;
	recv->context = m->context;
	recv->completion = report ? report->to_cq : flags & FI_COMPLETION;
	recv->by_rx = !report;
	recv->has_cntr = report && report->to_cntr;
	recv->multi = flags & FI_MULTI_RECV;
	if (kind == FI_TAGGED) {
		recv->tagged = true;
		recv->tag = m->tag;
		recv->ignore = m->ignore;
	}
	recv->iov_count = m->iov_count;
	for (size_t i = 0; i < m->iov_count; i++) {
		recv->iov[i] = m->msg_iov[i];
		recv->desc[i] = m->desc ? m->desc[i] : NULL;
	}
	if (flags & FI_PEEK) {
		ret = peek(recv, flags);
		mxefi_match_free(recv);
		return ret;
	}
	ret = flags & FI_CLAIM ? claim(recv, flags) : post(recv);
	/* No receive that is posted or has a message returns an error. */
	if (ret)
		mxefi_match_free(recv);
	return ret;
}

/**
 * mxefi_recv_start() - Post a receive or find a message.
 * @by: endpoint or context with the call
 * @kind: FI_MSG or FI_TAGGED
 * @m: buffers, tag and source
 * @flags: flags of the call
 * @report: how it reports its end, or NULL
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_recv_start(const struct mxefi_handle *by, uint64_t kind,
			 const struct fi_msg_tagged *m, uint64_t flags,
			 const struct mxefi_report *report)
{
	struct mxefi_rx *rx = by->rx;

	if (!by->ep->enabled)
		return -FI_EOPBADSTATE;
	/* All receives of a shared context are posted to it. */
	if (!rx || rx->srx)
		return -FI_EOPNOTSUPP;
	return start(rx->recvs, rx, by->ep->caps, kind, m, flags, report);
}

/* A shared context rejects the flags that need one endpoint. */
static ssize_t recv_shared(struct mxefi_srx *srx, uint64_t kind,
			   const struct fi_msg_tagged *m, uint64_t flags)
{
	struct mxefi_domain *dom = srx->dom;
	ssize_t ret;

	if (flags & (FI_TRIGGER | FI_PEEK | FI_CLAIM | FI_DISCARD))
		return -FI_EOPNOTSUPP;
	pthread_mutex_lock(&dom->lock);
	ret = dom->lost ? -FI_ENODEV :
	      start(&srx->recvs, NULL, srx->caps, kind, m, flags, NULL);
	mxefi_trigger_fire(dom);
	pthread_mutex_unlock(&dom->lock);
	return ret;
}

/**
 * mxefi_recv() - Post a receive or find a message. Takes the lock itself.
 * @fid: endpoint
 * @kind: FI_MSG or FI_TAGGED
 * @m: buffers, tag and source
 * @flags: flags of the call
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_recv(struct fid_ep *fid, uint64_t kind,
		   const struct fi_msg_tagged *m, uint64_t flags)
{
	const struct mxefi_handle *by = to_handle(fid);
	struct mxefi_ep *ep = by->ep;
	ssize_t ret;

	if (!ep)
		return recv_shared(to_srx(fid), kind, m, flags);
	pthread_mutex_lock(&ep->dom->lock);
	if (flags & FI_TRIGGER)
		ret = ep->on_trigger(by, kind == FI_TAGGED ? FI_OP_TRECV :
							     FI_OP_RECV,
				     &(struct mxefi_call){
					     .flags = flags, .msg = *m });
	else
		ret = mxefi_recv_start(by, kind, m, flags, NULL);
	return mxefi_call_end(ep, ret);
}

/**
 * mxefi_recv_cancel_all() - Cancel all posted receives.
 * @recvs: queues
 */
void mxefi_recv_cancel_all(struct mxefi_recvs *recvs)
{
	while (cancel(recvs, NULL, true))
		;
}

/**
 * mxefi_recv_cancel() - Cancel a posted receive.
 * @recvs: queues
 * @context: context of the receive
 *
 * Return: 0, or -FI_ENOENT if no receive has this context.
 */
ssize_t mxefi_recv_cancel(struct mxefi_recvs *recvs, const void *context)
{
	return cancel(recvs, context, false) ? 0 : -FI_ENOENT;
}

/**
 * mxefi_recv_setup() - Prepare an endpoint for messages.
 * @ep: endpoint
 */
void mxefi_recv_setup(struct mxefi_ep *ep)
{
	for (size_t i = 0; i < ep->num_rxs; i++) {
		struct mxefi_rx *rx = &ep->rxs[i];

		rx->ep = ep;
		rx->recvs = &rx->own_recvs;
		mxefi_match_setup(rx->recvs);
	}
	ep->readers_tail = &ep->readers;
	ep->on_broken = on_broken;
	ep->on_room = on_room;
	ep->on_removed = cancel_all;
	ep->on_message = on_message;
}
