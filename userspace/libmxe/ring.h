/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A ring is shared with the kernel: ring.c maps it, and the inline functions of the
 * fast paths are here.
 */
#ifndef MXE_RING_H
#define MXE_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include <rdma/mxe-abi.h>

/*
 * One mapped ring.  `index` is the process' side: the producer of a work
 * queue, the consumer of a completion queue.  The kernel's copy in the header
 * follows it.  A queue without entries is not mapped and counts as full.
 */
struct mxe_ring {
	struct mxe_ring_hdr *hdr;
	char *entry;
	size_t map_size;
	uint32_t entries;
	uint32_t stride;
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t index;
	pthread_spinlock_t lock;
};

int mxe_ring_map(struct mxe_ring *ring, int cmd_fd,
		 const struct mxe_ring_info *info, size_t min_stride);
void mxe_ring_unmap(struct mxe_ring *ring);
/* Other memory with the same indices; the caller holds the lock. */
void mxe_ring_replace(struct mxe_ring *ring, struct mxe_ring *with);
void mxe_ring_reset(struct mxe_ring *ring);

static inline __attribute__((returns_nonnull)) void *
mxe_ring_at(const struct mxe_ring *ring, uint32_t index)
{
	return ring->entry +
	       (size_t)(index & (ring->entries - 1)) * ring->stride;
}

static inline uint32_t mxe_load_acquire(const __u32 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void mxe_store_release(__u32 *p, uint32_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

/* Is there no room on a work queue whose next entry is `index`? */
static inline bool mxe_ring_full(const struct mxe_ring *ring, uint32_t index)
{
	return !ring->entries ||
	       index - mxe_load_acquire(&ring->hdr->consumer) >= ring->entries;
}

/* Hands the entries of a work queue before `index` over to the kernel. */
static inline void mxe_ring_publish(struct mxe_ring *ring, uint32_t index)
{
	ring->index = index;
	mxe_store_release(&ring->hdr->producer, index);
}

/* Writes the scatter/gather list of a work request. */
static inline void mxe_ring_put_sges(struct mxe_sge *to,
				     const struct ibv_sge *sge,
				     unsigned int num_sge)
{
	unsigned int i;

	for (i = 0; i < num_sge; i++)
		to[i] = (struct mxe_sge){
			.addr = sge[i].addr,
			.length = sge[i].length,
			.lkey = sge[i].lkey,
		};
}

/* Completions that wait on a completion queue. */
static inline uint32_t mxe_ring_pending(const struct mxe_ring *ring)
{
	uint32_t n = mxe_load_acquire(&ring->hdr->producer) - ring->index;

	/* Only a process that writes to its rings itself sees more. */
	return n <= ring->entries ? n : 0;
}

/*
 * Returns true if the kernel, which looks at this work queue by itself, waits for a
 * doorbell now.  Called after work requests were published.  The kernel sets the flag
 * before it looks at the producer for the last time; with the barrier between store and
 * load one of the two sides sees the other.
 */
static inline bool mxe_ring_needs_doorbell(const struct mxe_ring *ring)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&ring->hdr->flags, __ATOMIC_RELAXED) &
	       MXE_RING_NEED_DOORBELL;
}

#endif /* MXE_RING_H */
