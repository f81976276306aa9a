/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A memory region is memory that QPs access by a key (mr.c).  Functions return
 * errno values, which mxe_respond_fail() turns into NAKs, and the requester
 * into completion statuses:
 *
 *   -ENOENT  no region has this key, or the region is not valid
 *   -EPERM   the region belongs to another protection domain
 *   -EACCES  the region does not grant this access
 *   -EFAULT  the range is not inside the region
 */
#ifndef MXE_MR_H
#define MXE_MR_H

#include <linux/atomic.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "memory/atomic.h"
#include "mxe.h"

struct mxe_dmabuf;
struct mxe_pin;
struct mxe_shadow;

/* Tags of the pointers in dev->mrs. */
enum mxe_key_type {
	MXE_KEY_OF_MR	= 0,
	MXE_KEY_OF_MW	= 1,
};

/*
 * The sign bit of `accesses`.  While it is set, no access begins.  It is set in
 * every state but MXE_MR_VALID.
 */
#define MXE_MR_CLOSED	INT_MIN

enum mxe_mr_state {
	MXE_MR_INVALID,		/* not registered, or invalidated */
	MXE_MR_INVALIDATING,	/* closed, but accesses may be in progress */
	MXE_MR_VALID,
};

/*
 * Lifetime: created and destroyed by verbs.  Readers find the region in
 * dev->mrs under RCU, and an access counts in `accesses` while it lasts.
 * Deregistration erases the region from dev->mrs, closes it, sleeps until no
 * access is left, and frees it a grace period later.
 *
 * Invalidation may run under the lock of a QP, so it must not wait for an
 * access.  It returns -EBUSY instead, and the work item of the QP tries again.
 *
 * The members that an access reads are immutable once the key is published.
 * The exception are fast-registration regions, where REG_MR writes them.  The
 * region is closed and without accesses then.
 *
 * A consumer may call map_mr_sg() while a LOCAL_INV of the region waits for its
 * turn and a peer still uses the region.  Therefore map_mr_sg() writes the page
 * addresses to `mapped`, which REG_MR copies to `pages` when it is executed.
 *
 * On a device with coherent=N, a region of a process with remote rights has a
 * second one, `remote`, which is found by the rkey only and has the memory of a
 * shadow. It is created before and destroyed after the first region. Its rights
 * are those of the process, and the first one has the local rights only.
 */
struct mxe_mr {
	struct ib_mr ibmr;
	struct mxe_dev *dev;
	struct rcu_head rcu;
	atomic_t accesses;		/* in progress, and MXE_MR_CLOSED */
	/*
	 * Serialises REG_MR, invalidation and deregistration: a peer may
	 * invalidate the region while its owner registers it again.
	 */
	spinlock_t reg_lock;
	enum mxe_mr_state state;	/* under reg_lock */
	atomic_t windows;		/* bound; -1: none can be any more */
	u32 key;			/* lkey and rkey; lkey with remote */
	int access;
	u64 iova;
	u64 length;
	bool all_kernel_memory;		/* get_dma_mr(): addr is a pointer */
	struct mxe_pin *pin;		/* holds a reference, or NULL */
	struct mxe_dmabuf *dmabuf;	/* owned, or NULL */
	struct mxe_mr *remote;		/* owned, or NULL */
	struct mxe_shadow *shadow;	/* of a remote region; owned, or NULL */
	unsigned int page_shift;
	u32 first_offset;		/* of iova in the first page */
	u32 npages;
	void **pages;			/* kernel addresses; of pin, if set */
	/* Fast-registration regions only.  The consumer serialises access. */
	u32 max_pages;
	u32 num_mapped;
	u32 mapped_offset;
	void **mapped;			/* second half of pages */
};

static inline struct mxe_mr *to_mmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct mxe_mr, ibmr);
}

/* Return the region that has the remote rights, which may be @mr. */
static inline struct mxe_mr *mxe_mr_remote(struct mxe_mr *mr)
{
	return mr->remote ?: mr;
}

int mxe_mr_alloc_key(struct mxe_dev *dev, void *entry, u32 *key);

/*
 * The region that was looked up last.  The entry is valid until a region of the
 * device is removed, which changes dev->mrs_generation.  Each cache belongs to
 * one side of a QP and is used under its lock.  BHs are disabled then, which
 * implies an RCU read-side section.
 */
struct mxe_mr_cache {
	u32 place;			/* index in dev->mrs */
	long generation;		/* dev->mrs_generation at lookup */
	struct mxe_mr *mr;		/* or NULL */
};

void mxe_mr_wake(struct mxe_mr *mr);

/*
 * End an access.
 * Context: RCU read-side section or BHs disabled, because the region may be
 * freed as soon as the count is 0.
 */
