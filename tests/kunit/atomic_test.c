// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that atomics are executed, and lowered, according to the bit-serial
 * definitions in Documentation/wire-format.rst.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/prandom.h>

#include <masked_atomic.h>

#include "common.h"
#include "memory/atomic.h"

/* ---- reference --------------------------------------------------------- */

static u64 reference_cmp_swap(u64 old, const struct mxe_atomic_args *a)
{
	u64 new = 0;
	int bit;

	for (bit = 0; bit < 64; bit++)
		if (a->compare_mask >> bit & 1 &&
		    (old >> bit & 1) != (a->compare >> bit & 1))
			return old;
	for (bit = 0; bit < 64; bit++) {
		u64 from = a->swap_mask >> bit & 1 ? a->swap_add : old;

		new |= (from >> bit & 1) << bit;
	}
	return new;
}

static u64 reference_fetch_add(u64 old, const struct mxe_atomic_args *a)
{
	unsigned int carry = 0;
	u64 new = 0;
	int bit;

	for (bit = 0; bit < 64; bit++) {
		unsigned int sum = (old >> bit & 1) + (a->swap_add >> bit & 1) +
				   carry;

		new |= (u64)(sum & 1) << bit;
		carry = a->compare_mask >> bit & 1 ? 0 : sum >> 1;
	}
	return new;
}

static u64 reference(u64 old, const struct mxe_atomic_args *a)
{
	switch (a->op) {
	case MXE_ATOMIC_CMP_SWAP:
		return old == a->compare ? a->swap_add : old;
	case MXE_ATOMIC_FETCH_ADD:
		return old + a->swap_add;
	case MXE_ATOMIC_MASKED_CMP_SWAP:
		return reference_cmp_swap(old, a);
	case MXE_ATOMIC_MASKED_FETCH_ADD:
		return reference_fetch_add(old, a);
	default:
		return ~old;
	}
}

/* The words before and after the target must not change. */
static void check_exec(struct kunit *test, u64 old,
		       const struct mxe_atomic_args *args)
{
	u64 words[3] = { 0x5a5a5a5a5a5a5a5aULL, old, 0xa5a5a5a5a5a5a5a5ULL };
	struct mxe_atomic_args of_8_bytes = *args;
	u64 orig[MXE_ATOMIC_WORDS] = { 1, 2, 3, 4 };

	of_8_bytes.log_size = 3;
	mxe_atomic_exec(&words[1], &of_8_bytes, orig);
	KUNIT_ASSERT_EQ(test, orig[0], old);
	KUNIT_ASSERT_EQ(test, orig[1] << 8 | orig[2] << 4 | orig[3], 0x234ULL);
	KUNIT_ASSERT_EQ_MSG(test, words[1], reference(old, args),
			    "op %d old %llx swap_add %llx compare %llx masks %llx %llx",
			    args->op, old, args->swap_add, args->compare,
			    args->swap_mask, args->compare_mask);
	KUNIT_ASSERT_EQ(test, words[0], 0x5a5a5a5a5a5a5a5aULL);
	KUNIT_ASSERT_EQ(test, words[2], 0xa5a5a5a5a5a5a5a5ULL);
}

/* ---- execution --------------------------------------------------------- */

struct exec_row {
	const char *desc;
	struct mxe_atomic_args args;
	u64 old, new;
};

