// SPDX-License-Identifier: GPL-2.0
/*
 * Remote keys: lookup of the region or window of a key, check of its rights,
 * and access.
 */
#include <linux/err.h>

#include "memory/atomic.h"
#include "memory/mr.h"
#include "memory/mw.h"
#include "memory/rkey.h"

/* As mxe_rkey_get(), its only caller, for the key of a window. */
int mxe_rkey_get_window(const struct mxe_rights *rights, u32 rkey, int access,
			u64 *addr, u64 len, struct mxe_target *target)
{
	struct mxe_mw *mw = mxe_mw_begin(rights->dev, rights->pd, rights->qpn, rkey,
					 access, *addr, len);

	if (IS_ERR(mw))
		return PTR_ERR(mw);
	*target = (struct mxe_target) { .mr = mw->mr, .mw = mw };
	*addr += mw->offset;
	return 0;
}

/*
 * Copy to or from the memory of a remote key, which must grant the rights
 * @access, IB_ACCESS_*. @addr is as the peer specified it.
 * Context: BHs disabled.
 * Return: 0, -ENOENT, -EPERM, -EACCES or -EFAULT. Nothing is copied unless it
 * is 0.
 */
int mxe_rkey_copy(const struct mxe_rights *rights, u32 rkey, int access,
		  u64 addr, void *buf, u32 len, enum mxe_copy_dir dir)
{
	struct mxe_target target __uninitialized;
	int err;

	err = mxe_rkey_get(rights, rkey, access, &addr, len, &target);
	if (err)
		return err;
	mxe_mr_copy(target.mr, addr, buf, len, dir);
	mxe_rkey_put(&target);
	return 0;
}

/*
 * Check if a remote key grants the rights @access, IB_ACCESS_*, to a range.
 * @addr is as the peer specified it.
 * Context: BHs disabled.
 * Return: 0, -ENOENT, -EPERM, -EACCES or -EFAULT.
 */
int mxe_rkey_check(const struct mxe_rights *rights, u32 rkey, int access,
		   u64 addr, u32 len)
{
	struct mxe_target target __uninitialized;
	int err;

	err = mxe_rkey_get(rights, rkey, access, &addr, len, &target);
	if (!err)
		mxe_rkey_put(&target);
	return err;
}

/*
 * Check if a remote key grants the rights @access, IB_ACCESS_*, to all of a
 * region. The key of a window never does.
 * Context: BHs disabled.
 * Return: 0, -ENOENT, -EPERM or -EACCES.
 */
int mxe_rkey_grants(const struct mxe_rights *rights, u32 rkey, int access)
{
	struct mxe_mr *mr = mxe_mr_get(rights->dev, rkey, NULL);
	int err;

	if (!mr)
		return -ENOENT;
	err = mxe_mr_check(mr, rights->pd, access, mr->iova, 0);
	mxe_mr_put(mr);
	return err;
}

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
		    u64 addr, const struct mxe_atomic_args *args, u64 *orig)
{
	u32 size = mxe_atomic_size(args);
	struct mxe_target target __uninitialized;
	int err;

	err = mxe_rkey_get(rights, rkey, access, &addr, size, &target);
	if (err)
		return err;
	err = mxe_mr_atomic(target.mr, addr, size, args, orig);
	mxe_rkey_put(&target);
	return err;
}

/*
 * Invalidate the window or region of a remote key.
 * Context: BHs disabled.
 * Return: 0, -ENOENT, -EPERM, or -EBUSY if an access to the region is in
 * progress. The caller then tries again. -EINVAL if the window or region cannot
 * be invalidated by a request. For the peer, this is -EACCES, which it also
 * gets for a region without remote rights.
 */
int mxe_rkey_invalidate(const struct mxe_rights *rights, u32 rkey,
			enum mxe_inv_side side)
{
	int access = side == MXE_INV_REMOTE ? IB_ACCESS_REMOTE_WRITE |
					      IB_ACCESS_REMOTE_READ |
					      IB_ACCESS_REMOTE_ATOMIC : 0;
	int err;

	err = mxe_mw_invalidate(rights->dev, rights->pd, rights->qpn, rkey);
	if (err == -ENOENT)
		err = mxe_mr_invalidate(rights->dev, rights->pd, rkey, access);
	/* The peer has no right to invalidate other types. */
	return err == -EINVAL && side == MXE_INV_REMOTE ? -EACCES : err;
}
