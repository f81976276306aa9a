/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring is memory that the kernel shares with a process (struct mxe_ring_hdr and
 * entries).  The kernel writes its own index there and reads that of the process; it
 * keeps the values that it relies on elsewhere.
 */
#ifndef MXE_RING_H
#define MXE_RING_H

#include <rdma/ib_verbs.h>
#include <rdma/mxe-abi.h>

/*
 * Lifetime: the memory belongs to the mmap entry, and lives until the entry
 * was removed and no process maps it.  The queue that owns the ring uses
 * `hdr` until mxe_ring_destroy().
 */
struct mxe_ring {
	struct mxe_ring_hdr *hdr;
	void *entries_base;
	u32 entries;			/* power of two */
	u32 stride;			/* bytes */
	struct rdma_user_mmap_entry *entry;
};

struct mxe_mmap_entry {
	struct rdma_user_mmap_entry rdma_entry;
	void *mem;			/* vmalloc */
};

/*
 * Memory for a process to map: whole pages, zeroed, charged to it.  Removed
 * with rdma_user_mmap_entry_remove().  An entry, or ERR_PTR().
 */
struct mxe_mmap_entry *mxe_ring_mmap_entry_alloc(struct ib_ucontext *uctx,
					    size_t size);

int mxe_ring_create(struct mxe_ring *ring, struct ib_ucontext *uctx,
		    u32 entries, u32 stride);
void mxe_ring_destroy(struct mxe_ring *ring);
/* Both indices and the flags to 0: the queue starts again. */
void mxe_ring_reset(struct mxe_ring *ring);
void mxe_ring_info(const struct mxe_ring *ring, struct mxe_ring_info *info);

static inline void *mxe_ring_entry(const struct mxe_ring *ring, u32 index)
{
	return ring->entries_base +
	       (size_t)(index & (ring->entries - 1)) * ring->stride;
}

/* The process's index of a work queue. */
static inline u32 mxe_ring_producer(const struct mxe_ring *ring)
{
	/* Pairs with the store-release by which it published the entries. */
	return smp_load_acquire(&ring->hdr->producer);
}

/* The process's index of a completion queue. */
static inline u32 mxe_ring_consumer(const struct mxe_ring *ring)
{
	/* Pairs with the store-release after it has read the entries. */
	return smp_load_acquire(&ring->hdr->consumer);
}

/* Publish our index of a work queue: entries before it may be reused. */
static inline void mxe_ring_set_consumer(struct mxe_ring *ring, u32 index)
{
	if (!ring->hdr)
		return;
	/* Our reads of the entries come before. */
	smp_store_release(&ring->hdr->consumer, index);
}

/* Publish our index of a completion queue: entries before it are written. */
static inline void mxe_ring_set_producer(struct mxe_ring *ring, u32 index)
{
	/* Our writes of the entries come before. */
	smp_store_release(&ring->hdr->producer, index);
}

/* Verbs of ib_device_ops. */
int mxe_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma);
void mxe_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* MXE_RING_H */