static const struct exec_row exec_rows[] = {
	{ "CmpSwap equal", { MXE_ATOMIC_CMP_SWAP, .swap_add = 7, .compare = 5 },
	    5, 7 },
	{ "CmpSwap different in the top bit", { MXE_ATOMIC_CMP_SWAP,
	    .swap_add = 7, .compare = 5 },
	  5 | KT_TOP, 5 | KT_TOP },
	{ "FetchAdd wraps", { MXE_ATOMIC_FETCH_ADD, .swap_add = 1 }, KT_ONES, 0 },
	{ "FetchAdd of a negative number", { MXE_ATOMIC_FETCH_ADD,
	    .swap_add = KT_ONES }, 1, 0 },
	{ "masked CmpSwap takes a free field",
	  { MXE_ATOMIC_MASKED_CMP_SWAP, .swap_add = 0x2a0000, .compare = 0,
	    .swap_mask = 0xffff0000, .compare_mask = 0xffff0000 },
	  0x1111222200003333ULL, 0x11112222002a3333ULL },
	{ "masked CmpSwap leaves a held field",
	  { MXE_ATOMIC_MASKED_CMP_SWAP, .swap_add = 0x510000, .compare = 0,
	    .swap_mask = 0xffff0000, .compare_mask = 0xffff0000 },
	  0x11112222002a3333ULL, 0x11112222002a3333ULL },
	{ "masked CmpSwap compares nothing, swaps all",
	  { MXE_ATOMIC_MASKED_CMP_SWAP, .swap_add = 9, .compare = 1,
	    .swap_mask = KT_ONES, .compare_mask = 0 }, 2, 9 },
	{ "masked CmpSwap matches, swaps nothing",
	  { MXE_ATOMIC_MASKED_CMP_SWAP, .swap_add = 9, .compare = 2,
	    .swap_mask = 0, .compare_mask = KT_ONES }, 2, 2 },
	{ "masked CmpSwap compares one bit, swaps another",
	  { MXE_ATOMIC_MASKED_CMP_SWAP, .swap_add = KT_TOP, .compare = 1,
	    .swap_mask = KT_TOP, .compare_mask = 1 }, 3, KT_TOP | 3 },
	{ "masked FetchAdd, no carry over the boundary",
	  { MXE_ATOMIC_MASKED_FETCH_ADD, .swap_add = 0x0001000100010001ULL,
	    .compare_mask = 0x8000800080008000ULL },
	  0x000200010000ffffULL, 0x0003000200010000ULL },
	{ "masked FetchAdd, carry inside a field",
	  { MXE_ATOMIC_MASKED_FETCH_ADD, .swap_add = 1,
	    .compare_mask = 0x80000000ULL },
	  0x7fffffffULL, 0x80000000ULL },
	{ "masked FetchAdd, boundary 0 is one field",
	  { MXE_ATOMIC_MASKED_FETCH_ADD, .swap_add = 1 }, 0xffffffffULL,
	    0x100000000ULL },
	{ "masked FetchAdd, all boundaries is an exclusive or",
	  { MXE_ATOMIC_MASKED_FETCH_ADD, .swap_add = 0xffff,
	    .compare_mask = KT_ONES },
	  0x0ff0, 0xf00f },
	{ "masked FetchAdd, the lowest bit alone",
	  { MXE_ATOMIC_MASKED_FETCH_ADD, .swap_add = 3, .compare_mask = 1 }, 1,
	    2 },
};

KT_ARRAY_PARAM(exec, exec_rows);

static void atomic_exec_table(struct kunit *test)
{
	const struct exec_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, reference(row->old, &row->args), row->new);
	check_exec(test, row->old, &row->args);
}

static const u64 boundary_values[] = {
	0, 1, 2, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
	0xffffffff, 0x100000000ULL, 0x0001000100010001ULL,
	0x8000800080008000ULL, 0x5555555555555555ULL, 0xaaaaaaaaaaaaaaaaULL,
	KT_TOP - 1, KT_TOP, KT_TOP + 1, KT_ONES - 1, KT_ONES,
};

/* Every combination of boundary masks and values. */
static void atomic_exec_boundary(struct kunit *test)
{
	const int n = ARRAY_SIZE(boundary_values);
	struct mxe_atomic_args a = {};
	int i, j, k;

	for (i = 0; i < n * n; i++) {
		for (j = 0; j < n * n; j++) {
			u64 old = boundary_values[i % n];

			a.swap_add = boundary_values[i / n];
			a.swap_mask = boundary_values[j % n];
			a.compare_mask = boundary_values[j / n];
			a.op = MXE_ATOMIC_MASKED_FETCH_ADD;
			check_exec(test, old, &a);
			a.op = MXE_ATOMIC_MASKED_CMP_SWAP;
			/*
			 * Equal, different in the compared bits, different in
			 * the others.
			 */
			for (k = 0; k < 3; k++) {
				a.compare = k == 0 ? old :
					    k == 1 ? old ^ a.compare_mask :
						     old ^ ~a.compare_mask;
				check_exec(test, old, &a);
			}
		}
		cond_resched();
	}
}

