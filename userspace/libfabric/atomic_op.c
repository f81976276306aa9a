// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The operations of fi_atomic(3) on single elements. */
#include <complex.h>
#include <float.h>
#include <string.h>

#include "atomic_op.h"
#include "small_float.h"

const struct mxefi_type mxefi_types[MXEFI_NUM_TYPES] = {
	[FI_INT8] = { 1, MXEFI_CLASS_INTEGER },
	[FI_UINT8] = { 1, MXEFI_CLASS_INTEGER },
	[FI_INT16] = { 2, MXEFI_CLASS_INTEGER },
	[FI_UINT16] = { 2, MXEFI_CLASS_INTEGER },
	[FI_INT32] = { 4, MXEFI_CLASS_INTEGER },
	[FI_UINT32] = { 4, MXEFI_CLASS_INTEGER },
	[FI_INT64] = { 8, MXEFI_CLASS_INTEGER },
	[FI_UINT64] = { 8, MXEFI_CLASS_INTEGER },
	[FI_INT128] = { 16, MXEFI_CLASS_INTEGER },
	[FI_UINT128] = { 16, MXEFI_CLASS_INTEGER },
	[FI_FLOAT8_E4M3] = { 1, MXEFI_CLASS_REAL },
	[FI_FLOAT8_E5M2] = { 1, MXEFI_CLASS_REAL },
	[FI_FLOAT16] = { 2, MXEFI_CLASS_REAL },
	[FI_BFLOAT16] = { 2, MXEFI_CLASS_REAL },
	[FI_FLOAT] = { sizeof(float), MXEFI_CLASS_REAL },
	[FI_DOUBLE] = { sizeof(double), MXEFI_CLASS_REAL },
	[FI_LONG_DOUBLE] = { sizeof(long double), MXEFI_CLASS_REAL },
	[FI_FLOAT_COMPLEX] = { sizeof(float complex), MXEFI_CLASS_COMPLEX },
	[FI_DOUBLE_COMPLEX] = { sizeof(double complex), MXEFI_CLASS_COMPLEX },
	[FI_LONG_DOUBLE_COMPLEX] = {
		sizeof(long double complex), MXEFI_CLASS_COMPLEX,
	},
};

#define INTEGERS MXEFI_CLASS_INTEGER
#define ORDERED (MXEFI_CLASS_INTEGER | MXEFI_CLASS_REAL)
#define ALL (MXEFI_CLASS_INTEGER | MXEFI_CLASS_REAL | MXEFI_CLASS_COMPLEX)

/* The operations that the base form and the fetch form have. */
#define COMMON_OPS							\
	[FI_MIN] = ORDERED, [FI_MAX] = ORDERED,				\
	[FI_SUM] = ALL, [FI_DIFF] = ALL, [FI_PROD] = ALL,		\
	[FI_LOR] = ALL, [FI_LAND] = ALL, [FI_LXOR] = ALL,		\
	[FI_BOR] = INTEGERS, [FI_BAND] = INTEGERS, [FI_BXOR] = INTEGERS, \
	[FI_ATOMIC_WRITE] = ALL

const uint8_t mxefi_op_classes[MXEFI_COMPARE + 1][MXEFI_NUM_OPS] = {
	[MXEFI_BASE] = { COMMON_OPS },
	[MXEFI_FETCH] = { COMMON_OPS, [FI_ATOMIC_READ] = ALL },
	[MXEFI_COMPARE] = {
		[FI_CSWAP] = ALL,
		[FI_CSWAP_NE] = ALL,
		[FI_CSWAP_LE] = ORDERED,
		[FI_CSWAP_LT] = ORDERED,
		[FI_CSWAP_GE] = ORDERED,
		[FI_CSWAP_GT] = ORDERED,
		[FI_MSWAP] = INTEGERS,
	},
};

/**
 * mxefi_type_mask() - Find the bytes of an element that hold its value.
 * @type: datatype
 * @mask: bytes of the value become 0xff, those of padding 0. A long double of
 *	x86 has 10 bytes of value and 6 of padding.
 */
void mxefi_type_mask(enum fi_datatype type, uint8_t *mask)
{
	size_t size = mxefi_type_size(type);

	memset(mask, 0xff, size);
	/* The x87 format, which has 64 bits of mantissa. */
	if (LDBL_MANT_DIG != 64)
		return;
	if (type == FI_LONG_DOUBLE || type == FI_LONG_DOUBLE_COMPLEX) {
		for (size_t i = 0; i < size; i += sizeof(long double))
			memset(mask + i + 10, 0, sizeof(long double) - 10);
	}
}

