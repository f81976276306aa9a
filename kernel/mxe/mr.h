/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A memory region is memory that queue pairs may access by a key (mr.c).  Errors are
 * errno; the responder and the requester decide what they mean to a peer or a
 * consumer:
 *
 *   -ENOENT  no such key, or not valid now
 *   -EPERM   other protection domain
 *   -EACCES  the region does not grant this access
 *   -EFAULT  outside the region
 */
#ifndef MXE_MR_H
#define MXE_MR_H

#include <linux/atomic.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "atomic.h"
#include "mxe.h"

struct mxe_dmabuf;

/* What dev->mrs holds: tags of its pointers. */
enum mxe_key_type {
	MXE_KEY_OF_MR	= 0,
	MXE_KEY_OF_MW	= 1,
};

/* The sign of `accesses`: none begins.  So it is whenever state is not VALID. */
#define MXE_MR_CLOSED	INT_MIN

enum mxe_mr_state {
	MXE_MR_INVALID,		/* not registered yet, or invalidated */
	MXE_MR_INVALIDATING,	/* accesses that began before may go on */
	MXE_MR_VALID,
};

/*
 * Lifetime: created and destroyed by verbs.  Looked up under RCU in
 * dev->mrs, and counted in `accesses` for the time of one access, with bottom
 * halves off; dereg removes it from there, makes it invalid, and sleeps until
 * none is left.  Freed after a grace period.  Invalidation, which may run under
 * the locks of a queue pair, never waits: it returns -EBUSY while an access is
 * under way, and is tried again from the queue pair's work.
 *
 * What is accessed does not change after publication, but that of a
 * fast-registration region: its REG_MR and LOCAL_INV work requests write that,
 * and no access is under way while they do.  map_mr_sg() may be called while
 * the region is still in use, with a LOCAL_INV posted that waits for its turn,
 * so it writes `mapped` only, of which REG_MR makes a copy.
 */
struct mxe_mr {
	struct ib_mr ibmr;
	struct mxe_dev *dev;
	struct rcu_head rcu;
	atomic_t accesses;		/* under way; with MXE_MR_CLOSED */
	enum mxe_mr_state state;
	atomic_t windows;		/* bound to it; -1: it goes away */
	u32 key;			/* lkey and rkey */
	int access;
	u64 iova;
	u64 length;
	bool all_kernel_memory;		/* get_dma_mr(): address is pointer */
	struct ib_umem *umem;		/* what it holds: this */
	struct mxe_dmabuf *dmabuf;	/* ... or this, or neither */
	unsigned int page_shift;
	u32 first_offset;		/* of iova in the first page */
	u32 npages;
	void **pages;			/* addresses of the kernel */
	/* Of a fast-registration region; its consumer orders them. */
	u32 max_pages;
	u32 num_mapped;
	u32 mapped_offset;
	void **mapped;			/* in the allocation of pages */
};

static inline struct mxe_mr *to_mmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct mxe_mr, ibmr);
}

/*
 * A key for a tagged pointer to a region or a window, which can be found by it
 * from here on.  Keys are random, so that one cannot be guessed from another:
 * 24 bits choose the place in the table, 8 vary.  Context: may sleep.
 */
int mxe_mr_alloc_key(struct mxe_dev *dev, void *entry, u32 *key);

/*
 * The region that a key led to last, which is good under RCU for as long as no
 * region of the device has gone.  Belongs to one side of a queue pair, whose lock
 * is held: bottom halves are off, which is as good as RCU.
 */
struct mxe_mr_cache {
	u32 place;			/* of the key, in dev->mrs */
	long generation;			/* dev->mrs_generation at that time */
	struct mxe_mr *mr;		/* or NULL */
};

/* Context of all below: any but hard interrupts. */

/* Wake up a verb that waits for the end of accesses. */
void mxe_mr_wake(struct mxe_mr *mr);

/*
 * End an access.  Context: RCU, since the region may be freed once the count
 * is 0.
 */
static inline void mxe_mr_put(struct mxe_mr *mr)
{
	/* Fully ordered: the copy comes before the count is dropped. */
	if (unlikely(atomic_add_negative(-1, &mr->accesses)))
		mxe_mr_wake(mr);
}

/* Begin an access, if it is valid with this key now.  Context: RCU. */
static inline struct mxe_mr *mxe_mr_use(struct mxe_mr *mr, u32 key)
{
	/* Fully ordered.  Pairs with the release in mxe_mr_open(). */
	if (unlikely(atomic_add_negative(1, &mr->accesses)) || mr->key != key) {
		mxe_mr_put(mr);
		return NULL;
	}
	return mr;
}

/* Look for it, and remember it in cache or NULL with the count. */
struct mxe_mr *mxe_mr_find(struct mxe_dev *dev, u32 key,
			   struct mxe_mr_cache *cache, long generation);

/*
 * A valid region by its key, with an access begun that mxe_mr_put() ends; or
 * NULL.  cache: or NULL.
 */
static inline struct mxe_mr *
mxe_mr_get_cached(struct mxe_dev *dev, u32 key, struct mxe_mr_cache *cache)
{
	/* Pairs with mxe_mr_withdrawn(). */
	long generation = atomic_long_read_acquire(&dev->mrs_generation);

#ifndef MXE_WITHOUT_MR_CACHE
	if (cache && cache->mr && cache->place == key >> 8 &&
	    cache->generation == generation)
		return mxe_mr_use(cache->mr, key);
#endif
	return mxe_mr_find(dev, key, cache, generation);
}

