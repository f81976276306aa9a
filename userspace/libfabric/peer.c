// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers, and the requests that wait for them. A channel (conn_rc.c, conn_dc.c,
 * dci.c) posts the requests of a peer, one after the other.
 */
#include <string.h>

#include "domain.h"
#include "ep.h"
#include "op.h"
#include "peer.h"
#include "provider.h"
#include "wire.h"
#include "wr.h"

/* ---- the peers of an endpoint ------------------------------------------ */

/* The lowest bit of an id is always set. */
static struct mxefi_peer **id_bucket(struct mxefi_ep *ep, uint64_t id)
{
	return &ep->by_id[id / 2 % MXEFI_CONN_HASH];
}

/**
 * mxefi_peer_add() - Initialise a peer and add it to those of an endpoint.
 * @peer: peer, all zeros
 * @channel: its channel
 * @ep: endpoint
 * @addr: address of the peer
 */
void mxefi_peer_add(struct mxefi_peer *peer,
		    const struct mxefi_channel *channel, struct mxefi_ep *ep,
		    const struct mxefi_addr *addr)
{
	struct mxefi_peer **bucket = id_bucket(ep, addr->id);

	peer->channel = channel;
	peer->ep = ep;
	peer->addr = *addr;
	peer->answers_tail = &peer->answers;
	peer->pending_tail = &peer->pending;
	peer->next_id = *bucket;
	*bucket = peer;
}

/**
 * mxefi_peer_remove() - Remove a peer from those of its endpoint.
 * @peer: peer
 */
void mxefi_peer_remove(struct mxefi_peer *peer)
{
	struct mxefi_peer **p = id_bucket(peer->ep, peer->addr.id);

	while (*p != peer)
		p = &(*p)->next_id;
	*p = peer->next_id;
}

/**
 * mxefi_peer_find() - Find a peer by its address.
 * @ep: endpoint
 * @has_conn: true for a peer with a connection
 * @addr: address
 *
 * Return: the peer, or NULL.
 */
struct mxefi_peer *mxefi_peer_find(struct mxefi_ep *ep, bool has_conn,
				   const struct mxefi_addr *addr)
{
	struct mxefi_peer *peer = *id_bucket(ep, addr->id);

	while (peer && (peer->channel->has_conn != has_conn ||
			memcmp(&peer->addr, addr, sizeof(*addr))))
		peer = peer->next_id;
	return peer;
}

/**
 * mxefi_peer_access() - Get the rights that the capabilities give to all peers.
 * @ep: endpoint
 *
 * Return: access flags of its queue pairs (IBV_ACCESS_*).
 */
unsigned int mxefi_peer_access(const struct mxefi_ep *ep)
{
	uint64_t caps = ep->caps;
	unsigned int access = 0;

	if (caps & FI_RMA && caps & FI_REMOTE_READ)
		access |= IBV_ACCESS_REMOTE_READ;
	if (caps & FI_RMA && caps & FI_REMOTE_WRITE)
		access |= IBV_ACCESS_REMOTE_WRITE;
	if (caps & FI_ATOMIC && caps & (FI_REMOTE_READ | FI_REMOTE_WRITE) &&
	    ep->dom->dev.sizes)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	/* Peers read the data of long messages. */
	if (caps & (FI_MSG | FI_TAGGED) && caps & FI_SEND)
		access |= IBV_ACCESS_REMOTE_READ;
	return access;
}

/* ---- completions ------------------------------------------------------- */

static int status_to_err(enum ibv_wc_status status)
{
	switch (status) {
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
	case IBV_WC_FATAL_ERR:
		return FI_ENODEV;
	default:
		return FI_ECONNABORTED;
	}
}

/**
 * mxefi_wr_error() - Note and log why a request has failed.
 * @wr: request
 * @wc: its completion
 *
 * Return: an errno of libfabric.
 */
int mxefi_wr_error(struct mxefi_wr *wr, const struct ibv_wc *wc)
{
	int err = status_to_err(wc->status);

	if (wr->peer->ep->closing)
		return err;
	mxefi_info(FI_LOG_EP_DATA, "request failed: %s\n",
		   ibv_wc_status_str(wc->status));
	/* The other requests of the operation only report the abort. */
	if (wr->op && !wr->op->err)
		wr->op->err = err;
	if (wr->recv && !wr->recv->err)
		wr->recv->err = err;
	return err;
}

/**
 * mxefi_wr_end() - Complete a request, which may be posted again instead.
 * @wr: request that is not in the send queue
 * @err: errno of libfabric, or 0
 */
void mxefi_wr_end(struct mxefi_wr *wr, int err)
{
	if (wr->complete(wr, err))
		mxefi_wr_free(wr);
}

static void fail(struct mxefi_wr *wr, int err)
{
	while (wr) {
		struct mxefi_wr *next = wr->next;

		mxefi_wr_end(wr, err);
		wr = next;
	}
}

/**
 * mxefi_peer_fail_pending() - Complete the requests that were not posted.
 * @peer: peer
 * @err: errno of libfabric
 */
