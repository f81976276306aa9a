// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections of an endpoint, over RC (conn_rc.c) or over DC (conn_dc.c).
 * hello.c connects them.
 *
 * A broken connection fails its requests. It is closed when they are complete,
 * but not before hello.c has waited for completions of receives, which may
 * still be queued. Then it is idle, and the next request opens it anew.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ah.h"
#include "conn.h"
#include "domain.h"
#include "ep.h"
#include "op.h"
#include "peer.h"
#include "progress.h"
#include "provider.h"
#include "sizes.h"
#include "wire.h"
#include "wr.h"

/* ---- the state of a connection ----------------------------------------- */

/**
 * mxefi_conn_open() - Open an idle connection.
 * @conn: connection
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_conn_open(struct mxefi_conn *conn)
{
	struct mxefi_ep *ep = conn->peer.ep;
	int ret;

	conn->epoch = ++ep->epoch;
	ret = conn->transport->open(conn);
	if (ret)
		return ret;
	ep->num_conns++;
	conn->state = MXEFI_CONN_HELLO;
	conn->since_ms = mxefi_now_ms();
	conn->waiting.magic = 0;
	conn->has_left = false;
	conn->stops_peer = false;
	conn->peer.is_broken = false;
	return 0;
}

/**
 * mxefi_conn_connect() - Connect to the peer of a hello.
 * @conn: open connection
 * @hello: hello of the peer
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_conn_connect(struct mxefi_conn *conn, const struct mxefi_hello *hello)
{
	int ret = 0;

	if (conn->transport->connect)
		ret = conn->transport->connect(conn, hello);
	if (ret)
		return ret;
	conn->connected = true;
	conn->peer_qpn = hello->qpn;
	conn->peer_epoch = hello->epoch;
	conn->is_proven = hello->peer_token == conn->token;
	return 0;
}

/**
 * mxefi_conn_make_idle() - Close a connection, which can be opened again.
 * @conn: open or broken connection without requests in flight
 */
void mxefi_conn_make_idle(struct mxefi_conn *conn)
{
	if (conn->transport->close)
		conn->transport->close(conn);
	conn->peer.ep->num_conns--;
	conn->number = 0;
	conn->connected = false;
	conn->peer_qpn = 0;
	conn->peer.hold = NULL;
	conn->peer.loops = 0;
	conn->peer.is_stopped = false;
	conn->state = MXEFI_CONN_IDLE;
	/* A forged epoch must not make those of the peer old. */
	if (!conn->is_proven)
		conn->peer_epoch = 0;
}

/* Fails the operations that wait for a FIN of this peer. */
static void fail_waiting(struct mxefi_conn *conn, int err)
{
	for (int i = 0; i < MXEFI_TX_SIZE; i++) {
		struct mxefi_op *op = &conn->peer.ep->ops[i];

		if (op->used && op->wants_fin && op->peer == &conn->peer) {
			op->wants_fin = false;
			conn->peer.ep->on_lost(op, err);
		}
	}
}

/**
 * mxefi_conn_is_current() - Check whether a connection has not failed since.
 * @conn: connection
 * @epoch: its epoch at an earlier time
 *
 * Return: true if it is open, and was not closed since.
 */
bool mxefi_conn_is_current(const struct mxefi_conn *conn, uint32_t epoch)
{
	return conn->epoch == epoch && (conn->state == MXEFI_CONN_READY ||
					conn->state == MXEFI_CONN_HELLO);
}

/**
 * mxefi_conn_abort() - Break a connection.
 * @conn: connection
 * @err: errno of libfabric
 */
void mxefi_conn_abort(struct mxefi_conn *conn, int err)
{
	if (conn->state == MXEFI_CONN_BROKEN || conn->state == MXEFI_CONN_IDLE)
		return;
	/* Programs wait for the event after their own shutdown, too. */
	if (conn->peer.ep->on_cm)
		conn->peer.ep->on_cm(conn, conn->state == MXEFI_CONN_READY ?
				      FI_ESHUTDOWN : err);
	conn->state = MXEFI_CONN_BROKEN;
	conn->since_ms = mxefi_now_ms();
	conn->has_left = err == FI_ESHUTDOWN;
	conn->peer.is_broken = true;
	mxefi_info(FI_LOG_EP_CTRL, "connection to QP %u failed: %s\n",
		   conn->peer.addr.qpn, fi_strerror(err));
	conn->transport->abort(conn);
	mxefi_peer_fail_pending(&conn->peer, err);
	fail_waiting(conn, err);
	conn->peer.ep->on_broken(conn);
}

