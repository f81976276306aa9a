// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that memory regions check ranges and rights, are copied to and from,
 * can be registered by work requests, and are destroyed only when no access is
 * in progress.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "harness.h"
#include "memory/mr.h"
#include "memory/rkey.h"

#define LW	IB_ACCESS_LOCAL_WRITE
#define RR	IB_ACCESS_REMOTE_READ
#define RW	IB_ACCESS_REMOTE_WRITE
#define RA	IB_ACCESS_REMOTE_ATOMIC

/* ---- mxe_mr_check() ---------------------------------------------------- */

struct check_row {
	const char *desc;
	u64 iova, length;	/* of the region */
	u64 addr, len;		/* of the access */
	int have, want;
	int err;
	bool foreign;
};

#define FULL	(~0ULL)

#define PEER(kt, pd_) \
	((struct mxe_rights) { .dev = (kt)->dev, .pd = (pd_) })

static const struct check_row check_rows[] = {
	{ "all of it", 0x1000, 0x2000, 0x1000, 0x2000 },
	{ "first byte", 0x1000, 0x2000, 0x1000, 1 },
	{ "last byte", 0x1000, 0x2000, 0x2fff, 1 },
	{ "byte after the last", 0x1000, 0x2000, 0x3000, 1, .err = -EFAULT },
	{ "byte before the first", 0x1000, 0x2000, 0xfff, 1, .err = -EFAULT },
	{ "one byte more than all", 0x1000, 0x2000, 0x1000, 0x2001,
	  .err = -EFAULT },
	{ "into it from before", 0x1000, 0x2000, 0xfff, 2, .err = -EFAULT },
	{ "out of it", 0x1000, 0x2000, 0x2fff, 2, .err = -EFAULT },
	{ "around it", 0x1000, 0x2000, 0xfff, 0x2002, .err = -EFAULT },
	{ "no byte at the start", 0x1000, 0x2000, 0x1000, 0 },
	{ "no byte at the end", 0x1000, 0x2000, 0x3000, 0 },
	{ "no byte after the end", 0x1000, 0x2000, 0x3001, 0, .err = -EFAULT },
	{ "no byte before the start", 0x1000, 0x2000, 0xfff, 0,
	  .err = -EFAULT },
	{ "address 0", 0x1000, 0x2000, 0, 1, .err = -EFAULT },
	{ "highest address", 0x1000, 0x2000, FULL, 1, .err = -EFAULT },
	{ "end wraps to 0", 0x1000, 0x2000, FULL - 7, 8, .err = -EFAULT },
	{ "end wraps into the region", 0x1000, 0x2000, 0xfffffffffffff000ULL,
	  0x3000, .err = -EFAULT },
	{ "end wraps to the start", 0x1000, 0x2000, 0x1001, FULL,
	  .err = -EFAULT },
	{ "longest access", 0x1000, 0x2000, 0x1000, FULL, .err = -EFAULT },
	{ "region at the top, last byte", FULL - 0x1000, 0x1000, FULL - 1, 1 },
	{ "region at the top, one more", FULL - 0x1000, 0x1000, FULL, 1,
	  .err = -EFAULT },
	{ "region at the top, wraps", FULL - 0x1000, 0x1000, FULL - 1, 2,
	  .err = -EFAULT },
	{ "region of nearly everything", 0, FULL, 0, FULL },
	{ "region of nearly everything, shifted", 0, FULL, 1, FULL,
	  .err = -EFAULT },
	{ "region of nearly everything, last byte", 0, FULL, FULL - 1, 1 },
	{ "empty region, no byte", 0x1000, 0, 0x1000, 0 },
	{ "empty region, a byte", 0x1000, 0, 0x1000, 1, .err = -EFAULT },

	{ "no right requested", 0, 8, 0, 8, .have = 0, .want = 0 },
	{ "right granted", 0, 8, 0, 8, .have = LW | RR, .want = RR },
	{ "local write missing", 0, 8, 0, 8, .have = RR, .want = LW,
	  .err = -EACCES },
	{ "remote write missing", 0, 8, 0, 8, .have = LW | RR | RA, .want = RW,
	  .err = -EACCES },
	{ "remote read missing", 0, 8, 0, 8, .have = LW | RW | RA, .want = RR,
	  .err = -EACCES },
	{ "remote atomic missing", 0, 8, 0, 8, .have = LW | RW | RR,
	  .want = RA, .err = -EACCES },
	{ "one of two missing", 0, 8, 0, 8, .have = LW | RW, .want = RW | RR,
	  .err = -EACCES },
	{ "right missing and outside", 0, 8, 9, 8, .have = RR, .want = RW,
	  .err = -EACCES },

	{ "foreign domain", 0, 8, 0, 8, .foreign = true, .err = -EPERM },
	{ "foreign domain, no byte", 0, 8, 0, 0, .foreign = true,
	  .err = -EPERM },
	{ "foreign domain before right", 0, 8, 0, 8, .have = RR, .want = RW,
	  .foreign = true, .err = -EPERM },
};

