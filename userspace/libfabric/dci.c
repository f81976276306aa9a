// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Initiators of the dynamically connected (DC) transport. An endpoint has a few
 * for all peers that it reaches over DC: for one-sided operations without a
 * connection, and for connections (conn_dc.c).
 *
 * All requests to a peer use one initiator, so their order is that of a
 * connection. The device sends a request to another target only when all
 * earlier requests of the initiator are acknowledged. When a request fails, the
 * initiator is in error, and flushes the others. Those of the same peer may
 * have been executed, and fail, too. Those of other peers were not sent, and
 * are posted again, in order, when the initiator has been reset.
 *
 * A peer that does not answer holds up the others for the time of the retries.
 * After the first time, it has the spare initiator, until a request succeeds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ah.h"
#include "conn.h"
#include "container.h"
#include "dci.h"
#include "device.h"
#include "domain.h"
#include "ep.h"
#include "peer.h"
#include "progress.h"
#include "provider.h"
#include "sizes.h"
#include "wire.h"
#include "wr.h"

#define SQ_SIZE 64	/* requests of an initiator */
#define HOST_HASH 256	/* buckets for hosts */
#define BROKEN_MS 100	/* until the requests of a broken connection end */

/* The address handle of all peers with a GID. */
struct dc_host {
	struct dc_host *next;
	struct mxefi_dcis *dcis;
	uint8_t gid[16];
	struct mxefi_ah *ah;
	unsigned int num_peers;
	uint64_t since_ms;	/* requests wait for it; 0: none */
};

/* The state of a peer that is reached over DC. */
struct mxefi_dc {
	struct mxefi_peer *peer;
	struct mxefi_dc *next;
	struct dc_host *host;
	struct dci *dci;		/* the home, or the spare initiator */
	struct dci *home;
	struct mxefi_dc *next_waiting;
	bool waits;			/* is in the list of an initiator */
	unsigned int flushed;		/* its requests in dci->flushed */
	bool is_slow;			/* its last request timed out */
};

/* An initiator. */
struct dci {
	struct mxefi_dcis *dcis;
	struct ibv_qp *qp;
	unsigned int posted;		/* requests in the send queue */
	unsigned int peers;		/* whose requests these are */
	/* These requests, in the order in which they will complete. */
	struct mxefi_wr *sent, **sent_tail;
	/* Peers whose requests wait for room in the send queue. */
	struct mxefi_dc *waiting, **waiting_tail;
	/* The peer whose request has failed, until the initiator is reset. */
	struct mxefi_dc *failed;
	/* The peer that holds up others, while its requests are aborted. */
	struct mxefi_dc *aborted;
	struct mxefi_wr *flushed;	/* of the other peers, the last first */
	uint64_t completions;
	uint64_t seen;			/* completions at since_ms */
	uint64_t since_ms;
};

/* The initiators of an endpoint, and the peers that they serve. */
struct mxefi_dcis {
	struct mxefi_ep *ep;
	struct mxefi_ticker ticker;
	struct mxefi_dc *peers;
	bool has_removed;		/* peers without addresses */
	struct dc_host *hosts[HOST_HASH];
	unsigned int next_home;
	int reserved_cqe;
	unsigned int num;		/* without the spare one, the last */
	struct dci dci[];
};

static struct dci *spare_of(struct mxefi_dcis *dcis)
{
	return &dcis->dci[dcis->num];
}

/* ---- queue pairs ------------------------------------------------------- */

static int create_qp(struct dci *dci)
{
	struct mxefi_domain *dom = dci->dcis->ep->dom;
	struct ibv_exp_qp_init_attr attr = {
		.send_cq = dom->cq,
		.recv_cq = dom->cq,
		.cap = {
			.max_send_wr = SQ_SIZE,
			.max_send_sge = MXEFI_IOV_LIMIT,
		},
		.qp_type = IBV_EXP_QPT_DC_INI,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD,
		.pd = dom->pd,
	};

	mxefi_device_ask_atomics(&dom->dev, &attr);
	dci->qp = ibv_exp_create_qp(dom->dev.ctx, &attr);
	return dci->qp ? 0 : -errno;
}

