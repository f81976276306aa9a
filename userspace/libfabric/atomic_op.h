/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The operations of fi_atomic(3) on single elements: the datatypes that each
 * operation has, and its result. These functions have no side effects and use
 * no objects of libfabric.
 */
#ifndef MXEFI_ATOMIC_OP_H
#define MXEFI_ATOMIC_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fi_domain.h>

#define MXEFI_MAX_ELEMENT 32	/* bytes: long double complex */

#define MXEFI_MAX_ATOMIC_COUNT 64 /* elements of an operation */
#define MXEFI_MAX_ATOMIC_SIZE (MXEFI_MAX_ATOMIC_COUNT * MXEFI_MAX_ELEMENT)

enum mxefi_form {
	MXEFI_BASE,
	MXEFI_FETCH,
	MXEFI_COMPARE,
};

enum mxefi_type_class {
	MXEFI_CLASS_NONE = 0,
	MXEFI_CLASS_INTEGER = 1 << 0,
	MXEFI_CLASS_REAL = 1 << 1,
	MXEFI_CLASS_COMPLEX = 1 << 2,
};

/* Programs have the datatypes and operations below these. */
#if FI_MAJOR_VERSION >= 2
#define MXEFI_API_TYPES (FI_FLOAT8_E5M2 + 1)
#define MXEFI_API_OPS (FI_DIFF + 1)
#else
#define MXEFI_API_TYPES (FI_UINT128 + 1)
#define MXEFI_API_OPS (FI_MSWAP + 1)
/* libfabric 2 has these, with numbers that are free in libfabric 1. */
#define FI_FLOAT16 (FI_UINT128 + 1)
#define FI_BFLOAT16 (FI_UINT128 + 2)
#define FI_FLOAT8_E4M3 (FI_UINT128 + 3)
#define FI_FLOAT8_E5M2 (FI_UINT128 + 4)
#define FI_DIFF FI_ATOMIC_OP_LAST
#endif

#define MXEFI_NUM_TYPES (FI_FLOAT8_E5M2 + 1)
#define MXEFI_NUM_OPS (FI_DIFF + 1)

struct mxefi_type {
	uint8_t size;		/* in bytes */
	uint8_t class;		/* enum mxefi_type_class */
};

extern const struct mxefi_type mxefi_types[MXEFI_NUM_TYPES];

/* The classes of datatypes that each operation has in each form of call. */
extern const uint8_t mxefi_op_classes[MXEFI_COMPARE + 1][MXEFI_NUM_OPS];

/**
 * mxefi_type_size() - Get the size of an element.
 * @type: datatype
 *
 * Return: the size in bytes, or 0 if there is no such datatype.
 */
static inline size_t mxefi_type_size(enum fi_datatype type)
{
	return (size_t)type < MXEFI_NUM_TYPES ? mxefi_types[type].size : 0;
}

/**
 * mxefi_type_align() - Get the alignment that the device needs for an element.
 * @type: datatype that exists
 *
 * Return: the alignment in bytes.
 */
static inline size_t mxefi_type_align(enum fi_datatype type)
{
	size_t size = mxefi_types[type].size;

	return size > 8 ? size / 2 : size;
}

/**
 * mxefi_type_is_integer() - Check whether a datatype is an integer.
 * @type: datatype that exists
 *
 * Return: true if it is.
 */
static inline bool mxefi_type_is_integer(enum fi_datatype type)
{
	return mxefi_types[type].class == MXEFI_CLASS_INTEGER;
}

void mxefi_type_mask(enum fi_datatype type, uint8_t *mask);

/**
 * mxefi_op_valid() - Check whether fi_atomic(3) defines an operation.
 * @form: form of the call
 * @op: operation
 * @type: datatype
 *
 * Return: true if the libfabric of this build defines the operation for the
 * datatype in this form.
 */
static inline bool mxefi_op_valid(enum mxefi_form form, enum fi_op op,
				  enum fi_datatype type)
{
	return (size_t)op < MXEFI_API_OPS && (size_t)type < MXEFI_API_TYPES &&
	       mxefi_op_classes[form][op] & mxefi_types[type].class;
}

void mxefi_op_apply(enum fi_op op, enum fi_datatype type, const void *src,
		    const void *cmp, const void *old, void *new_value);

#endif /* MXEFI_ATOMIC_OP_H */