static bool is_order(enum fi_op op)
{
	return op == FI_MIN || op == FI_MAX || op == FI_CSWAP_LE ||
	       op == FI_CSWAP_LT || op == FI_CSWAP_GE || op == FI_CSWAP_GT;
}

/*
 * The results of operations, of operand s, compare operand c and old value o,
 * as expressions. Another operation has the result @rest. The factor 1U makes
 * a product of two uint16_t unsigned, as that of two int could overflow.
 */
#define COMMON_RESULT(op, T, s, c, o, rest)				\
	((op) == FI_SUM ? (T)((o) + (s)) :				\
	 (op) == FI_DIFF ? (T)((o) - (s)) :				\
	 (op) == FI_PROD ? (T)(1U * (o) * (s)) :			\
	 (op) == FI_LOR ? (T)((o) != 0 || (s) != 0) :			\
	 (op) == FI_LAND ? (T)((o) != 0 && (s) != 0) :			\
	 (op) == FI_LXOR ? (T)(((o) != 0) != ((s) != 0)) :		\
	 (op) == FI_CSWAP_NE ? ((c) != (o) ? (s) : (o)) : (rest))

/* True if an operation for which is_order() is true stores the operand. */
#define ORDER_STORES(op, s, c, o)					\
	((op) == FI_MIN ? (s) < (o) :					\
	 (op) == FI_MAX ? (s) > (o) :					\
	 (op) == FI_CSWAP_LE ? (c) <= (o) :				\
	 (op) == FI_CSWAP_LT ? (c) < (o) :				\
	 (op) == FI_CSWAP_GE ? (c) >= (o) : (c) > (o))

#define ORDER_RESULT(op, s, c, o, rest)					\
	(is_order(op) ? (ORDER_STORES(op, s, c, o) ? (s) : (o)) : (rest))

#define BIT_RESULT(op, T, s, c, o, rest)				\
	((op) == FI_BOR ? (T)((o) | (s)) :				\
	 (op) == FI_BAND ? (T)((o) & (s)) :				\
	 (op) == FI_BXOR ? (T)((o) ^ (s)) :				\
	 (op) == FI_MSWAP ? (T)(((s) & (c)) | ((o) & ~(c))) : (rest))

#define COMPLEX_RESULT(T) COMMON_RESULT(op, T, s, c, o, o)
#define REAL_RESULT(T)							\
	COMMON_RESULT(op, T, s, c, o, ORDER_RESULT(op, s, c, o, o))
#define UNSIGNED_RESULT(T)						\
	COMMON_RESULT(op, T, s, c, o,					\
		      ORDER_RESULT(op, s, c, o,				\
				   BIT_RESULT(op, T, s, c, o, o)))

#define DEFINE_APPLY(name, T, RESULT)					\
static void apply_##name(enum fi_op op, const void *src, const void *cmp, \
			 void *value)					\
{									\
	T s, c, o;							\
									\
	memcpy(&s, src, sizeof(s));					\
	memcpy(&c, cmp, sizeof(c));					\
	memcpy(&o, value, sizeof(o));					\
	o = RESULT(T);							\
	memcpy(value, &o, sizeof(o));					\
}

/*
 * Sums, differences and products of signed integers wrap. They are computed as
 * unsigned, which gives the same bits, so signed types only have what depends
 * on signs.
 */
#define DEFINE_INTEGER(bits, S, U)					\
DEFINE_APPLY(uint##bits, U, UNSIGNED_RESULT)				\
static void apply_int##bits(enum fi_op op, const void *src,		\
			    const void *cmp, void *value)		\
{									\
	S s, c, o;							\
									\
	if (!is_order(op)) {						\
		apply_uint##bits(op, src, cmp, value);			\
		return;							\
	}								\
	memcpy(&s, src, sizeof(s));					\
	memcpy(&c, cmp, sizeof(c));					\
	memcpy(&o, value, sizeof(o));					\
	if (ORDER_STORES(op, s, c, o))					\
		memcpy(value, &s, sizeof(s));				\
}

DEFINE_INTEGER(8, int8_t, uint8_t)
DEFINE_INTEGER(16, int16_t, uint16_t)
DEFINE_INTEGER(32, int32_t, uint32_t)
DEFINE_INTEGER(64, int64_t, uint64_t)
DEFINE_INTEGER(128, __int128_t, __uint128_t)