static void atomic_exec_random(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 0x6d7865);
	for (i = 0; i < 200000; i++) {
		u64 old = prandom_u32_state(&rnd) |
			  (u64)prandom_u32_state(&rnd) << 32;
		struct mxe_atomic_args a = {
			.op = MXE_ATOMIC_CMP_SWAP + i % 4,
		};

		prandom_bytes_state(&rnd, &a.swap_add, sizeof(u64));
		prandom_bytes_state(&rnd, &a.compare, sizeof(u64));
		prandom_bytes_state(&rnd, &a.swap_mask, sizeof(u64));
		prandom_bytes_state(&rnd, &a.compare_mask, sizeof(u64));
		/* Half of the comparisons succeed. */
		if (i & 4)
			a.compare = a.op == MXE_ATOMIC_CMP_SWAP ? old :
				    (old & a.compare_mask) |
				    (a.compare & ~a.compare_mask);
		check_exec(test, old, &a);
	}
}

/* ---- lowering ---------------------------------------------------------- */

struct lower_row {
	const char *desc;
	struct mxe_atomic_args in;
	enum mxe_atomic_op out;
};

#define MCAS	MXE_ATOMIC_MASKED_CMP_SWAP
#define MFA	MXE_ATOMIC_MASKED_FETCH_ADD

static const struct lower_row lower_rows[] = {
	{ "CmpSwap stays", { MXE_ATOMIC_CMP_SWAP, .swap_add = 7, .compare = 5 },
	    MXE_ATOMIC_CMP_SWAP },
	{ "FetchAdd stays", { MXE_ATOMIC_FETCH_ADD, .swap_add = 7 },
	    MXE_ATOMIC_FETCH_ADD },
	{ "masked CmpSwap of the whole word", { MCAS, .swap_add = 7,
	    .compare = 5, .swap_mask = KT_ONES, .compare_mask = KT_ONES },
	  MXE_ATOMIC_CMP_SWAP },
	{ "masked CmpSwap, one bit not swapped", { MCAS, .swap_add = 7,
	    .compare = 5, .swap_mask = KT_ONES - 1, .compare_mask = KT_ONES },
	  MCAS },
	{ "masked CmpSwap, top bit not swapped", { MCAS, .swap_add = 7,
	    .compare = 5, .swap_mask = KT_ONES ^ KT_TOP, .compare_mask = KT_ONES },
	  MCAS },
	{ "masked CmpSwap, one bit not compared", { MCAS, .swap_add = 7,
	    .compare = 5, .swap_mask = KT_ONES, .compare_mask = KT_ONES - 1 },
	  MCAS },
	{ "masked CmpSwap, top bit not compared",
	  { MCAS, .swap_add = 7, .compare = 5, .swap_mask = KT_ONES,
	    .compare_mask = KT_ONES ^ KT_TOP }, MCAS },
	{ "masked CmpSwap of nothing", { MCAS, .swap_add = 7, .compare = 5,
	    .swap_mask = 0, .compare_mask = 0 }, MCAS },
	{ "masked FetchAdd, no boundary", { MFA, .swap_add = 7 },
	    MXE_ATOMIC_FETCH_ADD },
	{ "masked FetchAdd, boundary at the top",
	  { MFA, .swap_add = 7, .compare_mask = KT_TOP }, MXE_ATOMIC_FETCH_ADD },
	{ "masked FetchAdd, boundary below the top",
	  { MFA, .swap_add = 7, .compare_mask = KT_TOP >> 1 }, MFA },
	{ "masked FetchAdd, boundary at the bottom",
	  { MFA, .swap_add = 7, .compare_mask = 1 }, MFA },
	{ "masked FetchAdd, every boundary", { MFA, .swap_add = 7,
	    .compare_mask = KT_ONES },
	  MFA },
};

KT_ARRAY_PARAM(lower, lower_rows);

static void atomic_lower_table(struct kunit *test)
{
	const struct lower_row *row = test->param_value;
	struct mxe_atomic_args args = row->in;
	int log_size;

	/* No other size has a standard operation. */
	for (log_size = 0; log_size <= 5; log_size++) {
		args.log_size = log_size;
		if (log_size != 3) {
			mxe_atomic_lower(&args);
			KUNIT_EXPECT_EQ(test, args.op, row->in.op);
		}
	}
	args.log_size = 3;
	mxe_atomic_lower(&args);
	KUNIT_EXPECT_EQ(test, args.op, row->out);
	KUNIT_EXPECT_EQ(test, args.swap_add, row->in.swap_add);
	KUNIT_EXPECT_EQ(test, args.compare, row->in.compare);
	if (row->out == row->in.op) {
		KUNIT_EXPECT_EQ(test, args.swap_mask, row->in.swap_mask);
		KUNIT_EXPECT_EQ(test, args.compare_mask, row->in.compare_mask);
	} else {
		KUNIT_EXPECT_EQ(test, args.swap_mask, 0ULL);
		KUNIT_EXPECT_EQ(test, args.compare_mask, 0ULL);
	}
}

