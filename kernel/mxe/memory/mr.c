// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: verbs, lookup by key, access to memory, and fast
 * registration.
 */
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "memory/dm.h"
#include "memory/dmabuf.h"
#include "memory/mr.h"
#include "memory/pin.h"
#include "memory/ring.h"
#include "memory/shadow.h"
#include "mxe.h"
#include "udata.h"

#define MXE_MR_SUPPORTED_ACCESS						\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_MW_BIND | IB_ACCESS_RELAXED_ORDERING |		\
	 IB_ACCESS_FLUSH_GLOBAL)
/*
 * Rights of processes.  IB_ACCESS_HUGETLB has no effect, because the module
 * accesses pages through the linear map.
 */
#define MXE_MR_USER_ACCESS						\
	(MXE_MR_SUPPORTED_ACCESS | IB_ZERO_BASED | IB_ACCESS_HUGETLB |	\
	 IB_ACCESS_OPTIONAL)

/* Rights with which peers can access a region. */
#define MXE_MR_REMOTE_ACCESS						\
	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |		\
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND)

/*
 * "Page" size of contiguous memory: 1 GiB, because offsets in a page have 32
 * bits.
 */
#define MXE_MR_MAPPED_SHIFT	30

/* Copies of at least this many bytes use memcpy(). */
#define MXE_COPY_LONG	64

static void mxe_mr_destroy(struct mxe_mr *mr);

/*
 * Do the work of mxe_mr_get() if the cache misses. Set @cache, unless it is
 * NULL, to the region at the index of @key. @generation is dev->mrs_generation,
 * read before the call.
 * Context: Any but hard interrupts. The lock of @cache is held.
 */
struct mxe_mr *mxe_mr_find(struct mxe_dev *dev, u32 key,
			   struct mxe_mr_cache *cache, long generation)
{
	u32 place = key >> 8;
	struct mxe_mr *mr;

	rcu_read_lock();
	mr = xa_load(&dev->mrs, place);
	if (xa_pointer_tag(mr) != MXE_KEY_OF_MR)
		mr = NULL;
	if (mr && cache)
		*cache = (struct mxe_mr_cache) { place, generation, mr };
	if (mr)
		mr = mxe_mr_use(mr, key);
	rcu_read_unlock();
	return mr;
}

/*
 * Invalidates the caches after a region was removed from dev->mrs, and before
 * it is freed by RCU.
 */
static void mxe_mr_withdrawn(struct mxe_dev *dev)
{
	/*
	 * Fully ordered: a reader that sees the new generation does not find
	 * the region.  One that sees the old generation is in an RCU read-side
	 * section for which kfree_rcu() waits.
	 */
	atomic_long_inc_return(&dev->mrs_generation);
}

/*
 * Copy between two buffers that may overlap: on the loopback path, both are
 * registered memory, possibly of the same region.
 *
 * Before 6.4, memcpy() is a string instruction on more x86 CPUs than memmove().
 * The instruction has a start-up cost, so short copies do not use it.
 */
void mxe_mr_copy_bytes(void *to, const void *from, u32 len)
{
	if (len < MXE_COPY_LONG || (to < from + len && from < to + len))
		memmove(to, from, len);
	else
		memcpy(to, from, len);
}

/* As mxe_mr_copy(), for bytes that may cross page boundaries. */
void mxe_mr_copy_pages(const struct mxe_mr *mr, u64 addr, void *buf, u32 len,
		       enum mxe_copy_dir dir)
{
	while (len) {
		u32 chunk;
		void *p = mxe_mr_ptr(mr, addr, &chunk);

		chunk = min(chunk, len);
		mxe_mr_copy_chunk(p, buf, chunk, dir);
		addr += chunk;
		buf += chunk;
		len -= chunk;
	}
}

static int mxe_mr_copy_lkey(struct mxe_dev *dev, const struct ib_pd *pd, u32 lkey,
			    int access, u64 addr, void *buf, u32 len,
			    enum mxe_copy_dir dir, struct mxe_mr_cache *cache)
{
	struct mxe_mr *mr = mxe_mr_get(dev, lkey, cache);
	int err;