/* ---- the connections of an endpoint ------------------------------------ */

/**
 * mxefi_conn_is_guest() - Check whether a hello alone has made a connection.
 * @conn: connection
 *
 * Return: true if the program has not used it and the peer has not confirmed.
 */
bool mxefi_conn_is_guest(const struct mxefi_conn *conn)
{
	return !conn->is_used && !conn->is_confirmed;
}

/**
 * mxefi_conn_use() - Note that the program refers to a connection.
 * @conn: connection
 */
void mxefi_conn_use(struct mxefi_conn *conn)
{
	if (mxefi_conn_is_guest(conn))
		conn->peer.ep->num_guests--;
	conn->is_used = true;
}

/**
 * mxefi_conn_unuse() - Note that the program does not refer to it any more.
 * @conn: connection that is used
 */
void mxefi_conn_unuse(struct mxefi_conn *conn)
{
	conn->is_used = false;
	if (mxefi_conn_is_guest(conn))
		conn->peer.ep->num_guests++;
}

static struct mxefi_conn **token_bucket(struct mxefi_ep *ep, uint64_t token)
{
	/* The lowest bit is always set. */
	return &ep->by_token[token / 2 % MXEFI_CONN_HASH];
}

/**
 * mxefi_conn_by_token() - Find the connection that a message over DC names.
 * @ep: endpoint
 * @token: token of the message, which only the peer knows
 *
 * Return: the connection, or NULL.
 */
struct mxefi_conn *mxefi_conn_by_token(struct mxefi_ep *ep, uint64_t token)
{
	struct mxefi_conn *conn = *token_bucket(ep, token);

	while (conn && conn->token != token)
		conn = conn->next_token;
	return conn;
}

static void release(struct mxefi_conn *conn)
{
	if (conn->transport->release)
		conn->transport->release(conn);
}

/**
 * mxefi_conn_set_transport() - Choose the transport.
 * @conn: idle connection
 * @transport: transport
 */
void mxefi_conn_set_transport(struct mxefi_conn *conn,
			      const struct mxefi_transport *transport)
{
	if (conn->transport == transport)
		return;
	release(conn);
	conn->transport = transport;
	conn->peer.channel = &transport->channel;
}

/**
 * mxefi_conn_free() - Free an idle connection that nothing refers to.
 * @conn: connection of an endpoint of type FI_EP_RDM
 */
void mxefi_conn_free(struct mxefi_conn *conn)
{
	struct mxefi_conn **p = &conn->peer.ep->conns;
	struct mxefi_conn **t = token_bucket(conn->peer.ep, conn->token);

	while (*p != conn)
		p = &(*p)->next;
	*p = conn->next;
	conn->peer.ep->num_listed--;
	while (*t != conn)
		t = &(*t)->next_token;
	*t = conn->next_token;
	release(conn);
	mxefi_peer_remove(&conn->peer);
	if (mxefi_conn_is_guest(conn))
		conn->peer.ep->num_guests--;
	mxefi_ah_free(conn->ah);
	free(conn);
}

/* ---- requests ---------------------------------------------------------- */

/**
 * mxefi_conn_queued() - Implement queued() of the channels of connections.
 * @peer: peer
 */
void mxefi_conn_queued(struct mxefi_peer *peer)
{
	struct mxefi_conn *conn = to_conn(peer);

	if (conn->state == MXEFI_CONN_IDLE)
		peer->ep->connect(conn);
	else
		mxefi_peer_flush(peer);
}

/**
 * mxefi_conn_wr_complete() - Complete a request that no operation has.
 * @wr: request of a connection
 * @err: errno of libfabric, or 0
 *
 * If the request has failed, the connection is broken: the peer, or operations
 * here, would wait for it forever.
 *
 * Return: true: the request is not posted again.
 */
