// SPDX-License-Identifier: GPL-2.0
/* Memory windows: verbs, binding, invalidation, and access. */
#include <linux/err.h>
#include <linux/slab.h>

#include "memory/mr.h"
#include "memory/mw.h"
#include "mxe.h"
#include "udata.h"

#define MXE_MW_ACCESS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC)

/*
 * Looks up a window, bound or not, by the upper 24 bits of its key. Returns
 * NULL if there is none. The caller must be in an RCU read-side section as long
 * as it uses the window without its lock.
 */
static struct mxe_mw *mxe_mw_find(struct mxe_dev *dev, u32 key)
{
	void *entry = xa_load(&dev->mrs, key >> 8);

	return xa_pointer_tag(entry) == MXE_KEY_OF_MW ? xa_untag_pointer(entry) :
							NULL;
}

static int mxe_mw_check(const struct mxe_mw *mw, const struct ib_pd *pd,
			u32 qpn, u32 key, int access, u64 addr, u64 len)
{
	lockdep_assert_held(&mw->lock);

	if (!mw->mr || mw->key != key)
		return -ENOENT;
	if (mw->pd != pd)
		return -EPERM;
	/* A window of type 2B belongs to one QP (IBTA 10.6.7.2.2). */
	if (mw->type == IB_MW_TYPE_2 && mw->qpn != qpn)
		return -EPERM;
	if ((mw->access & access) != access)
		return -EACCES;
	/* Subtract, because a sum could wrap. */
	if (addr < mw->addr || len > mw->length ||
	    addr - mw->addr > mw->length - len)
		return -EFAULT;
	return 0;
}

/*
 * Begin an access, which needs the rights @access, IB_ACCESS_*, through a
 * window. @qpn must match the QP of a type 2B window. @addr is as the peer
 * specified it. The region is mw->mr, and its address of the range is @addr +
 * mw->offset.
 * Context: Any but hard interrupts. Takes the lock of the window and disables
 * BHs until mxe_mw_end().
 * Return: the window, or ERR_PTR() of -ENOENT, -EPERM, -EACCES or -EFAULT.
 */
struct mxe_mw *mxe_mw_begin(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn,
			    u32 key, int access, u64 addr, u64 len)
{
	struct mxe_mw *mw;
	int err;

	rcu_read_lock();
	mw = mxe_mw_find(dev, key);
	if (!mw) {
		rcu_read_unlock();
		return ERR_PTR(-ENOENT);
	}
	spin_lock_bh(&mw->lock);
	rcu_read_unlock();
	err = mxe_mw_check(mw, pd, qpn, key, access, addr, len);
	if (err) {
		spin_unlock_bh(&mw->lock);
		return ERR_PTR(err);
	}

	/*
	 * The lock keeps the window bound, which keeps the region alive.
	 * mxe_mw_end() releases it.
	 */
	__release(&mw->lock);
	return mw;
}

/* Context: Releases the lock of the window and enables BHs. */
void mxe_mw_end(struct mxe_mw *mw)
{
	__acquire(&mw->lock);
	spin_unlock_bh(&mw->lock);
}

static void mxe_mw_unbind(struct mxe_mw *mw)
{
	lockdep_assert_held(&mw->lock);

	if (!mw->mr)
		return;
	atomic_dec(&mw->mr->windows);
	mw->mr = NULL;
}

