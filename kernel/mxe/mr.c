// SPDX-License-Identifier: GPL-2.0
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_umem.h>

#include "device.h"
#include "dm.h"
#include "mr.h"
#include "mw.h"
#include "mxe.h"
#include "ring.h"
#include "pd.h"

#define MXE_MR_SUPPORTED_ACCESS						\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_MW_BIND | IB_ACCESS_RELAXED_ORDERING)
/* Of processes: huge pages are no different to the linear map. */
#define MXE_MR_USER_ACCESS						\
	(MXE_MR_SUPPORTED_ACCESS | IB_ZERO_BASED | IB_ACCESS_HUGETLB |	\
	 IB_ACCESS_OPTIONAL)

static void mxe_mr_release(struct kref *ref)
{
	complete(&container_of(ref, struct mxe_mr, ref)->released);
}

struct mxe_mr *mxe_mr_get(struct mxe_dev *dev, u32 key)
{
	struct mxe_mr *mr = NULL;
	void *entry;

	rcu_read_lock();
	entry = xa_load(&dev->mrs, key >> 8);
	if (xa_pointer_tag(entry) == MXE_KEY_OF_MR)
		mr = entry;
	if (mr && !kref_get_unless_zero(&mr->ref))
		mr = NULL;
	rcu_read_unlock();
	if (!mr)
		return NULL;

	/* Pairs with the release in mxe_mr_reg(). */
	if (smp_load_acquire(&mr->state) != MXE_MR_VALID || mr->key != key) {
		mxe_mr_put(mr);
		return NULL;
	}
	return mr;
}

void mxe_mr_put(struct mxe_mr *mr)
{
	kref_put(&mr->ref, mxe_mr_release);
}

int mxe_mr_check(const struct mxe_mr *mr, const struct ib_pd *pd, int access,
		 u64 addr, u64 length)
{
	if (mr->ibmr.pd != pd)
		return -EPERM;
	if ((mr->access & access) != access)
		return -EACCES;
	if (mr->all_kernel_memory)
		return 0;
	/* Subtract, so that no sum can wrap. */
	if (addr < mr->iova || length > mr->length ||
	    addr - mr->iova > mr->length - length)
		return -EFAULT;
	return 0;
}

/* Where addr is, and how many bytes of its page follow. */
static void *mxe_mr_ptr(const struct mxe_mr *mr, u64 addr, u32 *avail)
{
	u64 offset = addr - mr->iova + mr->first_offset;
	u32 in_page = offset & ((1UL << mr->page_shift) - 1);

	*avail = (1U << mr->page_shift) - in_page;
	return mr->pages[offset >> mr->page_shift] + in_page;
}

void mxe_mr_copy(const struct mxe_mr *mr, u64 addr, void *buf, u32 len,
		 enum mxe_copy_dir dir)
{
	while (len) {
		u32 chunk = len;
		void *p;

		if (mr->all_kernel_memory) {
			p = (void *)(uintptr_t)addr;
		} else {
			p = mxe_mr_ptr(mr, addr, &chunk);
			chunk = min(chunk, len);
		}
		if (dir == MXE_TO_MEMORY)
			memcpy(p, buf, chunk);
		else
			memcpy(buf, p, chunk);
		addr += chunk;
		buf += chunk;
		len -= chunk;
	}
}

/*
 * The region that a remote key leads to, by a window or itself, with a
 * reference, if the access to these bytes is granted; addr becomes an address
 * of the region.
 */
static struct mxe_mr *mxe_rkey_get(const struct mxe_peer *peer, u32 rkey,
				   int access, u64 *addr, u64 len)
{
	struct mxe_mr *mr = mxe_mr_get(peer->dev, rkey);
	int err;

	if (!mr)
		return mxe_mw_get_mr(peer->dev, peer->pd, peer->qpn, rkey,
				     access, addr, len);
	err = mxe_mr_check(mr, peer->pd, access, *addr, len);
	if (!err)
		return mr;
	mxe_mr_put(mr);
	return ERR_PTR(err);
}