/* Makes an initiator ready that is in RESET. Returns 0 or a negative error. */
static int start_qp(struct dci *dci)
{
	const struct mxefi_device *dev = &dci->dcis->ep->dom->dev;
	int reads = dev->attr.max_qp_init_rd_atom;
	struct ibv_exp_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.path_mtu = dev->port.active_mtu,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = (uint8_t)(reads < 16 ? reads : 16),
	};

	if (ibv_exp_modify_qp(dci->qp, &attr,
			      IBV_EXP_QP_STATE | IBV_EXP_QP_PKEY_INDEX |
			      IBV_EXP_QP_PORT | IBV_EXP_QP_DC_KEY))
		return -FI_EIO;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_exp_modify_qp(dci->qp, &attr,
			      IBV_EXP_QP_STATE | IBV_EXP_QP_PATH_MTU))
		return -FI_EIO;
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_exp_modify_qp(dci->qp, &attr,
			      IBV_EXP_QP_STATE | IBV_EXP_QP_TIMEOUT |
			      IBV_EXP_QP_RETRY_CNT | IBV_EXP_QP_RNR_RETRY |
			      IBV_EXP_QP_MAX_QP_RD_ATOMIC))
		return -FI_EIO;
	return 0;
}

static int set_state(struct dci *dci, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(dci->qp, &attr, IBV_QP_STATE);
}

/* True while its requests are flushed. */
static bool is_down(const struct dci *dci)
{
	return dci->failed || dci->aborted;
}

/* ---- peers that wait --------------------------------------------------- */

static void wait_for_room(struct mxefi_dc *dp)
{
	struct dci *dci = dp->dci;

	if (dp->waits)
		return;
	dp->waits = true;
	dp->next_waiting = NULL;
	*dci->waiting_tail = dp;
	dci->waiting_tail = &dp->next_waiting;
}

/**
 * mxefi_dci_withdraw() - Forget that a peer waits for room.
 * @peer: peer without requests that are queued
 */
void mxefi_dci_withdraw(struct mxefi_peer *peer)
{
	struct mxefi_dc *dp = peer->dc, **p = &dp->dci->waiting;

	if (!dp->waits)
		return;
	while (*p != dp)
		p = &(*p)->next_waiting;
	*p = dp->next_waiting;
	if (!*p)
		dp->dci->waiting_tail = p;
	dp->waits = false;
}

/* Lets peers post that wait, each until the send queue is full. */
static void serve(struct dci *dci)
{
	while (dci->waiting && !is_down(dci) && dci->posted < SQ_SIZE) {
		struct mxefi_dc *dp = dci->waiting;

		dci->waiting = dp->next_waiting;
		if (!dci->waiting)
			dci->waiting_tail = &dci->waiting;
		dp->waits = false;
		mxefi_peer_flush(dp->peer);
	}
}

static bool has_queued(const struct mxefi_peer *peer)
{
	return peer->answers || peer->pending;
}

/**
 * mxefi_dci_ready() - Implement ready() of channels over DC.
 * @peer: peer
 *
 * Return: true if a request can be posted now.
 */
bool mxefi_dci_ready(struct mxefi_peer *peer)
{
	struct mxefi_dc *dp = peer->dc;

	if (peer->ep->dom->lost)
		return false;
	if (!mxefi_ah_get(dp->host->ah)) {
		if (!dp->host->since_ms)
			dp->host->since_ms = mxefi_now_ms();
		return false;
	}
	if (!is_down(dp->dci) && dp->dci->posted < SQ_SIZE)
		return true;
	wait_for_room(dp);
	return false;
}

/* ---- failures ---------------------------------------------------------- */