KT_ARRAY_PARAM(check, check_rows);

static void mr_check_table(struct kunit *test)
{
	const struct check_row *row = test->param_value;
	struct mxe_mr *mr = kunit_kzalloc(test, sizeof(*mr), GFP_KERNEL);
	struct ib_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);
	struct ib_pd *other = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mr);
	mr->ibmr.pd = pd;
	mr->iova = row->iova;
	mr->length = row->length;
	mr->access = row->have;
	KUNIT_EXPECT_EQ(test, mxe_mr_check(mr, row->foreign ? other : pd,
					   row->want, row->addr, row->len),
			row->err);

	/*
	 * The region of all kernel memory has no bounds, but a PD and rights.
	 */
	mr->all_kernel_memory = true;
	KUNIT_EXPECT_EQ(test, mxe_mr_check(mr, row->foreign ? other : pd,
					   row->want, row->addr, row->len),
			row->err == -EFAULT ? 0 : row->err);
}

/* What an insertion leaves behind that failed for lack of memory. */
static void mr_table_of_nodes(struct kunit *test)
{
	static DEFINE_XARRAY(xa);
	XA_STATE_ORDER(xas, &xa, 0x123440, 6);

	KUNIT_EXPECT_FALSE(test, mxe_xa_has_entries(&xa));
	do {
		xas_lock(&xas);
		xas_create_range(&xas);
		xas_unlock(&xas);
	} while (xas_nomem(&xas, GFP_KERNEL));
	KUNIT_EXPECT_FALSE(test, xa_empty(&xa));
	KUNIT_EXPECT_FALSE(test, mxe_xa_has_entries(&xa));
	KUNIT_EXPECT_EQ(test, xa_err(xa_store(&xa, 0x654321, &xa, GFP_KERNEL)), 0);
	KUNIT_EXPECT_TRUE(test, mxe_xa_has_entries(&xa));
	xa_destroy(&xa);
}

static struct kunit_case mr_check_cases[] = {
	KUNIT_CASE_PARAM(mr_check_table, check_gen_params),
	KUNIT_CASE(mr_table_of_nodes),
	{}
};

static struct kunit_suite mr_check_suite = {
	.name = "mxe_mr_check",
	.test_cases = mr_check_cases,
};

/* ---- copying ----------------------------------------------------------- */

static void fill(u8 *buf, size_t len, u8 seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = seed + i * 7 + (i >> 8);
}

static bool is_all(const u8 *buf, u8 value, size_t len)
{
	return !len || (buf[0] == value && !memcmp(buf, buf + 1, len - 1));
}

static const u32 copy_offsets[] = {
	0, 1, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1, 3 * PAGE_SIZE - 2,
};

