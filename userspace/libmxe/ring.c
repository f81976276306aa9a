// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Mapping of the rings that the process shares with the kernel. */
#include <assert.h>
#include <errno.h>
#include <sys/mman.h>

#include "ring.h"

static_assert(sizeof(struct mxe_ring_hdr) == 128, "ring header");
static_assert(sizeof(struct mxe_send_wqe) == 72, "send WQE");
static_assert(sizeof(struct mxe_recv_wqe) == 16, "receive WQE");
static_assert(sizeof(struct mxe_tm_wqe) == 48, "tag operation");
static_assert(sizeof(struct mxe_cqe) == 64, "completion");
static_assert(sizeof(struct mxe_sge) == sizeof(struct ibv_sge) &&
	      offsetof(struct mxe_sge, length) ==
		      offsetof(struct ibv_sge, length) &&
	      offsetof(struct mxe_sge, lkey) == offsetof(struct ibv_sge, lkey),
	      "scatter/gather lists are copied unchanged");

/* Returns true if the ring fits in size bytes, which begin with its header. */
static bool mxe_ring_fits(const struct mxe_ring_info *info, uint64_t size,
			  size_t min_stride)
{
	return !(info->entries & (info->entries - 1)) &&
	       info->stride >= min_stride && !(info->stride % 8) &&
	       size >= sizeof(struct mxe_ring_hdr) &&
	       (size - sizeof(struct mxe_ring_hdr)) / info->stride >= info->entries;
}

/**
 * mxe_ring_map() - Map a ring and initialise its lock.
 * @ring: filled in
 * @cmd_fd: uverbs file
 * @info: the kernel's description of the ring
 * @min_stride: minimum bytes of an entry that the library relies on
 * @first: mapped ring whose mapping may contain this one, too, or NULL
 *
 * Returns EPROTO for a description whose entries are too small or exceed the
 * mapping, so that posting and polling need no checks.
 *
 * Return: 0 or a positive errno.
 */
int mxe_ring_map(struct mxe_ring *ring, int cmd_fd,
		 const struct mxe_ring_info *info, size_t min_stride,
		 const struct mxe_ring *first)
{
	bool is_second = first && !info->mmap_size;
	uint64_t size = info->mmap_size;
	void *map;
	int ret;

	if (!info->entries) {
		*ring = (struct mxe_ring){ 0 };
		return pthread_spin_init(&ring->lock, PTHREAD_PROCESS_PRIVATE);
	}
	if (is_second && info->mmap_offset % 8 == 0 &&
	    info->mmap_offset < first->map_size)
		size = first->map_size - info->mmap_offset;
	if (!mxe_ring_fits(info, size, min_stride))
		return EPROTO;

	if (is_second)
		map = (char *)first->hdr + info->mmap_offset;
	else
		map = mmap(NULL, info->mmap_size, PROT_READ | PROT_WRITE,
			   MAP_SHARED, cmd_fd, info->mmap_offset);
	if (map == MAP_FAILED)
		return errno;
	ret = pthread_spin_init(&ring->lock, PTHREAD_PROCESS_PRIVATE);
	if (ret) {
		if (!is_second)
			munmap(map, info->mmap_size);
		return ret;
	}

	ring->hdr = map;
	ring->entry = (char *)map + sizeof(*ring->hdr);
	ring->map_size = info->mmap_size;
	ring->entries = info->entries;
	ring->stride = info->stride;
	ring->max_sge = info->max_sge;
	ring->max_inline = info->max_inline;
	ring->index = 0;
	return 0;
}

/**
 * mxe_ring_unmap() - Undo mxe_ring_map().
 * @ring: the ring
 */
void mxe_ring_unmap(struct mxe_ring *ring)
{
	if (ring->map_size)
		munmap(ring->hdr, ring->map_size);
	pthread_spin_destroy(&ring->lock);
}

/**
 * mxe_ring_swap() - Give a ring new memory, and keep its index.
 * @ring: the ring, whose lock is held
 * @with: the new memory; afterwards the old one, for mxe_ring_unmap()
 */
void mxe_ring_swap(struct mxe_ring *ring, struct mxe_ring *with)
{
	struct mxe_ring_hdr *hdr = ring->hdr;
	size_t map_size = ring->map_size;

	ring->hdr = with->hdr;
	ring->entry = with->entry;
	ring->map_size = with->map_size;
	ring->entries = with->entries;
	ring->stride = with->stride;
	with->hdr = hdr;
	with->map_size = map_size;
}

/**
 * mxe_ring_reset() - Set the index of the process to 0, after RESET of the QP.
 * @ring: the ring
 *
 * The kernel has emptied the work queue and set both of its indices to 0.
 */
void mxe_ring_reset(struct mxe_ring *ring)
{
	mxe_ring_lock(ring);
	ring->index = 0;
	mxe_ring_unlock(ring);
}
