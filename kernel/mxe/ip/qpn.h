/* SPDX-License-Identifier: GPL-2.0 */
/*
 * QP numbers are unique in a netns, not only on a device, so one lookup finds
 * the QP of a packet (qpn.c).
 */
#ifndef MXE_QPN_H
#define MXE_QPN_H

#include <linux/percpu.h>
#include <linux/xarray.h>

#include "netns.h"

struct mxe_qp;

int mxe_qpn_alloc(struct mxe_qp *qp);
void mxe_qpn_free(struct mxe_qp *qp);

/*
 * The QP that was looked up last. The entry is valid until a QP of the netns is
 * destroyed, which changes mnet->qps_generation. The owner serialises access
 * and is in an RCU read-side section.
 */
struct mxe_qp_cache {
	u32 qpn;
	long generation;		/* mnet->qps_generation at lookup */
	struct mxe_qp *qp;		/* or NULL */
};

#ifndef MXE_WITHOUT_QPN_CACHE

struct mxe_qp *mxe_qpn_find_slow(struct mxe_netns *mnet, u32 qpn,
				 struct mxe_qp_cache *cache, long generation);

/*
 * Look up a QP, first in @cache. Return NULL if there is none.
 * Context: RCU read-side section, in which the QP is valid. Access to @cache is
 * serialised.
 */
static inline struct mxe_qp *mxe_qpn_find_cached(struct mxe_netns *mnet, u32 qpn,
						 struct mxe_qp_cache *cache)
{
	/* Pairs with the increment in mxe_qpn_free(). */
	long generation = atomic_long_read_acquire(&mnet->qps_generation);

	if (!cache->qp || cache->qpn != qpn || cache->generation != generation)
		return mxe_qpn_find_slow(mnet, qpn, cache, generation);
	return cache->qp;
}

#else

static inline struct mxe_qp *mxe_qpn_find_cached(struct mxe_netns *mnet, u32 qpn,
						 struct mxe_qp_cache *cache)
{
	return xa_load(&mnet->qps, qpn);
}

#endif /* MXE_WITHOUT_QPN_CACHE */

/*
 * The QPs that a CPU looked up last, for packets and doorbells.  Accessed with
 * BHs disabled.
 */
struct mxe_qp_recent {
	struct mxe_qp_cache slot[8];
};

/*
 * Look up a QP, first in the cache of this CPU. Return NULL if there is none.
 * Context: RCU read-side section, in which the QP is valid. BHs disabled.
 */
static inline struct mxe_qp *mxe_qpn_find(struct mxe_netns *mnet, u32 qpn)
{
	struct mxe_qp_recent *recent = this_cpu_ptr(mnet->recent);

	return mxe_qpn_find_cached(mnet, qpn,
				   &recent->slot[qpn % ARRAY_SIZE(recent->slot)]);
}

#endif /* MXE_QPN_H */
