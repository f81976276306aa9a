/* SPDX-License-Identifier: GPL-2.0 */
/* Memory windows, type 1 and type 2B. */
#ifndef MXE_MW_H
#define MXE_MW_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

struct mxe_dev;
struct mxe_mr;
struct mxe_target;

/* A bind work request, as posted. */
struct mxe_bind {
	u64 addr;			/* of the region, or from 0 if zero-based */
	u64 length;
	u32 mr_lkey;
	u32 access;			/* IB_ACCESS_* */
};

/*
 * Lifetime: as that of a region, and in the same table of keys: an access through
 * a window holds a reference to it, and counts in the region.  A window that is
 * bound counts in its region's `windows`, which keeps that from being deregistered.
 *
 * lock covers everything below it; bottom halves off.
 */
struct mxe_mw {
	struct ib_mw ibmw;
	struct mxe_dev *dev;
	struct kref ref;
	struct completion released;

	spinlock_t lock;		/* all of what follows */
	u32 key;
	struct mxe_mr *mr;		/* bound to it; NULL: to none */
	u32 qpn;			/* type 2B: the queue pair that may use it */
	u32 access;
	u64 addr;			/* as a peer names it */
	u64 length;
	u64 offset;			/* peer's address to that of the region */
};

static inline struct mxe_mw *to_mmw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct mxe_mw, ibmw);
}

/*
 * The window of that key and the region behind it, if the window grants the
 * access to these bytes; addr becomes an address of the region.  Errors as in
 * mr.h.  Context: bottom halves off until mxe_rkey_put().
 */
int mxe_mw_target(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn, u32 key,
		  int access, u64 *addr, u64 len, struct mxe_target *target);
void mxe_mw_put(struct mxe_mw *mw);

/*
 * Work requests; when they return, what the window was open to before is not
 * accessed by it any more.  key: the new one, whose upper 24 bits name the
 * window.  Context: bottom halves off.
 */
int mxe_mw_bind(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn, u32 key,
		const struct mxe_bind *bind);
/* -ENOENT: not a window's key. */
int mxe_mw_invalidate(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn,
		      u32 key);

int mxe_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int mxe_dealloc_mw(struct ib_mw *ibmw);

#endif /* MXE_MW_H */
