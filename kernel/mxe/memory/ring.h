/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring is memory that the kernel shares with a process: a struct
 * mxe_ring_hdr, followed by entries (ring.c). The kernel publishes its own
 * index there and reads the index of the process. It never reads its own index
 * back, because the process may overwrite it.
 */
#ifndef MXE_RING_H
#define MXE_RING_H

#include <rdma/ib_verbs.h>
#include <rdma/mxe-abi.h>

/*
 * Lifetime: the memory belongs to the mmap entry. It is freed when the entry
 * has been removed and no process maps it. The queue that owns the ring uses
 * `hdr` until mxe_ring_destroy(). hdr is NULL in the queues of kernel
 * consumers.
 */
struct mxe_ring {
	struct mxe_ring_hdr *hdr;
	void *entries_base;
	u32 entries;			/* power of two */
	u32 stride;			/* bytes */
	/* NULL if the memory is that of another ring, at this offset. */
	struct rdma_user_mmap_entry *entry;
	u32 offset;
};

struct mxe_mmap_entry {
	struct rdma_user_mmap_entry rdma_entry;
	void *mem;			/* from vmalloc */
};

struct mxe_mmap_entry *mxe_ring_mmap_entry_alloc(struct ib_ucontext *uctx,
						 size_t size);

/* Set the shape of a ring, before it has memory. */
static inline void mxe_ring_shape(struct mxe_ring *ring, u32 entries, u32 stride)
{
	ring->entries = entries;
	ring->stride = stride;
}

int mxe_ring_alloc(struct mxe_ring *ring, struct mxe_ring *second,
		   struct ib_ucontext *uctx);

/*
 * @entries is a power of two. @stride is in bytes, and a multiple of 8.
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
static inline int mxe_ring_create(struct mxe_ring *ring,
				  struct ib_ucontext *uctx, u32 entries,
				  u32 stride)
{
	mxe_ring_shape(ring, entries, stride);
	return mxe_ring_alloc(ring, NULL, uctx);
}

void mxe_ring_destroy(struct mxe_ring *ring);
void mxe_ring_reset(struct mxe_ring *ring);
void mxe_ring_info(const struct mxe_ring *ring, struct mxe_ring_info *info);

/* Get an entry of a ring. */
static inline void *mxe_ring_entry(const struct mxe_ring *ring, u32 index)
{
	return ring->entries_base +
	       (size_t)(index & (ring->entries - 1)) * ring->stride;
}

/*
 * Read the producer index of a work queue. The process wrote it, so it may be
 * invalid.
 */
static inline u32 mxe_ring_producer(const struct mxe_ring *ring)
{
	/* Pairs with the store-release after the process wrote the entries. */
	return smp_load_acquire(&ring->hdr->producer);
}

/*
 * Read the consumer index of a CQ. The process wrote it, so it may be invalid.
 */
static inline u32 mxe_ring_consumer(const struct mxe_ring *ring)
{
	/* Pairs with the store-release after the process read the entries. */
	return smp_load_acquire(&ring->hdr->consumer);
}

/* Publish the consumer index of a work queue. */
static inline void mxe_ring_set_consumer(struct mxe_ring *ring, u32 index)
{
	if (!ring->hdr)
		return;
	/* The kernel has read the entries before. */
	smp_store_release(&ring->hdr->consumer, index);
}

/* Publish the producer index of a CQ. */
static inline void mxe_ring_set_producer(struct mxe_ring *ring, u32 index)
{
	/* The kernel has written the entries before. */
	smp_store_release(&ring->hdr->producer, index);
}

/* Verbs, see the members of struct ib_device_ops of the same names. */
int mxe_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma);
void mxe_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* MXE_RING_H */