int mxe_rkey_copy(const struct mxe_peer *peer, u32 rkey, int access, u64 addr,
		  void *buf, u32 len, enum mxe_copy_dir dir)
{
	struct mxe_mr *mr = mxe_rkey_get(peer, rkey, access, &addr, len);

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mxe_mr_copy(mr, addr, buf, len, dir);
	mxe_mr_put(mr);
	return 0;
}

int mxe_rkey_check(const struct mxe_peer *peer, u32 rkey, int access, u64 addr,
		   u32 len)
{
	struct mxe_mr *mr = mxe_rkey_get(peer, rkey, access, &addr, len);

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mxe_mr_put(mr);
	return 0;
}

int mxe_rkey_atomic(const struct mxe_peer *peer, u32 rkey, u64 addr,
		    const struct mxe_atomic_args *args, u64 *orig)
{
	unsigned int size = mxe_atomic_size(args);
	struct mxe_mr *mr = mxe_rkey_get(peer, rkey, IB_ACCESS_REMOTE_ATOMIC,
					 &addr, size);
	u32 avail;
	void *p;
	int err = 0;

	if (IS_ERR(mr))
		return PTR_ERR(mr);

	p = mr->all_kernel_memory ? (void *)(uintptr_t)addr :
				    mxe_mr_ptr(mr, addr, &avail);
	/*
	 * IBTA aligns the virtual address, which was checked.  A region whose
	 * iova and memory disagree about alignment cannot be served.
	 */
	if (IS_ALIGNED((uintptr_t)p, size))
		mxe_atomic_exec(p, args, orig);
	else
		err = -EINVAL;
	mxe_mr_put(mr);
	return err;
}

int mxe_lkey_copy(struct mxe_dev *dev, const struct ib_pd *pd, u32 lkey,
		  int access, u64 addr, void *buf, u32 len,
		  enum mxe_copy_dir dir)
{
	struct mxe_mr *mr = mxe_mr_get(dev, lkey);
	int err;

	if (!mr)
		return -ENOENT;
	err = mxe_mr_check(mr, pd, access, addr, len);
	if (!err)
		mxe_mr_copy(mr, addr, buf, len, dir);
	mxe_mr_put(mr);
	return err;
}

int mxe_sge_copy(struct mxe_dev *dev, const struct ib_pd *pd,
		 const struct ib_sge *sge, unsigned int num_sge, u32 offset,
		 void *buf, u32 len, enum mxe_copy_dir dir)
{
	int access = dir == MXE_TO_MEMORY ? IB_ACCESS_LOCAL_WRITE : 0;
	unsigned int i;

	for (i = 0; i < num_sge && len; i++) {
		u32 chunk;
		int err;

		if (offset >= sge[i].length) {
			offset -= sge[i].length;
			continue;
		}
		chunk = min(len, sge[i].length - offset);
		err = mxe_lkey_copy(dev, pd, sge[i].lkey, access,
				    sge[i].addr + offset, buf, chunk, dir);
		if (err)
			return err;
		buf += chunk;
		len -= chunk;
		offset = 0;
	}
	return len ? -EFAULT : 0;
}

int mxe_key_alloc(struct mxe_dev *dev, void *entry, u32 *key)
{
	int tries, err = -EBUSY;

	for (tries = 0; tries < 64 && err == -EBUSY; tries++) {
		*key = get_random_u32();
		/* 0 is no key to the core. */
		if (*key >> 8)
			err = xa_insert(&dev->mrs, *key >> 8, entry,
					GFP_KERNEL);
	}
	return err == -EBUSY ? -ENOMEM : err;
}

static int mxe_mr_publish(struct mxe_mr *mr)
{
	u32 key;
	int err;

	/* Found by this key only when it is valid. */
	err = mxe_key_alloc(mr->dev, mr, &key);
	if (err)
		return err;
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	WRITE_ONCE(mr->key, key);
	return 0;
}

static void mxe_mr_free(struct mxe_mr *mr)
{
	kvfree(mr->pages);
	if (mr->umem)
		ib_umem_release(mr->umem);
	mxe_device_give(mr->dev, MXE_RESOURCE_MR);
	kfree_rcu(mr, rcu);
}

