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

/* As mxe_rkey_get(), its only caller, for the key of a window. */
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

/*
 * Copy to or from the memory of a remote key, which must grant the rights
 * @access, IB_ACCESS_*. @addr is as the peer specified it.
 * Context: BHs disabled.
 * Return: 0, -ENOENT, -EPERM, -EACCES or -EFAULT. Nothing is copied unless it
 * is 0.
 */
int mxe_rkey_copy(const struct mxe_rights *rights, u32 rkey, int access,
		  u64 addr, void *buf, u32 len, enum mxe_copy_dir dir);

/*
 * Check if a remote key grants the rights @access, IB_ACCESS_*, to a range.
 * @addr is as the peer specified it.
 * Context: BHs disabled.
 * Return: 0, -ENOENT, -EPERM, -EACCES or -EFAULT.
 */
int mxe_rkey_check(const struct mxe_rights *rights, u32 rkey, int access,
		   u64 addr, u32 len);

/*
 * Check if a remote key grants the rights @access, IB_ACCESS_*, to all of a
 * region. The key of a window never does.
 * Context: BHs disabled.
 * Return: 0, -ENOENT, -EPERM or -EACCES.
 */
int mxe_rkey_grants(const struct mxe_rights *rights, u32 rkey, int access);

/*
 * Execute an atomic on the memory of a remote key, which must grant the rights
 * @access, IB_ACCESS_*. @addr is aligned, and as the peer specified it.
 * mxe_atomic_ready() must be true for @args. Set @orig to the old value, as
 * mxe_atomic_exec() does.
 * Context: BHs disabled.
 * Return: 0, -ENOENT, -EPERM, -EACCES, -EFAULT, or -EINVAL if the memory is
 * misaligned.
 */
int mxe_rkey_atomic(const struct mxe_rights *rights, u32 rkey, int access,
		    u64 addr, const struct mxe_atomic_args *args, u64 *orig);

enum mxe_inv_side {
	MXE_INV_LOCAL,			/* LOCAL_INV of the consumer */
	MXE_INV_REMOTE,			/* SEND with invalidate of the peer */
};

/*
 * Invalidate the window or region of a remote key.
 * Context: BHs disabled.
 * Return: 0, -ENOENT, -EPERM, or -EBUSY if an access to the region is in
 * progress. The caller then tries again. -EINVAL if the window or region cannot
 * be invalidated by a request. For the peer, this is -EACCES, which it also
 * gets for a region without remote rights.
 */
int mxe_rkey_invalidate(const struct mxe_rights *rights, u32 rkey,
			enum mxe_inv_side side);

#endif /* MXE_RKEY_H */