static const u32 copy_lengths[] = {
	0, 1, 2, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1, 3 * PAGE_SIZE + 5,
};

/* The pages are not contiguous. Every byte is copied to the right place. */
static void mr_copy_over_pages(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct mxe_mr *mr = to_mmr(kt_reg(kt, kt->pd, LW));
	u8 *buf = kunit_kmalloc(test, KT_SIZE, GFP_KERNEL);
	int i, j;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < ARRAY_SIZE(copy_offsets); i++) {
		for (j = 0; j < ARRAY_SIZE(copy_lengths); j++) {
			u32 at = copy_offsets[i], len = copy_lengths[j];
			u64 addr = kt_va(&mr->ibmr, at);

			memset(kt->mem, 0xaa, KT_SIZE);
			fill(buf, len, i + j);
			mxe_mr_copy(mr, addr, buf, len, MXE_TO_MEMORY);
			KUNIT_ASSERT_EQ(test, memcmp(kt->mem + at, buf, len), 0);
			KUNIT_ASSERT_TRUE(test, is_all(kt->mem, 0xaa, at));
			KUNIT_ASSERT_TRUE(test, is_all(kt->mem + at + len, 0xaa,
						       KT_SIZE - at - len));

			memset(buf, 0, len);
			mxe_mr_copy(mr, addr, buf, len, MXE_FROM_MEMORY);
			KUNIT_ASSERT_EQ(test, memcmp(kt->mem + at, buf, len), 0);
		}
	}
}

/* A region whose first page begins in the middle. */
static void mr_copy_with_first_offset(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *ibmr = kt_reg(kt, kt->pd, LW);
	struct mxe_mr *mr = to_mmr(ibmr);
	u8 *buf = kunit_kmalloc(test, 2 * PAGE_SIZE, GFP_KERNEL);
	unsigned int offset = 100;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_EQ(test, mxe_mr_invalidate(kt->dev, kt->pd, ibmr->rkey, 0), 0);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(ibmr, kt->sg, KT_PAGES, &offset,
					   PAGE_SIZE), KT_PAGES);
	KUNIT_ASSERT_EQ(test, kt_fast_reg(ibmr, kt->pd, ibmr->rkey, LW), 0);
	KUNIT_EXPECT_EQ(test, mr->length, (u64)KT_SIZE - 100);

	memset(kt->mem, 0xaa, KT_SIZE);
	fill(buf, 2 * PAGE_SIZE, 1);
	mxe_mr_copy(mr, ibmr->iova, buf, 2 * PAGE_SIZE, MXE_TO_MEMORY);
	KUNIT_EXPECT_TRUE(test, is_all(kt->mem, 0xaa, 100));
	KUNIT_EXPECT_EQ(test, memcmp(kt->mem + 100, buf, 2 * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, mxe_mr_check(mr, kt->pd, LW, ibmr->iova - 1, 1),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, mxe_mr_check(mr, kt->pd, LW,
					   ibmr->iova + KT_SIZE - 100, 1),
			-EFAULT);
}

/*
 * A message is copied in steps of any size, whatever the lengths of the SGEs.
 */
