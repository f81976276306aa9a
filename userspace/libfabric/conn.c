// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections: one RC queue pair for each peer of an endpoint, all with the
 * same SRQ. Called by op.c and the files above it.
 *
 * Peers connect by hellos over a UD queue pair. A hello carries the number of
 * the sender's RC queue pair and is sent every 100 ms until a hello with
 * MXEFI_HELLO_ACK shows that the peer's queue pair accepts requests. The
 * protocol is symmetric: either endpoint can start, both can start at once, and
 * an endpoint can connect to itself.
 *
 * A hello can be forged. Each side has a token for each connection, and its
 * hellos contain both. A hello with our token is of the peer, because no other
 * endpoint has received it. A hello without it can open a connection, but not
 * replace a connected queue pair. Connections that a hello has opened are
 * limited, and more so those that the peer has not confirmed.
 *
 * A queue pair in error fails its requests. It is destroyed when they are
 * complete, but not before DRAIN_MS, because completions of its receives may
 * still be queued. Then the connection is idle, and the next request connects
 * it anew. The peer learns of this by a hello from another queue pair.
 */
#include <endian.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "mxefi.h"

#define HELLO_MS 100
#define DRAIN_MS 50
#define LINGER_MS 1000
#define PROBE_MS 1000
/* Limit of unconfirmed connections, and how long each is kept at least. */
#define MAX_GUESTS 256
#define GUEST_MS 200
#define GUEST_HELLO_MS 1000
/* Unexpected messages of this size, in bytes, stop the peers. */
#define MAX_UNEXPECTED ((size_t)64 << 20)

static int status_to_err(const struct ibv_wc *wc)
{
	switch (wc->status) {
	case IBV_WC_SUCCESS:
		return 0;
	case IBV_WC_REM_ACCESS_ERR:
		return FI_EACCES;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_LOC_LEN_ERR:
		return FI_EINVAL;
	case IBV_WC_LOC_PROT_ERR:
		return FI_EFAULT;
	case IBV_WC_REM_OP_ERR:
		return FI_EREMOTEIO;
	default:
		return FI_ECONNABORTED;
	}
}

static void complete_wr(struct mxefi_wr *wr, int err)
{
	if (wr->complete(wr, err))
		mxefi_wr_put(wr);
}

/* ---- the state of a connection ----------------------------------------- */

static void fail_pending(struct mxefi_conn *conn, int err)
{
	struct mxefi_wr *wr = conn->pending;

	conn->pending = NULL;
	conn->pending_tail = &conn->pending;
	while (wr) {
		struct mxefi_wr *next = wr->next;

		complete_wr(wr, err);
		wr = next;
	}
}

/* Fails the operations that wait for a FIN of this peer. */
static void fail_waiting(struct mxefi_conn *conn, int err)
{
	for (int i = 0; i < MXEFI_TX_SIZE; i++) {
		struct mxefi_op *op = &conn->ep->ops[i];

		if (op->used && op->wants_fin && op->conn == conn) {
			op->wants_fin = false;
			conn->ep->on_lost(op, err);
		}
	}
}

static struct mxefi_conn **qpn_bucket(struct mxefi_ep *ep, uint32_t qpn)
{
	return &ep->by_qpn[qpn % MXEFI_QPN_HASH];
}

/* Destroys the queue pair of a broken connection. */
static void make_idle(struct mxefi_conn *conn)
{
	struct mxefi_conn **p = qpn_bucket(conn->ep, conn->qp->qp_num);

	while (*p != conn)
		p = &(*p)->next_qpn;
	*p = conn->next_qpn;
	ibv_destroy_qp(conn->qp);
	conn->qp = NULL;
	conn->ep->num_qps--;
	conn->connected = false;
	conn->peer_qpn = 0;
	conn->hold = NULL;
	conn->loops = 0;
	conn->state = MXEFI_CONN_IDLE;
	/* A forged epoch must not make those of the peer old. */
	if (!conn->is_proven)
		conn->peer_epoch = 0;
}

static bool is_guest(const struct mxefi_conn *conn)
{
	return !conn->is_used && !conn->is_confirmed;
}

static void set_used(struct mxefi_conn *conn)
{
	if (is_guest(conn))
		conn->ep->num_guests--;
	conn->is_used = true;
}