/* A request has failed. What the program has not posted yet fails, too. */
static void fail(struct dci *dci, struct mxefi_dc *dp, int err)
{
	dci->failed = dp;
	/* It did not answer. */
	dp->is_slow = err == FI_ECONNABORTED;
	mxefi_info(FI_LOG_EP_CTRL, "requests to DC target %u failed: %s\n",
		   dp->peer->addr.dct & MXEFI_DCT_NUMBER, fi_strerror(err));
	dp->peer->channel->failed(dp->peer, FI_ECONNABORTED);
}

/* A peer that does not answer gets the spare initiator. */
static void use_spare(struct mxefi_dc *dp)
{
	mxefi_dci_withdraw(dp->peer);
	dp->dci = spare_of(dp->dci->dcis);
	if (has_queued(dp->peer)) {
		wait_for_room(dp);
		serve(dp->dci);
	}
}

/* All requests of an initiator in error have completed. */
static void restart(struct dci *dci)
{
	bool good = !set_state(dci, IBV_QPS_RESET) && !start_qp(dci);
	struct mxefi_dc *failed = dci->failed;

	dci->failed = NULL;
	dci->aborted = NULL;
	if (failed && failed->is_slow)
		use_spare(failed);
	if (!good)
		mxefi_warn(FI_LOG_EP_CTRL, "cannot reset a DC initiator\n");
	while (dci->flushed) {
		struct mxefi_wr *wr = dci->flushed;

		dci->flushed = wr->next;
		wr->peer->dc->flushed--;
		if (good && !wr->peer->is_broken) {
			mxefi_wr_requeue(wr);
			wait_for_room(wr->peer->dc);
		} else {
			mxefi_wr_end(wr, good ? FI_ECONNABORTED : FI_EIO);
		}
	}
}

/* True if requests of another peer wait for the one that is in flight. */
static bool holds_up(const struct dci *dci)
{
	const struct mxefi_dc *dp;

	if (dci->peers > 1)
		return true;
	for (dp = dci->waiting; dp; dp = dp->next_waiting)
		if (!dp->peer->posted)
			return true;
	return false;
}

/* ---- hosts ------------------------------------------------------------- */

/* The address handle is ready: all peers can connect, and post requests. */
static void resolved(void *arg)
{
	struct dc_host *host = arg;
	struct mxefi_dc *dp;

	host->since_ms = 0;
	for (dp = host->dcis->peers; dp; dp = dp->next) {
		if (dp->host != host)
			continue;
		if (dp->peer->channel->has_conn)
			dp->peer->ep->on_resolved(to_conn(dp->peer));
		if (!has_queued(dp->peer))
			continue;
		wait_for_room(dp);
		serve(dp->dci);
	}
}

/**
 * mxefi_dci_is_resolved() - Check whether the address of a peer is resolved.
 * @peer: peer
 *
 * Return: true if the address of the peer's host is resolved. If not, this
 * begins, and at its end on_resolved() is called for each connection to a peer
 * of that host.
 */
bool mxefi_dci_is_resolved(const struct mxefi_peer *peer)
{
	return mxefi_ah_get(peer->dc->host->ah);
}

/* Tries again to reach a host, or gives up. */
static void check_host(struct dc_host *host, uint64_t now)
{
	struct mxefi_dc *dp;

	if (!host->since_ms || mxefi_ah_get(host->ah) ||
	    mxefi_elapsed_ms(now, host->since_ms) <=
	    host->dcis->ep->dom->connect_timeout_ms)
		return;
	host->since_ms = 0;
	for (dp = host->dcis->peers; dp; dp = dp->next)
		if (dp->host == host)
			dp->peer->channel->failed(dp->peer, FI_EHOSTUNREACH);
}

static void check_hosts(struct mxefi_dcis *dcis, uint64_t now)
{
	for (size_t i = 0; i < HOST_HASH; i++)
		for (struct dc_host *h = dcis->hosts[i]; h; h = h->next)
			check_host(h, now);
}