void mxefi_peer_fail_pending(struct mxefi_peer *peer, int err)
{
	struct mxefi_wr *answers = peer->answers, *pending = peer->pending;

	peer->answers = NULL;
	peer->answers_tail = &peer->answers;
	peer->pending = NULL;
	peer->pending_tail = &peer->pending;
	fail(answers, err);
	fail(pending, err);
}

/* ---- posting ----------------------------------------------------------- */

static void post(struct mxefi_wr *wr)
{
	struct mxefi_peer *peer = wr->peer;

	peer->posted++;
	wr->posted = true;
	if (peer->channel->post(wr)) {
		peer->posted--;
		wr->posted = false;
		mxefi_wr_end(wr, FI_EIO);
	}
}

/*
 * True if the operation has a fence, and an earlier one has not ended. Requests
 * are posted in order, so the operations that have begun are the earlier ones.
 * Answers do not wait: the fence of a peer may wait for them.
 */
static bool is_fenced(const struct mxefi_wr *wr)
{
	return wr->op && wr->op->fence && !wr->op->begun && wr->peer->begun;
}

/* Posts a request of an operation. */
static void begin(struct mxefi_wr *wr)
{
	if (wr->op && !wr->op->begun) {
		wr->op->begun = true;
		wr->peer->begun++;
	}
	post(wr);
}

static void flush_answers(struct mxefi_peer *peer)
{
	while (peer->answers && peer->channel->ready(peer)) {
		struct mxefi_wr *wr = peer->answers;

		peer->answers = wr->next;
		if (!peer->answers)
			peer->answers_tail = &peer->answers;
		post(wr);
	}
}

/**
 * mxefi_peer_flush() - Post pending requests.
 * @peer: peer
 *
 * Stops when the channel is not ready, a loop or a fence holds back the
 * requests, or the next one is a message that the peer does not take.
 */
void mxefi_peer_flush(struct mxefi_peer *peer)
{
	if (peer->answers)
		flush_answers(peer);
	while (peer->pending) {
		struct mxefi_wr *wr = peer->pending;

		if ((peer->loops && (peer->hold != wr->op || wr->is_access)) ||
		    (peer->is_stopped && wr->is_message) || is_fenced(wr))
			break;
		if (!peer->channel->ready(peer))
			break;
		peer->pending = wr->next;
		if (!peer->pending)
			peer->pending_tail = &peer->pending;
		if (wr->loop) {
			peer->hold = wr->op;
			peer->loops++;
		}
		begin(wr);
	}
}

/**
 * mxefi_wr_submit() - Post a request, or queue it until that is possible.
 * @wr: request
 */
void mxefi_wr_submit(struct mxefi_wr *wr)
{
	struct mxefi_peer *peer = wr->peer;

	/* Nothing holds back a request that is neither a loop nor a message. */
	if (!wr->loop && !(wr->is_message && peer->is_stopped) &&
	    !peer->pending && !peer->loops && !is_fenced(wr) &&
	    peer->channel->ready(peer)) {
		begin(wr);
		return;
	}
	wr->next = NULL;
	*peer->pending_tail = wr;
	peer->pending_tail = &wr->next;
	peer->channel->queued(peer);
}

/**
 * mxefi_wr_submit_list() - Submit the requests of an operation, in order.
 * @wr: the first, linked by next, or NULL
 */
void mxefi_wr_submit_list(struct mxefi_wr *wr)
{
	while (wr) {
		struct mxefi_wr *next = wr->next;

		mxefi_wr_submit(wr);
		wr = next;
	}
}

/**
 * mxefi_wr_answer() - Post or queue a request before those of operations.
 * @wr: request that the peer waits for, which needs no order
 */
void mxefi_wr_answer(struct mxefi_wr *wr)
{
	struct mxefi_peer *peer = wr->peer;

	wr->is_answer = true;
	wr->next = NULL;
	*peer->answers_tail = wr;
	peer->answers_tail = &wr->next;
	flush_answers(peer);
}

/**
 * mxefi_wr_repeat() - Post a request of a loop again, before all others.
 * @wr: request that has just completed
 */
void mxefi_wr_repeat(struct mxefi_wr *wr)
{
	/* The completed request has freed a send queue entry. */
	post(wr);
}

static void push_front(struct mxefi_wr **list, struct mxefi_wr ***tail,
		       struct mxefi_wr *wr)
{
	wr->next = *list;
	*list = wr;
	if (!wr->next)
		*tail = &wr->next;
}

/**
 * mxefi_wr_requeue() - Put a request back before all others of its queue.
 * @wr: request that was posted, but not executed
 *
 * Of several requests, the last one is put back first.
 */
void mxefi_wr_requeue(struct mxefi_wr *wr)
{
	struct mxefi_peer *peer = wr->peer;

	if (wr->is_answer) {
		push_front(&peer->answers, &peer->answers_tail, wr);
		return;
	}
	/* mxefi_peer_flush() counts it again. */
	if (wr->loop)
		peer->loops--;
	push_front(&peer->pending, &peer->pending_tail, wr);
}

/**
 * mxefi_wr_loop_end() - End the loop of a request.
 * @wr: request
 */
void mxefi_wr_loop_end(struct mxefi_wr *wr)
{
	struct mxefi_peer *peer = wr->peer;

	wr->loop = false;
	if (peer->loops && peer->hold == wr->op)
		peer->loops--;
}