static inline void mxe_mr_put(struct mxe_mr *mr)
{
	/*
	 * Fully ordered: the copy completes before the count drops.  Pairs with
	 * mxe_mr_is_accessed().
	 */
	if (unlikely(atomic_add_negative(-1, &mr->accesses)))
		mxe_mr_wake(mr);
}

/*
 * Begin an access if the region is valid with this lkey or rkey. Otherwise
 * return NULL. mxe_mr_put() ends the access.
 * Context: RCU read-side section or BHs disabled.
 */
static inline struct mxe_mr *mxe_mr_use(struct mxe_mr *mr, u32 key)
{
	/* Fully ordered.  Pairs with the release in mxe_mr_open(). */
	if (unlikely(atomic_add_negative(1, &mr->accesses)) || mr->key != key) {
		mxe_mr_put(mr);
		return NULL;
	}
	return mr;
}

struct mxe_mr *mxe_mr_find(struct mxe_dev *dev, u32 key,
			   struct mxe_mr_cache *cache, long generation);

/*
 * Begin an access to the region that is valid with this lkey or rkey. Return
 * NULL if there is none. mxe_mr_put() ends the access. @cache is that of the
 * caller's side of the QP, whose lock is held, or NULL.
 * Context: Any but hard interrupts. With a cache, BHs disabled.
 */
static inline struct mxe_mr *mxe_mr_get(struct mxe_dev *dev, u32 key,
					struct mxe_mr_cache *cache)
{
	/* Pairs with the increment in mxe_mr_withdrawn(). */
	long generation = atomic_long_read_acquire(&dev->mrs_generation);

#ifndef MXE_WITHOUT_MR_CACHE
	if (cache && cache->mr && cache->place == key >> 8 &&
	    cache->generation == generation)
		return mxe_mr_use(cache->mr, key);
#endif
	return mxe_mr_find(dev, key, cache, generation);
}

/*
 * Check the rights, IB_ACCESS_*, and the range, which is based on the iova of
 * the region. The access has begun.
 * Return: 0, -EPERM, -EACCES or -EFAULT.
 */
static inline int mxe_mr_check(const struct mxe_mr *mr, const struct ib_pd *pd,
			       int access, u64 addr, u64 length)
{
	if (mr->ibmr.pd != pd)
		return -EPERM;
	if ((mr->access & access) != access)
		return -EACCES;
	if (mr->all_kernel_memory)
		return 0;
	/* Subtract, because a sum could wrap. */
	if (addr < mr->iova || length > mr->length ||
	    addr - mr->iova > mr->length - length)
		return -EFAULT;
	return 0;
}

/*
 * Translate an address that was checked. The access has begun. Set @avail to
 * the number of contiguous bytes from there, which may extend beyond the
 * region.
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

void mxe_mr_copy_bytes(void *to, const void *from, u32 len);

/*
 * Copy contiguous bytes. Copies of 4 and 8 bytes, the usual sizes of atomics,
 * are inlined.
 */
static inline void mxe_mr_copy_chunk(void *p, void *buf, u32 len, enum mxe_copy_dir dir)
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

/* Copy to or from a region. The access has begun, and the range was checked. */
static inline void mxe_mr_copy(const struct mxe_mr *mr, u64 addr, void *buf, u32 len,
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
 * Execute an atomic on a region. The access has begun, and the range was
 * checked. @addr is aligned by mxe_atomic_align(). The memory may be misaligned
 * even so, because the iova of a region is chosen by its consumer. Set @orig to
 * the old value, as mxe_atomic_exec() does.
 * Context: BHs disabled.
 * Return: 0, or -EINVAL if the memory is misaligned.
 */
static inline int mxe_mr_atomic(const struct mxe_mr *mr, u64 addr, u32 size,
				const struct mxe_atomic_args *args, u64 *orig)
{
	u32 avail;
	void *p = mxe_mr_ptr(mr, addr, &avail);

	if (!IS_ALIGNED((uintptr_t)p, mxe_atomic_align(size)))
		return -EINVAL;
	if (likely(size <= avail))
		mxe_atomic_exec(p, args, orig);
	else
		mxe_atomic_exec_halves(p, mxe_mr_ptr(mr, addr + size / 2, &avail), args, orig);
	return 0;
}

int mxe_mr_copy_sges(struct mxe_dev *dev, const struct ib_pd *pd,
		     const struct ib_sge *sge, unsigned int num_sge, u32 offset,
		     void *buf, u32 len, enum mxe_copy_dir dir,
		     struct mxe_mr_cache *cache);

/*
 * A REG_MR request.  It holds the address and length at the time of the post,
 * because the consumer may map the region again before it is executed.
 */
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
int mxe_mr_reg(const struct ib_pd *pd, const struct mxe_reg *reg);
int mxe_mr_invalidate(struct mxe_dev *dev, const struct ib_pd *pd, u32 key,
		      int access);

/* Verbs, see the members of struct ib_device_ops of the same names. */
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
