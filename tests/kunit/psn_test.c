// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that packet sequence numbers are added and compared modulo 2^24 (IBTA
 * 9.7.2).
 */
#include <kunit/test.h>
#include <linux/kernel.h>

#include "wire/psn.h"

struct add_row {
	u32 psn, n, sum;
};

static const struct add_row add_rows[] = {
	{ 0, 0, 0 },
	{ 0, 1, 1 },
	{ 0x7fffff, 1, 0x800000 },
	{ 0xfffffe, 1, 0xffffff },
	{ 0xffffff, 1, 0 },
	{ 0xffffff, 2, 1 },
	{ 0xfffff0, 0x20, 0x10 },
	{ 1, 0xffffff, 0 },
	{ 0, -1, 0xffffff },
	{ 5, -6, 0xffffff },
	{ 0xffffff, 0x1000000, 0xffffff },
};

static void psn_add_wraps(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(add_rows); i++) {
		const struct add_row *row = &add_rows[i];

		KUNIT_EXPECT_EQ_MSG(test, mxe_psn_add(row->psn, row->n),
				    row->sum, "row %d", i);
	}
}

struct diff_row {
	u32 a, b;
	s32 diff;
};

static const struct diff_row diff_rows[] = {
	{ 0, 0, 0 },
	{ 1, 0, 1 },
	{ 0, 1, -1 },
	{ 0, 0xffffff, 1 },
	{ 0xffffff, 0, -1 },
	{ 0x10, 0xfffff0, 0x20 },
	{ 0xfffff0, 0x10, -0x20 },
	/* A PSN half of the range ahead counts as behind. */
	{ 0x7fffff, 0, 0x7fffff },
	{ 0x800000, 0, -0x800000 },
	{ 0x800001, 0, -0x7fffff },
	{ 0, 0x800000, -0x800000 },
	{ 0, 0x800001, 0x7fffff },
	{ 0x3fffff, 0xc00000, 0x7fffff },
	{ 0x400000, 0xc00000, -0x800000 },
};

static void psn_diff_half_range(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(diff_rows); i++) {
		const struct diff_row *row = &diff_rows[i];

		KUNIT_EXPECT_EQ_MSG(test, mxe_psn_diff(row->a, row->b),
				    row->diff, "row %d", i);
	}
}

/* From every start, the difference reverses the addition. */
static void psn_diff_undoes_add(struct kunit *test)
{
	static const s32 steps[] = {
		0, 1, 2, 127, 128, 0x3fffff, 0x7ffffe, 0x7fffff,
		-1, -2, -128, -0x400000, -0x7fffff, -0x800000,
	};
	u32 psn;
	int i;

	for (psn = 0; psn <= MXE_PSN_MASK; psn += 0x3fff)
		for (i = 0; i < ARRAY_SIZE(steps); i++)
			KUNIT_ASSERT_EQ(test, steps[i],
					mxe_psn_diff(mxe_psn_add(psn, steps[i]),
						     psn));
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE(psn_add_wraps),
	KUNIT_CASE(psn_diff_half_range),
	KUNIT_CASE(psn_diff_undoes_add),
	{}
};

static struct kunit_suite psn_suite = {
	.name = "mxe_psn",
	.test_cases = psn_cases,
};

kunit_test_suite(psn_suite);