static inline struct mxe_mr *mxe_mr_get(struct mxe_dev *dev, u32 key)
{
	return mxe_mr_get_cached(dev, key, NULL);
}

/* May pd do `access` (IB_ACCESS_*) to these bytes?  0 or an error as above. */
static inline int mxe_mr_check(const struct mxe_mr *mr, const struct ib_pd *pd,
			       int access, u64 addr, u64 length)
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

/*
 * Where addr, which has been checked, is, and how many bytes of it follow
 * there at least.
 */
static inline void *mxe_mr_ptr(const struct mxe_mr *mr, u64 addr, u32 *avail)
{
	u64 offset = addr - mr->iova + mr->first_offset;
	u32 in_page = offset & ((1UL << mr->page_shift) - 1);

	if (mr->all_kernel_memory) {
		*avail = U32_MAX;
		return (void *)(uintptr_t)addr;
	}
	*avail = (1U << mr->page_shift) - in_page;
	return mr->pages[offset >> mr->page_shift] + in_page;
}

enum mxe_copy_dir { MXE_FROM_MEMORY, MXE_TO_MEMORY };

/* Of a loop both are memory of regions, maybe of the same. */
void mxe_mr_copy_bytes(void *to, const void *from, u32 len);

/* What is as long as an atomic of one word is copied at once. */
static __always_inline void mxe_mr_copy_chunk(void *p, void *buf, u32 len,
					      enum mxe_copy_dir dir)
{
	void *to = dir == MXE_TO_MEMORY ? p : buf;
	const void *from = dir == MXE_TO_MEMORY ? buf : p;

	if (len == sizeof(u64))
		memcpy(to, from, sizeof(u64));
	else if (len == sizeof(u32))
		memcpy(to, from, sizeof(u32));
	else
		mxe_mr_copy_bytes(to, from, len);
}

void mxe_mr_copy_pages(const struct mxe_mr *mr, u64 addr, void *buf, u32 len,
		       enum mxe_copy_dir dir);

/* Copy; the range has been checked. */
static __always_inline void
mxe_mr_copy(const struct mxe_mr *mr, u64 addr, void *buf, u32 len,
	    enum mxe_copy_dir dir)
{
	u32 avail;
	void *p = mxe_mr_ptr(mr, addr, &avail);

	if (len && len <= avail)
		mxe_mr_copy_chunk(p, buf, len, dir);
	else
		mxe_mr_copy_pages(mr, addr, buf, len, dir);
}

/*
 * Execute an atomic of size bytes.  The range and the alignment of addr have been
 * checked.  Returns -EINVAL if the memory is misaligned, because the iova of the
 * region and its memory differ in alignment.
 */
static __always_inline int mxe_mr_atomic(const struct mxe_mr *mr, u64 addr,
					 u32 size,
					 const struct mxe_atomic_args *args,
					 u64 *orig)
{
	u32 avail;
	void *p = mxe_mr_ptr(mr, addr, &avail);

	if (!IS_ALIGNED((uintptr_t)p, size))
		return -EINVAL;
	mxe_atomic_exec(p, args, orig);
	return 0;
}

/*
 * Copy between buf and bytes offset..offset+len of a gather or scatter list,
 * whose total length the caller knows to suffice.  cache: or NULL.
 */
int mxe_mr_copy_sges_cached(struct mxe_dev *dev, const struct ib_pd *pd,
			const struct ib_sge *sge, unsigned int num_sge,
			u32 offset, void *buf, u32 len, enum mxe_copy_dir dir,
			struct mxe_mr_cache *cache);
static inline int mxe_mr_copy_sges(struct mxe_dev *dev, const struct ib_pd *pd,
			       const struct ib_sge *sge, unsigned int num_sge,
			       u32 offset, void *buf, u32 len,
			       enum mxe_copy_dir dir)
{
	return mxe_mr_copy_sges_cached(dev, pd, sge, num_sge, offset, buf, len,
				   dir, NULL);
}

/* A fast registration, as posted: what was mapped may be told anew after. */
struct mxe_reg {
	struct mxe_mr *mr;
	u64 iova;
	u64 length;
	u32 first_offset;
	u32 page_size;
	u32 key;
	int access;
};

struct mxe_reg mxe_mr_reg_from_ib(const struct ib_reg_wr *ibwr);

/*
 * Work requests of kernel consumers.  -EBUSY: an access that began when the
 * region was valid goes on; to be called again.  Context: BHs off.
 */
int mxe_mr_reg(const struct ib_pd *pd, const struct mxe_reg *reg);
/* access: the region must grant one of these rights, or 0: none is needed. */
int mxe_mr_invalidate(struct mxe_dev *dev, const struct ib_pd *pd, u32 key,
		      int access);

/* Verbs of ib_device_ops. */
struct ib_mr *mxe_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *mxe_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			      u64 iova, int access, struct ib_udata *udata);
struct ib_mr *mxe_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				     u64 iova, int fd, int access,
				     struct ib_udata *udata);
struct ib_mr *mxe_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				u64 length, u64 iova, int access,
				struct ib_pd *pd, struct ib_udata *udata);
struct ib_mr *mxe_reg_dm_mr(struct ib_pd *pd, struct ib_dm *ibdm,
			    struct ib_dm_mr_attr *attr,
			    struct uverbs_attr_bundle *attrs);
struct ib_mr *mxe_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			   u32 max_num_sg);
int mxe_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		  unsigned int *sg_offset);
int mxe_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

#endif /* MXE_MR_H */
