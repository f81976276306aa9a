/* SPDX-License-Identifier: GPL-2.0 */
/* A memory window, of type 1 or type 2B, opens a part of a region to a peer (mw.c). */
#ifndef MXE_MW_H
#define MXE_MW_H

#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

struct mxe_dev;
struct mxe_mr;

/* A bind work request, as posted. */
struct mxe_bind {
	u64 addr;			/* of the region, or from 0 if zero-based */
	u64 length;
	u32 mr_lkey;
	u32 access;			/* IB_ACCESS_* */
};

/*
 * Lifetime: found under RCU in the table of keys that regions are in, and freed
 * a grace period after the verb has removed it from there, so that the verb does
 * not wait for one.  ib_core owns struct mxe_ib_mw.
 *
 * lock covers everything below it, BHs off.  An access through the window holds
 * it until its bytes are copied.  Binding, invalidating and destroying a window
 * take it as well, so once they have returned, what the window was open to
 * before is not accessed through it any more.  A window that is bound counts in
 * its region's `windows`, which keeps the region from being deregistered.
 */
struct mxe_mw {
	/* Immutable after creation. */
	struct mxe_dev *dev;
	const struct ib_pd *pd;		/* compared only */
	enum ib_mw_type type;
	u32 index;			/* in dev->mrs: upper bits of its keys */
	struct rcu_head rcu;

	spinlock_t lock;		/* all of what follows */
	bool dying;			/* cannot be bound any more */
	u32 key;
	struct mxe_mr *mr;		/* bound to it; NULL: to none */
	u32 qpn;			/* type 2B: the queue pair that may use it */
	u32 access;
	u64 addr;			/* as a peer names it */
	u64 length;
	u64 offset;			/* peer's address to that of the region */
};

/* The window as ib_core sees it. */
struct mxe_ib_mw {
	struct ib_mw ibmw;
	struct mxe_mw *mw;
};

static inline struct mxe_mw *to_mmw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct mxe_ib_mw, ibmw)->mw;
}

/*
 * Begin an access through the window of this key, if it is bound and grants the access
 * to these bytes.  Returns the window, or an error of mr.h as a pointer.  The lock of
 * the window is held, and BHs are off, until mxe_mw_end() ends the access; the region
 * is mw->mr, and addr + mw->offset an address of it.
 */
struct mxe_mw *mxe_mw_begin(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn,
			    u32 key, int access, u64 addr, u64 len);
void mxe_mw_end(struct mxe_mw *mw);

/*
 * Work requests.  key: the new one, whose upper 24 bits name the window.
 * Context: any but hard interrupts.
 */
int mxe_mw_bind(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn, u32 key,
		const struct mxe_bind *bind);
/* -ENOENT: not a window's key. */
int mxe_mw_invalidate(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn,
		      u32 key);

int mxe_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int mxe_dealloc_mw(struct ib_mw *ibmw);

#endif /* MXE_MW_H */
