/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A remote key is the key of a region, or of a window that is bound to one
 * (rkey.c).  Errors are those of mr.h.
 */
#ifndef MXE_RKEY_H
#define MXE_RKEY_H

#include <linux/types.h>

#include "memory/mr.h"
#include "memory/mw.h"

struct mxe_atomic_args;

/* The QP on whose behalf a key is used. */
struct mxe_rights {
	struct mxe_dev *dev;
	const struct ib_pd *pd;
	u32 qpn;
	struct mxe_mr_cache *cache;	/* or NULL */
};

/*
 * The region of a remote key during one access. If the key is that of a window,
 * the lock of the window is held. Otherwise the region counts the access.
 */
struct mxe_target {
	struct mxe_mr *mr;
	struct mxe_mw *mw;		/* or NULL */
};

int mxe_rkey_get_window(const struct mxe_rights *rights, u32 rkey, int access,
			u64 *addr, u64 len, struct mxe_target *target);

/**
 * mxe_rkey_get() - Begin an access by a remote key.
 * @rights: the QP that the access is for
 * @rkey: the key
 * @access: the rights needed, IB_ACCESS_*
 * @addr: first address for the peer; replaced by that of the region
 * @len: bytes
 * @target: set to the region, and the window if there is one
 *
 * Context: BHs disabled. Holds the lock of the window, if there is one, until
 * mxe_rkey_put().
 * Return: 0, -ENOENT, -EPERM, -EACCES or -EFAULT. @target is set only if it
 * is 0.
 */
static inline int mxe_rkey_get(const struct mxe_rights *rights, u32 rkey, int access,
			       u64 *addr, u64 len, struct mxe_target *target)
{
	int err;

	target->mw = NULL;
	target->mr = mxe_mr_get(rights->dev, rkey, rights->cache);
	if (unlikely(!target->mr))
		return mxe_rkey_get_window(rights, rkey, access, addr, len, target);
	err = mxe_mr_check(target->mr, rights->pd, access, *addr, len);
	if (unlikely(err))
		mxe_mr_put(target->mr);
	return err;
}

/* Context: BHs disabled. */
static inline void mxe_rkey_put(const struct mxe_target *target)
{
	if (unlikely(target->mw))
		mxe_mw_end(target->mw);
	else
		mxe_mr_put(target->mr);
}

int mxe_rkey_copy(const struct mxe_rights *rights, u32 rkey, int access,
		  u64 addr, void *buf, u32 len, enum mxe_copy_dir dir);
int mxe_rkey_check(const struct mxe_rights *rights, u32 rkey, int access,
		   u64 addr, u32 len);
int mxe_rkey_grants(const struct mxe_rights *rights, u32 rkey, int access);
int mxe_rkey_atomic(const struct mxe_rights *rights, u32 rkey, int access,
		    u64 addr, const struct mxe_atomic_args *args, u64 *orig);

enum mxe_inv_side {
	MXE_INV_LOCAL,			/* LOCAL_INV of the consumer */
	MXE_INV_REMOTE,			/* SEND with invalidate of the peer */
};

int mxe_rkey_invalidate(const struct mxe_rights *rights, u32 rkey,
			enum mxe_inv_side side);

#endif /* MXE_RKEY_H */
