/* SPDX-License-Identifier: GPL-2.0 */
/* route.c finds the route by which packets of a queue pair leave. */
#ifndef MXE_ROUTE_H
#define MXE_ROUTE_H

#include <net/dst_cache.h>

#include "ah.h"

struct mxe_dev;

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

#endif /* MXE_ROUTE_H */
