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
 * A queue pair in error fails its requests. It is destroyed when they are
 * complete, but not before DRAIN_MS, because completions of its receives may
 * still be queued. Then the connection is idle, and the next request connects
 * it anew. The peer learns of this by a hello from another queue pair.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "mxefi.h"

#define HELLO_MS 100
#define DRAIN_MS 50
#define UD_RX 64
#define GRH_SIZE 40
#define UD_BUF 128
#define UD_QKEY 0x11fab
#define RX_BUF (sizeof(struct mxefi_msg) + MXEFI_BUF_SIZE)
#define WR_CHUNK 32

/* Work requests are allocated in chunks with registered buffers. */
struct wr_chunk {
	struct mxefi_wr wrs[WR_CHUNK];
	struct ibv_mr *mr;
	struct mxefi_wr *next_chunk;
	uint8_t buf[WR_CHUNK][RX_BUF] __attribute__((aligned(64)));
};

/* ---- requests ---------------------------------------------------------- */

static bool grow_wrs(struct mxefi_ep *ep)
{
	struct wr_chunk *chunk = aligned_alloc(64, sizeof(*chunk));

	if (!chunk)
		return false;
	memset(chunk, 0, offsetof(struct wr_chunk, buf));
	chunk->mr = ibv_reg_mr(ep->dom->pd, chunk->buf, sizeof(chunk->buf),
			       IBV_ACCESS_LOCAL_WRITE);
	if (!chunk->mr) {
		free(chunk);
		return false;
	}
	chunk->next_chunk = ep->wrs;
	ep->wrs = chunk->wrs;
	for (int i = 0; i < WR_CHUNK; i++) {
		chunk->wrs[i].buf = chunk->buf[i];
		chunk->wrs[i].lkey = chunk->mr->lkey;
		chunk->wrs[i].next = ep->free_wrs;
		ep->free_wrs = &chunk->wrs[i];
	}
	return true;
}

static void free_wrs(struct mxefi_ep *ep)
{
	while (ep->wrs) {
		struct wr_chunk *chunk =
			container_of(ep->wrs, struct wr_chunk, wrs[0]);

		ep->wrs = chunk->next_chunk;
		ibv_dereg_mr(chunk->mr);
		free(chunk);
	}
	ep->free_wrs = NULL;
}

static void wr_done(struct mxefi_work *work, const struct ibv_wc *wc);

struct mxefi_wr *mxefi_wr_get(struct mxefi_conn *conn)
{
	struct mxefi_ep *ep = conn->ep;
	struct mxefi_wr *wr;

	if (!ep->free_wrs && !grow_wrs(ep))
		return NULL;
	wr = ep->free_wrs;
	ep->free_wrs = wr->next;
	wr->work.done = wr_done;
	wr->next = NULL;
	wr->conn = conn;
	wr->op = NULL;
	wr->loop = false;
	wr->recv = NULL;
	wr->unit = NULL;
	memset(&wr->wr, 0, sizeof(wr->wr));
	wr->wr.wr_id = (uintptr_t)&wr->work;
	wr->wr.sg_list = wr->sge;
	wr->wr.exp_send_flags = IBV_EXP_SEND_SIGNALED;
	return wr;
}

void mxefi_wr_put(struct mxefi_wr *wr)
{
	for (int i = 0; i < MXEFI_IOV_LIMIT; i++) {
		if (wr->mrs[i])
			ibv_dereg_mr(wr->mrs[i]);
		wr->mrs[i] = NULL;
	}
	wr->next = wr->conn->ep->free_wrs;
	wr->conn->ep->free_wrs = wr;
}

int mxefi_wr_add(struct mxefi_wr *wr, void *buf, size_t len, void *desc,
		 int access)
{
	int n = wr->wr.num_sge;
	struct ibv_mr *mr = desc;

	if (!len)
		return 0;
	if (n == MXEFI_IOV_LIMIT || len > UINT32_MAX)
		return -FI_EINVAL;
	if (!mr) {
		mr = ibv_reg_mr(wr->conn->ep->dom->pd, buf, len, access);
		if (!mr)
			return -errno;
		wr->mrs[n] = mr;
	}
	wr->sge[n].addr = (uintptr_t)buf;
	wr->sge[n].length = (uint32_t)len;
	wr->sge[n].lkey = mr->lkey;
	wr->wr.num_sge++;
	return 0;
}

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

