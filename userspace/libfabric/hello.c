// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connecting by hellos over a UD queue pair.
 *
 * A hello carries the number of the sender's connection and is sent every 100
 * ms until a hello with MXEFI_HELLO_ACK shows that the peer accepts requests.
 * Over DC, it also needs MXEFI_HELLO_KEPT: a peer that gives up its side could
 * not refuse the requests. The protocol is symmetric: either endpoint can
 * start, both can start at once, and an endpoint can connect to itself. The one
 * that starts chooses the transport. If both do and differ, it is DC. An
 * endpoint that cannot create DC initiators insists on RC (MXEFI_HELLO_NO_DC).
 *
 * A hello can be forged. Each side has a token for each connection, and its
 * hellos contain both. A hello with our token is from the peer, as no other
 * endpoint has received it. A hello without it can open a connection, but not
 * replace a connected queue pair. Connections that a hello has opened are
 * limited, and more so those that the peer has not confirmed.
 *
 * A peer that has opened its side anew sends a hello of another epoch. The
 * connection is then broken, and connected anew when it is idle.
 */
#include <string.h>

#include "ah.h"
#include "conn.h"
#include "container.h"
#include "dci.h"
#include "domain.h"
#include "ep.h"
#include "hello.h"
#include "op.h"
#include "peer.h"
#include "progress.h"
#include "sizes.h"
#include "ud.h"
#include "wire.h"
#include "wr.h"

#define HELLO_MS 100
#define DRAIN_MS 50
#define PROBE_MS 1000
/* Limit of unconfirmed connections, and how long each is kept at least. */
#define MAX_GUESTS 256
#define GUEST_MS 200
#define GUEST_HELLO_MS 1000
/* So many peers are asked at once before they are forgotten. */
#define MAX_ASKED 32

/* The peer that waits for an answer retransmits its hello. */
static void send_hello(struct mxefi_conn *conn, uint32_t flags)
{
	struct mxefi_hello hello = {
		.flags = flags | conn->cm_flags,
		.qpn = conn->number,
		.peer_qpn = conn->peer_qpn,
		.psn = conn->psn,
		.epoch = conn->epoch,
		.data_len = conn->data_len,
		.token = conn->token,
		.peer_token = conn->peer_token,
	};

	if (!mxefi_conn_is_guest(conn))
		hello.flags |= MXEFI_HELLO_KEPT;
	if (conn->refuses_dc)
		hello.flags |= MXEFI_HELLO_NO_DC;
	conn->hello_ms = mxefi_now_ms();
	mxefi_ud_send(&conn->peer.ep->ud, &conn->peer.addr, conn->ah, &hello,
		      conn->data);
}

static void start_hello(struct mxefi_conn *conn)
{
	int ret = mxefi_conn_open(conn);

	if (ret)
		mxefi_peer_fail_pending(&conn->peer, -ret);
	else
		send_hello(conn, 0);
}

static const struct mxefi_transport *
transport_of(const struct mxefi_hello *hello)
{
	return hello->qpn & MXEFI_DC_CONN ? &mxefi_conn_dc : &mxefi_conn_rc;
}

/* ---- peers that the program has not named ------------------------------ */

/* Gives up the oldest guest if it has had its minimum time. */
static void give_up_guest(struct mxefi_ep *ep)
{
	struct mxefi_conn *conn, *oldest = NULL;

	for (conn = ep->conns; conn; conn = conn->next)
		if (mxefi_conn_is_guest(conn) && conn->state == MXEFI_CONN_HELLO)
			oldest = conn;
	if (oldest && mxefi_now_ms() - oldest->since_ms >= GUEST_MS)
		mxefi_conn_abort(oldest, FI_EHOSTUNREACH);
}

/* As many connections again are remembered as may be open. */
static bool is_full(const struct mxefi_ep *ep)
{
	unsigned int max = ep->dom->max_conns;

	return !ep->is_msg && (ep->num_conns >= max || ep->num_listed / 2 >= max);
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
	return mxefi_conn_add(ep, &hello->src, transport_of(hello));
}

