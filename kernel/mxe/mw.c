// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>

#include "device.h"
#include "mr.h"
#include "mw.h"
#include "mxe.h"
#include "pd.h"

#define MXE_MW_ACCESS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC)

static void mxe_mw_release(struct kref *ref)
{
	complete(&container_of(ref, struct mxe_mw, ref)->released);
}

void mxe_mw_put(struct mxe_mw *mw)
{
	kref_put(&mw->ref, mxe_mw_release);
}

/* A referenced window by the upper bits of its key, bound or not; or NULL. */
static struct mxe_mw *mxe_mw_get(struct mxe_dev *dev, u32 key)
{
	struct mxe_mw *mw = NULL;
	void *entry;

	rcu_read_lock();
	entry = xa_load(&dev->mrs, key >> 8);
	if (xa_pointer_tag(entry) == MXE_KEY_OF_MW) {
		mw = xa_untag_pointer(entry);
		if (!kref_get_unless_zero(&mw->ref))
			mw = NULL;
	}
	rcu_read_unlock();
	return mw;
}

static int mxe_mw_check(const struct mxe_mw *mw, const struct ib_pd *pd,
			u32 qpn, u32 key, int access, u64 addr, u64 len)
{
	lockdep_assert_held(&mw->lock);

	if (!mw->mr || mw->key != key)
		return -ENOENT;
	if (mw->ibmw.pd != pd)
		return -EPERM;
	/* Type 2B belongs to one queue pair (IBTA 10.6.7.2.2). */
	if (mw->ibmw.type == IB_MW_TYPE_2 && mw->qpn != qpn)
		return -EPERM;
	if ((mw->access & access) != access)
		return -EACCES;
	/* Subtract, so that no sum can wrap. */
	if (addr < mw->addr || len > mw->length ||
	    addr - mw->addr > mw->length - len)
		return -EFAULT;
	return 0;
}

int mxe_mw_target(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn, u32 key,
		  int access, u64 *addr, u64 len, struct mxe_target *target)
{
	struct mxe_mw *mw = mxe_mw_get(dev, key);
	int err;

	if (!mw)
		return -ENOENT;
	spin_lock_bh(&mw->lock);
	err = mxe_mw_check(mw, pd, qpn, key, access, *addr, len);
	if (!err) {
		/* Bound, so the region is there and stays. */
		atomic_inc(&mw->mr->accesses);
		target->mr = mw->mr;
		target->mw = mw;
		*addr += mw->offset;
	}
	spin_unlock_bh(&mw->lock);
	if (err)
		mxe_mw_put(mw);
	return err;
}

/*
 * Accesses by what the window was bound to until now, in whose middle another CPU
 * may be, end before the memory is its owner's again; drops the caller's own
 * reference.
 */
static void mxe_mw_wait_accesses(struct mxe_mw *mw)
{
	/* Keeps the memory, by the grace period that destroying waits for. */
	rcu_read_lock();
	mxe_mw_put(mw);
	/* What was bound is written before the references are read. */
	smp_mb();
	while (kref_read(&mw->ref) > 1)
		cpu_relax();
	rcu_read_unlock();
}

/* What is bound is free again. */
static void mxe_mw_unbind(struct mxe_mw *mw)
{
	lockdep_assert_held(&mw->lock);

	if (!mw->mr)
		return;
	atomic_dec(&mw->mr->windows);
	mw->mr = NULL;
}

