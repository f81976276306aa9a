// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The queues of an endpoint: its UD queue pair, the SRQ of its connections with
 * the receive buffers, and its target of the dynamically connected (DC)
 * transport.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "ah.h"
#include "conn.h"
#include "container.h"
#include "dci.h"
#include "device.h"
#include "domain.h"
#include "ep.h"
#include "hello.h"
#include "match.h"
#include "peer.h"
#include "progress.h"
#include "provider.h"
#include "queues.h"
#include "route.h"
#include "sizes.h"
#include "ud.h"
#include "wire.h"
#include "wr.h"

#define LINGER_MS 1000
/*
 * Unexpected messages of this size, in bytes, stop the peers. Those in flight
 * exceed it, and the program has to receive as many before the peers go on.
 */
#define MAX_UNEXPECTED ((size_t)64 << 20)
/*
 * Bytes of messages that a peer still sends: those in its send queue when it
 * receives MXEFI_MSG_STOP, and as many before it handles that.
 */
#define IN_FLIGHT (2 * MXEFI_SQ_SIZE * (sizeof(struct mxefi_unexpected) + \
					MXEFI_BUF_SIZE))

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

/*
 * The bound for peers that do not stop. Without receive buffers, all of them
 * have to wait, and with them the requests behind their messages. The same size
 * again as what stops the peers leaves time for MXEFI_MSG_STOP.
 */
static size_t bound(const struct mxefi_ep *ep)
{
	return 2 * MAX_UNEXPECTED + ep->num_conns * IN_FLIGHT;
}

static void stop_peer(struct mxefi_conn *conn)
{
	struct mxefi_msg stop = { .type = MXEFI_MSG_STOP };

	if (conn->stops_peer)
		return;
	conn->stops_peer = true;
	conn->peer.ep->stops_peers = true;
	mxefi_conn_send(conn, conn->epoch, &stop, NULL, 0);
}

static void let_peers_go(struct mxefi_ep *ep)
{
	struct mxefi_msg go = { .type = MXEFI_MSG_GO };
	struct mxefi_conn *conn;

	ep->stops_peers = false;
	for (conn = ep->conns; conn; conn = conn->next) {
		if (!conn->stops_peer)
			continue;
		conn->stops_peer = false;
		mxefi_conn_send(conn, conn->epoch, &go, NULL, 0);
	}
}

/**
 * mxefi_queues_resume() - Post the receive buffers that were held.
 * @ep: endpoint
 *
 * To be called when an unexpected message has been freed.
 */
void mxefi_queues_resume(struct mxefi_ep *ep)
{
	if (ep->stops_peers && ep->unexpected_bytes < MAX_UNEXPECTED)
		let_peers_go(ep);
	while (ep->held && ep->unexpected_bytes < bound(ep)) {
		struct mxefi_rxbuf *rx = ep->held;

		ep->held = rx->next;
		post_rx(rx);
	}
}

static void take_message(struct mxefi_conn *conn, uint32_t number,
			 const struct mxefi_msg *msg, const uint8_t *data,
			 size_t len)
{
	struct mxefi_ep *ep = conn->peer.ep;
	bool is_current = conn->number == number;

	/* A peer sends nothing before. Nothing may refer to a guest. */
	if (!is_current && mxefi_conn_is_guest(conn))
		return;
	/* A request of the peer shows that it is connected. */
	if (is_current)
		mxefi_conn_confirm(conn);
	ep->on_message(conn, is_current ? conn->epoch : 0, msg, data, len);
	/* The peer, over DC, does not know that its epoch has ended. */
	if (!is_current && conn->state == MXEFI_CONN_IDLE)
		ep->connect(conn);
}