static void set_confirmed(struct mxefi_conn *conn)
{
	if (is_guest(conn))
		conn->ep->num_guests--;
	conn->is_confirmed = true;
}

/* Frees an idle connection that nothing refers to. */
static void free_conn(struct mxefi_conn *conn)
{
	struct mxefi_conn **p = &conn->ep->conns;

	while (*p != conn)
		p = &(*p)->next;
	*p = conn->next;
	if (is_guest(conn))
		conn->ep->num_guests--;
	if (conn->ah)
		ibv_destroy_ah(conn->ah);
	free(conn);
}

static void start_hello(struct mxefi_conn *conn);

bool mxefi_conn_is_current(const struct mxefi_conn *conn, uint32_t epoch)
{
	return conn->epoch == epoch && (conn->state == MXEFI_CONN_READY ||
					conn->state == MXEFI_CONN_HELLO);
}

void mxefi_conn_abort(struct mxefi_conn *conn, int err)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (conn->state == MXEFI_CONN_BROKEN || conn->state == MXEFI_CONN_IDLE)
		return;
	/* The program knows of its own shutdown. */
	if (conn->ep->on_cm && !conn->is_shut)
		conn->ep->on_cm(conn, conn->state == MXEFI_CONN_READY ?
				      FI_ESHUTDOWN : err);
	conn->state = MXEFI_CONN_BROKEN;
	conn->since_ms = mxefi_now_ms();
	mxefi_info(FI_LOG_EP_CTRL, "connection to QP %u failed: %s\n",
		   conn->peer.qpn, fi_strerror(err));
	ibv_modify_qp(conn->qp, &attr, IBV_QP_STATE);
	fail_pending(conn, err);
	fail_waiting(conn, err);
	conn->ep->on_broken(conn);
}

static void wr_done(struct mxefi_work *work, const struct ibv_wc *wc);

static void post(struct mxefi_wr *wr)
{
	struct mxefi_conn *conn = wr->conn;
	struct ibv_exp_send_wr *bad;

	wr->work.done = wr_done;
	conn->posted++;
	conn->ep->posted++;
	if (ibv_exp_post_send(conn->qp, &wr->wr, &bad)) {
		conn->posted--;
		conn->ep->posted--;
		complete_wr(wr, FI_EIO);
	}
}

/*
 * Posts pending requests until the send queue is full, the endpoint reaches its
 * limit, or a loop holds them back.
 */
static void flush(struct mxefi_conn *conn)
{
	while (conn->state == MXEFI_CONN_READY && conn->pending &&
	       conn->posted < MXEFI_SQ_SIZE) {
		struct mxefi_wr *wr = conn->pending;

		if (conn->loops && conn->hold != wr->op)
			break;
		if (conn->ep->posted == MXEFI_TX_SIZE) {
			conn->ep->starved = true;
			break;
		}
		conn->pending = wr->next;
		if (!conn->pending)
			conn->pending_tail = &conn->pending;
		if (wr->loop) {
			conn->hold = wr->op;
			conn->loops++;
		}
		post(wr);
	}
}

void mxefi_wr_submit(struct mxefi_wr *wr)
{
	struct mxefi_conn *conn = wr->conn;

	wr->next = NULL;
	*conn->pending_tail = wr;
	conn->pending_tail = &wr->next;
	if (conn->state == MXEFI_CONN_IDLE)
		start_hello(conn);
	else
		flush(conn);
}

void mxefi_wr_repeat(struct mxefi_wr *wr)
{
	/* The completed request has freed a send queue entry. */
	post(wr);
}

void mxefi_wr_loop_end(struct mxefi_wr *wr)
{
	struct mxefi_conn *conn = wr->conn;

	wr->loop = false;
	if (conn->loops && conn->hold == wr->op)
		conn->loops--;
}