/* May a window be opened to this part of the region (IBTA 10.6.7.2)? */
static int mxe_mw_check_bind(const struct mxe_mw *mw, const struct mxe_mr *mr,
			     const struct ib_pd *pd,
			     const struct mxe_bind *bind)
{
	/* A window is a peer's: programs that name local rights get none. */
	u32 known = MXE_MW_ACCESS | IB_ACCESS_LOCAL_WRITE;

	if (mw->ibmw.type == IB_MW_TYPE_2)
		known |= IB_ZERO_BASED;
	if (bind->access & ~known)
		return -EINVAL;
	if (!(mr->access & IB_ACCESS_MW_BIND))
		return -EACCES;
	if (bind->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return -EACCES;
	return mxe_mr_check(mr, pd, 0, bind->addr, bind->length);
}

static int mxe_mw_bind_to(struct mxe_mw *mw, struct mxe_mr *mr, u32 qpn,
			  u32 key, const struct mxe_bind *bind)
{
	bool zero_based = bind->access & IB_ZERO_BASED;
	bool type_2 = mw->ibmw.type == IB_MW_TYPE_2;
	int err = 0;

	spin_lock_bh(&mw->lock);
	/* Type 2 is invalidated before it is bound again, to a new key. */
	if (type_2 && (mw->mr || mw->key == key)) {
		err = -EINVAL;
	} else if (mr && !atomic_inc_unless_negative(&mr->windows)) {
		err = -ENOENT;
	} else {
		mxe_mw_unbind(mw);
		mw->mr = mr;
		mw->key = key;
		mw->qpn = qpn;
		mw->access = bind->access & MXE_MW_ACCESS;
		mw->length = bind->length;
		mw->addr = zero_based ? 0 : bind->addr;
		mw->offset = zero_based ? bind->addr : 0;
	}
	spin_unlock_bh(&mw->lock);
	return err;
}

int mxe_mw_bind(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn, u32 key,
		const struct mxe_bind *bind)
{
	struct mxe_mw *mw = mxe_mw_get(dev, key);
	struct mxe_mr *mr = NULL;
	int err;

	if (!mw)
		return -ENOENT;
	if (mw->ibmw.pd != pd) {
		err = -EPERM;
		goto out;
	}
	/* Of no length: a window of type 1 is closed, one of type 2 cannot be. */
	if (bind->length) {
		mr = mxe_mr_get(dev, bind->mr_lkey);
		err = mr ? mxe_mw_check_bind(mw, mr, pd, bind) : -ENOENT;
	} else {
		err = mw->ibmw.type == IB_MW_TYPE_2 ? -EINVAL : 0;
	}
	if (!err)
		err = mxe_mw_bind_to(mw, mr, qpn, key, bind);
	if (mr)
		mxe_mr_put(mr);
	if (!err) {
		mxe_mw_wait_accesses(mw);
		return 0;
	}
out:
	mxe_mw_put(mw);
	return err;
}

int mxe_mw_invalidate(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn,
		      u32 key)
{
	struct mxe_mw *mw = mxe_mw_get(dev, key);
	int err;

	if (!mw)
		return -ENOENT;
	spin_lock_bh(&mw->lock);
	/* Type 1 is closed by binding it to nothing. */
	if (mw->ibmw.type != IB_MW_TYPE_2)
		err = -EINVAL;
	else
		err = mxe_mw_check(mw, pd, qpn, key, 0, mw->addr, 0);
	if (!err)
		mxe_mw_unbind(mw);
	spin_unlock_bh(&mw->lock);
	if (!err)
		mxe_mw_wait_accesses(mw);
	else
		mxe_mw_put(mw);
	return err;
}

int mxe_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(ibmw->device);
	struct mxe_mw *mw = to_mmw(ibmw);
	int err;

	if (!mxe_udata_cleared(udata))
		return mxe_refuse(dev, -EINVAL, "non-zero udata");
	if (ibmw->type != IB_MW_TYPE_1 && ibmw->type != IB_MW_TYPE_2)
		return mxe_refuse(dev, -EINVAL, "type %d", ibmw->type);

	err = mxe_device_take(dev, MXE_RESOURCE_MW);
	if (err)
		return err;
	mw->dev = dev;
	spin_lock_init(&mw->lock);
	kref_init(&mw->ref);
	init_completion(&mw->released);
	err = mxe_key_alloc(dev, xa_tag_pointer(mw, MXE_KEY_OF_MW), &mw->key);
	if (err) {
		mxe_device_give(dev, MXE_RESOURCE_MW);
		return err;
	}
	ibmw->rkey = mw->key;
	return 0;
}

int mxe_dealloc_mw(struct ib_mw *ibmw)
{
	struct mxe_mw *mw = to_mmw(ibmw);

	xa_erase(&mw->dev->mrs, mw->key >> 8);
	/* Who found it takes a reference first or finds none to take. */
	synchronize_rcu();
	mxe_mw_put(mw);
	wait_for_completion(&mw->released);

	spin_lock_bh(&mw->lock);
	mxe_mw_unbind(mw);
	spin_unlock_bh(&mw->lock);
	mxe_device_give(mw->dev, MXE_RESOURCE_MW);
	return 0;
}