	if (!mr)
		return -ENOENT;
	err = mxe_mr_check(mr, pd, access, addr, len);
	if (!err)
		mxe_mr_copy(mr, addr, buf, len, dir);
	mxe_mr_put(mr);
	return err;
}

/*
 * Copy to or from the memory of an SGE list, from byte @offset of the list on.
 * MXE_TO_MEMORY needs IB_ACCESS_LOCAL_WRITE. @cache is as for mxe_mr_get().
 * After an error, part of the bytes may have been copied.
 * Context: BHs disabled.
 * Return: 0, -ENOENT, -EPERM, -EACCES or -EFAULT. Also -EFAULT if the list is
 * too short.
 */
int mxe_mr_copy_sges(struct mxe_dev *dev, const struct ib_pd *pd,
		     const struct ib_sge *sge, unsigned int num_sge, u32 offset,
		     void *buf, u32 len, enum mxe_copy_dir dir,
		     struct mxe_mr_cache *cache)
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
		err = mxe_mr_copy_lkey(dev, pd, sge[i].lkey, access,
				       sge[i].addr + offset, buf, chunk, dir,
				       cache);
		if (err)
			return err;
		buf += chunk;
		len -= chunk;
		offset = 0;
	}
	return len ? -EFAULT : 0;
}

/*
 * Publish @entry, a region or window with a tag of enum mxe_key_type, under a
 * new key. Keys are random, so that a peer cannot guess one from another. The
 * upper 24 bits are the index in dev->mrs.
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_mr_alloc_key(struct mxe_dev *dev, void *entry, u32 *key)
{
	int tries, err = -EBUSY;

	for (tries = 0; tries < 64 && err == -EBUSY; tries++) {
		*key = get_random_u32();
		/* ib_core takes key 0 for no key, so leave out index 0. */
		if (*key >> 8)
			err = xa_insert(&dev->mrs, *key >> 8, entry,
					GFP_KERNEL_ACCOUNT);
	}
	return err == -EBUSY ? -ENOMEM : err;
}

static int mxe_mr_publish(struct mxe_mr *mr)
{
	u32 key;
	int err;

	/* Readers compare mr->key, so they find nothing before it is set. */
	err = mxe_mr_alloc_key(mr->dev, mr, &key);
	if (err)
		return err;
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	WRITE_ONCE(mr->key, key);
	return 0;
}

/* Frees a region that is not published, or was withdrawn. */
static void mxe_mr_free(struct mxe_mr *mr)
{
	if (mr->remote)
		mxe_mr_destroy(mr->remote);
	if (mr->shadow)
		mxe_shadow_free(mr->shadow);
	if (mr->pin)
		mxe_pin_put(mr->dev, mr->pin);
	else
		kvfree(mr->pages);
	if (mr->dmabuf)
		mxe_dmabuf_close(mr->dmabuf);
	mxe_resource_give(mr->dev, MXE_RESOURCE_MR);
	kfree_rcu(mr, rcu);
}

/*
 * Ends a registration.  Publishes the region, or frees it if err is set or
 * publishing fails.
 */
static struct ib_mr *mxe_mr_finish(struct mxe_mr *mr, int err)
{
	if (!err)
		err = mxe_mr_publish(mr);
	if (err) {
		mxe_mr_free(mr);
		return ERR_PTR(err);
	}
	mr->ibmr.rkey = mxe_mr_remote(mr)->key;
	return &mr->ibmr;
}

static struct mxe_mr *mxe_mr_alloc(struct ib_pd *pd, int access)
{
	struct mxe_dev *dev = to_mdev(pd->device);
	struct mxe_mr *mr;

	if (mxe_resource_take(dev, MXE_RESOURCE_MR))
		return NULL;
	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr) {
		mxe_resource_give(dev, MXE_RESOURCE_MR);
		return NULL;
	}
	mr->dev = dev;
	spin_lock_init(&mr->reg_lock);
	mr->ibmr.pd = pd;
	mr->ibmr.device = pd->device;
	mr->access = access;
	return mr;
}

struct ib_mr *mxe_get_dma_mr(struct ib_pd *pd, int access)
{
	struct mxe_dev *dev = to_mdev(pd->device);
	struct mxe_mr *mr;

