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

#endif /* MXE_ROUTE_H */