static void mr_sge_copy_splits(struct kunit *test)
{
	static const u32 lengths[] = { 1, 0, PAGE_SIZE - 1, 700, 2 * PAGE_SIZE };
	static const u32 steps[] = { 1, 255, 256, 1024, 4096, 20000 };
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = kt_reg(kt, kt->pd, LW);
	struct ib_sge sge[ARRAY_SIZE(lengths)];
	u32 total = 0, at, i, s, gap = 37;
	u8 *msg, *back;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		sge[i].addr = kt_va(mr, total + gap * i);
		sge[i].length = lengths[i];
		sge[i].lkey = mr->lkey;
		total += lengths[i];
	}
	msg = kunit_kmalloc(test, total, GFP_KERNEL);
	back = kunit_kmalloc(test, total, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_ASSERT_NOT_NULL(test, back);

	for (s = 0; s < ARRAY_SIZE(steps); s++) {
		u32 where = 0;

		fill(msg, total, s);
		memset(kt->mem, 0xaa, KT_SIZE);
		for (at = 0; at < total; at += steps[s])
			KUNIT_ASSERT_EQ(test, mxe_mr_copy_sges(kt->dev, kt->pd, sge,
							       ARRAY_SIZE(sge), at,
							       msg + at,
							       min(steps[s], total - at),
							       MXE_TO_MEMORY, NULL), 0);
		for (i = 0; i < ARRAY_SIZE(lengths); i++) {
			u8 *p = kt->mem + where + gap * i;

			KUNIT_ASSERT_EQ(test, memcmp(p, msg + where, lengths[i]),
					0);
			where += lengths[i];
			KUNIT_ASSERT_TRUE(test, is_all(p + lengths[i], 0xaa, gap));
		}
		for (at = 0; at < total; at += steps[s])
			KUNIT_ASSERT_EQ(test, mxe_mr_copy_sges(kt->dev, kt->pd, sge,
							       ARRAY_SIZE(sge), at,
							       back + at,
							       min(steps[s], total - at),
							       MXE_FROM_MEMORY, NULL), 0);
		KUNIT_ASSERT_EQ(test, memcmp(msg, back, total), 0);
	}
}

static void mr_sge_copy_refuses(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = kt_reg(kt, kt->pd, LW);
	struct ib_mr *ro = kt_reg(kt, kt->pd, RR);
	struct ib_sge sge = { kt_va(mr, 0), 16, mr->lkey };
	struct ib_pd *pd = kt->pd;
	u8 buf[32] = {};

#define COPY(len, dir) \
	mxe_mr_copy_sges(kt->dev, pd, &sge, 1, 0, buf, len, dir, NULL)
	KUNIT_EXPECT_EQ(test, COPY(16, MXE_TO_MEMORY), 0);
	KUNIT_EXPECT_EQ(test, COPY(17, MXE_TO_MEMORY), -EFAULT);
	KUNIT_EXPECT_EQ(test, mxe_mr_copy_sges(kt->dev, pd, NULL, 0, 0, buf, 1,
					       MXE_TO_MEMORY, NULL), -EFAULT);
	sge.lkey = mr->lkey ^ 1;
	KUNIT_EXPECT_EQ(test, COPY(1, MXE_TO_MEMORY), -ENOENT);
	sge.lkey = mr->lkey ^ 0x100;
	KUNIT_EXPECT_EQ(test, COPY(1, MXE_TO_MEMORY), -ENOENT);
	sge.lkey = 0;
	KUNIT_EXPECT_EQ(test, COPY(1, MXE_TO_MEMORY), -ENOENT);
	sge.lkey = ro->lkey;
	sge.addr = kt_va(ro, 0);
	KUNIT_EXPECT_EQ(test, COPY(1, MXE_TO_MEMORY), -EACCES);
	KUNIT_EXPECT_EQ(test, COPY(1, MXE_FROM_MEMORY), 0);
	sge.addr = kt_va(ro, KT_SIZE - 15);
	KUNIT_EXPECT_EQ(test, COPY(16, MXE_FROM_MEMORY), -EFAULT);
	pd = kt->other_pd;
	KUNIT_EXPECT_EQ(test, COPY(1, MXE_FROM_MEMORY), -EPERM);
#undef COPY
	/* A copy of no bytes needs no valid key. */
	sge.lkey = 0;
	KUNIT_EXPECT_EQ(test, mxe_mr_copy_sges(kt->dev, pd, &sge, 1, 0, buf, 0,
					       MXE_TO_MEMORY, NULL), 0);
}

/* ---- atomics ----------------------------------------------------------- */

