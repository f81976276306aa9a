// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections over RC: each has a queue pair, and all of an endpoint have the
 * same SRQ.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "ah.h"
#include "conn.h"
#include "container.h"
#include "device.h"
#include "domain.h"
#include "ep.h"
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

/**
 * mxefi_conn_by_qpn() - Find the connection of a queue pair.
 * @ep: endpoint
 * @qpn: number of a queue pair
 *
 * Return: the connection, or NULL if the queue pair was destroyed.
 */
struct mxefi_conn *mxefi_conn_by_qpn(struct mxefi_ep *ep, uint32_t qpn)
{
	struct mxefi_conn *conn = *qpn_bucket(ep, qpn);

	while (conn && conn->qp->qp_num != qpn)
		conn = conn->next_qpn;
	return conn;
}

static int open_qp(struct mxefi_conn *conn)
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
	conn->number = conn->qp->qp_num;
	ep->num_qps++;
	bucket = qpn_bucket(ep, conn->qp->qp_num);
	conn->next_qpn = *bucket;
	*bucket = conn;
	return 0;
}

static uint8_t rd_atomic(int max)
{
	return (uint8_t)(max < MXEFI_RD_ATOMIC ? max : MXEFI_RD_ATOMIC);
}

/* The kernel resolves the address when it connects a queue pair. */
static bool may_connect(struct mxefi_conn *conn)
{
	return mxefi_ah_refresh(conn->ah);
}

static int connect_qp(struct mxefi_conn *conn, const struct mxefi_hello *hello)
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
	return 0;
}

static void abort_qp(struct mxefi_conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	ibv_modify_qp(conn->qp, &attr, IBV_QP_STATE);
}

static bool is_drained(const struct mxefi_conn *conn)
{
	return !conn->peer.posted;
}

static void close_qp(struct mxefi_conn *conn)
{
	struct mxefi_conn **p = qpn_bucket(conn->peer.ep, conn->qp->qp_num);

	while (*p != conn)
		p = &(*p)->next_qpn;
	*p = conn->next_qpn;
	ibv_destroy_qp(conn->qp);
	conn->qp = NULL;
	conn->peer.ep->num_qps--;
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

const struct mxefi_transport mxefi_conn_rc = {
	.channel = {
		.has_conn = true,
		.ready = ready,
		.queued = mxefi_conn_queued,
		.post = post,
	},
	.open = open_qp,
	.may_connect = may_connect,
	.connect = connect_qp,
	.abort = abort_qp,
	.is_drained = is_drained,
	.close = close_qp,
};
