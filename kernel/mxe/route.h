/* SPDX-License-Identifier: GPL-2.0 */
/* route.c finds the route by which packets of a queue pair leave. */
#ifndef MXE_ROUTE_H
#define MXE_ROUTE_H

#include <net/dst_cache.h>
#include <net/ip6_route.h>
#include <net/route.h>

#include "ah.h"
#include "mxe.h"
#include "netns.h"

struct mxe_qp;

/* Look for a route and store it in cache, if there is one.  Errors of IP. */
struct dst_entry *mxe_route_find(struct mxe_dev *dev, const struct mxe_av *av,
				 struct dst_cache *cache);

/*
 * Returns the route to an address with a reference, or ERR_PTR().  cache: that of
 * the queue pair whose address av is, or NULL.  Context: BHs off.
 */
static inline struct dst_entry *mxe_route_get(struct mxe_dev *dev,
					      const struct mxe_av *av,
					      struct dst_cache *cache)
{
	struct dst_entry *dst;

	dst = cache ? dst_cache_get(cache) : NULL;
	return dst ?: mxe_route_find(dev, av, cache);
}

/*
 * Returns true if packets to the address of the queue pair come back to this host.
 * The answer may change with mxe_route_generation().  Context: RCU, BHs off.
 */
bool mxe_route_is_local(struct mxe_qp *qp);

/* The generation of a protocol's routes. */
static inline int mxe_route_generation(const struct mxe_netns *mnet,
				       bool is_ipv4)
{
	return is_ipv4 ? rt_genid_ipv4(mnet->net) : rt_genid_ipv6(mnet->net);
}

#endif /* MXE_ROUTE_H */
