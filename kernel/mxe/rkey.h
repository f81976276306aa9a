/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A remote key leads to a region, directly or through a window (rkey.c).  Errors are
 * those of mr.h.
 */
#ifndef MXE_RKEY_H
#define MXE_RKEY_H

#include <linux/types.h>

#include "mr.h"
#include "mw.h"

struct mxe_atomic_args;

/* The holder of rights that a key is checked against. */
struct mxe_rights {
	struct mxe_dev *dev;
	const struct ib_pd *pd;
	u32 qpn;
	struct mxe_mr_cache *cache;	/* or NULL */
};

/*
 * The region that a remote key leads to, for the time of one access.  Without a
 * window, the region counts the access; with one, the lock of the window is held.
 */
struct mxe_target {
	struct mxe_mr *mr;
	struct mxe_mw *mw;		/* or NULL */
};

/* Context of all below: that of mxe_mr_get(). */

/*
 * Begin an access to these bytes, if the key grants it.  addr becomes an address of
 * the region.  mxe_rkey_put() ends the access.
 */
int mxe_rkey_get(const struct mxe_rights *rights, u32 rkey, int access,
		 u64 *addr, u64 len, struct mxe_target *target);
static inline void mxe_rkey_put(const struct mxe_target *target)
{
	if (unlikely(target->mw))
		mxe_mw_end(target->mw);
	else
		mxe_mr_put(target->mr);
}

/* Lookup, check and access in one. */
int mxe_rkey_copy(const struct mxe_rights *rights, u32 rkey, int access,
		  u64 addr, void *buf, u32 len, enum mxe_copy_dir dir);
int mxe_rkey_check(const struct mxe_rights *rights, u32 rkey, int access,
		   u64 addr, u32 len);
/* Does the key grant the access to the whole of a region?  No window does. */
int mxe_rkey_grants(const struct mxe_rights *rights, u32 rkey, int access);
/*
 * Execute an atomic, for which mxe_atomic_ready(), on the naturally aligned
 * operand at addr; orig as of mxe_atomic_exec().
 */
int mxe_rkey_atomic(const struct mxe_rights *rights, u32 rkey, int access,
		    u64 addr, const struct mxe_atomic_args *args, u64 *orig);

enum mxe_inv_side {
	MXE_INV_LOCAL,			/* a work request of the consumer */
	MXE_INV_REMOTE,			/* a SEND with invalidate of the peer */
};

/*
 * Close the window or invalidate the region of this key.  Returns -EBUSY if an access
 * to the region is under way, to be called again, and -EINVAL for a window or region
 * that cannot be invalidated.  For the peer this is -EACCES, and so is a region
 * without remote rights.
 */
int mxe_rkey_invalidate(const struct mxe_rights *rights, u32 rkey,
			enum mxe_inv_side side);

#endif /* MXE_RKEY_H */