/* ---- initiators that are held up --------------------------------------- */

/*
 * Aborts the requests of the peer that the initiator waits for. In SQD, the
 * device begins no request. So if this one completes before the initiator is in
 * error, those of the next peer have still not been sent, and are posted again.
 * In a device without that state, they may have been sent, and fail.
 */
static void abort_requests(struct dci *dci)
{
	bool is_drained = !set_state(dci, IBV_QPS_SQD);

	if (is_drained) {
		mxefi_progress(dci->dcis->ep->dom);
		if (!dci->sent || dci->completions != dci->seen) {
			set_state(dci, IBV_QPS_RTS);
			return;
		}
		dci->aborted = dci->sent->peer->dc;
	}
	if (set_state(dci, IBV_QPS_ERR) && is_drained) {
		dci->aborted = NULL;
		set_state(dci, IBV_QPS_RTS);
	}
}

/*
 * True if the request that an initiator waits for is to be aborted. A target
 * without receive buffers makes it wait, maybe forever if its process is
 * stopped. Other peers must not wait as long, nor the end of a broken
 * connection.
 */
static bool is_overdue(const struct dci *dci, uint64_t waited_ms)
{
	if (dci->sent->peer->is_broken)
		return waited_ms > BROKEN_MS;
	return waited_ms > dci->dcis->ep->dom->connect_timeout_ms;
}

/* ---- requests ---------------------------------------------------------- */

static void wr_failed(struct dci *dci, struct mxefi_wr *wr,
		      const struct ibv_wc *wc)
{
	const struct mxefi_dc *first = dci->failed ? : dci->aborted;
	int err;

	/* Behind a request of another peer, so it was not sent. */
	if (first && first->peer != wr->peer &&
	    wc->status == IBV_WC_WR_FLUSH_ERR) {
		wr->next = dci->flushed;
		dci->flushed = wr;
		wr->peer->dc->flushed++;
		return;
	}
	err = mxefi_wr_error(wr, wc);
	if (!dci->failed && !dci->dcis->ep->closing)
		fail(dci, wr->peer->dc, err);
	mxefi_wr_end(wr, err);
}

/* A peer that answers leaves the spare initiator, when that keeps the order. */
static void succeeded(struct mxefi_dc *dp)
{
	dp->is_slow = false;
	if (dp->dci != dp->home && !dp->peer->posted &&
	    !has_queued(dp->peer) && !dp->waits)
		dp->dci = dp->home;
}

static void add_sent(struct dci *dci, struct mxefi_wr *wr)
{
	wr->next = NULL;
	*dci->sent_tail = wr;
	dci->sent_tail = &wr->next;
	dci->posted++;
}

/* Removes the first request, which has completed. */
static struct mxefi_wr *take_sent(struct dci *dci)
{
	struct mxefi_wr *wr = dci->sent;

	dci->sent = wr->next;
	if (!dci->sent)
		dci->sent_tail = &dci->sent;
	dci->posted--;
	wr->posted = false;
	return wr;
}

static void wr_done(struct mxefi_work *work, const struct ibv_wc *wc)
{
	struct mxefi_wr *wr = container_of(work, struct mxefi_wr, work);
	struct mxefi_dc *dp = wr->peer->dc;
	struct dci *dci = dp->dci;

	dci->completions++;
	take_sent(dci);
	if (!--dp->peer->posted)
		dci->peers--;
	if (wc->status == IBV_WC_SUCCESS) {
		mxefi_wr_end(wr, 0);
		succeeded(dp);
	} else {
		wr_failed(dci, wr, wc);
	}
	if (dci->dcis->ep->closing)
		return;
	if (is_down(dci) && !dci->posted && !dci->dcis->ep->dom->lost)
		restart(dci);
	serve(dci);
	/*
	 * A loop may have held them back. The peer may have another initiator
	 * now.
	 */
	if (has_queued(dp->peer)) {
		wait_for_room(dp);
		serve(dp->dci);
	}
	if (dci->dcis->ep->answers || dci->dcis->ep->readers)
		mxefi_conn_retry(dci->dcis->ep);
}

