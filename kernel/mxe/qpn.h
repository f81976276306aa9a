/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pair numbers are unique in a network namespace, not only on a device, so that
 * a packet needs one lookup to find its queue pair (qpn.c).
 */
#ifndef MXE_QPN_H
#define MXE_QPN_H

#include <linux/percpu.h>
#include <linux/xarray.h>

#include "netns.h"

struct mxe_qp;

/* Give the queue pair a number, by which packets find it.  Context: may sleep. */
int mxe_qpn_alloc(struct mxe_qp *qp);
/* Take it away: who looks for the number from now on finds nothing. */
void mxe_qpn_free(struct mxe_qp *qp);

/*
 * The queue pair that a number led to last, which is good under RCU for as long
 * as none of the namespace has gone.  Belongs to one at a time.
 */
struct mxe_qp_cache {
	u32 qpn;
	long generation;			/* mnet->qps_generation at that time */
	struct mxe_qp *qp;		/* or NULL */
};

#ifndef MXE_WITHOUT_QPN_CACHE

/* Look for it.  generation: mnet->qps_generation, read before. */
struct mxe_qp *mxe_qpn_find_slow(struct mxe_netns *mnet, u32 qpn,
				 struct mxe_qp_cache *cache, long generation);

/* The queue pair of that number, or NULL.  Context: RCU. */
static inline struct mxe_qp *mxe_qpn_find_cached(struct mxe_netns *mnet, u32 qpn,
						 struct mxe_qp_cache *cache)
{
	/* Pairs with mxe_qpn_free(): a count goes with what it counts. */
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

/* The QPs that a CPU had packets or doorbells for last.  BHs off. */
struct mxe_qp_recent {
	struct mxe_qp_cache slot[8];
};

/*
 * The QP of that number, or NULL.  It stays for as long as the caller does not
 * leave RCU.  Context: RCU, BHs off.
 */
static inline struct mxe_qp *mxe_qpn_find(struct mxe_netns *mnet, u32 qpn)
{
	struct mxe_qp_recent *recent = this_cpu_ptr(mnet->recent);

	return mxe_qpn_find_cached(mnet, qpn,
				   &recent->slot[qpn % ARRAY_SIZE(recent->slot)]);
}

#endif /* MXE_QPN_H */