static void mr_atomic(struct kunit *test)
{
	const struct mxe_atomic_args add = {
		MXE_ATOMIC_FETCH_ADD, .swap_add = 5, .log_size = 3,
	};
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = kt_reg(kt, kt->pd, LW | RA);
	u64 *last = (u64 *)(kt->mem + KT_SIZE) - 1;
	u64 orig[MXE_ATOMIC_WORDS] = {};

	*last = 37;
	KUNIT_EXPECT_EQ(test, mxe_rkey_atomic(&PEER(kt, kt->pd), mr->rkey,
					      RA, kt_va(mr, KT_SIZE - 8), &add,
					      orig), 0);
	KUNIT_EXPECT_EQ(test, orig[0], 37ULL);
	KUNIT_EXPECT_EQ(test, *last, 42ULL);
	KUNIT_EXPECT_EQ(test, mxe_rkey_atomic(&PEER(kt, kt->pd), mr->rkey,
					      RA, kt_va(mr, KT_SIZE), &add, orig),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, mxe_rkey_atomic(&PEER(kt, kt->other_pd), mr->rkey,
					      RA, kt_va(mr, 0), &add, orig), -EPERM);
	KUNIT_EXPECT_EQ(test, mxe_rkey_atomic(&PEER(kt, kt->pd), mr->rkey ^ 1,
					      RA, kt_va(mr, 0), &add, orig),
			-ENOENT);
}

/* An aligned address of a region can map to misaligned memory. */
static void mr_atomic_misaligned_memory(struct kunit *test)
{
	const struct mxe_atomic_args add = {
		MXE_ATOMIC_FETCH_ADD, .swap_add = 5, .log_size = 3,
	};
	struct kt *kt = kt_of(test);
	struct ib_mr *ibmr = kt_reg(kt, kt->pd, LW | RA);
	struct mxe_mr *mr = to_mmr(ibmr);
	unsigned int offset = 4;
	u64 orig[MXE_ATOMIC_WORDS] = { 1 };

	KUNIT_ASSERT_EQ(test, mxe_mr_invalidate(kt->dev, kt->pd, ibmr->rkey, 0), 0);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(ibmr, kt->sg, KT_PAGES, &offset,
					   PAGE_SIZE), KT_PAGES);
	ibmr->iova = 0x100000;
	KUNIT_ASSERT_EQ(test, kt_fast_reg(ibmr, kt->pd, ibmr->rkey, LW | RA), 0);
	KUNIT_EXPECT_EQ(test, mr->iova, 0x100000ULL);
	KUNIT_EXPECT_EQ(test, mxe_rkey_atomic(&PEER(kt, kt->pd), ibmr->rkey,
					      RA, 0x100000, &add, orig), -EINVAL);
	KUNIT_EXPECT_TRUE(test, is_all(kt->mem, 0, KT_SIZE));
	KUNIT_EXPECT_EQ(test, orig[0], 1ULL);
}