static struct mxe_mr *mxe_mr_alloc(struct ib_pd *pd, int access)
{
	struct mxe_dev *dev = to_mdev(pd->device);
	struct mxe_mr *mr;

	if (mxe_device_take(dev, MXE_RESOURCE_MR))
		return NULL;
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr) {
		mxe_device_give(dev, MXE_RESOURCE_MR);
		return NULL;
	}
	mr->dev = dev;
	mr->ibmr.pd = pd;
	mr->ibmr.device = pd->device;
	mr->access = access;
	kref_init(&mr->ref);
	init_completion(&mr->released);
	return mr;
}

struct ib_mr *mxe_get_dma_mr(struct ib_pd *pd, int access)
{
	struct mxe_dev *dev = to_mdev(pd->device);
	struct mxe_mr *mr;
	int err;

	/*
	 * All kernel memory.  No peer gets a key to that: an address that is
	 * not mapped would bring the host down.
	 */
	if (access & ~(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_RELAXED_ORDERING))
		return ERR_PTR(mxe_refuse(dev, -EOPNOTSUPP, "access %#x",
					  access));

	mr = mxe_mr_alloc(pd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->all_kernel_memory = true;
	mr->state = MXE_MR_VALID;
	err = mxe_mr_publish(mr);
	if (err) {
		mxe_mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

static int mxe_mr_set_umem_pages(struct mxe_mr *mr)
{
	struct sg_page_iter iter;
	u32 i = 0;

	mr->page_shift = PAGE_SHIFT;
	mr->npages = ib_umem_num_pages(mr->umem);
	mr->first_offset = ib_umem_offset(mr->umem);
	mr->pages = kvmalloc_array(mr->npages, sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages)
		return -ENOMEM;

	for_each_sg_page(mr->umem->sgt_append.sgt.sgl, &iter,
			 mr->umem->sgt_append.sgt.orig_nents, 0) {
		if (WARN_ON_ONCE(i == mr->npages))
			return -EINVAL;
		mr->pages[i++] = page_address(sg_page_iter_page(&iter));
	}
	return WARN_ON_ONCE(i != mr->npages) ? -EINVAL : 0;
}

/* A region that nobody finds yet. */
static struct mxe_mr *mxe_mr_pin(struct ib_pd *pd, u64 start, u64 length,
				 u64 iova, int access, struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(pd->device);
	struct ib_umem *umem;
	struct mxe_mr *mr;
	int err;

	if (!mxe_udata_cleared(udata))
		return ERR_PTR(mxe_refuse(dev, -EINVAL, "non-zero udata"));
	if (access & ~MXE_MR_USER_ACCESS)
		return ERR_PTR(mxe_refuse(dev, -EOPNOTSUPP, "access %#x",
					  access));
	/* Addresses are offsets, whatever the process says. */
	if (access & IB_ZERO_BASED)
		iova = 0;
	if (iova + length < iova)
		return ERR_PTR(mxe_refuse(dev, -EINVAL, "iova %#llx wraps",
					  iova));

	mr = mxe_mr_alloc(pd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->iova = iova;
	mr->length = length;

	umem = mxe_umem_get(pd->device, start, length, access);
	if (IS_ERR(umem)) {
		err = PTR_ERR(umem);
		goto err_free;
	}
	mr->umem = umem;
	err = mxe_mr_set_umem_pages(mr);
	if (err)
		goto err_free;

	mr->ibmr.iova = iova;
	mr->ibmr.length = length;
	mr->state = MXE_MR_VALID;
	return mr;

err_free:
	mxe_mr_free(mr);
	return ERR_PTR(err);
}

struct ib_mr *mxe_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			      u64 iova, int access, struct ib_udata *udata)
{
	struct mxe_mr *mr = mxe_mr_pin(pd, start, length, iova, access, udata);
	int err;

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	err = mxe_mr_publish(mr);
	if (err) {
		mxe_mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

/*
 * A new region takes the place and the key of the old one, which the core
 * deregisters when this succeeds: nobody sees one that is half changed, and if
 * it fails the old one is as it was.
 */
struct ib_mr *mxe_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				u64 length, u64 iova, int access,
				struct ib_pd *pd, struct ib_udata *udata)
{
	struct mxe_mr *mr = to_mmr(ibmr), *new;

	if (!mr->umem)
		return ERR_PTR(mxe_refuse(mr->dev, -EINVAL, "not of a process"));
	/* From -1 on no window is bound to it. */
	if (atomic_cmpxchg(&mr->windows, 0, -1))
		return ERR_PTR(mxe_refuse(mr->dev, -EBUSY,
					  "windows are bound to it"));
	if (!(flags & IB_MR_REREG_TRANS)) {
		start = mr->umem->address;
		length = mr->length;
		iova = mr->iova;
	}
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	new = mxe_mr_pin(pd, start, length, iova, access, udata);
	if (IS_ERR(new)) {
		atomic_set(&mr->windows, 0);
		return ERR_CAST(new);
	}
	new->key = mr->key;
	new->ibmr.lkey = mr->key;
	new->ibmr.rkey = mr->key;
	/* The place is taken, so this needs no memory. */
	WARN_ON(xa_store(&mr->dev->mrs, mr->key >> 8, new, GFP_KERNEL) != mr);
	return &new->ibmr;
}

struct ib_mr *mxe_reg_dm_mr(struct ib_pd *pd, struct ib_dm *ibdm,
			    struct ib_dm_mr_attr *attr,
			    struct uverbs_attr_bundle *attrs)
{
	struct mxe_dev *dev = to_mdev(pd->device);
	const void *mem = to_mdm(ibdm)->entry->mem;
	struct mxe_mr *mr;
	int err = -ENOMEM;
	u32 i;

	/* The core has compared offset and length with those of the memory. */
	if (attr->access_flags & ~MXE_MR_USER_ACCESS)
		return ERR_PTR(mxe_refuse(dev, -EOPNOTSUPP, "access %#x",
					  attr->access_flags));
	mr = mxe_mr_alloc(pd, attr->access_flags);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->length = attr->length;
	mr->page_shift = PAGE_SHIFT;
	mr->first_offset = offset_in_page(attr->offset);
	mr->npages = DIV_ROUND_UP(mr->first_offset + attr->length, PAGE_SIZE);
	mr->pages = kvmalloc_array(mr->npages, sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages)
		goto err_free;
	mem += attr->offset & PAGE_MASK;
	for (i = 0; i < mr->npages; i++)
		mr->pages[i] = page_address(vmalloc_to_page(mem + i * PAGE_SIZE));

	mr->ibmr.length = attr->length;
	mr->state = MXE_MR_VALID;
	err = mxe_mr_publish(mr);
	if (err)
		goto err_free;
	return &mr->ibmr;

err_free:
	mxe_mr_free(mr);
	return ERR_PTR(err);
}

struct ib_mr *mxe_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			   u32 max_num_sg)
{
	struct mxe_dev *dev = to_mdev(pd->device);
	struct mxe_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(mxe_refuse(dev, -EOPNOTSUPP, "type %d", type));
	if (!max_num_sg || max_num_sg > MXE_MAX_FAST_REG_PAGES)
		return ERR_PTR(mxe_refuse(dev, -EINVAL, "%u pages, at most %u",
					  max_num_sg, MXE_MAX_FAST_REG_PAGES));

	mr = mxe_mr_alloc(pd, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max_pages = max_num_sg;
	mr->pages = kvcalloc(max_num_sg, sizeof(*mr->pages), GFP_KERNEL);
	err = mr->pages ? mxe_mr_publish(mr) : -ENOMEM;
	if (err) {
		mxe_mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

static int mxe_mr_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct mxe_mr *mr = to_mmr(ibmr);

	if (mr->npages == mr->max_pages)
		return -ENOMEM;
	/* Virtual DMA: the address is the kernel's. */
	mr->pages[mr->npages++] = (void *)(uintptr_t)addr;
	return 0;
}

int mxe_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		  unsigned int *sg_offset)
{
	struct mxe_mr *mr = to_mmr(ibmr);
	int n;

	if (mr->state == MXE_MR_VALID)
		return mxe_refuse(mr->dev, -EINVAL, "region is valid");
	mr->npages = 0;
	n = ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, mxe_mr_set_page);
	mr->page_shift = ilog2(ibmr->page_size);
	mr->first_offset = ibmr->iova & (ibmr->page_size - 1);
	return n;
}

int mxe_mr_reg(struct ib_mr *ibmr, struct ib_pd *pd, u32 key, int access)
{
	struct mxe_mr *mr = to_mmr(ibmr);

	if (!mr->max_pages || ibmr->pd != pd || mr->state == MXE_MR_VALID ||
	    key >> 8 != mr->key >> 8 || access & ~MXE_MR_SUPPORTED_ACCESS)
		return -EINVAL;

	/* Read now: ib_map_mr_sg_zbva() changes iova after map_mr_sg(). */
	mr->iova = ibmr->iova;
	mr->length = ibmr->length;
	mr->access = access;
	mr->key = key;
	ibmr->lkey = key;
	ibmr->rkey = key;
	/* Pairs with the acquire in mxe_mr_get(). */
	smp_store_release(&mr->state, MXE_MR_VALID);
	return 0;
}

/*
 * Once the consumer learns that a region is invalid, its memory is its own
 * again: an access that another CPU is in the middle of must end first.  Those
 * hold a reference with bottom halves off, for one packet's copy at most, and
 * no new one begins.  The caller holds none of its own, but the RCU lock.
 */
static void mxe_mr_wait_accesses(const struct mxe_mr *mr)
{
	/* The state is written before the references are read. */
	smp_mb();
	while (kref_read(&mr->ref) > 1)
		cpu_relax();
}

/* access: one of these the region must grant, 0: any will do. */
static int mxe_mr_invalidate(struct mxe_dev *dev, const struct ib_pd *pd,
			     u32 key, int access)
{
	struct mxe_mr *mr;
	int err = 0;

	rcu_read_lock();
	mr = mxe_mr_get(dev, key);
	if (!mr) {
		rcu_read_unlock();
		return -ENOENT;
	}
	if (mr->ibmr.pd != pd)
		err = -EPERM;
	else if (!mr->max_pages)
		err = -EINVAL;
	else if (access && !(mr->access & access))
		err = -EACCES;
	else
		WRITE_ONCE(mr->state, MXE_MR_INVALID);
	mxe_mr_put(mr);
	if (!err)
		mxe_mr_wait_accesses(mr);
	rcu_read_unlock();
	return err;
}

int mxe_mr_local_inv(struct mxe_dev *dev, const struct ib_pd *pd, u32 key)
{
	return mxe_mr_invalidate(dev, pd, key, 0);
}

int mxe_mr_remote_inv(struct mxe_dev *dev, const struct ib_pd *pd, u32 key)
{
	int err = mxe_mr_invalidate(dev, pd, key, IB_ACCESS_REMOTE_WRITE |
						  IB_ACCESS_REMOTE_READ |
						  IB_ACCESS_REMOTE_ATOMIC);

	/* To the peer a region that is not of this kind is one it cannot use. */
	return err == -EINVAL ? -EACCES : err;
}

int mxe_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct mxe_mr *mr = to_mmr(ibmr);

	/* From -1 on, which it may be since rereg, no window is bound to it. */
	if (atomic_cmpxchg(&mr->windows, 0, -1) > 0)
		return mxe_refuse(mr->dev, -EBUSY, "windows are bound to it");
	/* One that was changed has its place no more. */
	xa_cmpxchg(&mr->dev->mrs, mr->key >> 8, mr, NULL, GFP_KERNEL);
	mxe_mr_put(mr);
	wait_for_completion(&mr->released);
	mxe_mr_free(mr);
	return 0;
}