	/*
	 * The region covers all kernel memory.  Remote rights are refused,
	 * because a peer could crash the host with an unmapped address.
	 */
	if (access & ~(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_RELAXED_ORDERING))
		return ERR_PTR(mxe_refuse(dev, -EOPNOTSUPP, "unsupported access flags %#x",
					  access));

	mr = mxe_mr_alloc(pd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->all_kernel_memory = true;
	mr->state = MXE_MR_VALID;
	return mxe_mr_finish(mr, 0);
}

/*
 * mem is contiguous in the kernel's address space, so its "pages" are as large
 * as mxe_mr_ptr() allows.  Otherwise many regions of one buffer would need an
 * array of page addresses each.
 */
static int mxe_mr_set_mapped_pages(struct mxe_mr *mr, void *mem)
{
	u32 i;

	mr->page_shift = MXE_MR_MAPPED_SHIFT;
	mr->first_offset = 0;
	mr->npages = DIV_ROUND_UP_ULL(mr->length, BIT(MXE_MR_MAPPED_SHIFT));
	mr->pages = kvmalloc_array(mr->npages, sizeof(*mr->pages),
				   GFP_KERNEL_ACCOUNT);
	if (!mr->pages)
		return -ENOMEM;
	for (i = 0; i < mr->npages; i++)
		mr->pages[i] = mem + ((size_t)i << MXE_MR_MAPPED_SHIFT);
	return 0;
}

/* Checks the arguments of a process, and allocates a region without memory. */
static struct mxe_mr *mxe_mr_alloc_user(struct ib_pd *pd, u64 length, u64 iova,
					int access, struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(pd->device);
	struct mxe_mr *mr;

	if (!mxe_udata_cleared(udata))
		return ERR_PTR(mxe_refuse(dev, -EINVAL, "non-zero udata"));
	if (access & ~MXE_MR_USER_ACCESS)
		return ERR_PTR(mxe_refuse(dev, -EOPNOTSUPP, "unsupported access flags %#x",
					  access));
	/* Addresses are offsets, so ignore the iova of the process. */
	if (access & IB_ZERO_BASED)
		iova = 0;
	if (iova + length < iova)
		return ERR_PTR(mxe_refuse(dev, -EINVAL, "iova %#llx wraps",
					  iova));
	/* Only the process can make memory globally visible. */
	if (!dev->coherent && access & IB_ACCESS_FLUSH_GLOBAL)
		return ERR_PTR(mxe_refuse(dev, -EOPNOTSUPP, "no FLUSH with coherent=N"));

	mr = mxe_mr_alloc(pd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->iova = iova;
	mr->length = length;
	mr->ibmr.iova = iova;
	mr->ibmr.length = length;
	mr->state = MXE_MR_VALID;
	return mr;
}

/* Creates and publishes the remote region if the device and rights need one. */
static int mxe_mr_add_remote(struct mxe_mr *mr)
{
	struct mxe_mr *remote;
	int err;

	if (mr->dev->coherent || !(mr->access & MXE_MR_REMOTE_ACCESS))
		return 0;
	remote = mxe_mr_alloc(mr->ibmr.pd, mr->access);
	if (!remote)
		return -ENOMEM;
	remote->iova = mr->iova;
	remote->length = mr->length;
	remote->state = MXE_MR_VALID;
	remote->shadow = mxe_shadow_create(mr->pin, mr->length);
	if (IS_ERR(remote->shadow)) {
		err = PTR_ERR(remote->shadow);
		remote->shadow = NULL;
		goto err;
	}
	err = mxe_shadow_sync(remote->shadow, 0, mr->length,
			      MXE_SYNC_MR_FOR_DEVICE);
	if (!err)
		err = mxe_mr_set_mapped_pages(remote, remote->shadow->mem);
	if (!err)
		err = mxe_mr_publish(remote);
	if (err)
		goto err;
	mr->remote = remote;
	mr->access &= ~MXE_MR_REMOTE_ACCESS;
	return 0;

err:
	mxe_mr_free(remote);
	return err;
}

/*
 * Allocates a region of pinned user memory, without publishing it. Its remote
 * region is published.
 */
static struct mxe_mr *mxe_mr_pin(struct ib_pd *pd, u64 start, u64 length,
				 u64 iova, int access, struct ib_udata *udata)
{
	struct mxe_mr *mr = mxe_mr_alloc_user(pd, length, iova, access, udata);
	struct mxe_pin *pin;
	int err;

	if (IS_ERR(mr))
		return mr;
	pin = mxe_pin_get(mr->dev, start, length, access);
	if (IS_ERR(pin)) {
		mxe_mr_free(mr);
		return ERR_CAST(pin);
	}
	mr->pin = pin;
	mr->page_shift = pin->block_shift;
	mr->first_offset = pin->first_offset;
	mr->npages = pin->num_blocks;
	mr->pages = pin->blocks;
	err = mxe_mr_add_remote(mr);
	if (err) {
		mxe_mr_free(mr);
		return ERR_PTR(err);
	}
	return mr;
}

struct ib_mr *mxe_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			      u64 iova, int access, struct ib_udata *udata)
{
	struct mxe_mr *mr = mxe_mr_pin(pd, start, length, iova, access, udata);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	return mxe_mr_finish(mr, 0);
}

struct ib_mr *mxe_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				     u64 iova, int fd, int access,
				     struct ib_udata *udata)
{
	struct mxe_mr *mr = mxe_mr_alloc_user(pd, length, iova, access, udata);
	struct mxe_dmabuf *dmabuf;
	void *mem;

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	dmabuf = mxe_dmabuf_open(mr->dev, fd, offset, length,
				 ib_access_writable(access), &mem);
	if (IS_ERR(dmabuf))
		return mxe_mr_finish(mr, PTR_ERR(dmabuf));
	mr->dmabuf = dmabuf;
	return mxe_mr_finish(mr, mxe_mr_set_mapped_pages(mr, mem));
}

