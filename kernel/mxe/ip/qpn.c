// SPDX-License-Identifier: GPL-2.0
/* Allocates and looks up QP numbers. */
#include "ip/qpn.h"
#include "mxe.h"
#include "queues/qp.h"
#include "wire/pkt.h"

/*
 * Publish a QP under a new number. Its qpn is set before readers can find it.
 *
 * 0 and 1 are the special QPs, and 0xffffff is the QP number of multicast.
 *
 * Context: May sleep.
 * Return: 0, -ENOMEM, or -EBUSY if no number is free or the device already has
 * a GSI QP.
 */
int mxe_qpn_alloc(struct mxe_qp *qp)
{
	struct mxe_netns *mnet = qp->dev->mnet;
	struct xa_limit limit = XA_LIMIT(2, MXE_BTH_QPN_MASK - 1);
	int err;

	/*
	 * Every device has a QP 1. Packets find it by the destination address.
	 */
	if (qp->type == IB_QPT_GSI) {
		qp->qpn = 1;
		return cmpxchg((struct mxe_qp **)&qp->dev->gsi, NULL, qp) ?
		       -EBUSY : 0;
	}
	/* This stores the number before it publishes the QP. */
	err = xa_alloc_cyclic(&mnet->qps, &qp->qpn, qp, limit,
			      &mnet->next_qpn, GFP_KERNEL_ACCOUNT);
	/* The numbers have wrapped.  See mxe_dct_update(). */
	if (err > 0)
		WRITE_ONCE(mnet->reuses_qpns, true);
	return min(err, 0);
}

/*
 * Withdraw a QP, so that later lookups do not find it. The QP must not be freed
 * before a grace period has elapsed.
 * Context: Process context.
 */
void mxe_qpn_free(struct mxe_qp *qp)
{
	if (qp->type == IB_QPT_GSI)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
	else
		xa_erase(&qp->dev->mnet->qps, qp->qpn);
	/*
	 * Fully ordered: a reader that sees the new generation does not find
	 * the QP any more.  One that saw the old generation is in an RCU
	 * read-side section that began before the kfree_rcu() in
	 * mxe_destroy_qp().
	 */
	atomic_long_inc_return(&qp->dev->mnet->qps_generation);
}

#ifndef MXE_WITHOUT_QPN_CACHE

/*
 * Look up a QP in mnet->qps and fill the cache. @generation is
 * mnet->qps_generation, read before the call.
 *
 * Slow path. Not inlined, because the test "late" (tests/verbs/manifest) puts a
 * delay here.
 *
 * Context: RCU read-side section. Access to @cache is serialised.
 */
noinline struct mxe_qp *mxe_qpn_find_slow(struct mxe_netns *mnet, u32 qpn,
					struct mxe_qp_cache *cache, long generation)
{
	cache->qp = xa_load(&mnet->qps, qpn);
	cache->qpn = qpn;
	cache->generation = generation;
	return cache->qp;
}

#endif /* MXE_WITHOUT_QPN_CACHE */