/* ---- receiving hellos -------------------------------------------------- */

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
	is_peer = !memcmp(&conn->peer.addr, &hello->src,
			  sizeof(conn->peer.addr));
	if (conn->state != MXEFI_CONN_HELLO || conn->connected)
		return is_peer && !reject ? conn : NULL;
	if (hello->peer_qpn != conn->number ||
	    hello->peer_token != conn->token ||
	    !(reject ? is_peer : hello->flags & MXEFI_HELLO_ACCEPT))
		return NULL;
	memcpy(conn->peer_data, data, hello->data_len);
	conn->peer_data_len = hello->data_len;
	if (reject) {
		mxefi_conn_abort(conn, FI_ECONNREFUSED);
		return NULL;
	}
	if (mxefi_conn_set_addr(conn, &hello->src))
		return NULL;
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
		mxefi_conn_make_idle(conn);
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

/* Chooses the transport of an idle connection for a hello of its peer. */
static void follow(struct mxefi_conn *conn, const struct mxefi_hello *hello)
{
	const struct mxefi_transport *transport = transport_of(hello);

	conn->refuses_dc = transport == &mxefi_conn_dc &&
			   mxefi_dci_open(conn->peer.ep);
	mxefi_conn_set_transport(conn, conn->refuses_dc ? &mxefi_conn_rc :
							  transport);
}

/* Changes to the transport of a hello. Returns false if we remain with ours. */
static bool agree(struct mxefi_conn *conn, const struct mxefi_hello *hello)
{
	const struct mxefi_transport *transport = transport_of(hello);
	bool insists = !(hello->flags & MXEFI_HELLO_NO_DC);
	int ret;

	if (transport == conn->transport)
		return true;
	if (transport == &mxefi_conn_dc) {
		conn->refuses_dc |= mxefi_dci_open(conn->peer.ep) != 0;
		insists = conn->refuses_dc;
	}
	if (insists) {
		send_hello(conn, 0);
		return false;
	}
	mxefi_conn_make_idle(conn);
	mxefi_conn_set_transport(conn, transport);
	ret = mxefi_conn_open(conn);
	if (ret)
		mxefi_peer_fail_pending(&conn->peer, -ret);
	return !ret;
}

/* True if the peer will not give up what it acknowledges. */
static bool may_rely(const struct mxefi_conn *conn,
		     const struct mxefi_hello *hello)
{
	/* The program of one side at least uses the connection. */
	return !conn->transport->needs_notice || mxefi_conn_is_guest(conn) ||
	       hello->flags & MXEFI_HELLO_KEPT;
}

static void take_hello(struct mxefi_conn *conn, const struct mxefi_hello *hello)
{
	bool ack = hello->flags & MXEFI_HELLO_ACK;
	bool is_old, answer;

	if (conn->state == MXEFI_CONN_BROKEN || !check_hello(conn, hello))
		return;
	/* The hello is for an epoch of ours that has ended. */
	is_old = (ack || hello->peer_qpn) && conn->number != hello->peer_qpn;
	if (conn->state == MXEFI_CONN_IDLE) {
		/* This acknowledges an epoch that has ended. */
		if (ack)
			return;
		follow(conn, hello);
		/* A hello of another epoch makes the peer begin a new one. */
		if (is_old)
			start_hello(conn);
		else if (mxefi_conn_open(conn))
			return;
	}
	if (is_old)
		return;
	/* The peer has begun another epoch. */
	if (conn->connected && hello->epoch != conn->peer_epoch) {
		mxefi_conn_abort(conn, FI_ECONNABORTED);
		return;
	}
	if (!conn->connected && !agree(conn, hello))
		return;
	answer = !ack || !conn->connected || !may_rely(conn, hello);
	/* Connecting must not block. */
	if (!conn->connected && !conn->transport->may_connect(conn)) {
		conn->waiting = *hello;
		return;
	}
	if (!conn->connected && mxefi_conn_connect(conn, hello)) {
		mxefi_conn_abort(conn, FI_EHOSTUNREACH);
		return;
	}
	if (ack && may_rely(conn, hello)) {
		/* The peer waits until it may rely on us. */
		answer |= conn->transport->needs_notice &&
			  mxefi_conn_is_guest(conn);
		mxefi_conn_confirm(conn);
	}
	if (answer)
		send_hello(conn, MXEFI_HELLO_ACK);
}

/* Continues with what has waited for the address handle. */
static void on_resolved(struct mxefi_conn *conn)
{
	struct mxefi_hello hello = conn->waiting;

	conn->waiting.magic = 0;
	if (conn->state != MXEFI_CONN_HELLO || conn->peer.ep->closing)
		return;
	if (hello.magic)
		take_hello(conn, &hello);
	else if (!conn->connected)
		send_hello(conn, 0);
}