static void wr_done(struct mxefi_work *work, const struct ibv_wc *wc)
{
	struct mxefi_wr *wr = container_of(work, struct mxefi_wr, work);
	struct mxefi_conn *conn = wr->conn;
	int err = status_to_err(wc);

	conn->posted--;
	conn->ep->posted--;
	if (err && !conn->ep->closing) {
		mxefi_info(FI_LOG_EP_DATA, "request failed: %s\n",
			   ibv_wc_status_str(wc->status));
		/* The other requests of the operation only report the abort. */
		if (wr->op && !wr->op->err)
			wr->op->err = err;
		if (wr->recv && !wr->recv->err)
			wr->recv->err = err;
		mxefi_conn_abort(conn, FI_ECONNABORTED);
	}
	complete_wr(wr, err);
	flush(conn);
	if (conn->ep->starved) {
		conn->ep->starved = false;
		for (conn = conn->ep->conns; conn; conn = conn->next)
			flush(conn);
	}
}

/* ---- connecting -------------------------------------------------------- */

/* Returns the largest size of masked atomics in bytes. */
static uint32_t largest(uint64_t sizes)
{
	uint32_t size = MXEFI_MAX_WORD;

	/* Bit n, whose value is 2^n, stands for 2^n bytes. */
	while (!(sizes & size))
		size /= 2;
	return size;
}

static int create_qp(struct mxefi_conn *conn)
{
	struct mxefi_conn **bucket;
	struct mxefi_ep *ep = conn->ep;
	struct mxefi_domain *dom = ep->dom;
	struct ibv_exp_qp_init_attr attr = {
		.send_cq = dom->cq,
		.recv_cq = dom->cq,
		.srq = ep->srq,
		.cap = {
			.max_send_wr = MXEFI_SQ_SIZE,
			.max_send_sge = MXEFI_IOV_LIMIT,
		},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD,
		.pd = dom->pd,
	};
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	if (dom->dev.sizes) {
		attr.comp_mask |= IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG;
		attr.max_atomic_arg = largest(dom->dev.sizes);
	} else {
		init.qp_access_flags &= ~IBV_ACCESS_REMOTE_ATOMIC;
	}
	conn->qp = ibv_exp_create_qp(dom->dev.ctx, &attr);
	if (!conn->qp) {
		int err = errno;

		mxefi_warn(FI_LOG_EP_CTRL, "cannot create a queue pair: %s\n",
			   strerror(err));
		return -err;
	}
	if (ibv_modify_qp(conn->qp, &init,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS)) {
		ibv_destroy_qp(conn->qp);
		conn->qp = NULL;
		return -FI_EIO;
	}
	if (getrandom(&conn->psn, sizeof(conn->psn), 0) < 0)
		conn->psn = 1;
	conn->psn &= 0xffffff;
	conn->epoch = ++ep->epoch;
	ep->num_qps++;
	bucket = qpn_bucket(ep, conn->qp->qp_num);
	conn->next_qpn = *bucket;
	*bucket = conn;
	return 0;
}

static int connect_qp(struct mxefi_conn *conn, const struct mxefi_hello *hello)
{
	struct mxefi_device *dev = &conn->ep->dom->dev;
	unsigned int reads = dev->attr.max_qp_rd_atom;
	unsigned int init_reads = dev->attr.max_qp_init_rd_atom;
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = hello->mtu < dev->port.active_mtu ?
			    hello->mtu : dev->port.active_mtu,
		.dest_qp_num = hello->qpn,
		.rq_psn = hello->psn & 0xffffff,
		.max_dest_rd_atomic = (uint8_t)(reads < 16 ? reads : 16),
		.min_rnr_timer = 1,
		.ah_attr = mxefi_ud_ah_attr(conn->ep->dom, &conn->peer),
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = conn->psn,
		.max_rd_atomic = (uint8_t)(init_reads < 16 ? init_reads : 16),
	};

	if (ibv_modify_qp(conn->qp, &rtr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) ||
	    ibv_modify_qp(conn->qp, &rts,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			  IBV_QP_MAX_QP_RD_ATOMIC))
		return -FI_EIO;
	conn->connected = true;
	conn->peer_qpn = hello->qpn;
	conn->peer_epoch = hello->epoch;
	conn->is_proven = hello->peer_token == conn->token;
	return 0;
}