/* The halves of an operand of 16 or 32 bytes may be in pages that are apart. */
static void mr_atomic_across_pages(struct kunit *test)
{
	struct mxe_atomic_args add = {
		MXE_ATOMIC_MASKED_FETCH_ADD, .swap_add_words = { 1 }, .log_size = 5,
	};
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = kt_reg(kt, kt->pd, LW | RA);
	/* kt_reg() has filled in kt->sg. */
	struct scatterlist swapped[] = { kt->sg[1], kt->sg[0] };
	u64 *low = (u64 *)(kt->mem + 2 * PAGE_SIZE) - 2;
	u64 *high = (u64 *)kt->mem;
	u64 orig[MXE_ATOMIC_WORDS];

	KUNIT_ASSERT_EQ(test, mxe_mr_invalidate(kt->dev, kt->pd, mr->rkey, 0), 0);
	sg_mark_end(&swapped[1]);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(mr, swapped, 2, NULL, PAGE_SIZE), 2);
	KUNIT_ASSERT_EQ(test, kt_fast_reg(mr, kt->pd, mr->rkey, LW | RA), 0);
	memset(kt->mem, 0, KT_SIZE);
	low[0] = U64_MAX;
	low[1] = U64_MAX;
	high[0] = U64_MAX;
	high[1] = 6;
	mxe_atomic_use_locks();
	KUNIT_EXPECT_EQ(test, mxe_rkey_atomic(&PEER(kt, kt->pd), mr->rkey, RA,
					      kt_va(mr, PAGE_SIZE - 16), &add,
					      orig), 0);
	KUNIT_EXPECT_EQ(test, orig[0] & orig[1] & orig[2], U64_MAX);
	KUNIT_EXPECT_EQ(test, orig[3], 6ULL);
	KUNIT_EXPECT_EQ(test, high[1], 7ULL);
	high[1] = 0;
	/* Nothing else has changed. */
	KUNIT_EXPECT_TRUE(test, is_all(kt->mem, 0, KT_SIZE));
	KUNIT_EXPECT_EQ(test, mxe_rkey_atomic(&PEER(kt, kt->pd), mr->rkey, RA,
					      kt_va(mr, PAGE_SIZE - 8), &add,
					      orig), -EINVAL);
	low[1] = U64_MAX;
	high[0] = 6;
	add.log_size = 4;
	KUNIT_EXPECT_EQ(test, mxe_rkey_atomic(&PEER(kt, kt->pd), mr->rkey, RA,
					      kt_va(mr, PAGE_SIZE - 8), &add,
					      orig), 0);
	KUNIT_EXPECT_EQ(test, orig[0], U64_MAX);
	KUNIT_EXPECT_EQ(test, orig[1], 6ULL);
	KUNIT_EXPECT_EQ(test, high[0], 7ULL);
	high[0] = 0;
	KUNIT_EXPECT_TRUE(test, is_all(kt->mem, 0, KT_SIZE));
}

/* ---- keys and states --------------------------------------------------- */

static bool found(struct kt *kt, u32 key)
{
	struct mxe_mr *mr = mxe_mr_get(kt->dev, key, NULL);

	if (mr)
		mxe_mr_put(mr);
	return mr;
}

static void mr_key_validity(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = kt_reg(kt, kt->pd, LW | RR);
	u32 key = mr->rkey, next = ib_inc_rkey(mr->rkey);

	KUNIT_EXPECT_TRUE(test, found(kt, key));
	KUNIT_EXPECT_FALSE(test, found(kt, next));

	/* A valid region is not registered again. */
	KUNIT_EXPECT_EQ(test, kt_fast_reg(mr, kt->pd, next, LW), -EINVAL);
	KUNIT_EXPECT_TRUE(test, found(kt, key));

	KUNIT_EXPECT_EQ(test, mxe_mr_invalidate(kt->dev, kt->other_pd, key, 0),
			-EPERM);
	KUNIT_EXPECT_TRUE(test, found(kt, key));
	KUNIT_EXPECT_EQ(test, mxe_mr_invalidate(kt->dev, kt->pd, key, 0), 0);
	KUNIT_EXPECT_FALSE(test, found(kt, key));
	/* An invalid region may be invalidated again, not by another key. */
	KUNIT_EXPECT_EQ(test, mxe_mr_invalidate(kt->dev, kt->pd, key, 0), 0);
	KUNIT_EXPECT_EQ(test, mxe_mr_invalidate(kt->dev, kt->pd, next, 0),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, mxe_mr_invalidate(kt->dev, kt->other_pd, key, 0),
			-EPERM);

	/*
	 * The upper 24 bits of a key belong to the device, the lower 8 to the
	 * consumer.
	 */
	KUNIT_EXPECT_EQ(test, kt_fast_reg(mr, kt->pd, key ^ 0x100, LW), -EINVAL);
	KUNIT_EXPECT_EQ(test, kt_fast_reg(mr, kt->other_pd, next, LW), -EINVAL);
	KUNIT_EXPECT_EQ(test, kt_fast_reg(mr, kt->pd, next, IB_ACCESS_ON_DEMAND),
			-EINVAL);
	KUNIT_EXPECT_FALSE(test, found(kt, next));
	KUNIT_EXPECT_EQ(test, kt_fast_reg(mr, kt->pd, next, LW), 0);
	KUNIT_EXPECT_TRUE(test, found(kt, next));
	KUNIT_EXPECT_FALSE(test, found(kt, key));
}

