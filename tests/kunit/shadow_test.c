// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that a synchronisation copies exactly the bytes of its direction, in
 * its range only, whichever side has changed them, and that the memory of a
 * shadow is counted.
 */
#include <kunit/test.h>
#include <linux/mm_types.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/mxe_user_ioctl_cmds.h>

#include "memory/pin.h"
#include "memory/shadow.h"

enum {
	OFFSET	= 100,			/* of the memory in its first page */
	LENGTH	= 2 * PAGE_SIZE,	/* on three pages */
	PAGES	= 3,
	FROM	= PAGE_SIZE - 300,	/* range of the synchronisation */
	LEN	= 1000,
	BOTH	= MXE_SYNC_MR_FOR_CPU | MXE_SYNC_MR_FOR_DEVICE,
};

/* Memory of a process, whose pages are in reverse order. */
struct shadow_fake {
	struct mm_struct *mm;
	struct ib_umem umem;
	struct mxe_pin pin;
	void *blocks[PAGES];
	u8 *mem;
	struct mxe_shadow *shadow;
};

static u8 *shadow_cpu(struct shadow_fake *fake, u32 i)
{
	u32 at = OFFSET + i;

	return fake->blocks[at / PAGE_SIZE] + at % PAGE_SIZE;
}

static int shadow_init(struct kunit *test)
{
	struct shadow_fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->mm = kunit_kzalloc(test, sizeof(*fake->mm), GFP_KERNEL);
	fake->mem = kunit_kzalloc(test, PAGES * PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->mm);
	KUNIT_ASSERT_NOT_NULL(test, fake->mem);
	for (i = 0; i < PAGES; i++)
		fake->blocks[i] = fake->mem + (PAGES - 1 - i) * PAGE_SIZE;
	fake->umem.owning_mm = fake->mm;
	fake->pin = (struct mxe_pin) {
		.umem = &fake->umem,
		.key.writable = 1,
		.block_shift = PAGE_SHIFT,
		.first_offset = OFFSET,
		.num_blocks = PAGES,
		.blocks = fake->blocks,
	};
	fake->shadow = mxe_shadow_create(&fake->pin, LENGTH);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->shadow));
	test->priv = fake;
	return 0;
}

static void shadow_exit(struct kunit *test)
{
	struct shadow_fake *fake = test->priv;

	if (!fake)
		return;
	mxe_shadow_free(fake->shadow);
	KUNIT_EXPECT_EQ(test, atomic64_read(&fake->mm->pinned_vm), 0);
}

static void shadow_counts(struct kunit *test)
{
	struct shadow_fake *fake = test->priv;

	KUNIT_EXPECT_EQ(test, atomic64_read(&fake->mm->pinned_vm), 2 * PAGES);
	KUNIT_EXPECT_EQ(test, offset_in_page(fake->shadow->mem), OFFSET);
}

/* Changes of byte i: by the process, by a peer, by both to other values. */
static void shadow_change(struct shadow_fake *fake, u32 i)
{
	if (i % 4 & 1)
		*shadow_cpu(fake, i) = 0x40 | (i & 0xf);
	if (i % 4 & 2)
		fake->shadow->mem[i] = 0x80 | (i & 0xf);
}

static void shadow_expect(struct kunit *test, u32 i, u32 flags)
{
	struct shadow_fake *fake = test->priv;
	u8 cpu = i % 4 & 1 ? 0x40 | (i & 0xf) : 7;
	u8 mem = i % 4 & 2 ? 0x80 | (i & 0xf) : 7;
	bool synced = i >= FROM && i < FROM + LEN;

	if (synced && i % 4 & 1) {
		if (flags & MXE_SYNC_MR_FOR_DEVICE)
			mem = cpu;
	} else if (synced && flags & MXE_SYNC_MR_FOR_CPU) {
		cpu = mem;
	}
	if (*shadow_cpu(fake, i) == cpu && fake->shadow->mem[i] == mem)
		return;
	KUNIT_FAIL(test, "flags %u, byte %u: process %#x, peer %#x, expected %#x and %#x",
		   flags, i, *shadow_cpu(fake, i), fake->shadow->mem[i], cpu, mem);
}

static void shadow_directions(struct kunit *test)
{
	struct shadow_fake *fake = test->priv;
	u32 flags, i;

	for (flags = 1; flags <= BOTH; flags++) {
		for (i = 0; i < LENGTH; i++)
			*shadow_cpu(fake, i) = fake->shadow->mem[i] =
				fake->shadow->base[i] = 7;
		for (i = 0; i < LENGTH; i++)
			shadow_change(fake, i);
		KUNIT_EXPECT_EQ(test, mxe_shadow_sync(fake->shadow, FROM, LEN, flags), 0);
		for (i = 0; i < LENGTH; i++)
			shadow_expect(test, i, flags);
	}
}

/* The bytes around the memory on its first and last page are not touched. */
static void shadow_edges(struct kunit *test)
{
	struct shadow_fake *fake = test->priv;
	u8 *first = fake->blocks[0], *last = fake->blocks[PAGES - 1];

	memset(fake->shadow->mem, 9, LENGTH);
	KUNIT_EXPECT_EQ(test, mxe_shadow_sync(fake->shadow, 0, LENGTH, BOTH), 0);
	KUNIT_EXPECT_EQ(test, *shadow_cpu(fake, 0), 9);
	KUNIT_EXPECT_EQ(test, *shadow_cpu(fake, LENGTH - 1), 9);
	KUNIT_EXPECT_EQ(test, first[OFFSET - 1], 0);
	KUNIT_EXPECT_EQ(test, last[OFFSET], 0);
}

/* Memory without the right to write is never written to. */
static void shadow_read_only(struct kunit *test)
{
	struct shadow_fake *fake = test->priv;

	fake->pin.key.writable = 0;
	memset(fake->shadow->mem, 9, LENGTH);
	*shadow_cpu(fake, 5) = 1;
	KUNIT_EXPECT_EQ(test, mxe_shadow_sync(fake->shadow, 0, LENGTH, BOTH), 0);
	KUNIT_EXPECT_EQ(test, *shadow_cpu(fake, 0), 0);
	KUNIT_EXPECT_EQ(test, fake->shadow->mem[5], 1);
}

static struct kunit_case shadow_cases[] = {
	KUNIT_CASE(shadow_counts),
	KUNIT_CASE(shadow_directions),
	KUNIT_CASE(shadow_edges),
	KUNIT_CASE(shadow_read_only),
	{}
};

static struct kunit_suite shadow_suite = {
	.name = "mxe_shadow",
	.init = shadow_init,
	.exit = shadow_exit,
	.test_cases = shadow_cases,
};

kunit_test_suite(shadow_suite);