/* Destroys the queue pair of a broken connection. */
static void make_idle(struct mxefi_conn *conn)
{
	ibv_destroy_qp(conn->qp);
	conn->qp = NULL;
	conn->connected = false;
	conn->peer_qpn = 0;
	conn->hold = NULL;
	conn->loops = 0;
	conn->state = MXEFI_CONN_IDLE;
}

static void start_hello(struct mxefi_conn *conn);

static void break_conn(struct mxefi_conn *conn, int err)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (conn->state == MXEFI_CONN_BROKEN || conn->state == MXEFI_CONN_IDLE)
		return;
	conn->state = MXEFI_CONN_BROKEN;
	conn->since_ms = mxefi_now_ms();
	mxefi_info(FI_LOG_EP_CTRL, "connection to QP %u failed: %s\n",
		   conn->peer.qpn, fi_strerror(err));
	ibv_modify_qp(conn->qp, &attr, IBV_QP_STATE);
	fail_pending(conn, err);
	fail_waiting(conn, err);
}

static void post(struct mxefi_wr *wr)
{
	struct mxefi_conn *conn = wr->conn;
	struct ibv_exp_send_wr *bad;

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
		break_conn(conn, FI_ECONNABORTED);
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
	return 0;
}

static struct ibv_ah_attr ah_attr(struct mxefi_conn *conn)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.sgid_index = conn->ep->dom->dev.gid_index,
			.hop_limit = 64,
		},
	};

	memcpy(attr.grh.dgid.raw, conn->peer.gid, 16);
	return attr;
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
		.ah_attr = ah_attr(conn),
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
	return 0;
}

static void ud_sent(struct mxefi_work *work, const struct ibv_wc *wc)
{
	struct mxefi_ep *ep = container_of(work, struct mxefi_ep, ud_sent);

	ep->ud_posted--;
}

