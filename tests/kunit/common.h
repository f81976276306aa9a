/* SPDX-License-Identifier: GPL-2.0 */
/* Definitions that all suites share. harness.h and ib_exp_fake.h include it. */
#ifndef KUNIT_COMMON_H
#define KUNIT_COMMON_H

#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/string.h>

/* Masks, and operands of atomics. */
#define KT_ONES	(~0ULL)
#define KT_TOP	BIT_ULL(63)

/*
 * Defines name_gen_params for KUNIT_CASE_PARAM(), with one parameter for each
 * row of the array. The member desc of a row is the description of the
 * parameter.
 */
#define KT_ARRAY_PARAM(name, rows)					\
static void name##_desc(typeof(&(rows)[0]) row, char *text)		\
{									\
	strscpy(text, row->desc, KUNIT_PARAM_DESC_SIZE);		\
}									\
KUNIT_ARRAY_PARAM(name, rows, name##_desc)

#endif /* KUNIT_COMMON_H */
