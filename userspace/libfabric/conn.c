// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections: one RC queue pair for each peer of an endpoint, all with the
 * same SRQ. hello.c connects them.
 *
 * A queue pair in error fails its requests. It is destroyed when they are
 * complete, but not before hello.c has waited for completions of its receives,
 * which may still be queued. Then the connection is idle, and the next request
 * connects it anew.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ah.h"
#include "conn.h"
#include "container.h"
#include "device.h"
#include "domain.h"
#include "ep.h"
#include "op.h"
#include "peer.h"
#include "progress.h"
#include "provider.h"
#include "sizes.h"
#include "wire.h"
#include "wr.h"

/* ---- queue pairs ------------------------------------------------------- */

static struct mxefi_conn **qpn_bucket(struct mxefi_ep *ep, uint32_t qpn)
{
	return &ep->by_qpn[qpn % MXEFI_CONN_HASH];
}

struct mxefi_conn *mxefi_conn_by_qpn(struct mxefi_ep *ep, uint32_t qpn)
{
	struct mxefi_conn *conn = *qpn_bucket(ep, qpn);

	while (conn && conn->qp->qp_num != qpn)
		conn = conn->next_qpn;
	return conn;
}

static int create_qp(struct mxefi_conn *conn)
{
	struct mxefi_conn **bucket;
	struct mxefi_ep *ep = conn->peer.ep;
	struct mxefi_domain *dom = ep->dom;
	uint32_t size = dom->dev.resizes_qps ? MXEFI_SQ_MIN : MXEFI_SQ_SIZE;
	struct ibv_exp_qp_init_attr attr = {
		.send_cq = dom->cq,
		.recv_cq = dom->cq,
		.srq = ep->srq,
		.cap = {
			.max_send_wr = size,
			.max_send_sge = MXEFI_IOV_LIMIT,
		},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD,
		.pd = dom->pd,
	};
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = mxefi_peer_access(ep),
	};

	mxefi_device_ask_atomics(&dom->dev, &attr);
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
	conn->sq_size = size;
	conn->epoch = ++ep->epoch;
	ep->num_qps++;
	bucket = qpn_bucket(ep, conn->qp->qp_num);
	conn->next_qpn = *bucket;
	*bucket = conn;
	return 0;
}

/* Creates the queue pair of an idle connection. */
int mxefi_conn_open(struct mxefi_conn *conn)
{
	int ret = create_qp(conn);

	if (ret)
		return ret;
	conn->state = MXEFI_CONN_HELLO;
	conn->since_ms = mxefi_now_ms();
	conn->waiting.magic = 0;
	return 0;
}

static uint8_t rd_atomic(int max)
{
	return (uint8_t)(max < MXEFI_RD_ATOMIC ? max : MXEFI_RD_ATOMIC);
}

int mxefi_conn_connect(struct mxefi_conn *conn, const struct mxefi_hello *hello)
{
	struct mxefi_device *dev = &conn->peer.ep->dom->dev;
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = hello->mtu < dev->port.active_mtu ?
			    hello->mtu : dev->port.active_mtu,
		.dest_qp_num = hello->qpn,
		.rq_psn = hello->psn & 0xffffff,
		.max_dest_rd_atomic = rd_atomic(dev->attr.max_qp_rd_atom),
		.min_rnr_timer = 1,
		.ah_attr = mxefi_ah_attr(conn->peer.ep->dom,
					 conn->peer.addr.gid),
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = conn->psn,
		.max_rd_atomic = rd_atomic(dev->attr.max_qp_init_rd_atom),
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

/* Destroys the queue pair of a broken connection. */
void mxefi_conn_make_idle(struct mxefi_conn *conn)
{
	struct mxefi_conn **p = qpn_bucket(conn->peer.ep, conn->qp->qp_num);

	while (*p != conn)
		p = &(*p)->next_qpn;
	*p = conn->next_qpn;
	ibv_destroy_qp(conn->qp);
	conn->qp = NULL;
	conn->peer.ep->num_qps--;
	conn->connected = false;
	conn->peer_qpn = 0;
	conn->peer.hold = NULL;
	conn->peer.loops = 0;
	conn->peer.is_stopped = false;
	conn->stops_peer = false;
	conn->state = MXEFI_CONN_IDLE;
	/* A forged epoch must not make those of the peer old. */
	if (!conn->is_proven)
		conn->peer_epoch = 0;
}

/* ---- the state of a connection ----------------------------------------- */

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
	/* Programs wait for the event after their own shutdown, too. */
	if (conn->peer.ep->on_cm)
		conn->peer.ep->on_cm(conn, conn->state == MXEFI_CONN_READY ?
				      FI_ESHUTDOWN : err);
	conn->state = MXEFI_CONN_BROKEN;
	conn->since_ms = mxefi_now_ms();
	mxefi_info(FI_LOG_EP_CTRL, "connection to QP %u failed: %s\n",
		   conn->peer.addr.qpn, fi_strerror(err));
	ibv_modify_qp(conn->qp, &attr, IBV_QP_STATE);
	mxefi_peer_fail_pending(&conn->peer, err);
	fail_waiting(conn, err);
	conn->peer.ep->on_broken(conn);
}