static void handle_hello(struct mxefi_ud *ud, const struct mxefi_hello *hello,
			 const uint8_t *data)
{
	struct mxefi_ep *ep = container_of(ud, struct mxefi_ep, ud);
	struct mxefi_conn *conn;

	if (transport_of(hello) == &mxefi_conn_dc &&
	    !mxefi_dci_is_mutual(ep, &hello->src))
		return;
	if (ep->is_msg)
		conn = msg_conn(ep, hello, data);
	else
		conn = mxefi_conn_find(ep, &hello->src) ? : add_guest(ep, hello);
	if (!conn)
		return;
	take_hello(conn, hello);
	/* There is no room for its queue pair. */
	if (conn->state == MXEFI_CONN_IDLE && mxefi_conn_is_guest(conn) &&
	    !conn->kept)
		mxefi_conn_free(conn);
}

/* ---- starting, and checking peers -------------------------------------- */

/**
 * mxefi_hello_start() - Connect an endpoint of type FI_EP_MSG.
 * @ep: endpoint
 * @peer: address of a passive endpoint, or of the endpoint that has asked
 * @request: hello that is accepted, or NULL
 * @data: data of the program
 * @len: their length in bytes
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_hello_start(struct mxefi_ep *ep, const struct mxefi_addr *peer,
		     const struct mxefi_hello *request, const void *data,
		     size_t len)
{
	struct mxefi_conn *conn = mxefi_conn_add(ep, peer, &mxefi_conn_rc);
	int ret;

	if (!conn)
		return -FI_ENOMEM;
	mxefi_conn_use(conn);
	if (request)
		conn->peer_token = request->token;
	conn->cm_flags = request ? MXEFI_HELLO_ACCEPT : MXEFI_HELLO_CONNECT;
	conn->data_len = (uint32_t)len;
	if (len)
		memcpy(conn->data, data, len);
	ret = mxefi_conn_open(conn);
	if (ret) {
		/* The endpoint can only be closed. */
		conn->is_shut = true;
		mxefi_conn_abort(conn, -ret);
		return ret;
	}
	if (request)
		take_hello(conn, request);
	else
		send_hello(conn, 0);
	return 0;
}

static bool waits_for_fin(const struct mxefi_conn *conn)
{
	for (int i = 0; i < MXEFI_TX_SIZE; i++) {
		const struct mxefi_op *op = &conn->peer.ep->ops[i];

		if (op->used && op->wants_fin && op->peer == &conn->peer)
			return true;
	}
	return false;
}

/*
 * Sends a message that the peer ignores, as an RDMA write would need a right.
 * If the peer does not acknowledge it, the connection fails, and so do the
 * operations that wait for the peer. An endpoint of type FI_EP_RDM probes idle
 * connections only if dead peers have to make room.
 */
static void probe(struct mxefi_conn *conn, uint64_t now)
{
	struct mxefi_msg msg = { .type = MXEFI_MSG_PROBE };
	struct mxefi_ep *ep = conn->peer.ep;
	struct mxefi_wr *wr;

	if (conn->peer.posted || conn->peer.answers ||
	    mxefi_elapsed_ms(now, conn->probe_ms) < PROBE_MS)
		return;
	conn->probe_ms = now;
	if (!ep->is_msg && !is_full(ep) && !conn->peer.pending &&
	    !waits_for_fin(conn))
		return;
	/* Operations that never end without it may have all other requests. */
	wr = mxefi_wr_alloc_answer(&conn->peer);
	if (!wr)
		return;
	mxefi_wr_set_send(wr, &msg, 0);
	wr->complete = mxefi_conn_wr_complete;
	mxefi_wr_answer(wr);
}

/* Forged hellos must not make us flood the address that they claim. */
static uint64_t hello_interval(const struct mxefi_conn *conn)
{
	return mxefi_conn_is_guest(conn) ? GUEST_HELLO_MS : HELLO_MS;
}

/* The device was removed, so it completes nothing any more. */
static void end_all(struct mxefi_ep *ep)
{
	struct mxefi_conn *conn;

	for (conn = ep->conns; conn; conn = conn->next)
		mxefi_conn_abort(conn, FI_ENODEV);
	mxefi_dci_end_all(ep);
	mxefi_wr_flush(ep, IBV_WC_FATAL_ERR);
	mxefi_conn_retry(ep);
	/* Requests that waited for these or for a broken connection fail. */
	for (conn = ep->conns; conn; conn = conn->next)
		mxefi_peer_fail_pending(&conn->peer, FI_ENODEV);
	ep->on_removed(ep);
}

