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
