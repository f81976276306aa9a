// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates and finds the numbers of queue pairs.  qp_verbs.c publishes queue pairs
 * by them; rx.c, early_demux.c, doorbell.c and loopback.c look them up.
 */
#include "mxe.h"
#include "pkt.h"
#include "qp.h"
#include "qpn.h"

/* Numbers are unique in the namespace.  0 and 1 are special. */
int mxe_qpn_alloc(struct mxe_qp *qp)
{
	struct mxe_netns *mnet = qp->dev->mnet;
	struct xa_limit limit = XA_LIMIT(2, MXE_BTH_QPN_MASK - 1);
	int err;

	/* Found by the address of its device: every device has one. */
	if (qp->type == IB_QPT_GSI) {
		qp->qpn = 1;
		return cmpxchg((struct mxe_qp **)&qp->dev->gsi, NULL, qp) ?
		       -EBUSY : 0;
	}
	/* Stores the number before the queue pair can be found by it. */
	err = xa_alloc_cyclic(&mnet->qps, &qp->qpn, qp, limit,
			      &mnet->next_qpn, GFP_KERNEL_ACCOUNT);
	return min(err, 0);
}

void mxe_qpn_free(struct mxe_qp *qp)
{
	if (qp->type == IB_QPT_GSI)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
	else
		xa_erase(&qp->dev->mnet->qps, qp->qpn);
	/*
	 * Fully ordered: a reader that sees the new count does not find the
	 * queue pair any more, and one that saw the old count is in an RCU read
	 * section that began before the kfree_rcu() of mxe_destroy_qp().
	 */
	atomic_long_inc_return(&qp->dev->mnet->qps_generation);
}

#ifndef MXE_WITHOUT_QPN_CACHE

/* Not inlined: the slow path, which the test "late" delays (tests/verbs/manifest). */
noinline struct mxe_qp *mxe_qpn_find_slow(struct mxe_netns *mnet, u32 qpn,
					struct mxe_qp_cache *cache, long generation)
{
	cache->qp = xa_load(&mnet->qps, qpn);
	cache->qpn = qpn;
	cache->generation = generation;
	return cache->qp;
}

#endif /* MXE_WITHOUT_QPN_CACHE */