/* ---- forgetting idle connections ---------------------------------------- */

/*
 * True if the program has removed the address that it has used. A peer that
 * uses the connection can go on.
 */
static bool is_removed(const struct mxefi_conn *conn)
{
	return conn->is_used && conn->peer.ep->av && !conn->peer.num_addrs &&
	       (conn->state == MXEFI_CONN_READY || conn->state == MXEFI_CONN_IDLE);
}

/* True if neither the program nor a message refers to the peer. */
static bool is_idle(const struct mxefi_conn *conn)
{
	return conn->state == MXEFI_CONN_IDLE && !conn->is_used && !conn->kept;
}

static bool has_excess(const struct mxefi_ep *ep)
{
	return ep->num_listed > ep->dom->max_conns;
}

/*
 * True if an idle connection may be forgotten. One over DC is remembered as
 * long as there is room: the peer may not know that it has ended, and still
 * send messages. Without room, it is opened anew, and forgotten if the peer
 * does not answer.
 */
static bool may_forget(const struct mxefi_conn *conn)
{
	return !conn->transport->needs_notice || !conn->is_confirmed ||
	       conn->has_left || (conn->is_silent && has_excess(conn->peer.ep));
}

/* Returns how many more peers are to be asked whether they live. */
static unsigned int num_to_ask(const struct mxefi_ep *ep)
{
	const struct mxefi_conn *conn;
	unsigned int num;

	if (!has_excess(ep))
		return 0;
	num = ep->num_listed - ep->dom->max_conns;
	if (num > MAX_ASKED)
		num = MAX_ASKED;
	for (conn = ep->conns; conn && num; conn = conn->next)
		num -= conn->state == MXEFI_CONN_HELLO && conn->is_confirmed &&
		       !conn->is_used;
	return num;
}

static void conn_tick(struct mxefi_ticker *ticker, uint64_t now)
{
	struct mxefi_ep *ep = container_of(ticker, struct mxefi_ep, ticker);
	struct mxefi_conn *conn, *next;
	unsigned int to_ask;

	if (ep->dom->lost) {
		end_all(ep);
		return;
	}
	if (ep->answers || ep->readers)
		mxefi_conn_retry(ep);
	to_ask = num_to_ask(ep);
	for (conn = ep->conns; conn; conn = next) {
		next = conn->next;
		if (is_removed(conn))
			mxefi_conn_unuse(conn);
		if (conn->state == MXEFI_CONN_READY) {
			probe(conn, now);
			continue;
		}
		/* Endpoints of type FI_EP_MSG do not connect again. */
		if (ep->is_msg && conn->state == MXEFI_CONN_BROKEN)
			continue;
		if (conn->state == MXEFI_CONN_BROKEN &&
		    conn->transport->is_drained(conn) &&
		    mxefi_elapsed_ms(now, conn->since_ms) >= DRAIN_MS) {
			mxefi_conn_make_idle(conn);
			if (conn->peer.pending)
				start_hello(conn);
			continue;
		}
		if (is_idle(conn) && may_forget(conn)) {
			mxefi_conn_free(conn);
			continue;
		}
		if (is_idle(conn) && to_ask) {
			to_ask--;
			start_hello(conn);
			continue;
		}
		/* Without pending requests, too: the last ACK may be lost. */
		if (conn->state != MXEFI_CONN_HELLO ||
		    mxefi_elapsed_ms(now, conn->hello_ms) <
		    hello_interval(conn))
			continue;
		conn->is_silent = mxefi_elapsed_ms(now, conn->since_ms) >
				  ep->dom->connect_timeout_ms;
		if (conn->is_silent)
			mxefi_conn_abort(conn, FI_EHOSTUNREACH);
		else
			send_hello(conn, 0);
	}
}

/**
 * mxefi_hello_setup() - Set the functions that connect an endpoint.
 * @ep: endpoint
 */
void mxefi_hello_setup(struct mxefi_ep *ep)
{
	ep->connect = start_hello;
	ep->on_resolved = on_resolved;
	ep->ud.on_hello = handle_hello;
	ep->ticker.tick = conn_tick;
}
