// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that processes map: rings of queues, and device memory. It is memory
 * of vmalloc, and belongs to mmap entries of ib_core.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "memory/ring.h"

/*
 * Allocate zeroed memory that a process can map. @size is in bytes, and a
 * multiple of the page size. The process of @uctx is charged for it.
 * rdma_user_mmap_entry_remove() drops the reference of the caller.
 * Context: May sleep.
 * Return: the entry, or ERR_PTR(-ENOMEM).
 */
struct mxe_mmap_entry *mxe_ring_mmap_entry_alloc(struct ib_ucontext *uctx,
						 size_t size)
{
	struct mxe_mmap_entry *entry;
	int err;

	entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	/* Not vmalloc_user(), which does not charge the process. */
	entry->mem = __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!entry->mem) {
		kfree(entry);
		return ERR_PTR(-ENOMEM);
	}

	err = rdma_user_mmap_entry_insert(uctx, &entry->rdma_entry, size);
	if (err) {
		vfree(entry->mem);
		kfree(entry);
		return ERR_PTR(err);
	}
	return entry;
}

static size_t mxe_ring_size(const struct mxe_ring *ring)
{
	return ALIGN(sizeof(*ring->hdr) + (size_t)ring->entries * ring->stride,
		     SMP_CACHE_BYTES);
}

static void mxe_ring_place(struct mxe_ring *ring, void *mem)
{
	ring->hdr = mem;
	ring->entries_base = ring->hdr + 1;
}

/*
 * Allocate the memory of @ring and, behind it, of @second, unless that is NULL
 * or has no entries. The shapes are set.
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_ring_alloc(struct mxe_ring *ring, struct mxe_ring *second,
		   struct ib_ucontext *uctx)
{
	size_t size = mxe_ring_size(ring);
	struct mxe_mmap_entry *entry;

	if (second && second->entries) {
		second->offset = size;
		size += mxe_ring_size(second);
	}
	entry = mxe_ring_mmap_entry_alloc(uctx, PAGE_ALIGN(size));
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	mxe_ring_place(ring, entry->mem);
	ring->entry = &entry->rdma_entry;
	if (second && second->entries)
		mxe_ring_place(second, entry->mem + second->offset);
	return 0;
}

/*
 * Release the memory of a ring, and zero @ring. The process may still map the
 * memory, but the kernel does not use it any more, nor that of a second ring in
 * it.
 * Context: May sleep.
 */
void mxe_ring_destroy(struct mxe_ring *ring)
{
	if (ring->entry)
		rdma_user_mmap_entry_remove(ring->entry);
	memset(ring, 0, sizeof(*ring));
}

/*
 * Set the indices and the flags of a work queue to 0. Leave a ring without
 * memory unchanged.
 * Context: Lock of the queue held.
 */
void mxe_ring_reset(struct mxe_ring *ring)
{
	if (!ring->hdr)
		return;
	WRITE_ONCE(ring->hdr->producer, 0);
	WRITE_ONCE(ring->hdr->consumer, 0);
	WRITE_ONCE(ring->hdr->flags, 0);
}

/*
 * Describe a ring to its process. Leave @info unchanged if the ring has no
 * memory.
 */
void mxe_ring_info(const struct mxe_ring *ring, struct mxe_ring_info *info)
{
	if (!ring->hdr)
		return;
	if (ring->entry) {
		info->mmap_offset = rdma_user_mmap_get_offset(ring->entry);
		info->mmap_size = ring->entry->npages * PAGE_SIZE;
	} else {
		info->mmap_offset = ring->offset;
	}
	info->entries = ring->entries;
	info->stride = ring->stride;
}

static int mxe_ring_map(struct vm_area_struct *vma, void *mem)
{
	unsigned long addr;
	int err;

	for (addr = vma->vm_start; addr < vma->vm_end; addr += PAGE_SIZE) {
		err = vm_insert_page(vma, addr, vmalloc_to_page(mem));
		if (err)
			return err;
		mem += PAGE_SIZE;
		cond_resched();
	}
	mxe_vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	return 0;
}

int mxe_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *rdma_entry;
	struct mxe_mmap_entry *entry;
	int err;

	rdma_entry = rdma_user_mmap_entry_get(uctx, vma);
	if (!rdma_entry)
		return -EINVAL;
	entry = container_of(rdma_entry, struct mxe_mmap_entry, rdma_entry);

	/*
	 * ib_core has compared the sizes.  Mapped pages have references of
	 * their own, so the mapping may outlive the entry, the device and this
	 * module.
	 */
	err = mxe_ring_map(vma, entry->mem);
	rdma_user_mmap_entry_put(rdma_entry);
	return err;
}

void mxe_mmap_free(struct rdma_user_mmap_entry *rdma_entry)
{
	struct mxe_mmap_entry *entry =
		container_of(rdma_entry, struct mxe_mmap_entry, rdma_entry);

	vfree(entry->mem);
	kfree(entry);
}