DEFINE_APPLY(float, float, REAL_RESULT)
DEFINE_APPLY(double, double, REAL_RESULT)
DEFINE_APPLY(long_double, long double, REAL_RESULT)
DEFINE_APPLY(float_complex, float complex, COMPLEX_RESULT)
DEFINE_APPLY(double_complex, double complex, COMPLEX_RESULT)
DEFINE_APPLY(long_double_complex, long double complex, COMPLEX_RESULT)

/*
 * A double has more than twice as many bits as these formats, so its rounded
 * result is rounded again to what the exact result would be rounded to.
 * Elements that do not change are copied as bytes, because a NaN has one of
 * many codes.
 */
static void apply_small(const struct mxefi_float *format, enum fi_op op,
			const void *src, const void *cmp, void *value)
{
	double s = mxefi_float_load(format, src);
	double c = mxefi_float_load(format, cmp);
	double o = mxefi_float_load(format, value);

	if (op != FI_CSWAP_NE && !is_order(op))
		mxefi_float_store(format, value,
				  COMMON_RESULT(op, double, s, c, o, o));
	else if (op == FI_CSWAP_NE ? c != o : ORDER_STORES(op, s, c, o))
		memcpy(value, src, format->size);
}

#define DEFINE_SMALL(name)						\
static void apply_##name(enum fi_op op, const void *src, const void *cmp, \
			 void *value)					\
{									\
	apply_small(&mxefi_##name, op, src, cmp, value);		\
}

DEFINE_SMALL(float16)
DEFINE_SMALL(bfloat16)
DEFINE_SMALL(float8_e4m3)
DEFINE_SMALL(float8_e5m2)

typedef void (*apply_fn)(enum fi_op op, const void *src, const void *cmp,
			 void *value);

static const apply_fn apply[] = {
	[FI_INT8] = apply_int8,
	[FI_UINT8] = apply_uint8,
	[FI_INT16] = apply_int16,
	[FI_UINT16] = apply_uint16,
	[FI_INT32] = apply_int32,
	[FI_UINT32] = apply_uint32,
	[FI_INT64] = apply_int64,
	[FI_UINT64] = apply_uint64,
	[FI_INT128] = apply_int128,
	[FI_UINT128] = apply_uint128,
	[FI_FLOAT8_E4M3] = apply_float8_e4m3,
	[FI_FLOAT8_E5M2] = apply_float8_e5m2,
	[FI_FLOAT16] = apply_float16,
	[FI_BFLOAT16] = apply_bfloat16,
	[FI_FLOAT] = apply_float,
	[FI_DOUBLE] = apply_double,
	[FI_LONG_DOUBLE] = apply_long_double,
	[FI_FLOAT_COMPLEX] = apply_float_complex,
	[FI_DOUBLE_COMPLEX] = apply_double_complex,
	[FI_LONG_DOUBLE_COMPLEX] = apply_long_double_complex,
};

static bool same(enum fi_datatype type, const uint8_t *a, const uint8_t *b)
{
	uint8_t mask[MXEFI_MAX_ELEMENT];
	uint8_t differ = 0;

	mxefi_type_mask(type, mask);
	for (size_t i = 0; i < mxefi_type_size(type); i++)
		differ |= (a[i] ^ b[i]) & mask[i];
	return !differ;
}

/**
 * mxefi_op_apply() - Compute the value after an operation.
 * @op: operation
 * @type: datatype
 * @src: operand; unused by FI_ATOMIC_READ
 * @cmp: compare operand of the compare form, or NULL
 * @old: value before
 * @new_value: where the value after is stored
 *
 * FI_CSWAP compares representations without padding, the other compare
 * operations compare values.
 */
void mxefi_op_apply(enum fi_op op, enum fi_datatype type, const void *src,
		    const void *cmp, const void *old, void *new_value)
{
	static const uint8_t none[MXEFI_MAX_ELEMENT];
	size_t size = mxefi_type_size(type);

	memmove(new_value, old, size);
	if (op == FI_ATOMIC_READ)
		return;
	if (op == FI_ATOMIC_WRITE || (op == FI_CSWAP && same(type, cmp, old)))
		memcpy(new_value, src, size);
	else if (op != FI_CSWAP)
		apply[type](op, src, cmp ? cmp : none, new_value);
}