/* The peer that waits for an answer retransmits its hello. */
static void send_hello(struct mxefi_conn *conn, uint32_t flags)
{
	struct mxefi_hello hello = {
		.flags = flags | conn->cm_flags,
		.qpn = conn->qp->qp_num,
		.peer_qpn = conn->peer_qpn,
		.psn = conn->psn,
		.epoch = conn->epoch,
		.data_len = conn->data_len,
		.token = conn->token,
		.peer_token = conn->peer_token,
	};

	conn->hello_ms = mxefi_now_ms();
	mxefi_ud_send(&conn->ep->ud, &conn->peer, &conn->ah, &hello,
		      conn->data);
}

/* Creates the queue pair of an idle connection. */
static int open_conn(struct mxefi_conn *conn)
{
	int ret = create_qp(conn);

	if (ret)
		return ret;
	conn->state = MXEFI_CONN_HELLO;
	conn->since_ms = mxefi_now_ms();
	return 0;
}

static void start_hello(struct mxefi_conn *conn)
{
	int ret = open_conn(conn);

	if (ret)
		fail_pending(conn, -ret);
	else
		send_hello(conn, 0);
}

static struct mxefi_conn *find_conn(struct mxefi_ep *ep,
				    const struct mxefi_addr *addr)
{
	struct mxefi_conn *conn;

	for (conn = ep->conns; conn; conn = conn->next)
		if (!memcmp(&conn->peer, addr, sizeof(*addr)))
			return conn;
	return NULL;
}

/* Adds a guest. */
static struct mxefi_conn *add_conn(struct mxefi_ep *ep,
				   const struct mxefi_addr *addr)
{
	struct mxefi_conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	if (getrandom(&conn->token, sizeof(conn->token), 0) < 0) {
		free(conn);
		return NULL;
	}
	/* 0 is an unknown token. */
	conn->token |= 1;
	conn->ep = ep;
	conn->peer = *addr;
	conn->pending_tail = &conn->pending;
	conn->next = ep->conns;
	ep->conns = conn;
	ep->num_guests++;
	return conn;
}

/* Gives up the oldest guest that has had its time. */
static void give_up_guest(struct mxefi_ep *ep)
{
	struct mxefi_conn *conn, *oldest = NULL;

	for (conn = ep->conns; conn; conn = conn->next)
		if (is_guest(conn) && conn->state == MXEFI_CONN_HELLO)
			oldest = conn;
	if (oldest && mxefi_now_ms() - oldest->since_ms >= GUEST_MS)
		mxefi_conn_abort(oldest, FI_EHOSTUNREACH);
}

static bool is_full(const struct mxefi_ep *ep)
{
	return !ep->is_msg && ep->num_qps >= ep->dom->max_conns;
}

/*
 * Adds a peer that the program has not named. Returns NULL if the peer has to
 * retransmit its hello.
 */
static struct mxefi_conn *add_guest(struct mxefi_ep *ep,
				    const struct mxefi_hello *hello)
{
	/* This acknowledges a QP that has been given up. */
	if (hello->flags & MXEFI_HELLO_ACK)
		return NULL;
	if (ep->num_guests >= MAX_GUESTS || is_full(ep)) {
		give_up_guest(ep);
		return NULL;
	}
	return add_conn(ep, &hello->src);
}

struct mxefi_conn *mxefi_conn_get(struct mxefi_ep *ep, fi_addr_t fi_addr)
{
	const struct mxefi_addr *addr;
	struct mxefi_conn *conn = ep->conns, **table;

	if (ep->is_msg)
		return conn && conn->state == MXEFI_CONN_READY &&
		       !conn->is_shut ? conn : NULL;
	addr = ep->av ? mxefi_av_get(ep->av, fi_addr) : NULL;
	if (!addr)
		return NULL;
	if (fi_addr < ep->by_addr_size && ep->by_addr[fi_addr] &&
	    ep->by_addr[fi_addr]->peer.id == addr->id)
		return ep->by_addr[fi_addr];
	conn = find_conn(ep, addr) ? : add_conn(ep, addr);
	if (!conn)
		return NULL;
	set_used(conn);
	if (fi_addr >= ep->by_addr_size) {
		size_t size = ep->av->size;

		table = realloc(ep->by_addr, size * sizeof(*table));
		if (!table)
			return conn;
		memset(table + ep->by_addr_size, 0,
		       (size - ep->by_addr_size) * sizeof(*table));
		ep->by_addr = table;
		ep->by_addr_size = size;
	}
	ep->by_addr[fi_addr] = conn;
	return conn;
}

