// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Finds the peer that an address of libfabric means. */
#include <stdlib.h>
#include <string.h>

#include "av.h"
#include "conn.h"
#include "container.h"
#include "dci.h"
#include "domain.h"
#include "ep.h"
#include "peer.h"
#include "progress.h"
#include "route.h"
#include "wire.h"

/* So many peers have connections before others are reached by DC. */
#define NUM_RC_PEERS 64

/*
 * True if a peer that the program has not used yet is to be reached by DC. A
 * peer with messages also has to reach this endpoint.
 */
static bool wants_dc(struct mxefi_ep *ep, const struct mxefi_addr *addr)
{
	if (!(mxefi_ep_is_one_sided(ep) ? mxefi_dci_reaches(ep, addr) :
					  mxefi_dci_is_mutual(ep, addr)))
		return false;
	if (ep->dom->dc_mode == MXEFI_DC_AUTO && ep->num_qps < NUM_RC_PEERS)
		return false;
	/* Without initiators, peers have connections. */
	return !mxefi_dci_open(ep);
}

/* Finds or makes a peer. A peer remains with DC or with its connection. */
static struct mxefi_peer *find(struct mxefi_ep *ep,
			       const struct mxefi_addr *addr)
{
	const struct mxefi_transport *transport = &mxefi_conn_rc;
	struct mxefi_peer *peer = mxefi_dci_find(ep, addr);
	struct mxefi_conn *conn;

	if (peer)
		return peer;
	conn = mxefi_conn_find(ep, addr);
	if (!conn && wants_dc(ep, addr)) {
		if (mxefi_ep_is_one_sided(ep))
			peer = mxefi_dci_add(ep, addr);
		else
			transport = &mxefi_conn_dc;
		if (peer)
			return peer;
	}
	/* If it has no route, the operations report that. */
	if (!conn)
		conn = mxefi_conn_add(ep, addr, transport);
	if (!conn)
		return NULL;
	mxefi_conn_use(conn);
	return &conn->peer;
}

/* The address was removed. The peer is freed when it has no other. */
static void forget(struct mxefi_ep *ep, size_t index)
{
	struct mxefi_peer *peer = ep->by_addr[index];

	ep->by_addr[index] = NULL;
	if (!--peer->num_addrs && !peer->channel->has_conn)
		mxefi_dci_remove(peer);
}

/* Remembers the peer of an address, unless memory is short. */
static void remember(struct mxefi_ep *ep, fi_addr_t fi_addr,
		     struct mxefi_peer *peer)
{
	if (fi_addr >= ep->by_addr_size) {
		size_t size = ep->av->size;
		struct mxefi_peer **table =
			realloc(ep->by_addr, size * sizeof(*table));

		if (!table)
			return;
		memset(table + ep->by_addr_size, 0,
		       (size - ep->by_addr_size) * sizeof(*table));
		ep->by_addr = table;
		ep->by_addr_size = size;
	}
	if (ep->by_addr[fi_addr])
		forget(ep, fi_addr);
	ep->by_addr[fi_addr] = peer;
	peer->num_addrs++;
}

static void tick(struct mxefi_ticker *ticker, uint64_t now)
{
	struct mxefi_ep *ep = container_of(ticker, struct mxefi_ep,
					   route_ticker);
	const struct mxefi_addr *addr;

	if (!ep->av || ep->by_addr_changes == ep->av->changes)
		return;
	ep->by_addr_changes = ep->av->changes;
	for (size_t i = 0; i < ep->by_addr_size; i++) {
		if (!ep->by_addr[i])
			continue;
		addr = mxefi_av_get(ep->av, i);
		if (!addr || addr->id != ep->by_addr[i]->addr.id)
			forget(ep, i);
	}
}

/**
 * mxefi_route_setup() - Free the peers of removed addresses from now on.
 * @ep: endpoint
 */
void mxefi_route_setup(struct mxefi_ep *ep)
{
	ep->route_ticker.tick = tick;
	mxefi_progress_add_ticker(ep->dom, &ep->route_ticker);
}

/**
 * mxefi_route_teardown() - Forget all addresses.
 * @ep: endpoint, which need not be set up
 */
void mxefi_route_teardown(struct mxefi_ep *ep)
{
	mxefi_progress_del_ticker(ep->dom, &ep->route_ticker);
	free(ep->by_addr);
}

/**
 * mxefi_route_index() - Find the receive context that an address names.
 * @ep: endpoint
 * @fi_addr: address of fi_rx_addr(), or any other
 *
 * Return: its index, or 0.
 */
uint16_t mxefi_route_index(const struct mxefi_ep *ep, fi_addr_t fi_addr)
{
	int bits = ep->av ? ep->av->rx_ctx_bits : 0;

	return bits ? (uint16_t)(fi_addr >> (64 - bits)) : 0;
}

/**
 * mxefi_route_get() - Find or make the peer of an address.
 * @ep: endpoint
 * @fi_addr: address of libfabric
 *
 * Return: the peer, which may not be connected yet, or NULL if the address is
 * not valid or memory is short.
 */
struct mxefi_peer *mxefi_route_get(struct mxefi_ep *ep, fi_addr_t fi_addr)
{
	const struct mxefi_addr *addr;
	struct mxefi_conn *conn = ep->conns;
	struct mxefi_peer *peer;

	if (ep->dom->lost)
		return NULL;
	if (ep->is_msg)
		return conn && conn->state == MXEFI_CONN_READY &&
		       !conn->is_shut ? &conn->peer : NULL;
	/* Without the index of a receive context; see fi_rx_addr(). */
	if (ep->av)
		fi_addr &= UINT64_MAX >> ep->av->rx_ctx_bits;
	addr = ep->av ? mxefi_av_get(ep->av, fi_addr) : NULL;
	if (!addr)
		return NULL;
	if (fi_addr < ep->by_addr_size && ep->by_addr[fi_addr] &&
	    ep->by_addr[fi_addr]->addr.id == addr->id)
		return ep->by_addr[fi_addr];
	peer = find(ep, addr);
	if (peer)
		remember(ep, fi_addr, peer);
	return peer;
}

/**
 * mxefi_route_source() - Find the address that a message came from.
 * @peer: peer
 *
 * Return: address of libfabric, or FI_ADDR_NOTAVAIL if the program has not
 * inserted it.
 */
fi_addr_t mxefi_route_source(struct mxefi_peer *peer)
{
	const struct mxefi_av *av = peer->ep->av;

	if (!av)
		return FI_ADDR_NOTAVAIL;
	if (peer->source_changes != av->changes) {
		peer->source = mxefi_av_find(av, &peer->addr);
		peer->source_changes = av->changes;
	}
	return peer->source;
}

/**
 * mxefi_route_error() - Get the error that a call returns if there is no peer.
 * @ep: endpoint
 *
 * Return: a negative error of libfabric.
 */
int mxefi_route_error(const struct mxefi_ep *ep)
{
	if (ep->dom->lost)
		return -FI_ENODEV;
	return ep->is_msg ? -FI_ENOTCONN : -FI_EINVAL;
}