/* Makes a request of the experimental verbs, which can name a target. */
static void convert(struct mxefi_wr *wr)
{
	const struct ibv_send_wr *from = &wr->wr;
	struct ibv_exp_send_wr *to = &wr->masked;

	/* The values are the same. */
	to->exp_opcode = (enum ibv_exp_wr_opcode)from->opcode;
	to->exp_send_flags = IBV_EXP_SEND_SIGNALED;
	to->num_sge = from->num_sge;
	to->ex.imm_data = from->imm_data;
	if (from->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    from->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		to->wr.atomic.remote_addr = from->wr.atomic.remote_addr;
		to->wr.atomic.compare_add = from->wr.atomic.compare_add;
		to->wr.atomic.swap = from->wr.atomic.swap;
		to->wr.atomic.rkey = from->wr.atomic.rkey;
	} else {
		to->wr.rdma.remote_addr = from->wr.rdma.remote_addr;
		to->wr.rdma.rkey = from->wr.rdma.rkey;
	}
}

/**
 * mxefi_dci_post() - Implement post() of channels over DC.
 * @wr: request
 *
 * Return: 0, or an error and it is not posted.
 */
int mxefi_dci_post(struct mxefi_wr *wr)
{
	struct mxefi_dc *dp = wr->peer->dc;
	struct ibv_exp_send_wr *bad;
	int ret;

	if (!wr->is_masked)
		convert(wr);
	wr->masked.dc.ah = mxefi_ah_get(dp->host->ah);
	wr->masked.dc.dct_number = dp->peer->addr.dct & MXEFI_DCT_NUMBER;
	wr->masked.dc.dct_access_key = dp->peer->addr.id;
	wr->work.done = wr_done;
	ret = ibv_exp_post_send(dp->dci->qp, &wr->masked, &bad);
	if (ret)
		return ret;
	add_sent(dp->dci, wr);
	if (dp->peer->posted == 1)
		dp->dci->peers++;
	return 0;
}

/* ---- peers ------------------------------------------------------------- */

/**
 * mxefi_dci_may_use() - Check whether an endpoint may use DC.
 * @ep: endpoint
 *
 * Return: true if it may.
 */
bool mxefi_dci_may_use(const struct mxefi_ep *ep)
{
	return !ep->is_msg && ep->dom->dev.has_dc &&
	       ep->dom->dc_mode != MXEFI_DC_NEVER;
}

static unsigned int target_mtu(const struct mxefi_addr *addr)
{
	return (addr->dct & MXEFI_DCT_MTU) >> MXEFI_DCT_MTU_SHIFT;
}

/**
 * mxefi_dci_reaches() - Check whether an endpoint can use DC to an address.
 * @ep: endpoint
 * @addr: address
 *
 * Return: true if it has a DC target whose path MTU is not smaller than ours.
 */
bool mxefi_dci_reaches(const struct mxefi_ep *ep,
		       const struct mxefi_addr *addr)
{
	return mxefi_dci_may_use(ep) &&
	       target_mtu(addr) >= ep->dom->dev.port.active_mtu;
}

/**
 * mxefi_dci_is_mutual() - Check whether two endpoints can use DC both ways.
 * @ep: endpoint
 * @addr: address of the other one
 *
 * Return: true if both have DC targets of the same path MTU.
 */
bool mxefi_dci_is_mutual(const struct mxefi_ep *ep,
			 const struct mxefi_addr *addr)
{
	return mxefi_dci_reaches(ep, addr) && ep->dct &&
	       target_mtu(addr) == target_mtu(&ep->ud.name);
}

static struct dc_host **host_bucket(struct mxefi_dcis *dcis,
				    const uint8_t gid[16])
{
	return &dcis->hosts[gid[15] % HOST_HASH];
}

