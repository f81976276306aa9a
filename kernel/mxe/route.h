/* SPDX-License-Identifier: GPL-2.0 */
/* Routes of the packets that a QP sends (route.c). */
#ifndef MXE_ROUTE_H
#define MXE_ROUTE_H

#include <net/dst_cache.h>

#include "ah.h"

struct mxe_dev;

/**
 * mxe_route_find() - Look up a route in the routing table.
 * @dev: the device
 * @av: the address
 * @cache: cache for the route, or NULL
 *
 * Context: BHs disabled.
 * Return: the route with a reference, or ERR_PTR() of an error of the IP layer.
 */
struct dst_entry *mxe_route_find(struct mxe_dev *dev, const struct mxe_av *av,
				 struct dst_cache *cache);

/**
 * mxe_route_get() - Get the route to an address.
 * @dev: the device
 * @av: the address
 * @cache: route cache of the QP if @av is its address, otherwise NULL
 *
 * Context: BHs disabled.
 * Return: the route with a reference, or ERR_PTR() of an error of the IP layer.
 */
static inline struct dst_entry *mxe_route_get(struct mxe_dev *dev,
					      const struct mxe_av *av,
					      struct dst_cache *cache)
{
	struct dst_entry *dst;

	dst = cache ? dst_cache_get(cache) : NULL;
	return dst ?: mxe_route_find(dev, av, cache);
}

/**
 * mxe_route_cache_init() - Make the route cache of a QP.
 * @cache: filled in; dst_cache_destroy() frees it
 * @gfp: allocation flags
 *
 * The cache keeps routes at once.  A new dst_cache ignores them until the next
 * jiffy, so the first requests of a QP would look up each route.
 *
 * Context: As @gfp allows.
 * Return: 0 or -ENOMEM.
 */
int mxe_route_cache_init(struct dst_cache *cache, gfp_t gfp);

/**
 * mxe_route_cache_reset() - Forget the routes, because the address changes.
 * @cache: cache of the QP
 *
 * It keeps new routes at once, as after mxe_route_cache_init().  This visits
 * each CPU.
 *
 * Context: The locks of both sides of the QP held.
 */
void mxe_route_cache_reset(struct dst_cache *cache);

#endif /* MXE_ROUTE_H */
