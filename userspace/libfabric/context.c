// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The completion queues and counters of transmit and receive contexts. */
#include "cntr.h"
#include "context.h"
#include "cq.h"
#include "ep.h"

/**
 * mxefi_context_bind_cq() - Bind a completion queue.
 * @handle: endpoint or context
 * @cq: completion queue
 * @flags: flags of fi_ep_bind()
 *
 * Return: 0 or -FI_EINVAL.
 */
int mxefi_context_bind_cq(struct mxefi_handle *handle, struct mxefi_cq *cq,
			  uint64_t flags)
{
	const uint64_t kinds = (handle->tx ? FI_TRANSMIT : 0) |
			       (handle->rx ? FI_RECV : 0);
	struct mxefi_tx *tx = flags & FI_TRANSMIT ? handle->tx : NULL;
	struct mxefi_rx *rx = flags & FI_RECV ? handle->rx : NULL;

	if (cq->dom != handle->ep->dom || !(flags & kinds) ||
	    flags & ~(kinds | FI_SELECTIVE_COMPLETION) ||
	    (tx && tx->cq) || (rx && rx->cq))
		return -FI_EINVAL;
	if (tx) {
		tx->cq = cq;
		tx->selective = flags & FI_SELECTIVE_COMPLETION;
		cq->users++;
	}
	if (rx) {
		rx->cq = cq;
		rx->selective = flags & FI_SELECTIVE_COMPLETION;
		cq->users++;
	}
	return 0;
}

#define NUM_KINDS 6

/* Where the counters of each kind are. NULL: the handle does not have them. */
struct kind {
	uint64_t flag;
	struct mxefi_cntr **cntr;
};

static void get_kinds(struct mxefi_tx *tx, struct mxefi_rx *rx,
		      struct kind kinds[NUM_KINDS])
{
	const struct kind all[NUM_KINDS] = {
		{ FI_SEND, tx ? &tx->send_cntr : NULL },
		{ FI_READ, tx ? &tx->read_cntr : NULL },
		{ FI_WRITE, tx ? &tx->write_cntr : NULL },
		{ FI_RECV, rx ? &rx->recv_cntr : NULL },
		{ FI_REMOTE_READ, rx ? &rx->remote_read_cntr : NULL },
		{ FI_REMOTE_WRITE, rx ? &rx->remote_write_cntr : NULL },
	};

	for (int i = 0; i < NUM_KINDS; i++)
		kinds[i] = all[i];
}

/**
 * mxefi_context_bind_cntr() - Bind a counter.
 * @handle: endpoint or context
 * @cntr: counter
 * @flags: flags of fi_ep_bind()
 *
 * Return: 0 or a negative error of libfabric.
 */
int mxefi_context_bind_cntr(struct mxefi_handle *handle,
			    struct mxefi_cntr *cntr, uint64_t flags)
{
	const uint64_t remote = FI_REMOTE_READ | FI_REMOTE_WRITE;
	struct kind kinds[NUM_KINDS];
	uint64_t rest;

	/*
	 * Programs that did not ask for FI_RMA_EVENT may name the events of
	 * peers, but not alone.
	 */
	if (!(handle->ep->caps & FI_RMA_EVENT)) {
		if (flags & remote && !(flags & ~remote))
			return -FI_ENOSYS;
		flags &= ~remote;
	}
	if (cntr->dom != handle->ep->dom || !flags)
		return -FI_EINVAL;
	get_kinds(handle->tx, handle->rx, kinds);
	rest = flags;
	for (int i = 0; i < NUM_KINDS; i++) {
		if (!(flags & kinds[i].flag))
			continue;
		if (!kinds[i].cntr || *kinds[i].cntr)
			return -FI_EINVAL;
		rest &= ~kinds[i].flag;
	}
	if (rest)
		return -FI_EINVAL;
	for (int i = 0; i < NUM_KINDS; i++) {
		if (flags & kinds[i].flag) {
			*kinds[i].cntr = cntr;
			cntr->users++;
		}
	}
	return 0;
}

/**
 * mxefi_context_release() - Release the queues and counters of contexts.
 * @tx: transmit context, or NULL
 * @rx: receive context, or NULL
 */
void mxefi_context_release(struct mxefi_tx *tx, struct mxefi_rx *rx)
{
	struct kind kinds[NUM_KINDS];

	get_kinds(tx, rx, kinds);
	for (int i = 0; i < NUM_KINDS; i++) {
		if (!kinds[i].cntr || !*kinds[i].cntr)
			continue;
		(*kinds[i].cntr)->users--;
		*kinds[i].cntr = NULL;
	}
	if (tx && tx->cq)
		tx->cq->users--;
	if (tx)
		tx->cq = NULL;
	if (rx && rx->cq)
		rx->cq->users--;
	if (rx)
		rx->cq = NULL;
}