/* Best effort: the peer that waits for an answer retransmits its hello. */
static void send_hello(struct mxefi_conn *conn, uint32_t flags)
{
	struct mxefi_ep *ep = conn->ep;
	struct mxefi_hello hello = {
		.magic = MXEFI_WIRE_MAGIC,
		.flags = flags,
		.src = ep->name,
		.dst_id = conn->peer.id,
		.qpn = conn->qp->qp_num,
		.peer_qpn = conn->peer_qpn,
		.psn = conn->psn,
		.mtu = ep->dom->dev.port.active_mtu,
	};
	struct ibv_sge sge = {
		.length = sizeof(hello),
		.lkey = ep->slab_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&ep->ud_sent,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_ah_attr attr = ah_attr(conn);

	conn->hello_ms = mxefi_now_ms();
	if (!conn->ah)
		conn->ah = ibv_create_ah(ep->dom->pd, &attr);
	if (!conn->ah || ep->ud_posted == UD_RX)
		return;
	/* The next slot is free, as not all of them are in flight. */
	sge.addr = (uintptr_t)(ep->ud_send_buf + ep->ud_slot * UD_BUF);
	ep->ud_slot = (ep->ud_slot + 1) % UD_RX;
	memcpy((void *)(uintptr_t)sge.addr, &hello, sizeof(hello));
	wr.wr.ud.ah = conn->ah;
	wr.wr.ud.remote_qpn = conn->peer.qpn;
	wr.wr.ud.remote_qkey = UD_QKEY;
	if (!ibv_post_send(ep->ud, &wr, &bad))
		ep->ud_posted++;
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
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		return NULL;
	conn->ep = ep;
	conn->peer = *addr;
	conn->pending_tail = &conn->pending;
	conn->next = ep->conns;
	ep->conns = conn;
	return conn;
}

struct mxefi_conn *mxefi_conn_get(struct mxefi_ep *ep, fi_addr_t fi_addr)
{
	const struct mxefi_addr *addr;
	struct mxefi_conn *conn, **table;

	addr = ep->av ? mxefi_av_get(ep->av, fi_addr) : NULL;
	if (!addr)
		return NULL;
	if (fi_addr < ep->by_addr_size && ep->by_addr[fi_addr] &&
	    ep->by_addr[fi_addr]->peer.id == addr->id)
		return ep->by_addr[fi_addr];
	conn = find_conn(ep, addr);
	if (!conn)
		return NULL;
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

static void set_ready(struct mxefi_conn *conn)
{
	if (conn->state != MXEFI_CONN_HELLO || !conn->connected)
		return;
	conn->state = MXEFI_CONN_READY;
	flush(conn);
}

static void handle_hello(struct mxefi_ep *ep, const struct mxefi_hello *hello)
{
	struct mxefi_conn *conn;
	bool ack = hello->flags & MXEFI_HELLO_ACK;
	bool is_old, answer;

	conn = find_conn(ep, &hello->src);
	if (!conn || conn->state == MXEFI_CONN_BROKEN)
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
	if (conn->connected && hello->qpn != conn->peer_qpn) {
		break_conn(conn, FI_ECONNABORTED);
		return;
	}
	answer = !ack || !conn->connected;
	if (!conn->connected && connect_qp(conn, hello)) {
		break_conn(conn, FI_EHOSTUNREACH);
		return;
	}
	if (answer)
		send_hello(conn, MXEFI_HELLO_ACK);
	if (ack)
		set_ready(conn);
}

static bool is_valid(const struct mxefi_ep *ep, const struct mxefi_hello *hello,
		     uint32_t src_qpn)
{
	return hello->magic == MXEFI_WIRE_MAGIC &&
	       hello->dst_id == ep->name.id && hello->src.id &&
	       hello->src.qpn == src_qpn && !hello->src.reserved &&
	       hello->qpn && hello->qpn <= 0xffffff &&
	       hello->mtu >= IBV_MTU_256 && hello->mtu <= IBV_MTU_4096;
}

static void conn_tick(struct mxefi_ticker *ticker, uint64_t now)
{
	struct mxefi_ep *ep = container_of(ticker, struct mxefi_ep, ticker);
	struct mxefi_conn *conn;

	for (conn = ep->conns; conn; conn = conn->next) {
		if (conn->state == MXEFI_CONN_BROKEN && !conn->posted &&
		    now - conn->since_ms >= DRAIN_MS) {
			make_idle(conn);
			if (conn->pending)
				start_hello(conn);
			continue;
		}
		/* Without pending requests, too: the last ACK may be lost. */
		if (conn->state != MXEFI_CONN_HELLO ||
		    now - conn->hello_ms < HELLO_MS)
			continue;
		if (now - conn->since_ms > ep->dom->connect_timeout_ms)
			break_conn(conn, FI_EHOSTUNREACH);
		else
			send_hello(conn, 0);
	}
}

/* ---- receiving --------------------------------------------------------- */

/* Posts a receive buffer to the UD queue pair or to the SRQ. */
static void post_rx(struct mxefi_rxbuf *rx, bool ud)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)rx->buf,
		.length = ud ? UD_BUF : RX_BUF,
		.lkey = rx->ep->slab_mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = (uintptr_t)&rx->work, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	if (ud ? ibv_post_recv(rx->ep->ud, &wr, &bad) :
		 ibv_post_srq_recv(rx->ep->srq, &wr, &bad))
		mxefi_warn(FI_LOG_EP_DATA, "cannot post a receive buffer\n");
}

