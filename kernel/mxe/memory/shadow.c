// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is not coherent with the device: peers access a shadow of the
 * memory of the process until a synchronisation copies it. mr.c creates the
 * shadow of a region, and mr_sync.c synchronises it.
 */
#include <linux/capability.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <rdma/ib_umem.h>
#include <rdma/mxe_user_ioctl_cmds.h>

#include "memory/pin.h"
#include "memory/shadow.h"

/* Bytes between two points where a synchronisation can be killed. */
#define MXE_SHADOW_CHUNK	SZ_64K

/* Bytes that are compared at once, to skip those that have not changed. */
#define MXE_SHADOW_BLOCK	256

/* Counts pages in RLIMIT_MEMLOCK, as ib_umem_get() does for the pinned ones. */
static int mxe_shadow_charge(struct mxe_shadow *shadow, unsigned long pages)
{
	struct mm_struct *mm = shadow->pin->umem->owning_mm;
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(pages, &mm->pinned_vm) > limit &&
	    !capable(CAP_IPC_LOCK)) {
		atomic64_sub(pages, &mm->pinned_vm);
		return -ENOMEM;
	}
	shadow->charged = pages;
	return 0;
}

/*
 * Call it when no peer accesses the shadow any more.
 * Context: May sleep.
 */
void mxe_shadow_free(struct mxe_shadow *shadow)
{
	/* The umem holds a reference on the mm_struct. */
	atomic64_sub(shadow->charged,
		     &shadow->pin->umem->owning_mm->pinned_vm);
	vfree(shadow->area);
	kfree(shadow);
}

/*
 * Allocate a shadow that is all zero for memory of @length bytes. It needs
 * twice the memory of the region, which is charged to the memory control group
 * of the current process and counts in its RLIMIT_MEMLOCK.
 * Context: Process context. May sleep.
 * Return: the shadow, or ERR_PTR(-ENOMEM).
 */
struct mxe_shadow *mxe_shadow_create(const struct mxe_pin *pin, u64 length)
{
	u32 offset = offset_in_page(pin->first_offset);
	unsigned long size = PAGE_ALIGN(offset + length);
	struct mxe_shadow *shadow;

	shadow = kzalloc(sizeof(*shadow), GFP_KERNEL_ACCOUNT);
	if (!shadow)
		return ERR_PTR(-ENOMEM);
	mutex_init(&shadow->lock);
	shadow->pin = pin;
	if (mxe_shadow_charge(shadow, 2 * (size >> PAGE_SHIFT)))
		goto err;
	shadow->area = __vmalloc(2 * size, GFP_KERNEL_ACCOUNT | __GFP_ZERO |
					   __GFP_NOWARN);
	if (!shadow->area)
		goto err;
	shadow->mem = shadow->area + offset;
	shadow->base = shadow->mem + size;
	return shadow;

err:
	mxe_shadow_free(shadow);
	return ERR_PTR(-ENOMEM);
}

/*
 * Synchronises bytes that may be equal. The process and peers may write at the
 * same time, so each byte is read once.
 */
static void mxe_shadow_merge_block(u8 *cpu, u8 *mem, u8 *base, u32 len,
				   u32 flags)
{
	u32 i;

	for (i = 0; i < len; i++) {
		u8 byte = READ_ONCE(cpu[i]);

		if (byte != base[i]) {
			if (!(flags & MXE_SYNC_MR_FOR_DEVICE))
				continue;
			WRITE_ONCE(mem[i], byte);
			base[i] = byte;
		} else if (flags & MXE_SYNC_MR_FOR_CPU) {
			byte = READ_ONCE(mem[i]);
			if (byte == base[i])
				continue;
			WRITE_ONCE(cpu[i], byte);
			base[i] = byte;
		}
	}
}

static void mxe_shadow_merge(u8 *cpu, u8 *mem, u8 *base, u32 len, u32 flags)
{
	u32 at, n;

	for (at = 0; at < len; at += n) {
		n = min_t(u32, len - at, MXE_SHADOW_BLOCK);
		if (memcmp(cpu + at, base + at, n) ||
		    memcmp(mem + at, base + at, n))
			mxe_shadow_merge_block(cpu + at, mem + at, base + at, n,
					       flags);
	}
}

/*
 * Synchronise bytes inside of the memory of the process with the shadow. @flags
 * are of enum mxe_sync_mr_flags: MXE_SYNC_MR_FOR_DEVICE copies the bytes that
 * the process has changed since they were last synchronised to the shadow.
 * MXE_SYNC_MR_FOR_CPU copies the others to the memory of the process. Both
 * together do the first and then the second.
 * Context: Process context. May sleep.
 * Return: 0, or -EINTR if the process is being killed. A part of the range may
 * be synchronised then.
 */
int mxe_shadow_sync(struct mxe_shadow *shadow, u64 offset, u64 len, u32 flags)
{
	const struct mxe_pin *pin = shadow->pin;
	int err;

	/* Peers cannot write to this memory either, so no byte would differ. */
	if (!pin->key.writable)
		flags &= ~MXE_SYNC_MR_FOR_CPU;
	err = mutex_lock_killable(&shadow->lock);
	if (err)
		return err;
	while (len) {
		u64 at = pin->first_offset + offset;
		u32 in_block = at & (BIT(pin->block_shift) - 1);
		u32 chunk = min3(len, (u64)BIT(pin->block_shift) - in_block,
				 (u64)MXE_SHADOW_CHUNK);

		mxe_shadow_merge(pin->blocks[at >> pin->block_shift] + in_block,
				 shadow->mem + offset, shadow->base + offset,
				 chunk, flags);
		offset += chunk;
		len -= chunk;
		if (len && fatal_signal_pending(current)) {
			err = -EINTR;
			break;
		}
		cond_resched();
	}
	mutex_unlock(&shadow->lock);
	return err;
}