int mxefi_conn_error(const struct mxefi_ep *ep)
{
	return ep->is_msg ? -FI_ENOTCONN : -FI_EINVAL;
}

static void set_ready(struct mxefi_conn *conn)
{
	if (conn->state != MXEFI_CONN_HELLO || !conn->connected)
		return;
	conn->state = MXEFI_CONN_READY;
	conn->is_proven = true;
	if (conn->ep->on_cm)
		conn->ep->on_cm(conn, 0);
	flush(conn);
}

/*
 * An endpoint of type FI_EP_MSG asks a passive endpoint, and another endpoint
 * accepts. Returns the connection that the hello is for, or NULL.
 */
static struct mxefi_conn *msg_conn(struct mxefi_ep *ep,
				   const struct mxefi_hello *hello,
				   const uint8_t *data)
{
	bool reject = hello->flags & MXEFI_HELLO_REJECT;
	struct mxefi_conn *conn = ep->conns;
	bool is_peer;

	if (!conn)
		return NULL;
	is_peer = !memcmp(&conn->peer, &hello->src, sizeof(conn->peer));
	if (conn->state != MXEFI_CONN_HELLO || conn->connected)
		return is_peer && !reject ? conn : NULL;
	if (hello->peer_qpn != conn->qp->qp_num ||
	    hello->peer_token != conn->token ||
	    !(reject ? is_peer : hello->flags & MXEFI_HELLO_ACCEPT))
		return NULL;
	memcpy(conn->peer_data, data, hello->data_len);
	conn->peer_data_len = hello->data_len;
	if (reject) {
		mxefi_conn_abort(conn, FI_ECONNREFUSED);
		return NULL;
	}
	conn->peer = hello->src;
	if (conn->ah)
		ibv_destroy_ah(conn->ah);
	conn->ah = NULL;
	conn->cm_flags = 0;
	conn->data_len = 0;
	return conn;
}

/* Returns true if a hello may change the connection. */
static bool check_hello(struct mxefi_conn *conn,
			const struct mxefi_hello *hello)
{
	bool is_proven = hello->peer_token == conn->token;
	bool is_same = conn->connected && hello->epoch == conn->peer_epoch &&
		       hello->qpn == conn->peer_qpn;

	if (is_proven || !conn->is_proven)
		conn->peer_token = hello->token;
	if (is_same)
		return is_proven || !(hello->flags & MXEFI_HELLO_ACK);
	if (is_proven && !conn->is_proven) {
		if (!conn->connected || conn->state != MXEFI_CONN_HELLO)
			return true;
		/* The queue pair may be connected to that of a forged hello. */
		make_idle(conn);
		start_hello(conn);
		return false;
	}
	if (!is_proven && hello->flags & MXEFI_HELLO_ACK)
		return false;
	if (!is_proven && conn->connected) {
		/* If the peer has sent it, it learns the token and repeats. */
		send_hello(conn, 0);
		return false;
	}
	/* A late hello, of a queue pair that the peer or we have given up. */
	return hello->epoch > conn->peer_epoch;
}

static void take_hello(struct mxefi_conn *conn, const struct mxefi_hello *hello)
{
	bool ack = hello->flags & MXEFI_HELLO_ACK;
	bool is_old, answer;

	if (conn->state == MXEFI_CONN_BROKEN || !check_hello(conn, hello))
		return;
	/* The hello is for a queue pair of ours that has been destroyed. */
	is_old = (ack || hello->peer_qpn) &&
		 !(conn->qp && conn->qp->qp_num == hello->peer_qpn);
	if (conn->state == MXEFI_CONN_IDLE) {
		/* This acknowledges a QP that has been destroyed. */
		if (ack)
			return;
		/* A hello from another QP makes the peer replace its own. */
		if (is_old)
			start_hello(conn);
		else if (open_conn(conn))
			return;
	}
	if (is_old)
		return;
	/* The peer has replaced the QP that ours is connected to. */
	if (conn->connected && hello->epoch != conn->peer_epoch) {
		mxefi_conn_abort(conn, FI_ECONNABORTED);
		return;
	}
	answer = !ack || !conn->connected;
	if (!conn->connected && connect_qp(conn, hello)) {
		mxefi_conn_abort(conn, FI_EHOSTUNREACH);
		return;
	}
	if (answer)
		send_hello(conn, MXEFI_HELLO_ACK);
	if (ack) {
		set_confirmed(conn);
		set_ready(conn);
	}
}