static void ud_rx_done(struct mxefi_work *work, const struct ibv_wc *wc)
{
	struct mxefi_rxbuf *rx = container_of(work, struct mxefi_rxbuf, work);
	struct mxefi_hello hello = { 0 };

	if (rx->ep->closing || wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	if (wc->status == IBV_WC_SUCCESS &&
	    wc->byte_len == GRH_SIZE + sizeof(hello))
		memcpy(&hello, rx->buf + GRH_SIZE, sizeof(hello));
	post_rx(rx, true);
	if (is_valid(rx->ep, &hello, wc->src_qp))
		handle_hello(rx->ep, &hello);
}

static void rx_done(struct mxefi_work *work, const struct ibv_wc *wc)
{
	struct mxefi_rxbuf *rx = container_of(work, struct mxefi_rxbuf, work);
	struct mxefi_ep *ep = rx->ep;
	struct mxefi_conn *conn;
	struct mxefi_msg msg;

	if (ep->closing)
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		post_rx(rx, false);
		return;
	}
	for (conn = ep->conns; conn; conn = conn->next)
		if (conn->qp && conn->qp->qp_num == wc->qp_num)
			break;
	if (conn) {
		/* A request of the peer shows that it is connected. */
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
	post_rx(rx, false);
}

/* ---- setup ------------------------------------------------------------- */

static int create_ud(struct mxefi_ep *ep)
{
	struct ibv_qp_init_attr init = {
		.send_cq = ep->dom->cq,
		.recv_cq = ep->dom->cq,
		.cap = {
			.max_send_wr = UD_RX,
			.max_recv_wr = UD_RX,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = UD_QKEY,
	};

	ep->ud = ibv_create_qp(ep->dom->pd, &init);
	if (!ep->ud)
		return -errno;
	if (ibv_modify_qp(ep->ud, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_QKEY))
		return -FI_EIO;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(ep->ud, &attr, IBV_QP_STATE))
		return -FI_EIO;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 0;
	if (ibv_modify_qp(ep->ud, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		return -FI_EIO;
	return 0;
}

static int create_slab(struct mxefi_ep *ep)
{
	size_t ud_recv = MXEFI_RX_SIZE * RX_BUF;
	size_t ud_send = ud_recv + UD_RX * UD_BUF;
	size_t size = ud_send + UD_RX * UD_BUF;

	ep->slab = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
	ep->rx = calloc(MXEFI_RX_SIZE, sizeof(*ep->rx));
	ep->ud_rx = calloc(UD_RX, sizeof(*ep->ud_rx));
	if (!ep->slab || !ep->rx || !ep->ud_rx)
		return -FI_ENOMEM;
	ep->slab_mr = ibv_reg_mr(ep->dom->pd, ep->slab, size,
				 IBV_ACCESS_LOCAL_WRITE);
	if (!ep->slab_mr)
		return -errno;
	for (size_t i = 0; i < MXEFI_RX_SIZE; i++) {
		ep->rx[i].work.done = rx_done;
		ep->rx[i].ep = ep;
		ep->rx[i].buf = ep->slab + i * RX_BUF;
	}
	for (size_t i = 0; i < UD_RX; i++) {
		ep->ud_rx[i].work.done = ud_rx_done;
		ep->ud_rx[i].ep = ep;
		ep->ud_rx[i].buf = ep->slab + ud_recv + i * UD_BUF;
	}
	ep->ud_send_buf = ep->slab + ud_send;
	ep->ud_sent.done = ud_sent;
	return 0;
}

int mxefi_conn_setup(struct mxefi_ep *ep)
{
	struct mxefi_domain *dom = ep->dom;
	struct ibv_srq_init_attr srq = {
		.attr = { .max_wr = MXEFI_RX_SIZE, .max_sge = 1 },
	};
	int need = MXEFI_RX_SIZE + 2 * UD_RX + MXEFI_TX_SIZE;
	int ret;

	if (dom->cqe_left < need) {
		mxefi_warn(FI_LOG_EP_CTRL, "too many endpoints in the domain\n");
		return -FI_ENOSPC;
	}
	ret = create_slab(ep);
	if (!ret)
		ret = create_ud(ep);
	if (!ret) {
		ep->srq = ibv_create_srq(dom->pd, &srq);
		if (!ep->srq)
			ret = -errno;
	}
	if (!ret && getrandom(&ep->name.id, sizeof(ep->name.id), 0) < 0)
		ret = -errno;
	if (ret) {
		mxefi_warn(FI_LOG_EP_CTRL, "cannot set up an endpoint: %s\n",
			   fi_strerror(-ret));
		return ret;
	}
	ep->name.id |= 1;
	ep->name.qpn = ep->ud->qp_num;
	memcpy(ep->name.gid, dom->dev.gid.raw, sizeof(ep->name.gid));
	for (size_t i = 0; i < MXEFI_RX_SIZE; i++)
		post_rx(&ep->rx[i], false);
	for (size_t i = 0; i < UD_RX; i++)
		post_rx(&ep->ud_rx[i], true);
	ep->reserved_cqe = need;
	dom->cqe_left -= need;
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

/*
 * Also cleans up after a failed setup. All requests in flight complete with
 * errors before the endpoint is freed.
 */
void mxefi_conn_teardown(struct mxefi_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct mxefi_conn *conn;

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
	if (ep->ud) {
		bool flushes = !ibv_modify_qp(ep->ud, &attr, IBV_QP_STATE);

		while (flushes && ep->ud_posted)
			mxefi_progress(ep->dom);
		ibv_destroy_qp(ep->ud);
	}
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
	free_wrs(ep);
	if (ep->slab_mr)
		ibv_dereg_mr(ep->slab_mr);
	free(ep->slab);
	free(ep->rx);
	free(ep->ud_rx);
	free(ep->by_addr);
	ep->dom->cqe_left += ep->reserved_cqe;
}