bool mxefi_conn_wr_complete(struct mxefi_wr *wr, int err)
{
	if (err && !wr->peer->ep->closing)
		mxefi_conn_abort(to_conn(wr->peer), err);
	return true;
}

/* ---- messages that no operation has ------------------------------------- */

/*
 * A peer waits for one answer to each of its operations. As many again may be
 * of an older epoch, or stop the peer and let it go.
 */
#define MAX_WAITING (2 * MXEFI_TX_SIZE)

/* A message that waits until a request is free. */
struct mxefi_answer {
	struct mxefi_answer *next;
	struct mxefi_conn *conn;
	uint32_t epoch;
	struct mxefi_msg msg;
	size_t len;		/* of data */
	uint8_t data[];
};

/* Returns false if no request is free. */
static bool send_answer(struct mxefi_conn *conn, uint32_t epoch,
			const struct mxefi_msg *msg, const void *data,
			size_t len)
{
	struct mxefi_wr *wr;

	/* The peer has reported an error. */
	if (!mxefi_conn_is_current(conn, epoch))
		return true;
	wr = mxefi_wr_alloc_answer(&conn->peer);
	if (!wr)
		return false;
	mxefi_wr_set_send(wr, msg, len);
	if (len)
		memcpy(wr->buf + sizeof(*msg), data, len);
	wr->complete = mxefi_conn_wr_complete;
	mxefi_wr_answer(wr);
	return true;
}

/**
 * mxefi_conn_send() - Send a message that no operation has.
 * @conn: connection
 * @epoch: its epoch when the peer began to wait for the message
 * @msg: message
 * @data: data after the message
 * @len: their length in bytes, up to MXEFI_BUF_SIZE
 *
 * The message waits if no request is free, and is dropped if the connection has
 * failed since. If it cannot be kept, or more of them wait than a peer can wait
 * for, the connection is broken.
 */
void mxefi_conn_send(struct mxefi_conn *conn, uint32_t epoch,
		     const struct mxefi_msg *msg, const void *data, size_t len)
{
	struct mxefi_ep *ep = conn->peer.ep;
	struct mxefi_answer *answer;

	/* The order is kept. */
	if (!ep->answers && send_answer(conn, epoch, msg, data, len))
		return;
	if (conn->waiting_answers == MAX_WAITING) {
		mxefi_warn(FI_LOG_EP_DATA, "a peer takes no answers\n");
		mxefi_conn_abort(conn, FI_EREMOTEIO);
		return;
	}
	answer = malloc(sizeof(*answer) + len);
	if (!answer) {
		/* The peer must not wait forever. */
		mxefi_warn(FI_LOG_EP_DATA, "out of memory: no answer is sent\n");
		mxefi_conn_abort(conn, FI_ENOMEM);
		return;
	}
	conn->kept++;
	conn->waiting_answers++;
	*answer = (struct mxefi_answer){ NULL, conn, epoch, *msg, len };
	if (len)
		memcpy(answer->data, data, len);
	*ep->answers_tail = answer;
	ep->answers_tail = &answer->next;
}

/**
 * mxefi_conn_retry() - Continue what waits until a request is free.
 * @ep: endpoint
 *
 * Answers and receives that wait for a failed connection end.
 */
void mxefi_conn_retry(struct mxefi_ep *ep)
{
	while (ep->answers) {
		struct mxefi_answer *answer = ep->answers;

		if (!send_answer(answer->conn, answer->epoch, &answer->msg,
				 answer->data, answer->len))
			break;
		answer->conn->kept--;
		answer->conn->waiting_answers--;
		ep->answers = answer->next;
		if (!ep->answers)
			ep->answers_tail = &ep->answers;
		free(answer);
	}
	ep->on_room(ep);
}

/* ---- making and confirming connections --------------------------------- */

/**
 * mxefi_conn_find() - Find the connection to a peer.
 * @ep: endpoint of type FI_EP_RDM
 * @addr: address of the peer
 *
 * Return: the connection, or NULL.
 */