static void handle_hello(struct mxefi_ud *ud, const struct mxefi_hello *hello,
			 const uint8_t *data)
{
	struct mxefi_ep *ep = container_of(ud, struct mxefi_ep, ud);
	struct mxefi_conn *conn;

	if (ep->is_msg)
		conn = msg_conn(ep, hello, data);
	else
		conn = find_conn(ep, &hello->src) ? : add_guest(ep, hello);
	if (!conn)
		return;
	take_hello(conn, hello);
	/* There is no room for its queue pair. */
	if (conn->state == MXEFI_CONN_IDLE && is_guest(conn))
		free_conn(conn);
}

int mxefi_conn_start(struct mxefi_ep *ep, const struct mxefi_addr *peer,
		     const struct mxefi_hello *request, const void *data,
		     size_t len)
{
	struct mxefi_conn *conn = add_conn(ep, peer);
	int ret;

	if (!conn)
		return -FI_ENOMEM;
	set_used(conn);
	if (request)
		conn->peer_token = request->token;
	conn->cm_flags = request ? MXEFI_HELLO_ACCEPT : MXEFI_HELLO_CONNECT;
	conn->data_len = (uint32_t)len;
	if (len)
		memcpy(conn->data, data, len);
	ret = open_conn(conn);
	if (!ret && request)
		ret = connect_qp(conn, request);
	if (ret) {
		/* The endpoint can only be closed. */
		conn->is_shut = true;
		mxefi_conn_abort(conn, -ret);
		return ret;
	}
	send_hello(conn, request ? MXEFI_HELLO_ACK : 0);
	return 0;
}

static bool bye_complete(struct mxefi_wr *wr, int err)
{
	mxefi_conn_abort(wr->conn, FI_ESHUTDOWN);
	return true;
}

void mxefi_conn_shutdown(struct mxefi_conn *conn)
{
	struct mxefi_msg bye = { .type = MXEFI_MSG_BYE };
	struct mxefi_wr *wr = NULL;

	conn->is_shut = true;
	if (conn->state == MXEFI_CONN_READY)
		wr = mxefi_wr_get_send(conn, &bye, 0);
	if (!wr) {
		mxefi_conn_abort(conn, FI_ESHUTDOWN);
		return;
	}
	wr->complete = bye_complete;
	mxefi_wr_submit(wr);
}

static bool waits_for_fin(const struct mxefi_conn *conn)
{
	for (int i = 0; i < MXEFI_TX_SIZE; i++) {
		const struct mxefi_op *op = &conn->ep->ops[i];

		if (op->used && op->wants_fin && op->conn == conn)
			return true;
	}
	return false;
}

static bool probe_complete(struct mxefi_wr *wr, int err)
{
	return true;
}

/*
 * Writes nothing. If the peer does not acknowledge it, the connection fails,
 * and so do the operations that wait for the peer. An endpoint of type
 * FI_EP_RDM probes idle connections only if peers that are gone must make room.
 */
static void probe(struct mxefi_conn *conn, uint64_t now)
{
	struct mxefi_wr *wr;

	if (conn->posted || conn->pending || now - conn->probe_ms < PROBE_MS)
		return;
	conn->probe_ms = now;
	if (!conn->ep->is_msg && !is_full(conn->ep) && !waits_for_fin(conn))
		return;
	wr = mxefi_wr_get(conn);
	if (!wr)
		return;
	wr->wr.exp_opcode = IBV_EXP_WR_RDMA_WRITE;
	wr->wr.wr.rdma.remote_addr = 0;
	wr->wr.wr.rdma.rkey = 0;
	wr->complete = probe_complete;
	mxefi_wr_submit(wr);
}

/* Forged hellos must not make us send many to the address that they say. */
static uint64_t hello_interval(const struct mxefi_conn *conn)
{
	return is_guest(conn) ? GUEST_HELLO_MS : HELLO_MS;
}

