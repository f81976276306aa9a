// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Finds the peer that an address of libfabric means. The calls of an endpoint
 * use it.
 */
#include <stdlib.h>
#include <string.h>

#include "mxefi.h"

/* A connection is made for a peer that the program has not used yet. */
static struct mxefi_peer *find(struct mxefi_ep *ep,
			       const struct mxefi_addr *addr)
{
	struct mxefi_conn *conn = mxefi_conn_find(ep, addr) ? :
				  mxefi_conn_add(ep, addr);

	if (!conn)
		return NULL;
	mxefi_conn_use(conn);
	return &conn->peer;
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
	ep->by_addr[fi_addr] = peer;
}

struct mxefi_peer *mxefi_route_get(struct mxefi_ep *ep, fi_addr_t fi_addr)
{
	const struct mxefi_addr *addr;
	struct mxefi_conn *conn = ep->conns;
	struct mxefi_peer *peer;

	if (ep->is_msg)
		return conn && conn->state == MXEFI_CONN_READY &&
		       !conn->is_shut ? &conn->peer : NULL;
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

int mxefi_route_error(const struct mxefi_ep *ep)
{
	return ep->is_msg ? -FI_ENOTCONN : -FI_EINVAL;
}
