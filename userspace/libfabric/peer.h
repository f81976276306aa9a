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

void mxefi_peer_add(struct mxefi_peer *peer,
		    const struct mxefi_channel *channel, struct mxefi_ep *ep,
		    const struct mxefi_addr *addr);
void mxefi_peer_remove(struct mxefi_peer *peer);
struct mxefi_peer *mxefi_peer_find(struct mxefi_ep *ep, bool has_conn,
				   const struct mxefi_addr *addr);
unsigned int mxefi_peer_access(const struct mxefi_ep *ep);
void mxefi_peer_flush(struct mxefi_peer *peer);
void mxefi_peer_fail_pending(struct mxefi_peer *peer, int err);
void mxefi_wr_submit(struct mxefi_wr *wr);
void mxefi_wr_submit_list(struct mxefi_wr *wr);
void mxefi_wr_answer(struct mxefi_wr *wr);
void mxefi_wr_repeat(struct mxefi_wr *wr);
void mxefi_wr_requeue(struct mxefi_wr *wr);
void mxefi_wr_loop_end(struct mxefi_wr *wr);
int mxefi_wr_error(struct mxefi_wr *wr, const struct ibv_wc *wc);
void mxefi_wr_end(struct mxefi_wr *wr, int err);

#endif /* MXEFI_PEER_H */