/*
 * Makes a new region that replaces the old one under the same key.  ib_core
 * deregisters the old one afterwards.  So no reader sees a region that is
 * partly changed, and if this fails, the old region is unchanged.  A remote
 * region has a new key.
 */
struct ib_mr *mxe_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				u64 length, u64 iova, int access,
				struct ib_pd *pd, struct ib_udata *udata)
{
	struct mxe_mr *mr = to_mmr(ibmr), *new;

	if (!mr->pin)
		return ERR_PTR(mxe_refuse(mr->dev, -EINVAL, "region has no user memory"));
	/* -1 keeps windows from being bound. */
	if (atomic_cmpxchg(&mxe_mr_remote(mr)->windows, 0, -1))
		return ERR_PTR(mxe_refuse(mr->dev, -EBUSY,
					  "memory windows are bound to the region"));
	if (!(flags & IB_MR_REREG_TRANS)) {
		start = mr->pin->key.start;
		length = mr->length;
		iova = mr->iova;
	}
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mxe_mr_remote(mr)->access;
	new = mxe_mr_pin(pd, start, length, iova, access, udata);
	if (IS_ERR(new)) {
		atomic_set(&mxe_mr_remote(mr)->windows, 0);
		return ERR_CAST(new);
	}
	new->key = mr->key;
	new->ibmr.lkey = mr->key;
	new->ibmr.rkey = mxe_mr_remote(new)->key;
	/* The index is in use, so this needs no memory and cannot fail. */
	WARN_ON(xa_store(&mr->dev->mrs, mr->key >> 8, new, GFP_KERNEL) != mr);
	mxe_mr_withdrawn(mr->dev);
	return &new->ibmr;
}

struct ib_mr *mxe_reg_dm_mr(struct ib_pd *pd, struct ib_dm *ibdm,
			    struct ib_dm_mr_attr *attr,
			    struct uverbs_attr_bundle *attrs)
{
	struct mxe_dev *dev = to_mdev(pd->device);
	struct mxe_mr *mr;

	/* ib_core has checked that the range is in the device memory. */
	if (attr->access_flags & ~MXE_MR_USER_ACCESS)
		return ERR_PTR(mxe_refuse(dev, -EOPNOTSUPP, "unsupported access flags %#x",
					  attr->access_flags));
	mr = mxe_mr_alloc(pd, attr->access_flags);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->length = attr->length;
	mr->ibmr.length = attr->length;
	mr->state = MXE_MR_VALID;
	return mxe_mr_finish(mr, mxe_mr_set_mapped_pages(mr,
				to_mdm(ibdm)->entry->mem + attr->offset));
}

