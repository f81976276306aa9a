/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Peers, and the requests that wait for them. */
#ifndef MXEFI_PEER_H
#define MXEFI_PEER_H

#include <stdbool.h>
#include <rdma/fabric.h>

#include "wire.h"

struct ibv_wc;
struct mxefi_dc;
struct mxefi_ep;
struct mxefi_op;
struct mxefi_peer;
struct mxefi_wr;

/* A channel posts the requests to a peer. */
struct mxefi_channel {
	bool has_conn;		/* the peers are those of connections */
	/*
	 * True if a request can be posted now. If not, the channel calls
	 * mxefi_peer_flush() as soon as one can.
	 */
	bool (*ready)(struct mxefi_peer *peer);
	/* A request was queued. Calls mxefi_peer_flush() now or later. */
	void (*queued)(struct mxefi_peer *peer);
	/* Posts a request. Returns 0, or an error and it is not posted. */
	int (*post)(struct mxefi_wr *wr);
	/* Over DC: requests have failed, and those behind them fail, too. */
	void (*failed)(struct mxefi_peer *peer, int err);
};

struct mxefi_peer {
	const struct mxefi_channel *channel;
	struct mxefi_ep *ep;
	struct mxefi_addr addr;
	struct mxefi_peer *next_id;	/* in the hash table of ids */
	unsigned int posted;		/* requests in the send queue */
	unsigned int loops;		/* in flight */
	struct mxefi_op *hold;		/* has these loops */
	/* Operations with a posted request that have not ended. */
	unsigned int begun;
	bool is_stopped;		/* takes no messages at the moment */
	bool is_broken;			/* requests that were not sent fail */
	struct mxefi_dc *dc;		/* of dci.c; NULL over RC */
	bool wants_events;		/* of accesses; see access.c */
	unsigned int num_addrs;		/* in ep->by_addr */
	fi_addr_t source;		/* or FI_ADDR_NOTAVAIL; see route.c */
	uint64_t source_changes;	/* av->changes when it was looked up */
	/* Requests that wait for the channel: answers, and all others. */
	struct mxefi_wr *answers, **answers_tail;
	struct mxefi_wr *pending, **pending_tail;
};

/**
 * mxefi_peer_add() - Initialise a peer and add it to those of an endpoint.
 * @peer: peer, all zeros
 * @channel: its channel
 * @ep: endpoint
 * @addr: address of the peer
 */
void mxefi_peer_add(struct mxefi_peer *peer,
		    const struct mxefi_channel *channel, struct mxefi_ep *ep,
		    const struct mxefi_addr *addr);

/**
 * mxefi_peer_remove() - Remove a peer from those of its endpoint.
 * @peer: peer
 */
void mxefi_peer_remove(struct mxefi_peer *peer);

/**
 * mxefi_peer_find() - Find a peer by its address.
 * @ep: endpoint
 * @has_conn: true for a peer with a connection
 * @addr: address
 *
 * Return: the peer, or NULL.
 */
struct mxefi_peer *mxefi_peer_find(struct mxefi_ep *ep, bool has_conn,
				   const struct mxefi_addr *addr);

/**
 * mxefi_peer_access() - Get the rights that the capabilities give to all peers.
 * @ep: endpoint
 *
 * Return: access flags of its queue pairs (IBV_ACCESS_*).
 */
unsigned int mxefi_peer_access(const struct mxefi_ep *ep);

/**
 * mxefi_peer_flush() - Post pending requests.
 * @peer: peer
 *
 * Stops when the channel is not ready, a loop or a fence holds back the
 * requests, or the next one is a message that the peer does not take.
 */
void mxefi_peer_flush(struct mxefi_peer *peer);

/**
 * mxefi_peer_fail_pending() - Complete the requests that were not posted.
 * @peer: peer
 * @err: errno of libfabric
 */
void mxefi_peer_fail_pending(struct mxefi_peer *peer, int err);

/**
 * mxefi_wr_submit() - Post a request, or queue it until that is possible.
 * @wr: request
 */
void mxefi_wr_submit(struct mxefi_wr *wr);

/**
 * mxefi_wr_submit_list() - Submit the requests of an operation, in order.
 * @wr: the first, linked by next, or NULL
 */
void mxefi_wr_submit_list(struct mxefi_wr *wr);

/**
 * mxefi_wr_answer() - Post or queue a request before those of operations.
 * @wr: request that the peer waits for, which needs no order
 */
void mxefi_wr_answer(struct mxefi_wr *wr);

/**
 * mxefi_wr_repeat() - Post a request of a loop again, before all others.
 * @wr: request that has just completed
 */
void mxefi_wr_repeat(struct mxefi_wr *wr);

/**
 * mxefi_wr_requeue() - Put a request back before all others of its queue.
 * @wr: request that was posted, but not executed
 *
 * Of several requests, the last one is put back first.
 */
void mxefi_wr_requeue(struct mxefi_wr *wr);

/**
 * mxefi_wr_loop_end() - End the loop of a request.
 * @wr: request
 */
void mxefi_wr_loop_end(struct mxefi_wr *wr);

/**
 * mxefi_wr_error() - Note and log why a request has failed.
 * @wr: request
 * @wc: its completion
 *
 * Return: an errno of libfabric.
 */
int mxefi_wr_error(struct mxefi_wr *wr, const struct ibv_wc *wc);

/**
 * mxefi_wr_end() - Complete a request, which may be posted again instead.
 * @wr: request that is not in the send queue
 * @err: errno of libfabric, or 0
 */
void mxefi_wr_end(struct mxefi_wr *wr, int err);

#endif /* MXEFI_PEER_H */
