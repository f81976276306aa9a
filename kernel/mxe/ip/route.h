/* SPDX-License-Identifier: GPL-2.0 */
/* Routes of the packets that a QP sends (route.c). */
#ifndef MXE_ROUTE_H
#define MXE_ROUTE_H

#include <net/dst.h>

#include "ip/ah.h"

struct mxe_dev;

/*
 * The route that one side of a QP used last.  Protected by the lock of that
 * side, so that it needs no memory of its own, unlike a struct dst_cache.
 */
struct mxe_route {
	struct dst_entry *dst;		/* with a reference, or NULL */
	u32 cookie;			/* of an IPv6 route, see dst_check() */
};

struct dst_entry *mxe_route_find(struct mxe_dev *dev, const struct mxe_av *av,
				 struct mxe_route *kept);

/*
 * Get the route to an address. @kept is that of a side of the QP if @av is its
 * address, otherwise NULL.
 * Context: BHs disabled, lock of that side held.
 * Return: the route with a reference, or ERR_PTR() of an error of the IP layer.
 */
static inline struct dst_entry *mxe_route_get(struct mxe_dev *dev,
					      const struct mxe_av *av,
					      struct mxe_route *kept)
{
	struct dst_entry *dst = kept ? kept->dst : NULL;

	if (!dst || !dst_check(dst, kept->cookie))
		return mxe_route_find(dev, av, kept);
	dst_hold(dst);
	return dst;
}

/*
 * Drop the route of a side of the QP, because the address changes.
 * Context: Lock of that side held, or no packet can reach the QP.
 */
static inline void mxe_route_forget(struct mxe_route *kept)
{
	dst_release(kept->dst);
	kept->dst = NULL;
}

#endif /* MXE_ROUTE_H */