/* ---- the connections of an endpoint ------------------------------------ */

bool mxefi_conn_is_guest(const struct mxefi_conn *conn)
{
	return !conn->is_used && !conn->is_confirmed;
}

void mxefi_conn_use(struct mxefi_conn *conn)
{
	if (mxefi_conn_is_guest(conn))
		conn->peer.ep->num_guests--;
	conn->is_used = true;
}

/* Frees an idle connection that nothing refers to. */
void mxefi_conn_free(struct mxefi_conn *conn)
{
	struct mxefi_conn **p = &conn->peer.ep->conns;

	while (*p != conn)
		p = &(*p)->next;
	*p = conn->next;
	mxefi_peer_remove(&conn->peer);
	if (mxefi_conn_is_guest(conn))
		conn->peer.ep->num_guests--;
	mxefi_ah_free(conn->ah);
	free(conn);
}

/* ---- requests ---------------------------------------------------------- */

/*
 * Makes the send queue deeper. Most peers have few requests at a time, and
 * those with more keep the memory for them.
 */
static bool grow(struct mxefi_conn *conn)
{
	uint32_t size = 4 * conn->sq_size < MXEFI_SQ_SIZE ?
			4 * conn->sq_size : MXEFI_SQ_SIZE;
	struct ibv_qp_attr attr = {
		.cap = { .max_send_wr = size },
	};

	if (size == conn->sq_size || ibv_modify_qp(conn->qp, &attr, IBV_QP_CAP))
		return false;
	conn->sq_size = size;
	return true;
}

static bool ready(struct mxefi_peer *peer)
{
	struct mxefi_conn *conn = to_conn(peer);

	if (conn->state != MXEFI_CONN_READY)
		return false;
	if (peer->posted >= conn->sq_size && !grow(conn))
		return false;
	if (peer->ep->posted < MXEFI_TX_SIZE)
		return true;
	peer->ep->starved = true;
	return false;
}

static void queued(struct mxefi_peer *peer)
{
	struct mxefi_conn *conn = to_conn(peer);

	if (conn->state == MXEFI_CONN_IDLE)
		peer->ep->connect(conn);
	else
		mxefi_peer_flush(peer);
}

static void wr_done(struct mxefi_work *work, const struct ibv_wc *wc)
{
	struct mxefi_wr *wr = container_of(work, struct mxefi_wr, work);
	struct mxefi_peer *peer = wr->peer;
	struct mxefi_ep *ep = peer->ep;
	struct mxefi_conn *conn;
	int err = 0;

	peer->posted--;
	ep->posted--;
	wr->posted = false;
	if (wc->status != IBV_WC_SUCCESS) {
		err = mxefi_wr_error(wr, wc);
		if (!ep->closing)
			mxefi_conn_abort(to_conn(peer), FI_ECONNABORTED);
	}
	mxefi_wr_end(wr, err);
	mxefi_peer_flush(peer);
	if (ep->starved) {
		ep->starved = false;
		for (conn = ep->conns; conn; conn = conn->next)
			mxefi_peer_flush(&conn->peer);
	}
	if (ep->answers || ep->readers)
		mxefi_conn_retry(ep);
}

static int post(struct mxefi_wr *wr)
{
	struct mxefi_conn *conn = to_conn(wr->peer);
	struct ibv_exp_send_wr *bad_masked;
	struct ibv_send_wr *bad;
	int ret;

	wr->work.done = wr_done;
	if (wr->is_masked)
		ret = ibv_exp_post_send(conn->qp, &wr->masked, &bad_masked);
	else
		ret = ibv_post_send(conn->qp, &wr->wr, &bad);
	if (!ret)
		conn->peer.ep->posted++;
	return ret;
}

bool mxefi_conn_wr_complete(struct mxefi_wr *wr, int err)
{
	if (err && !wr->peer->ep->closing)
		mxefi_conn_abort(to_conn(wr->peer), err);
	return true;
}

static const struct mxefi_channel channel = {
	.ready = ready,
	.queued = queued,
	.post = post,
};

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

struct mxefi_conn *mxefi_conn_find(struct mxefi_ep *ep,
				    const struct mxefi_addr *addr)
{
	struct mxefi_peer *peer = mxefi_peer_find(ep, &channel, addr);

	return peer ? to_conn(peer) : NULL;
}

static void resolved(void *arg)
{
	struct mxefi_conn *conn = arg;

	conn->peer.ep->on_resolved(conn);
}

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

/* Adds a guest. */
struct mxefi_conn *mxefi_conn_add(struct mxefi_ep *ep,
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
	conn->peer.ep = ep;
	if (mxefi_conn_set_addr(conn, addr)) {
		free(conn);
		return NULL;
	}
	mxefi_peer_add(&conn->peer, &channel, ep, addr);
	conn->next = ep->conns;
	ep->conns = conn;
	ep->num_guests++;
	return conn;
}

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