/* Finds or makes a host. Returns NULL if memory is short. */
static struct dc_host *find_host(struct mxefi_dcis *dcis,
				 const struct mxefi_addr *addr)
{
	struct dc_host **bucket = host_bucket(dcis, addr->gid);
	struct dc_host *host;

	for (host = *bucket; host; host = host->next)
		if (!memcmp(host->gid, addr->gid, sizeof(host->gid)))
			return host;
	host = calloc(1, sizeof(*host));
	if (!host)
		return NULL;
	host->dcis = dcis;
	host->ah = mxefi_ah_new(dcis->ep->dom, addr->gid, resolved, host);
	if (!host->ah) {
		free(host);
		return NULL;
	}
	memcpy(host->gid, addr->gid, sizeof(host->gid));
	host->next = *bucket;
	*bucket = host;
	return host;
}

/* A forged hello can name any host, so those without peers are not kept. */
static void put_host(struct dc_host *host)
{
	struct dc_host **p = host_bucket(host->dcis, host->gid);

	if (host->num_peers)
		return;
	while (*p != host)
		p = &(*p)->next;
	*p = host->next;
	mxefi_ah_free(host->ah);
	free(host);
}

/**
 * mxefi_dci_attach() - Let the initiators serve a peer.
 * @peer: peer of an endpoint with initiators, whose address has a DC target
 *
 * Return: 0 or -FI_ENOMEM.
 */
int mxefi_dci_attach(struct mxefi_peer *peer)
{
	struct mxefi_dcis *dcis = peer->ep->dcis;
	struct dc_host *host = find_host(dcis, &peer->addr);
	struct mxefi_dc *dp;

	if (!host)
		return -FI_ENOMEM;
	dp = calloc(1, sizeof(*dp));
	if (!dp) {
		put_host(host);
		return -FI_ENOMEM;
	}
	host->num_peers++;
	dp->peer = peer;
	dp->host = host;
	dp->home = &dcis->dci[dcis->next_home++ % dcis->num];
	dp->dci = dp->home;
	dp->next = dcis->peers;
	dcis->peers = dp;
	peer->dc = dp;
	return 0;
}

/**
 * mxefi_dci_is_drained() - Check whether a peer has no requests in flight.
 * @peer: peer
 *
 * Return: true if none is in flight or is to be posted again.
 */
bool mxefi_dci_is_drained(const struct mxefi_peer *peer)
{
	const struct mxefi_dc *dp = peer->dc;

	return !peer->posted && !dp->flushed && dp->dci->failed != dp &&
	       dp->dci->aborted != dp;
}

/**
 * mxefi_dci_detach() - Undo mxefi_dci_attach().
 * @peer: peer that is drained, or is not attached
 */
void mxefi_dci_detach(struct mxefi_peer *peer)
{
	struct mxefi_dc *dp = peer->dc, **p;

	if (!dp)
		return;
	mxefi_dci_withdraw(peer);
	for (p = &dp->dci->dcis->peers; *p != dp; p = &(*p)->next)
		;
	*p = dp->next;
	dp->host->num_peers--;
	put_host(dp->host);
	free(dp);
	peer->dc = NULL;
}

/* ---- peers without a connection ---------------------------------------- */

static const struct mxefi_channel channel = {
	.ready = mxefi_dci_ready,
	.queued = mxefi_peer_flush,
	.post = mxefi_dci_post,
	.failed = mxefi_peer_fail_pending,
};

/*
 * Two addresses that only differ in what DC does not use must be one peer, as
 * the device does not tell them apart.
 */
static struct mxefi_addr to_target(const struct mxefi_addr *addr)
{
	struct mxefi_addr target = *addr;

	target.qpn = 0;
	target.dct &= MXEFI_DCT_NUMBER;
	return target;
}

/**
 * mxefi_dci_find() - Find a peer with a DC target and without a connection.
 * @ep: endpoint
 * @addr: address with the target
 *
 * Return: the peer, or NULL.
 */