static void conn_tick(struct mxefi_ticker *ticker, uint64_t now)
{
	struct mxefi_ep *ep = container_of(ticker, struct mxefi_ep, ticker);
	struct mxefi_conn *conn, *next;

	for (conn = ep->conns; conn; conn = next) {
		next = conn->next;
		if (conn->state == MXEFI_CONN_READY) {
			probe(conn, now);
			continue;
		}
		/* Endpoints of type FI_EP_MSG do not connect again. */
		if (ep->is_msg && conn->state == MXEFI_CONN_BROKEN)
			continue;
		if (conn->state == MXEFI_CONN_BROKEN && !conn->posted &&
		    now - conn->since_ms >= DRAIN_MS) {
			make_idle(conn);
			if (conn->pending)
				start_hello(conn);
			else if (!conn->is_used && !conn->kept)
				free_conn(conn);
			continue;
		}
		/* Without pending requests, too: the last ACK may be lost. */
		if (conn->state != MXEFI_CONN_HELLO ||
		    now - conn->hello_ms < hello_interval(conn))
			continue;
		if (now - conn->since_ms > ep->dom->connect_timeout_ms)
			mxefi_conn_abort(conn, FI_EHOSTUNREACH);
		else
			send_hello(conn, 0);
	}
}

/* ---- receiving --------------------------------------------------------- */

static void post_rx(struct mxefi_rxbuf *rx)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)rx->buf,
		.length = MXEFI_RX_BUF,
		.lkey = rx->ep->slab_mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = (uintptr_t)&rx->work, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	if (ibv_post_srq_recv(rx->ep->srq, &wr, &bad))
		mxefi_warn(FI_LOG_EP_DATA, "cannot post a receive buffer\n");
}

void mxefi_conn_resume(struct mxefi_ep *ep)
{
	while (ep->held && ep->unexpected_bytes < MAX_UNEXPECTED) {
		struct mxefi_rxbuf *rx = ep->held;

		ep->held = rx->next;
		post_rx(rx);
	}
}

static void rx_done(struct mxefi_work *work, const struct ibv_wc *wc)
{
	struct mxefi_rxbuf *rx = container_of(work, struct mxefi_rxbuf, work);
	struct mxefi_ep *ep = rx->ep;
	struct mxefi_conn *conn;
	size_t unexpected = ep->unexpected_bytes;
	struct mxefi_msg msg;

	if (ep->closing)
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		post_rx(rx);
		return;
	}
	conn = *qpn_bucket(ep, wc->qp_num);
	while (conn && conn->qp->qp_num != wc->qp_num)
		conn = conn->next_qpn;
	if (conn) {
		/* A request of the peer shows that it is connected. */
		set_confirmed(conn);
		set_ready(conn);
		if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
			ep->on_write_data(conn, be32toh(wc->imm_data),
					  wc->byte_len);
		} else if (wc->byte_len >= sizeof(msg)) {
			memcpy(&msg, rx->buf, sizeof(msg));
			ep->on_message(conn, &msg, rx->buf + sizeof(msg),
				       wc->byte_len - sizeof(msg));
		}
	}
	/* Without receive buffers, the peers wait for the program. */
	if (ep->unexpected_bytes > unexpected &&
	    ep->unexpected_bytes >= MAX_UNEXPECTED) {
		rx->next = ep->held;
		ep->held = rx;
	} else {
		post_rx(rx);
	}
}

/* ---- setup ------------------------------------------------------------- */

static int create_srq(struct mxefi_ep *ep)
{
	struct ibv_srq_init_attr srq = {
		.attr = { .max_wr = MXEFI_RX_SIZE, .max_sge = 1 },
	};
	size_t size = (MXEFI_RX_SIZE * MXEFI_RX_BUF + 4095) & ~(size_t)4095;

	ep->slab = aligned_alloc(4096, size);
	ep->rx = calloc(MXEFI_RX_SIZE, sizeof(*ep->rx));
	if (!ep->slab || !ep->rx)
		return -FI_ENOMEM;
	ep->slab_mr = ibv_reg_mr(ep->dom->pd, ep->slab, size,
				 IBV_ACCESS_LOCAL_WRITE);
	if (ep->slab_mr)
		ep->srq = ibv_create_srq(ep->dom->pd, &srq);
	if (!ep->srq)
		return -errno;
	for (size_t i = 0; i < MXEFI_RX_SIZE; i++) {
		ep->rx[i].work.done = rx_done;
		ep->rx[i].ep = ep;
		ep->rx[i].buf = ep->slab + i * MXEFI_RX_BUF;
		post_rx(&ep->rx[i]);
	}
	return 0;
}