/* Lowering does not change the result. */
static void atomic_lower_same_result(struct kunit *test)
{
	int i, j, k;

	for (i = 0; i < ARRAY_SIZE(lower_rows); i++) {
		for (j = 0; j < ARRAY_SIZE(boundary_values); j++) {
			for (k = 0; k < ARRAY_SIZE(boundary_values); k++) {
				struct mxe_atomic_args a = lower_rows[i].in, b;
				u64 old = boundary_values[j];

				a.swap_add = boundary_values[k];
				a.log_size = 3;
				b = a;
				mxe_atomic_lower(&b);
				KUNIT_ASSERT_EQ(test, reference(old, &a),
						reference(old, &b));
			}
		}
	}
}

static void atomic_is_masked(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, mxe_atomic_is_masked(MXE_ATOMIC_UNSUPPORTED));
	KUNIT_EXPECT_FALSE(test, mxe_atomic_is_masked(MXE_ATOMIC_CMP_SWAP));
	KUNIT_EXPECT_FALSE(test, mxe_atomic_is_masked(MXE_ATOMIC_FETCH_ADD));
	KUNIT_EXPECT_TRUE(test, mxe_atomic_is_masked(MCAS));
	KUNIT_EXPECT_TRUE(test, mxe_atomic_is_masked(MFA));
}

/* ---- other sizes of masked_atomic.h, as the kernel compiles it ---------- */

/* A field boundary at bit 31 makes a 64-bit word two fields of 32 bits. */
static void atomic_u32_is_half_of_u64(struct kunit *test)
{
	const int n = ARRAY_SIZE(boundary_values);
	int i, j;

	for (i = 0; i < n * n; i++) {
		for (j = 0; j < n; j++) {
			u32 old = boundary_values[i % n];
			u32 add = boundary_values[i / n];
			u32 edge = boundary_values[j];

			KUNIT_ASSERT_EQ(test,
					masked_fetch_add_u32(old, add, edge),
					(u32)masked_fetch_add_u64(old, add,
								  edge));
			KUNIT_ASSERT_EQ(test,
					masked_cmp_swap_u32(old, add, edge,
							    ~old, ~edge),
					(u32)masked_cmp_swap_u64(old, add, edge,
								 (u32)~old,
								 (u32)~edge));
		}
	}
}

/* A carry propagates from word to word, but not across a boundary. */
static void atomic_wide_words_carry(struct kunit *test)
{
	const struct masked_u256 old = { { KT_ONES, KT_ONES, KT_ONES, 4 } };
	const struct masked_u256 one = { { 1 } };
	struct masked_u256 edges = {};
	const struct masked_u128 old2 = { { KT_ONES, 7 } }, one2 = { { 1 } };
	const struct masked_u128 none2 = {};
	struct masked_u256 sum;

	sum = masked_fetch_add_u256(&old, &one, &edges);
	KUNIT_EXPECT_EQ(test, sum.w[0] | sum.w[1] | sum.w[2], 0ULL);
	KUNIT_EXPECT_EQ(test, sum.w[3], 5ULL);
	edges.w[1] = KT_TOP;
	sum = masked_fetch_add_u256(&old, &one, &edges);
	KUNIT_EXPECT_EQ(test, sum.w[0] | sum.w[1], 0ULL);
	KUNIT_EXPECT_EQ(test, sum.w[2], KT_ONES);
	KUNIT_EXPECT_EQ(test, sum.w[3], 4ULL);
	KUNIT_EXPECT_EQ(test, masked_fetch_add_u128(&old2, &one2, &none2).w[1],
			8ULL);
}

static struct kunit_case atomic_cases[] = {
	KUNIT_CASE_PARAM(atomic_exec_table, exec_gen_params),
	KUNIT_CASE(atomic_exec_boundary),
	KUNIT_CASE(atomic_exec_random),
	KUNIT_CASE_PARAM(atomic_lower_table, lower_gen_params),
	KUNIT_CASE(atomic_lower_same_result),
	KUNIT_CASE(atomic_is_masked),
	KUNIT_CASE(atomic_u32_is_half_of_u64),
	KUNIT_CASE(atomic_wide_words_carry),
	{}
};

static struct kunit_suite atomic_suite = {
	.name = "mxe_atomic",
	.test_cases = atomic_cases,
};

kunit_test_suite(atomic_suite);