struct mxefi_peer *mxefi_dci_find(struct mxefi_ep *ep,
				  const struct mxefi_addr *addr)
{
	struct mxefi_addr target = to_target(addr);

	return mxefi_peer_find(ep, false, &target);
}

/**
 * mxefi_dci_add() - Add such a peer.
 * @ep: endpoint with initiators
 * @addr: address with the target
 *
 * Return: the peer, or NULL if memory is short.
 */
struct mxefi_peer *mxefi_dci_add(struct mxefi_ep *ep,
				 const struct mxefi_addr *addr)
{
	struct mxefi_addr target = to_target(addr);
	struct mxefi_peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	mxefi_peer_add(peer, &channel, ep, &target);
	peer->wants_events = addr->dct & MXEFI_DCT_EVENTS;
	if (mxefi_dci_attach(peer)) {
		mxefi_peer_remove(peer);
		free(peer);
		return NULL;
	}
	return peer;
}

/* Those of connections are freed with them. */
static void free_peer(struct mxefi_peer *peer)
{
	mxefi_dci_detach(peer);
	if (peer->channel->has_conn)
		return;
	mxefi_peer_remove(peer);
	free(peer);
}

/**
 * mxefi_dci_remove() - Free such a peer as soon as it has no requests.
 * @peer: peer without addresses, which may get one before
 */
void mxefi_dci_remove(struct mxefi_peer *peer)
{
	peer->ep->dcis->has_removed = true;
}

static void free_removed(struct mxefi_dcis *dcis)
{
	struct mxefi_dc *dp, *next;

	dcis->has_removed = false;
	for (dp = dcis->peers; dp; dp = next) {
		next = dp->next;
		if (dp->peer->num_addrs || dp->peer->channel->has_conn)
			continue;
		if (has_queued(dp->peer) || !mxefi_dci_is_drained(dp->peer))
			dcis->has_removed = true;
		else
			free_peer(dp->peer);
	}
}

/* ---- the end of all requests ------------------------------------------- */

/* Ends the requests that were to be posted again. */
static void end_flushed(struct dci *dci, int err)
{
	while (dci->flushed) {
		struct mxefi_wr *wr = dci->flushed;

		dci->flushed = wr->next;
		wr->peer->dc->flushed--;
		mxefi_wr_end(wr, err);
	}
}

/**
 * mxefi_dci_end_all() - End all requests, because the device was removed.
 * @ep: endpoint, which need not have initiators
 */
void mxefi_dci_end_all(struct mxefi_ep *ep)
{
	const struct ibv_wc wc = { .status = IBV_WC_FATAL_ERR };
	struct mxefi_dcis *dcis = ep->dcis;

	if (!dcis)
		return;
	for (struct mxefi_dc *dp = dcis->peers; dp; dp = dp->next)
		mxefi_peer_fail_pending(dp->peer, FI_ENODEV);
	for (unsigned int i = 0; i <= dcis->num; i++) {
		while (dcis->dci[i].posted) {
			struct mxefi_work *work = &dcis->dci[i].sent->work;

			work->done(work, &wc);
		}
		end_flushed(&dcis->dci[i], FI_ENODEV);
	}
	for (struct mxefi_dc *dp = dcis->peers; dp; dp = dp->next)
		mxefi_peer_fail_pending(dp->peer, FI_ENODEV);
}

/* ---- the initiators of an endpoint ------------------------------------- */

static void tick(struct mxefi_ticker *ticker, uint64_t now)
{
	struct mxefi_dcis *dcis = container_of(ticker, struct mxefi_dcis,
					       ticker);

	if (dcis->ep->dom->lost)
		return;
	check_hosts(dcis, now);
	if (dcis->has_removed)
		free_removed(dcis);
	for (unsigned int i = 0; i <= dcis->num; i++) {
		struct dci *dci = &dcis->dci[i];

		if (!dci->posted || dci->completions != dci->seen ||
		    !(holds_up(dci) || dci->sent->peer->is_broken)) {
			dci->seen = dci->completions;
			dci->since_ms = now;
		} else if (is_overdue(dci,
				      mxefi_elapsed_ms(now, dci->since_ms))) {
			dci->since_ms = now;
			abort_requests(dci);
		}
	}
}

