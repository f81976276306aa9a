/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rings, which the process shares with the kernel. ring.c maps them, and this
 * header has the inline functions of the hot paths.
 *
 * Locks: every ring has one spinlock, which protects the index of the process
 * and the entries that the process may access. The library never holds two of
 * them, and makes no system call with one held, except to resize a QP, which is
 * rare: it takes that of the send queue first. Only the program may do so,
 * between ibv_wr_start() and ibv_wr_complete(), or ibv_start_poll() and
 * ibv_end_poll(). The rings of objects with a thread domain, and of
 * single-threaded CQs, are not locked. A CQ also has a mutex, resize_lock,
 * which is taken before the lock of its ring and held over the system calls of
 * a resize.
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
 * A mapped ring. index is the index of the process: the producer index of a
 * work queue, or the consumer index of a CQ. The copy in the header is updated
 * from it. A queue without entries is not mapped, and counts as full.
 */
struct mxe_ring {
	struct mxe_ring_hdr *hdr;
	char *entry;
	size_t map_size;		/* bytes; 0: in the mapping of another */
	uint32_t entries;		/* power of two */
	uint32_t stride;		/* bytes */
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t index;
	bool is_single_threaded;	/* not locked */
	pthread_spinlock_t lock;
};

int mxe_ring_map(struct mxe_ring *ring, int cmd_fd,
		 const struct mxe_ring_info *info, size_t min_stride,
		 const struct mxe_ring *first);
void mxe_ring_unmap(struct mxe_ring *ring);
void mxe_ring_swap(struct mxe_ring *ring, struct mxe_ring *with);
void mxe_ring_reset(struct mxe_ring *ring);

/**
 * mxe_ring_lock() - Lock a ring, unless the program uses it in one thread only.
 * @ring: the ring
 */
static inline void mxe_ring_lock(struct mxe_ring *ring)
{
	if (__builtin_expect(!ring->is_single_threaded, 1))
		pthread_spin_lock(&ring->lock);
}

/**
 * mxe_ring_unlock() - Undo mxe_ring_lock().
 * @ring: the ring
 */
static inline void mxe_ring_unlock(struct mxe_ring *ring)
{
	if (__builtin_expect(!ring->is_single_threaded, 1))
		pthread_spin_unlock(&ring->lock);
}

/**
 * mxe_ring_at() - Get the address of an entry.
 * @ring: the ring
 * @index: free-running index
 *
 * Return: the entry.
 */
static inline __attribute__((returns_nonnull)) void *
mxe_ring_at(const struct mxe_ring *ring, uint32_t index)
{
	char *entry = ring->entry +
		      (size_t)(index & (ring->entries - 1)) * ring->stride;

	/* Inlining would lose the attribute. */
	if (!entry)
		__builtin_unreachable();
	return entry;
}

/**
 * mxe_load_acquire() - Load an index that the kernel writes.
 * @p: the index in a ring header
 *
 * Return: its value, with acquire semantics.
 */
static inline uint32_t mxe_load_acquire(const __u32 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/**
 * mxe_store_release() - Store an index that the kernel reads.
 * @p: the index in a ring header
 * @value: its value
 */
static inline void mxe_store_release(__u32 *p, uint32_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

/**
 * mxe_ring_full() - Check a work queue for a free entry.
 * @ring: the ring
 * @index: index of the next entry
 *
 * Return: true if there is no free entry.
 */
static inline bool mxe_ring_full(const struct mxe_ring *ring, uint32_t index)
{
	uint32_t entries = ring->entries;

	return !entries ||
	       index - mxe_load_acquire(&ring->hdr->consumer) >= entries;
}

/**
 * mxe_ring_publish() - Pass entries of a work queue to the kernel.
 * @ring: the ring, whose lock is held
 * @index: index after the last entry
 */
static inline void mxe_ring_publish(struct mxe_ring *ring, uint32_t index)
{
	ring->index = index;
	mxe_store_release(&ring->hdr->producer, index);
}

/**
 * mxe_ring_write_sge() - Write an element of a scatter/gather list.
 * @to: in the WQE
 * @sge: the element
 */
static inline void mxe_ring_write_sge(struct mxe_sge *to,
				      const struct ibv_sge *sge)
{
	*to = (struct mxe_sge){
		.addr = sge->addr,
		.length = sge->length,
		.lkey = sge->lkey,
	};
}

/**
 * mxe_ring_write_sges() - Write the scatter/gather list of a WQE.
 * @to: in the WQE
 * @sge: the list
 * @num_sge: number of elements
 */
static inline void mxe_ring_write_sges(struct mxe_sge *to,
				       const struct ibv_sge *sge,
				       unsigned int num_sge)
{
	unsigned int i;

	/* Most lists have one element, for which a loop takes twice as long. */
	if (num_sge == 1) {
		mxe_ring_write_sge(to, sge);
		return;
	}
	for (i = 0; i < num_sge; i++)
		mxe_ring_write_sge(&to[i], &sge[i]);
}

/**
 * mxe_ring_pending() - Count the completions in a CQ.
 * @ring: the ring, whose lock is held
 *
 * Return: number of completions that were not polled yet.
 */
static inline uint32_t mxe_ring_pending(const struct mxe_ring *ring)
{
	uint32_t n = mxe_load_acquire(&ring->hdr->producer) - ring->index;

	/* More are possible only if the program overwrites its ring. */
	return n <= ring->entries ? n : 0;
}

/**
 * mxe_ring_needs_doorbell() - Check if the kernel must be told of new entries.
 * @ring: a receive queue
 *
 * Called after mxe_ring_publish(). The kernel sets the flag before it reads the
 * producer index for the last time. With the barrier between our store and
 * load, at least one side sees the store of the other.
 *
 * Return: true if the doorbell must be rung.
 */
static inline bool mxe_ring_needs_doorbell(const struct mxe_ring *ring)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&ring->hdr->flags, __ATOMIC_RELAXED) &
	       MXE_RING_NEED_DOORBELL;
}

#endif /* MXE_RING_H */