struct ib_mr *mxe_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			   u32 max_num_sg)
{
	struct mxe_dev *dev = to_mdev(pd->device);
	struct mxe_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(mxe_refuse(dev, -EOPNOTSUPP, "unsupported MR type %d", type));
	if (!max_num_sg || max_num_sg > MXE_MAX_FAST_REG_PAGES)
		return ERR_PTR(mxe_refuse(dev, -EINVAL, "%u pages, at most %u",
					  max_num_sg, MXE_MAX_FAST_REG_PAGES));

	mr = mxe_mr_alloc(pd, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max_pages = max_num_sg;
	atomic_set(&mr->accesses, MXE_MR_CLOSED);
	mr->pages = kvcalloc(2 * max_num_sg, sizeof(*mr->pages),
			     GFP_KERNEL_ACCOUNT);
	if (!mr->pages)
		return mxe_mr_finish(mr, -ENOMEM);
	mr->mapped = mr->pages + max_num_sg;
	return mxe_mr_finish(mr, 0);
}

static int mxe_mr_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct mxe_mr *mr = to_mmr(ibmr);

	if (mr->num_mapped == mr->max_pages)
		return -ENOMEM;
	/* DMA addresses of a virtual device are kernel addresses. */
	mr->mapped[mr->num_mapped++] = (void *)(uintptr_t)addr;
	return 0;
}

int mxe_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		  unsigned int *sg_offset)
{
	struct mxe_mr *mr = to_mmr(ibmr);
	int n;

	mr->num_mapped = 0;
	n = ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, mxe_mr_set_page);
	mr->mapped_offset = ibmr->iova & (ibmr->page_size - 1);
	return n;
}

/* Convert a REG_MR request of a kernel consumer when it is posted. */
struct mxe_reg mxe_mr_reg_from_ib(const struct ib_reg_wr *ibwr)
{
	struct mxe_mr *mr = to_mmr(ibwr->mr);

	return (struct mxe_reg) {
		.mr = mr,
		/* ib_map_mr_sg_zbva() sets it after map_mr_sg() returned. */
		.iova = mr->ibmr.iova,
		.length = mr->ibmr.length,
		.first_offset = mr->mapped_offset,
		.page_size = mr->ibmr.page_size,
		.key = ibwr->key,
		.access = ibwr->access,
	};
}

/* Returns true if the pages mapped now cover the whole range. */
static bool mxe_mr_reg_is_mapped(const struct mxe_reg *reg)
{
	u64 room = (u64)reg->mr->num_mapped * reg->page_size;

	return is_power_of_2(reg->page_size) && reg->length <= room &&
	       reg->first_offset <= room - reg->length;
}

/* No access begins after this.  Those in progress continue. */
static void mxe_mr_close(struct mxe_mr *mr, enum mxe_mr_state state)
{
	mr->state = state;
	/* Fully ordered: the bit is set before the count is read. */
	atomic_fetch_or(MXE_MR_CLOSED, &mr->accesses);
}

static void mxe_mr_open(struct mxe_mr *mr)
{
	mr->state = MXE_MR_VALID;
	/*
	 * Release the members that an access reads. Pairs with mxe_mr_use().
	 */
	atomic_fetch_andnot_release(MXE_MR_CLOSED, &mr->accesses);
}

static bool mxe_mr_is_accessed(const struct mxe_mr *mr)
{
	/* Copies of ended accesses are complete.  Pairs with mxe_mr_put(). */
	return atomic_read_acquire(&mr->accesses) & ~MXE_MR_CLOSED;
}

/*
 * Wake up deregistration, which waits for the last access.
 * Context: Any but hard interrupts. RCU read-side section or BHs disabled.
 */
void mxe_mr_wake(struct mxe_mr *mr)
{
	wake_up_var(&mr->accesses);
}