int mxefi_conn_setup(struct mxefi_ep *ep)
{
	struct mxefi_domain *dom = ep->dom;
	int need = MXEFI_RX_SIZE + MXEFI_TX_SIZE;
	int ret;

	if (dom->cqe_left < need) {
		mxefi_warn(FI_LOG_EP_CTRL, "too many endpoints in the domain\n");
		return -FI_ENOSPC;
	}
	ep->reserved_cqe = need;
	dom->cqe_left -= need;
	ep->ud.on_hello = handle_hello;
	ret = create_srq(ep);
	if (!ret)
		ret = mxefi_ud_open(&ep->ud, dom);
	if (ret) {
		mxefi_warn(FI_LOG_EP_CTRL, "cannot set up an endpoint: %s\n",
			   fi_strerror(-ret));
		return ret;
	}
	ep->ticker.tick = conn_tick;
	ep->ticker.next = dom->tickers;
	dom->tickers = &ep->ticker;
	return 0;
}

static void unlink_ticker(struct mxefi_ep *ep)
{
	struct mxefi_ticker **t;

	for (t = &ep->dom->tickers; *t; t = &(*t)->next) {
		if (*t == &ep->ticker) {
			*t = ep->ticker.next;
			return;
		}
	}
}

static bool is_sending(const struct mxefi_ep *ep)
{
	const struct mxefi_conn *conn;

	for (conn = ep->conns; conn; conn = conn->next)
		if (conn->state == MXEFI_CONN_READY &&
		    (conn->posted || conn->pending))
			return true;
	return false;
}

/*
 * Lets the requests end that are in flight, such as FINs, whose loss would make
 * the peer report an error for a message that was received. Releases the lock
 * of the domain at times.
 */
static void linger(struct mxefi_ep *ep)
{
	uint64_t end = mxefi_now_ms() + LINGER_MS;

	for (;;) {
		mxefi_progress(ep->dom);
		if (!is_sending(ep) || mxefi_now_ms() >= end)
			return;
		pthread_mutex_unlock(&ep->dom->lock);
		poll(NULL, 0, 1);
		pthread_mutex_lock(&ep->dom->lock);
	}
}

/*
 * Also cleans up after a failed setup. All requests in flight complete with
 * errors before the endpoint is freed.
 */
void mxefi_conn_teardown(struct mxefi_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct mxefi_conn *conn;

	for (conn = ep->conns; conn; conn = conn->next)
		if (conn->state == MXEFI_CONN_READY && !conn->is_shut)
			mxefi_conn_shutdown(conn);
	linger(ep);
	ep->closing = true;
	unlink_ticker(ep);
	for (conn = ep->conns; conn; conn = conn->next) {
		bool flushes = conn->qp && !ibv_modify_qp(conn->qp, &attr,
							  IBV_QP_STATE);

		conn->state = MXEFI_CONN_BROKEN;
		fail_pending(conn, FI_ECANCELED);
		while (flushes && conn->posted)
			mxefi_progress(ep->dom);
	}
	mxefi_ud_close(&ep->ud);
	for (conn = ep->conns; conn; conn = conn->next) {
		if (conn->qp)
			ibv_destroy_qp(conn->qp);
		if (conn->ah)
			ibv_destroy_ah(conn->ah);
	}
	/* Completions of receives, which are dropped. */
	mxefi_progress(ep->dom);
	if (ep->srq)
		ibv_destroy_srq(ep->srq);
	while (ep->conns) {
		conn = ep->conns;
		ep->conns = conn->next;
		free(conn);
	}
	mxefi_wr_free_all(ep);
	if (ep->slab_mr)
		ibv_dereg_mr(ep->slab_mr);
	free(ep->slab);
	free(ep->rx);
	free(ep->by_addr);
	ep->dom->cqe_left += ep->reserved_cqe;
}
