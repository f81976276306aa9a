// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections: one RC queue pair for each peer of an endpoint, all with the
 * same SRQ. Called by op.c and the files above it. hello.c connects them.
 *
 * A queue pair in error fails its requests. It is destroyed when they are
 * complete, but not before hello.c has waited for completions of its receives,
 * which may still be queued. Then the connection is idle, and the next request
 * connects it anew.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "mxefi.h"

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

/* Creates the queue pair of an idle connection. */
int mxefi_conn_open(struct mxefi_conn *conn)
{
	int ret = create_qp(conn);

	if (ret)
		return ret;
	conn->state = MXEFI_CONN_HELLO;
	conn->since_ms = mxefi_now_ms();
	return 0;
}

int mxefi_conn_connect(struct mxefi_conn *conn, const struct mxefi_hello *hello)
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

/* Destroys the queue pair of a broken connection. */
void mxefi_conn_make_idle(struct mxefi_conn *conn)
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

/* ---- the state of a connection ----------------------------------------- */

void mxefi_conn_fail_pending(struct mxefi_conn *conn, int err)
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
	if (conn->ep->on_cm)
		conn->ep->on_cm(conn, conn->state == MXEFI_CONN_READY ?
				      FI_ESHUTDOWN : err);
	conn->state = MXEFI_CONN_BROKEN;
	conn->since_ms = mxefi_now_ms();
	mxefi_info(FI_LOG_EP_CTRL, "connection to QP %u failed: %s\n",
		   conn->peer.qpn, fi_strerror(err));
	ibv_modify_qp(conn->qp, &attr, IBV_QP_STATE);
	mxefi_conn_fail_pending(conn, err);
	fail_waiting(conn, err);
	conn->ep->on_broken(conn);
}

/* ---- the connections of an endpoint ------------------------------------ */

bool mxefi_conn_is_guest(const struct mxefi_conn *conn)
{
	return !conn->is_used && !conn->is_confirmed;
}

void mxefi_conn_use(struct mxefi_conn *conn)
{
	if (mxefi_conn_is_guest(conn))
		conn->ep->num_guests--;
	conn->is_used = true;
}

/* The lowest bit of an id is always set. */
static struct mxefi_conn **id_bucket(struct mxefi_ep *ep, uint64_t id)
{
	return &ep->by_id[id / 2 % MXEFI_CONN_HASH];
}

/* Frees an idle connection that nothing refers to. */
void mxefi_conn_free(struct mxefi_conn *conn)
{
	struct mxefi_conn **p = &conn->ep->conns;

	while (*p != conn)
		p = &(*p)->next;
	*p = conn->next;
	p = id_bucket(conn->ep, conn->peer.id);
	while (*p != conn)
		p = &(*p)->next_id;
	*p = conn->next_id;
	if (mxefi_conn_is_guest(conn))
		conn->ep->num_guests--;
	if (conn->ah)
		ibv_destroy_ah(conn->ah);
	free(conn);
}

struct mxefi_conn *mxefi_conn_find(struct mxefi_ep *ep,
				    const struct mxefi_addr *addr)
{
	struct mxefi_conn *conn = *id_bucket(ep, addr->id);

	while (conn && memcmp(&conn->peer, addr, sizeof(*addr)))
		conn = conn->next_id;
	return conn;
}

/* Adds a guest. */
struct mxefi_conn *mxefi_conn_add(struct mxefi_ep *ep,
				   const struct mxefi_addr *addr)
{
	struct mxefi_conn *conn = calloc(1, sizeof(*conn));
	struct mxefi_conn **bucket = id_bucket(ep, addr->id);

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
	conn->next_id = *bucket;
	*bucket = conn;
	ep->num_guests++;
	return conn;
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
	conn = mxefi_conn_find(ep, addr) ? : mxefi_conn_add(ep, addr);
	if (!conn)
		return NULL;
	mxefi_conn_use(conn);
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

/* ---- requests ---------------------------------------------------------- */

static void wr_done(struct mxefi_work *work, const struct ibv_wc *wc);

static void post(struct mxefi_wr *wr)
{
	struct mxefi_conn *conn = wr->conn;
	struct ibv_exp_send_wr *bad_masked;
	struct ibv_send_wr *bad;
	int ret;

	wr->work.done = wr_done;
	conn->posted++;
	conn->ep->posted++;
	if (wr->is_masked)
		ret = ibv_exp_post_send(conn->qp, &wr->masked, &bad_masked);
	else
		ret = ibv_post_send(conn->qp, &wr->wr, &bad);
	if (ret) {
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

/* True if nothing holds back a request that is not a loop. */
static bool may_post(const struct mxefi_conn *conn)
{
	return conn->state == MXEFI_CONN_READY && !conn->pending &&
	       !conn->loops && conn->posted < MXEFI_SQ_SIZE &&
	       conn->ep->posted < MXEFI_TX_SIZE;
}

void mxefi_wr_submit(struct mxefi_wr *wr)
{
	struct mxefi_conn *conn = wr->conn;

	if (!wr->loop && may_post(conn)) {
		post(wr);
		return;
	}
	wr->next = NULL;
	*conn->pending_tail = wr;
	conn->pending_tail = &wr->next;
	if (conn->state == MXEFI_CONN_IDLE)
		conn->ep->connect(conn);
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
	if (conn->pending)
		flush(conn);
	if (conn->ep->starved) {
		conn->ep->starved = false;
		for (conn = conn->ep->conns; conn; conn = conn->next)
			flush(conn);
	}
}

void mxefi_conn_confirm(struct mxefi_conn *conn)
{
	if (mxefi_conn_is_guest(conn))
		conn->ep->num_guests--;
	conn->is_confirmed = true;
	if (conn->state != MXEFI_CONN_HELLO || !conn->connected)
		return;
	conn->state = MXEFI_CONN_READY;
	conn->is_proven = true;
	if (conn->ep->on_cm)
		conn->ep->on_cm(conn, 0);
	flush(conn);
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
