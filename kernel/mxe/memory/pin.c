// SPDX-License-Identifier: GPL-2.0
/*
 * Pins memory of processes for regions, and translates its pages to blocks.
 * Programs register the same memory in each of many threads.  Such regions
 * share one pin.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "memory/pin.h"
#include "mxe.h"

/* Up to 1 GiB, the largest huge page.  Offsets in a block have 32 bits. */
#define MXE_PIN_BLOCK_SIZES	GENMASK(30, PAGE_SHIFT)

static const struct rhashtable_params mxe_pin_params = {
	.head_offset = offsetof(struct mxe_pin, node),
	.key_offset = offsetof(struct mxe_pin, key),
	.key_len = sizeof(struct mxe_pin_key),
	.automatic_shrinking = true,
};

/*
 * Call it before the device is registered.
 * Context: May sleep.
 */
int mxe_pin_init(struct mxe_dev *dev)
{
	return rhashtable_init(&dev->pins, &mxe_pin_params);
}

/*
 * Call it when the device has no region any more.
 * Context: May sleep.
 */
void mxe_pin_exit(struct mxe_dev *dev)
{
	rhashtable_destroy(&dev->pins);
}

static struct mxe_pin *mxe_pin_find(struct mxe_dev *dev,
				    const struct mxe_pin_key *key)
{
	struct mxe_pin *pin;

	rcu_read_lock();
	pin = rhashtable_lookup(&dev->pins, key, mxe_pin_params);
	if (pin && !refcount_inc_not_zero(&pin->refs))
		pin = NULL;
	rcu_read_unlock();
	return pin;
}

/* Returns true if @pin has the pages of @umem. */
static bool mxe_pin_has_pages(const struct mxe_pin *pin, struct ib_umem *umem,
			      unsigned long block_size)
{
	struct ib_block_iter iter;
	u32 i = 0;

	if (block_size != BIT(pin->block_shift))
		return false;
	rdma_umem_for_each_dma_block(umem, &iter, block_size) {
		u64 addr = rdma_block_iter_dma_address(&iter);

		if (i == pin->num_blocks ||
		    pin->blocks[i++] != (void *)(uintptr_t)addr)
			return false;
		if (!(i % 1024))
			cond_resched();
	}
	return i == pin->num_blocks;
}

static int mxe_pin_set_blocks(struct mxe_pin *pin, unsigned long block_size)
{
	struct ib_block_iter iter;
	u32 i = 0;

	pin->block_shift = ilog2(block_size);
	pin->first_offset = pin->umem->address & (block_size - 1);
	pin->num_blocks = ib_umem_num_dma_blocks(pin->umem, block_size);
	pin->blocks = kvmalloc_array(pin->num_blocks, sizeof(*pin->blocks),
				     GFP_KERNEL_ACCOUNT);
	if (!pin->blocks)
		return -ENOMEM;
	/* DMA addresses of a virtual device are kernel addresses. */
	rdma_umem_for_each_dma_block(pin->umem, &iter, block_size) {
		u64 addr = rdma_block_iter_dma_address(&iter);

		if (WARN_ON_ONCE(i == pin->num_blocks))
			return -EINVAL;
		pin->blocks[i++] = (void *)(uintptr_t)addr;
		if (!(i % 1024))
			cond_resched();
	}
	return WARN_ON_ONCE(i != pin->num_blocks) ? -EINVAL : 0;
}

/* Frees a pin that no one uses.  Readers of the table see its key and refs. */
static void mxe_pin_free(struct mxe_pin *pin)
{
	ib_umem_release(pin->umem);
	kvfree(pin->blocks);
	kfree_rcu(pin, rcu);
}

/* Makes a pin of @umem, which is released if this fails. */
static struct mxe_pin *mxe_pin_create(struct ib_umem *umem,
				      const struct mxe_pin_key *key,
				      unsigned long block_size)
{
	struct mxe_pin *pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	int err;

	if (!pin) {
		ib_umem_release(umem);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&pin->refs, 1);
	pin->key = *key;
	pin->umem = umem;
	err = mxe_pin_set_blocks(pin, block_size);
	if (err) {
		mxe_pin_free(pin);
		return ERR_PTR(err);
	}
	return pin;
}

/*
 * Lets later regions find @pin in place of @old, which may be NULL.  If another
 * thread was faster, the table has two pins with this key, and they find either
 * one.  Without memory for the table they find none, and have pins of their
 * own.
 */
static void mxe_pin_publish(struct mxe_dev *dev, struct mxe_pin *pin,
			    struct mxe_pin *old)
{
	if (!old || rhashtable_replace_fast(&dev->pins, &old->node, &pin->node,
					    mxe_pin_params))
		rhashtable_insert_fast(&dev->pins, &pin->node, mxe_pin_params);
}

/*
 * Pin a range of the memory of the current process for a region with the rights
 * @access, IB_ACCESS_*. Return the pin of another region if the same pages are
 * mapped at the same range as when that region was registered.
 * Context: Process context. May sleep.
 * Return: the pin, ERR_PTR(-ENOMEM), or an error of ib_umem_get().
 */
struct mxe_pin *mxe_pin_get(struct mxe_dev *dev, u64 start, u64 length,
			    int access)
{
	struct mxe_pin *pin, *old;
	unsigned long block_size;
	struct mxe_pin_key key;
	struct ib_umem *umem;

	umem = mxe_umem_get(&dev->ibdev, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	/* It has the alignment of the memory, whatever the iova is. */
	block_size = ib_umem_find_best_pgsz(umem, MXE_PIN_BLOCK_SIZES, start);
	key = (struct mxe_pin_key) {
		.mm = umem->owning_mm,
		.start = start,
		.length = length,
		.writable = umem->writable,
	};
	old = mxe_pin_find(dev, &key);
	if (old && mxe_pin_has_pages(old, umem, block_size)) {
		ib_umem_release(umem);
		return old;
	}
	pin = mxe_pin_create(umem, &key, block_size);
	if (!IS_ERR(pin))
		mxe_pin_publish(dev, pin, old);
	if (old)
		mxe_pin_put(dev, old);
	return pin;
}

/*
 * Drop a reference. The last one unpins the memory.
 * Context: May sleep.
 */
void mxe_pin_put(struct mxe_dev *dev, struct mxe_pin *pin)
{
	if (!refcount_dec_and_test(&pin->refs))
		return;
	/* Does nothing if the pin is not in the table. */
	rhashtable_remove_fast(&dev->pins, &pin->node, mxe_pin_params);
	mxe_pin_free(pin);
}