/**
 * mxefi_dci_open() - Create the DC initiators of an endpoint, unless it has
 * them.
 * @ep: endpoint
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_dci_open(struct mxefi_ep *ep)
{
	unsigned int num = ep->dom->num_dcis;
	int need = (int)(num + 1) * SQ_SIZE, ret;
	struct mxefi_dcis *dcis;

	if (ep->dcis)
		return 0;
	ret = mxefi_domain_reserve(ep->dom, need);
	if (ret)
		return ret;
	dcis = calloc(1, sizeof(*dcis) + (num + 1) * sizeof(dcis->dci[0]));
	if (!dcis) {
		ep->dom->cqe_left += need;
		return -FI_ENOMEM;
	}
	ep->dcis = dcis;
	dcis->ep = ep;
	dcis->num = num;
	dcis->reserved_cqe = need;
	for (unsigned int i = 0; i <= num && !ret; i++) {
		dcis->dci[i].dcis = dcis;
		dcis->dci[i].waiting_tail = &dcis->dci[i].waiting;
		dcis->dci[i].sent_tail = &dcis->dci[i].sent;
		ret = create_qp(&dcis->dci[i]);
		if (!ret)
			ret = start_qp(&dcis->dci[i]);
	}
	if (ret) {
		mxefi_warn(FI_LOG_EP_CTRL,
			   "cannot create %u DC initiators: %s\n", num + 1,
			   fi_strerror(-ret));
		mxefi_dci_close(ep);
		return ret;
	}
	dcis->ticker.tick = tick;
	mxefi_progress_add_ticker(ep->dom, &dcis->ticker);
	return 0;
}

/**
 * mxefi_dci_is_sending() - Check whether DC requests are in flight.
 * @ep: endpoint
 *
 * Return: true if some are, or wait for it.
 */
bool mxefi_dci_is_sending(const struct mxefi_ep *ep)
{
	for (unsigned int i = 0; ep->dcis && i <= ep->dcis->num; i++)
		if (ep->dcis->dci[i].posted || ep->dcis->dci[i].waiting)
			return true;
	return false;
}

static void close_qp(struct dci *dci)
{
	struct mxefi_domain *dom = dci->dcis->ep->dom;
	bool flushes = !set_state(dci, IBV_QPS_ERR);

	while (flushes && dci->posted)
		mxefi_progress(dom);
	end_flushed(dci, FI_ECANCELED);
	ibv_destroy_qp(dci->qp);
	/* Handle the requests that it has completed, then end the others. */
	mxefi_progress(dom);
	while (dci->posted)
		mxefi_wr_end(take_sent(dci), FI_ECANCELED);
}

/**
 * mxefi_dci_close() - End all requests and destroy the DC initiators.
 * @ep: endpoint, which is closing or has no requests
 */
void mxefi_dci_close(struct mxefi_ep *ep)
{
	struct mxefi_dcis *dcis = ep->dcis;

	if (!dcis)
		return;
	mxefi_progress_del_ticker(ep->dom, &dcis->ticker);
	for (struct mxefi_dc *dp = dcis->peers; dp; dp = dp->next)
		mxefi_peer_fail_pending(dp->peer, FI_ECANCELED);
	for (unsigned int i = 0; i <= dcis->num; i++)
		if (dcis->dci[i].qp)
			close_qp(&dcis->dci[i]);
	while (dcis->peers)
		free_peer(dcis->peers->peer);
	ep->dom->cqe_left += dcis->reserved_cqe;
	free(dcis);
	ep->dcis = NULL;
}