static int mxe_mr_do_reg(const struct ib_pd *pd, const struct mxe_reg *reg)
{
	struct mxe_mr *mr = reg->mr;

	if (!mr->max_pages || mr->ibmr.pd != pd || mr->state == MXE_MR_VALID ||
	    reg->key >> 8 != mr->key >> 8 ||
	    reg->access & ~MXE_MR_SUPPORTED_ACCESS || !mxe_mr_reg_is_mapped(reg))
		return -EINVAL;
	/* Its LOCAL_INV was flushed while an access was in progress. */
	if (mr->state == MXE_MR_INVALIDATING && mxe_mr_is_accessed(mr))
		return -EBUSY;

	mr->npages = mr->num_mapped;
	memcpy(mr->pages, mr->mapped, mr->npages * sizeof(*mr->pages));
	mr->page_shift = ilog2(reg->page_size);
	mr->first_offset = reg->first_offset;
	mr->iova = reg->iova;
	mr->length = reg->length;
	mr->access = reg->access;
	mr->key = reg->key;
	mxe_mr_open(mr);
	return 0;
}

/*
 * Execute a REG_MR request.
 * Context: BHs disabled, lock of the QP held.
 * Return: 0, -EINVAL for a request that the region does not allow, or -EBUSY if
 * an access from before its invalidation is in progress. The caller then tries
 * again.
 */
int mxe_mr_reg(const struct ib_pd *pd, const struct mxe_reg *reg)
{
	int err;

	spin_lock_bh(&reg->mr->reg_lock);
	err = mxe_mr_do_reg(pd, reg);
	spin_unlock_bh(&reg->mr->reg_lock);
	return err;
}

/*
 * Succeeds only when no access is left, because the consumer may reuse the
 * memory as soon as it knows that the region is invalid.  A region that is
 * invalid already grants no right, so none is needed.
 */
static int mxe_mr_do_invalidate(struct mxe_mr *mr, const struct ib_pd *pd,
				u32 key, int access)
{
	if (mr->key != key)
		return -ENOENT;
	if (mr->ibmr.pd != pd)
		return -EPERM;
	if (!mr->max_pages)
		return -EINVAL;
	if (mr->state == MXE_MR_INVALID)
		return 0;
	if (access && !(mr->access & access))
		return -EACCES;
	mxe_mr_close(mr, MXE_MR_INVALIDATING);
	if (mxe_mr_is_accessed(mr))
		return -EBUSY;
	mr->state = MXE_MR_INVALID;
	return 0;
}

/*
 * Invalidate a fast-registration region, which must grant one of the rights
 * @access unless that is 0. The region is closed even if -EBUSY is returned. A
 * region that was never registered, or is invalid already, remains so, and
 * needs no right.
 * Context: Any but hard interrupts.
 * Return: 0, -ENOENT, -EPERM, -EACCES, -EINVAL for a region of another type, or
 * -EBUSY if an access is in progress. The caller then tries again.
 */
int mxe_mr_invalidate(struct mxe_dev *dev, const struct ib_pd *pd, u32 key,
		      int access)
{
	int err = -ENOENT;
	struct mxe_mr *mr;

	rcu_read_lock();
	mr = xa_load(&dev->mrs, key >> 8);
	if (mr && xa_pointer_tag(mr) == MXE_KEY_OF_MR) {
		spin_lock_bh(&mr->reg_lock);
		err = mxe_mr_do_invalidate(mr, pd, key, access);
		spin_unlock_bh(&mr->reg_lock);
	}
	rcu_read_unlock();
	return err;
}

/* Withdraws a region, waits for its accesses, and frees it. */
static void mxe_mr_destroy(struct mxe_mr *mr)
{
	/* After rereg_user_mr(), the index belongs to the new region. */
	xa_cmpxchg(&mr->dev->mrs, mr->key >> 8, mr, NULL, GFP_KERNEL);
	mxe_mr_withdrawn(mr->dev);
	spin_lock_bh(&mr->reg_lock);
	mxe_mr_close(mr, MXE_MR_INVALID);
	spin_unlock_bh(&mr->reg_lock);
	/* Woken by mxe_mr_put().  An access lasts for one copy. */
	wait_var_event(&mr->accesses, !mxe_mr_is_accessed(mr));
	mxe_mr_free(mr);
}

int mxe_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct mxe_mr *mr = to_mmr(ibmr);

	/*
	 * -1 keeps windows from being bound. rereg_user_mr() may have set it.
	 */
	if (atomic_cmpxchg(&mxe_mr_remote(mr)->windows, 0, -1) > 0)
		return mxe_refuse(mr->dev, -EBUSY, "memory windows are bound to the region");
	mxe_mr_destroy(mr);
	return 0;
}