struct mxefi_conn *mxefi_conn_find(struct mxefi_ep *ep,
				    const struct mxefi_addr *addr)
{
	struct mxefi_peer *peer = mxefi_peer_find(ep, true, addr);

	return peer ? to_conn(peer) : NULL;
}

static void resolved(void *arg)
{
	struct mxefi_conn *conn = arg;

	conn->peer.ep->on_resolved(conn);
}

/**
 * mxefi_conn_set_addr() - Set the address of the peer.
 * @conn: connection of an endpoint of type FI_EP_MSG
 * @addr: address
 *
 * Return: 0 or -FI_ENOMEM.
 */
int mxefi_conn_set_addr(struct mxefi_conn *conn, const struct mxefi_addr *addr)
{
	bool is_same = conn->ah &&
		       !memcmp(conn->peer.addr.gid, addr->gid, 16);
	struct mxefi_ah *ah;

	if (!is_same) {
		ah = mxefi_ah_new(conn->peer.ep->dom, addr->gid, resolved,
				  conn);
		if (!ah)
			return -FI_ENOMEM;
		mxefi_ah_free(conn->ah);
		conn->ah = ah;
	}
	conn->peer.addr = *addr;
	conn->peer.wants_events = addr->dct & MXEFI_DCT_EVENTS;
	return 0;
}

/**
 * mxefi_conn_add() - Add an idle connection.
 * @ep: endpoint
 * @addr: address of the peer
 * @transport: its transport
 *
 * Adds a guest.
 *
 * Return: the connection, or NULL if memory is short.
 */
struct mxefi_conn *mxefi_conn_add(struct mxefi_ep *ep,
				  const struct mxefi_addr *addr,
				  const struct mxefi_transport *transport)
{
	struct mxefi_conn *conn = calloc(1, sizeof(*conn));
	struct mxefi_conn **bucket;

	if (!conn)
		return NULL;
	if (getrandom(&conn->token, sizeof(conn->token), 0) < 0) {
		free(conn);
		return NULL;
	}
	/* 0 is an unknown token. */
	conn->token |= 1;
	conn->peer.ep = ep;
	if (mxefi_conn_set_addr(conn, addr)) {
		free(conn);
		return NULL;
	}
	conn->transport = transport;
	mxefi_peer_add(&conn->peer, &transport->channel, ep, addr);
	conn->next = ep->conns;
	ep->conns = conn;
	ep->num_listed++;
	bucket = token_bucket(ep, conn->token);
	conn->next_token = *bucket;
	*bucket = conn;
	ep->num_guests++;
	return conn;
}

/**
 * mxefi_conn_confirm() - Note that the peer accepts requests.
 * @conn: connection
 */
void mxefi_conn_confirm(struct mxefi_conn *conn)
{
	if (mxefi_conn_is_guest(conn))
		conn->peer.ep->num_guests--;
	conn->is_confirmed = true;
	if (conn->state != MXEFI_CONN_HELLO || !conn->connected)
		return;
	conn->state = MXEFI_CONN_READY;
	conn->is_proven = true;
	if (conn->peer.ep->on_cm)
		conn->peer.ep->on_cm(conn, 0);
	mxefi_peer_flush(&conn->peer);
}

static bool bye_complete(struct mxefi_wr *wr, int err)
{
	mxefi_conn_abort(to_conn(wr->peer), FI_ESHUTDOWN);
	return true;
}

/**
 * mxefi_conn_shutdown() - Close a connection after the requests before.
 * @conn: connection
 */
void mxefi_conn_shutdown(struct mxefi_conn *conn)
{
	struct mxefi_msg bye = { .type = MXEFI_MSG_BYE };
	struct mxefi_wr *wr = NULL;

	conn->is_shut = true;
	if (conn->state == MXEFI_CONN_READY)
		wr = mxefi_wr_alloc_answer(&conn->peer);
	if (!wr) {
		mxefi_conn_abort(conn, FI_ESHUTDOWN);
		return;
	}
	mxefi_wr_set_send(wr, &bye, 0);
	wr->complete = bye_complete;
	mxefi_wr_submit(wr);
}
