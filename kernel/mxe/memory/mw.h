/* SPDX-License-Identifier: GPL-2.0 */
/* A memory window of type 1 or 2B opens a part of a region to a peer (mw.c). */
#ifndef MXE_MW_H
#define MXE_MW_H

#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

struct mxe_dev;
struct mxe_mr;

/* A BIND_MW request. */
struct mxe_bind {
	u64 addr;			/* in the address range of the region */
	u64 length;
	u32 mr_lkey;
	u32 access;			/* IB_ACCESS_* */
};

/*
 * Lifetime: found in dev->mrs under RCU, like a region.  The verb that destroys
 * the window erases it and does not wait.  The window is freed a grace period
 * later.  ib_core owns struct mxe_ib_mw.
 *
 * lock protects the members below it and is taken with BHs disabled. An access
 * through the window holds it until the bytes are copied. Binding, invalidating
 * and destroying a window take it, too. Once they have returned, no access to
 * the memory that the window was bound to is in progress.
 *
 * A bound window counts in `windows` of its region.  The region cannot be
 * deregistered while the count is not 0.
 */
struct mxe_mw {
	/* Immutable after creation. */
	struct mxe_dev *dev;
	const struct ib_pd *pd;		/* compared only */
	enum ib_mw_type type;
	u32 index;			/* in dev->mrs; upper 24 bits of keys */
	struct rcu_head rcu;

	spinlock_t lock;		/* protects the members below */
	bool dying;			/* must not be bound any more */
	bool was_bound;			/* a peer may know the key */
	u32 key;
	struct mxe_mr *mr;		/* NULL: not bound */
	u32 qpn;			/* type 2B: only this QP may use it */
	u32 access;
	u64 addr;			/* first address for the peer */
	u64 length;
	u64 offset;			/* region's minus peer's address */
};

/* The part of a window that ib_core owns. */
struct mxe_ib_mw {
	struct ib_mw ibmw;
	struct mxe_mw *mw;
};

static inline struct mxe_mw *to_mmw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct mxe_ib_mw, ibmw)->mw;
}

struct mxe_mw *mxe_mw_begin(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn,
			    u32 key, int access, u64 addr, u64 len);
void mxe_mw_end(struct mxe_mw *mw);
int mxe_mw_bind(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn, u32 key,
		const struct mxe_bind *bind);
int mxe_mw_invalidate(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn,
		      u32 key);

/* Verbs, see the members of struct ib_device_ops of the same names. */
int mxe_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int mxe_dealloc_mw(struct ib_mw *ibmw);

#endif /* MXE_MW_H */