/*
 * ib_map_mr_sg() prepares the next registration. A region in use keeps its
 * pages, and a posted request registers the pages that were mapped when it was
 * posted.
 */
static void mr_mapped_in_use(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *ibmr = kt_reg(kt, kt->pd, LW | RR);
	struct mxe_mr *mr = to_mmr(ibmr);
	u32 next = ib_inc_rkey(ibmr->rkey);
	unsigned int offset = 8;
	struct ib_reg_wr wr = { .mr = ibmr, .key = next, .access = LW };
	struct mxe_reg reg;
	u8 byte;

	memset(kt->mem, 1, 4 * PAGE_SIZE);
	memset(kt->mem + 4 * PAGE_SIZE, 2, KT_SIZE - 4 * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(ibmr, kt->sg + 4, 2, &offset,
					   PAGE_SIZE), 2);
	KUNIT_EXPECT_EQ(test, mr->length, (u64)KT_SIZE);
	mxe_mr_copy(mr, mr->iova, &byte, 1, MXE_FROM_MEMORY);
	KUNIT_EXPECT_EQ(test, byte, 1);
	mxe_mr_copy(mr, mr->iova + KT_SIZE - 1, &byte, 1, MXE_FROM_MEMORY);
	KUNIT_EXPECT_EQ(test, byte, 2);

	reg = mxe_mr_reg_from_ib(&wr);
	ibmr->iova = 0;
	KUNIT_ASSERT_EQ(test, mxe_mr_invalidate(kt->dev, kt->pd, ibmr->rkey, 0), 0);
	KUNIT_ASSERT_EQ(test, mxe_mr_reg(kt->pd, &reg), 0);
	KUNIT_EXPECT_EQ(test, mr->iova, reg.iova);
	KUNIT_EXPECT_EQ(test, mr->length, 2ULL * PAGE_SIZE - 8);
	mxe_mr_copy(mr, mr->iova, &byte, 1, MXE_FROM_MEMORY);
	KUNIT_EXPECT_EQ(test, byte, 2);
}

/*
 * A registration must not exceed the mapped pages, even if fewer pages were
 * mapped after its request was posted.
 */
static void mr_more_than_mapped(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *ibmr = kt_reg(kt, kt->pd, LW);
	struct ib_reg_wr wr = { .mr = ibmr, .key = ibmr->rkey, .access = LW };
	struct mxe_reg good = mxe_mr_reg_from_ib(&wr), reg;

	KUNIT_ASSERT_EQ(test, mxe_mr_invalidate(kt->dev, kt->pd, ibmr->rkey, 0), 0);
#define EXPECT_REG(field, value, err) do {				\
	reg = good;							\
	reg.field = value;						\
	KUNIT_EXPECT_EQ(test, mxe_mr_reg(kt->pd, &reg), err);		\
} while (0)
	EXPECT_REG(length, KT_SIZE + 1, -EINVAL);
	EXPECT_REG(length, FULL, -EINVAL);
	EXPECT_REG(first_offset, 1, -EINVAL);
	EXPECT_REG(page_size, 0, -EINVAL);
	EXPECT_REG(page_size, PAGE_SIZE / 2, -EINVAL);
	EXPECT_REG(page_size, PAGE_SIZE + 1, -EINVAL);
