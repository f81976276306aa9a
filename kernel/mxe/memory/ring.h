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

/**
 * mxe_ring_mmap_entry_alloc() - Allocate zeroed memory that a process can map.
 * @uctx: user context of the process, which is charged for the memory
 * @size: bytes, a multiple of the page size
 *
 * rdma_user_mmap_entry_remove() drops the reference of the caller.
 *
 * Context: Process context. May sleep.
 * Return: the entry, or ERR_PTR(-ENOMEM).
 */
struct mxe_mmap_entry *mxe_ring_mmap_entry_alloc(struct ib_ucontext *uctx,
						 size_t size);

/* Set the shape of a ring, before it has memory. */
static inline void mxe_ring_shape(struct mxe_ring *ring, u32 entries, u32 stride)
{
	ring->entries = entries;
	ring->stride = stride;
}

/**
 * mxe_ring_alloc() - Allocate the memory of one or two rings.
 * @ring: the ring, with its shape
 * @second: ring that is behind @ring in the same memory, or NULL.  Left alone
 *	if it has no entries
 * @uctx: user context of the process
 *
 * Context: Process context. May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_ring_alloc(struct mxe_ring *ring, struct mxe_ring *second,
		   struct ib_ucontext *uctx);

/**
 * mxe_ring_create() - Allocate a ring.
 * @ring: set to the ring
 * @uctx: user context of the process
 * @entries: number of entries, a power of two
 * @stride: bytes from one entry to the next, a multiple of 8
 *
 * Context: Process context. May sleep.
 * Return: 0 or -ENOMEM.
 */
static inline int mxe_ring_create(struct mxe_ring *ring,
				  struct ib_ucontext *uctx, u32 entries,
				  u32 stride)
{
	mxe_ring_shape(ring, entries, stride);
	return mxe_ring_alloc(ring, NULL, uctx);
}

/**
 * mxe_ring_destroy() - Release the memory of a ring.
 * @ring: the ring, zeroed afterwards
 *
 * The process may still map the memory, but the kernel does not use it any
 * more, nor that of a second ring in it.
 *
 * Context: Process context. May sleep.
 */
void mxe_ring_destroy(struct mxe_ring *ring);

/**
 * mxe_ring_reset() - Set the indices and the flags of a work queue to 0.
 * @ring: the ring; unchanged if it has no memory
 *
 * Context: Lock of the queue held.
 */
void mxe_ring_reset(struct mxe_ring *ring);

/**
 * mxe_ring_info() - Describe a ring to its process.
 * @ring: the ring
 * @info: set to the description; unchanged if @ring has no memory
 */
void mxe_ring_info(const struct mxe_ring *ring, struct mxe_ring_info *info);

/* Get an entry of a ring. */
static inline void *mxe_ring_entry(const struct mxe_ring *ring, u32 index)
{
	return ring->entries_base +
	       (size_t)(index & (ring->entries - 1)) * ring->stride;
}

/**
 * mxe_ring_producer() - Read the producer index of a work queue.
 * @ring: the ring
 *
 * Return: the index that the process wrote, which may be invalid.
 */
static inline u32 mxe_ring_producer(const struct mxe_ring *ring)
{
	/* Pairs with the store-release after the process wrote the entries. */
	return smp_load_acquire(&ring->hdr->producer);
}

/**
 * mxe_ring_consumer() - Read the consumer index of a CQ.
 * @ring: the ring
 *
 * Return: the index that the process wrote, which may be invalid.
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
