/* SPDX-License-Identifier: GPL-2.0 */
/* What all suites share, those without a device included (harness.h, ib_exp_fake.h). */
#ifndef KUNIT_COMMON_H
#define KUNIT_COMMON_H

#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/string.h>

/* Masks, and operands of atomics. */
#define KT_ONES	(~0ULL)
#define KT_TOP	BIT_ULL(63)

/*
 * Defines name_gen_params for KUNIT_CASE_PARAM(): a parameter for each row of the array,
 * which is described by its member desc.
 */
#define KT_ARRAY_PARAM(name, rows)					\
static void name##_desc(typeof(&(rows)[0]) row, char *text)		\
{									\
	strscpy(text, row->desc, KUNIT_PARAM_DESC_SIZE);		\
}									\
KUNIT_ARRAY_PARAM(name, rows, name##_desc)

#endif /* KUNIT_COMMON_H */