#undef EXPECT_REG
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(ibmr, kt->sg, KT_PAGES - 1, NULL,
					   PAGE_SIZE), KT_PAGES - 1);
	KUNIT_EXPECT_EQ(test, mxe_mr_reg(kt->pd, &good), -EINVAL);
	KUNIT_EXPECT_FALSE(test, found(kt, good.key));
}

static void mr_refused_verbs(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	u64 before = kt_counter(kt, MXE_CNT_refused_verbs);

	/* A key to all memory of the host must not be available to peers. */
	KUNIT_EXPECT_EQ(test, PTR_ERR(mxe_get_dma_mr(kt->pd, RR)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(mxe_get_dma_mr(kt->pd, LW | RW)),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(mxe_get_dma_mr(kt->pd, LW | RA)),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(mxe_alloc_mr(kt->pd, IB_MR_TYPE_INTEGRITY,
						   1)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(mxe_alloc_mr(kt->pd, IB_MR_TYPE_MEM_REG,
						   0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(mxe_alloc_mr(kt->pd, IB_MR_TYPE_MEM_REG,
						   MXE_MAX_FAST_REG_PAGES + 1)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_refused_verbs), before + 6);
	/*
	 * The local DMA region of a kernel consumer is not a fast-registration
	 * region.
	 */
	KUNIT_EXPECT_EQ(test, mxe_mr_invalidate(kt->dev, kt->pd,
						kt->pd->local_dma_lkey, 0),
			-EINVAL);
}

struct dereg {
	struct work_struct work;
	struct ib_mr *mr;
	struct completion done;
	int err;
};

static void dereg_work(struct work_struct *work)
{
	struct dereg *dereg = container_of(work, struct dereg, work);

	dereg->err = ib_dereg_mr(dereg->mr);
	complete(&dereg->done);
}

/*
 * While an access is in progress, dereg hides the region and waits for the
 * access.
 */
static void mr_dereg_waits(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct dereg dereg = { .mr = kt_reg(kt, kt->pd, LW | RW) };
	u32 key = dereg.mr->rkey;
	struct mxe_mr *mr = mxe_mr_get(kt->dev, key, NULL);
	bool waits;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, mr);
	kt->num_mrs--;
	init_completion(&dereg.done);
	INIT_WORK_ONSTACK(&dereg.work, dereg_work);
	schedule_work(&dereg.work);
	/* Wait until the work has begun. */
	for (i = 0; i < 3000 && found(kt, key); i++)
		msleep(20);
	waits = !wait_for_completion_timeout(&dereg.done, HZ / 5);
	KUNIT_EXPECT_TRUE(test, waits);
	KUNIT_EXPECT_FALSE(test, found(kt, key));
	/* The pages exist until the reference is dropped. */
	if (waits) {
		mxe_mr_copy(mr, mr->iova, kt->mem, 1, MXE_FROM_MEMORY);
		mxe_mr_put(mr);
		wait_for_completion(&dereg.done);
	}
	KUNIT_EXPECT_EQ(test, dereg.err, 0);
	destroy_work_on_stack(&dereg.work);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE(mr_copy_over_pages),
	KUNIT_CASE(mr_copy_with_first_offset),
	KUNIT_CASE(mr_sge_copy_splits),
	KUNIT_CASE(mr_sge_copy_refuses),
	KUNIT_CASE(mr_atomic),
	KUNIT_CASE(mr_atomic_misaligned_memory),
	KUNIT_CASE(mr_atomic_across_pages),
	KUNIT_CASE(mr_key_validity),
	KUNIT_CASE(mr_mapped_in_use),
	KUNIT_CASE(mr_more_than_mapped),
	KUNIT_CASE(mr_refused_verbs),
	KUNIT_CASE(mr_dereg_waits),
	{}
};

static struct kunit_suite mr_suite = {
	.name = "mxe_mr",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = mr_cases,
};

kunit_test_suites(&mr_check_suite, &mr_suite);