static void rx_done(struct mxefi_work *work, const struct ibv_wc *wc)
{
	struct mxefi_rxbuf *rx = container_of(work, struct mxefi_rxbuf, work);
	struct mxefi_ep *ep = rx->ep;
	struct mxefi_conn *conn;
	size_t unexpected = ep->unexpected_bytes;
	const struct mxefi_msg *msg = (const struct mxefi_msg *)rx->buf;
	bool is_dct;

	if (ep->closing)
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		post_rx(rx);
		return;
	}
	/* Neither is set if the queue pair was destroyed. */
	conn = mxefi_conn_by_qpn(ep, wc->qp_num);
	is_dct = ep->dct && wc->qp_num == ep->dct->dct_num;
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		const struct mxefi_msg access = {
			.type = MXEFI_MSG_ACCESS,
			.flags = MXEFI_MSG_HAS_DATA | MXEFI_MSG_WRITES,
			.data = be32toh(wc->imm_data),
			.len = wc->byte_len,
		};

		if (conn)
			mxefi_conn_confirm(conn);
		if (conn || is_dct)
			ep->on_access(ep, &access);
	} else if (wc->byte_len >= sizeof(*msg)) {
		if (is_dct)
			conn = mxefi_conn_by_token(ep, msg->token);
		if (msg->type == MXEFI_MSG_ACCESS && (conn || is_dct))
			ep->on_access(ep, msg);
		else if (conn)
			take_message(conn, is_dct ? msg->qpn : wc->qp_num, msg,
				     rx->buf + sizeof(*msg),
				     wc->byte_len - sizeof(*msg));
	}
	/* The program has to receive what is kept before it gets more. */
	if (ep->unexpected_bytes > unexpected &&
	    ep->unexpected_bytes >= MAX_UNEXPECTED)
		stop_peer(conn);
	if (ep->unexpected_bytes > unexpected &&
	    ep->unexpected_bytes >= bound(ep)) {
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

/*
 * Creates the DC target. The address of the endpoint contains its number and
 * its path MTU, and the access key is the id of the endpoint.
 */
static int open_dct(struct mxefi_ep *ep)
{
	struct mxefi_device *dev = &ep->dom->dev;
	struct ibv_exp_dct_init_attr attr = {
		.pd = ep->dom->pd,
		.cq = ep->dom->cq,
		.srq = ep->srq,
		.dc_key = ep->ud.name.id,
		.port = 1,
		.access_flags = mxefi_peer_access(ep),
		.min_rnr_timer = 1,
		.mtu = dev->port.active_mtu,
		.gid_index = dev->gid_index,
		.hop_limit = 64,
	};

	ep->dct = ibv_exp_create_dct(dev->ctx, &attr);
	if (!ep->dct) {
		int err = errno;

		mxefi_warn(FI_LOG_EP_CTRL, "cannot create a DC target: %s\n",
			   strerror(err));
		return -err;
	}
	ep->ud.name.dct |= (uint32_t)attr.mtu << MXEFI_DCT_MTU_SHIFT |
			   ep->dct->dct_num;
	return 0;
}

static void close_dct(struct mxefi_ep *ep)
{
	if (ep->dct)
		ibv_exp_destroy_dct(ep->dct);
	ep->dct = NULL;
}

/* Opens a DC target, and if DC is always used, the initiators. */
static int open_dc(struct mxefi_ep *ep)
{
	bool always = ep->dom->dc_mode == MXEFI_DC_ALWAYS;
	bool is_one_sided = mxefi_ep_is_one_sided(ep);
	int ret = 0;

	if (always && !ep->is_msg && !ep->dom->dev.has_dc) {
		mxefi_warn(FI_LOG_EP_CTRL,
			   "FI_MXE_DC is set, but device %s has no DC\n",
			   ibv_get_device_name(ep->dom->dev.ctx->device));
		return -FI_EOPNOTSUPP;
	}
	if (!mxefi_dci_may_use(ep))
		return 0;
	if (!is_one_sided || ep->caps & (FI_REMOTE_READ | FI_REMOTE_WRITE))
		ret = open_dct(ep);
	if (!always)
		return 0;
	if (!ret && (!is_one_sided || ep->caps & (FI_READ | FI_WRITE)))
		ret = mxefi_dci_open(ep);
	return ret;
}

/**
 * mxefi_queues_setup() - Create the queues of an endpoint.
 * @ep: endpoint
 *
 * Return: 0, or a negative error of libfabric. Then mxefi_queues_teardown() has
 * to be called, too.
 */
int mxefi_queues_setup(struct mxefi_ep *ep)
{
	struct mxefi_domain *dom = ep->dom;
	int need = MXEFI_RX_SIZE + MXEFI_TX_SIZE;
	int ret = mxefi_domain_reserve(dom, need);

	if (ret)
		return ret;
	ep->reserved_cqe = need;
	mxefi_hello_setup(ep);
	ep->answers_tail = &ep->answers;
	ret = mxefi_wr_setup(ep);
	if (!ret)
		ret = create_srq(ep);
	if (ep->caps & FI_RMA_EVENT)
		ep->ud.name.dct = MXEFI_DCT_EVENTS;
	if (!ret)
		ret = mxefi_ud_open(&ep->ud, dom);
	if (!ret)
		ret = open_dc(ep);
	if (ret) {
		mxefi_warn(FI_LOG_EP_CTRL, "cannot set up an endpoint: %s\n",
			   fi_strerror(-ret));
		return ret;
	}
	mxefi_progress_add_ticker(dom, &ep->ticker);
	mxefi_route_setup(ep);
	return 0;
}

static bool is_sending(const struct mxefi_ep *ep)
{
	const struct mxefi_conn *conn;

	for (conn = ep->conns; conn; conn = conn->next)
		if (conn->state == MXEFI_CONN_READY &&
		    (conn->peer.posted || conn->peer.answers ||
		     conn->peer.pending))
			return true;
	return ep->answers || ep->readers || mxefi_dci_is_sending(ep);
}

/*
 * Waits for requests in flight, such as FINs. If a FIN is lost, the peer
 * reports an error for a message that was received. Releases the lock of the
 * domain at times.
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

/**
 * mxefi_queues_teardown() - Close all connections and destroy the queues.
 * @ep: endpoint
 *
 * Also cleans up after a failed setup. All requests in flight complete with
 * errors before the endpoint is freed. If a queue pair cannot enter the error
 * state, they end when it has been destroyed.
 */
void mxefi_queues_teardown(struct mxefi_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct mxefi_conn *conn;

	for (conn = ep->conns; conn; conn = conn->next)
		if (conn->state == MXEFI_CONN_READY && !conn->is_shut)
			mxefi_conn_shutdown(conn);
	linger(ep);
	ep->closing = true;
	mxefi_progress_del_ticker(ep->dom, &ep->ticker);
	mxefi_route_teardown(ep);
	for (conn = ep->conns; conn; conn = conn->next) {
		bool flushes = conn->qp && !ibv_modify_qp(conn->qp, &attr,
							  IBV_QP_STATE);

		conn->state = MXEFI_CONN_BROKEN;
		mxefi_peer_fail_pending(&conn->peer, FI_ECANCELED);
		while (flushes && conn->peer.posted)
			mxefi_progress(ep->dom);
	}
	mxefi_conn_retry(ep);
	mxefi_dci_close(ep);
	close_dct(ep);
	mxefi_ud_close(&ep->ud);
	for (conn = ep->conns; conn; conn = conn->next) {
		if (conn->qp)
			ibv_destroy_qp(conn->qp);
		mxefi_ah_free(conn->ah);
	}
	/* Completions of receives, which are dropped. */
	mxefi_progress(ep->dom);
	if (ep->srq)
		ibv_destroy_srq(ep->srq);
	mxefi_wr_free_all(ep);
	while (ep->conns) {
		conn = ep->conns;
		ep->conns = conn->next;
		free(conn);
	}
	if (ep->slab_mr)
		ibv_dereg_mr(ep->slab_mr);
	free(ep->slab);
	free(ep->rx);
	ep->dom->cqe_left += ep->reserved_cqe;
}
