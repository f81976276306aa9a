/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of processes that pin.c keeps pinned for regions. */
#ifndef MXE_PIN_H
#define MXE_PIN_H

#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/types.h>

struct ib_umem;
struct mm_struct;
struct mxe_dev;

/* Regions of the same process, range and right to write can share a pin. */
struct mxe_pin_key {
	const struct mm_struct *mm;	/* umem->owning_mm, never dereferenced */
	u64 start;
	u64 length;			/* bytes */
	u64 writable;
};

/*
 * Pinned memory, which consists of contiguous blocks of the same size, aligned
 * to that size.  The first and the last block may extend beyond the memory.
 *
 * Lifetime: each region that uses it has a reference.  A registration finds it
 * in dev->pins under RCU.
 */
struct mxe_pin {
	refcount_t refs;
	struct mxe_pin_key key;		/* in dev->pins */
	struct rhash_head node;
	struct rcu_head rcu;
	/* Immutable after creation. */
	struct ib_umem *umem;		/* owned */
	unsigned int block_shift;	/* log2 of the bytes of a block */
	u32 first_offset;		/* of the memory in the first block */
	u32 num_blocks;
	void **blocks;			/* kernel addresses */
};

int mxe_pin_init(struct mxe_dev *dev);
void mxe_pin_exit(struct mxe_dev *dev);
struct mxe_pin *mxe_pin_get(struct mxe_dev *dev, u64 start, u64 length,
			    int access);
void mxe_pin_put(struct mxe_dev *dev, struct mxe_pin *pin);

#endif /* MXE_PIN_H */