/* Checks a request to bind a window against the region (IBTA 10.6.7.2). */
static int mxe_mw_check_bind(const struct mxe_mw *mw, const struct mxe_mr *mr,
			     const struct ib_pd *pd,
			     const struct mxe_bind *bind)
{
	/*
	 * A window has no local rights, and no windows on it. Programs pass the
	 * flags of the region, so those for both are accepted and ignored.
	 */
	u32 known = MXE_MW_ACCESS | IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND;

	if (mw->type == IB_MW_TYPE_2)
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
	bool type_2 = mw->type == IB_MW_TYPE_2;
	int err = 0;

	spin_lock_bh(&mw->lock);
	/*
	 * Type 2 must be invalidated before it is bound again, to a new key,
	 * because peers may still know the old one.
	 */
	if (mw->dying) {
		err = -ENOENT;
	} else if (type_2 && (mw->mr || (mw->was_bound && mw->key == key))) {
		err = -EINVAL;
	} else if (mr && !atomic_inc_unless_negative(&mr->windows)) {
		err = -ENOENT;
	} else {
		mxe_mw_unbind(mw);
		mw->mr = mr;
		mw->was_bound = true;
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

static int mxe_mw_do_bind(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn,
			  u32 key, const struct mxe_bind *bind)
{
	struct mxe_mw *mw = mxe_mw_find(dev, key);
	struct mxe_mr *mr, *remote;
	int err;

	if (!mw)
		return -ENOENT;
	if (mw->pd != pd)
		return -EPERM;
	/* Length 0 closes a window of type 1, and is an error for type 2. */
	if (!bind->length)
		return mw->type == IB_MW_TYPE_2 ?
		       -EINVAL : mxe_mw_bind_to(mw, NULL, qpn, key, bind);

	mr = mxe_mr_get(dev, bind->mr_lkey, NULL);
	if (!mr)
		return -ENOENT;
	/* It exists as long as the access to the region lasts. */
	remote = mxe_mr_remote(mr);
	err = mxe_mw_check_bind(mw, remote, pd, bind);
	if (!err)
		err = mxe_mw_bind_to(mw, remote, qpn, key, bind);
	mxe_mr_put(mr);
	return err;
}

/*
 * Execute a BIND_MW request. The upper 24 bits of @key, the new key, identify
 * the window. Length 0 closes a window of type 1.
 * Context: Any but hard interrupts. Takes and releases the lock of the window.
 * Return: 0, -ENOENT if there is no such window or region, -EPERM, -EACCES or
 * -EFAULT if the region does not allow it, or -EINVAL if the window does not.
 */
int mxe_mw_bind(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn, u32 key,
		const struct mxe_bind *bind)
{
	int err;

	rcu_read_lock();
	err = mxe_mw_do_bind(dev, pd, qpn, key, bind);
	rcu_read_unlock();
	return err;
}

static int mxe_mw_do_invalidate(struct mxe_mw *mw, const struct ib_pd *pd, u32 qpn,
				u32 key)
{
	int err;

	lockdep_assert_held(&mw->lock);

	/* Type 1 is closed by binding it with length 0. */
	if (mw->type != IB_MW_TYPE_2)
		return -EINVAL;
	/* As for regions, invalidating a second time is not an error. */
	if (!mw->mr && mw->key == key && !mw->dying)
		return mw->pd == pd ? 0 : -EPERM;
	err = mxe_mw_check(mw, pd, qpn, key, 0, mw->addr, 0);
	if (!err)
		mxe_mw_unbind(mw);
	return err;
}

/*
 * Close a window of type 2B. A window that is not bound belongs to no QP, and
 * remains as it is.
 * Context: Any but hard interrupts. Takes and releases the lock of the window.
 * Return: 0, -ENOENT if no window has this key, -EPERM if the window is not of
 * this domain or is bound to another QP, or -EINVAL for a window of type 1.
 */
int mxe_mw_invalidate(struct mxe_dev *dev, const struct ib_pd *pd, u32 qpn,
		      u32 key)
{
	int err = -ENOENT;
	struct mxe_mw *mw;

	rcu_read_lock();
	mw = mxe_mw_find(dev, key);
	if (mw) {
		spin_lock_bh(&mw->lock);
		err = mxe_mw_do_invalidate(mw, pd, qpn, key);
		spin_unlock_bh(&mw->lock);
	}
	rcu_read_unlock();
	return err;
}

int mxe_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(ibmw->device);
	struct mxe_mw *mw;
	int err;

	if (!mxe_udata_cleared(udata))
		return mxe_refuse(dev, -EINVAL, "non-zero udata");
	if (ibmw->type != IB_MW_TYPE_1 && ibmw->type != IB_MW_TYPE_2)
		return mxe_refuse(dev, -EINVAL, "unsupported window type %d", ibmw->type);

	err = mxe_resource_take(dev, MXE_RESOURCE_MW);
	if (err)
		return err;
	mw = kzalloc(sizeof(*mw), GFP_KERNEL_ACCOUNT);
	if (!mw) {
		err = -ENOMEM;
		goto err_give;
	}
	mw->dev = dev;
	mw->pd = ibmw->pd;
	mw->type = ibmw->type;
	spin_lock_init(&mw->lock);
	err = mxe_mr_alloc_key(dev, xa_tag_pointer(mw, MXE_KEY_OF_MW), &mw->key);
	if (err)
		goto err_free;
	mw->index = mw->key >> 8;
	container_of(ibmw, struct mxe_ib_mw, ibmw)->mw = mw;
	ibmw->rkey = mw->key;
	return 0;

err_free:
	kfree(mw);
err_give:
	mxe_resource_give(dev, MXE_RESOURCE_MW);
	return err;
}

int mxe_dealloc_mw(struct ib_mw *ibmw)
{
	struct mxe_mw *mw = to_mmw(ibmw);

	xa_erase(&mw->dev->mrs, mw->index);
	/*
	 * Taking the lock waits for an access in progress.  A reader that found
	 * the window before it was erased sees later that it is not bound.
	 */
	spin_lock_bh(&mw->lock);
	mw->dying = true;
	mxe_mw_unbind(mw);
	spin_unlock_bh(&mw->lock);

	mxe_resource_give(mw->dev, MXE_RESOURCE_MW);
	kfree_rcu(mw, rcu);
	return 0;
}
