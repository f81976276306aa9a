/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How the elements of an atomic operation are executed by masked atomics.
 * These functions have no side effects and use no objects of libfabric.
 *
 * An operation is cut into units. A unit is what one masked atomic can
 * change: the elements in one word of 1 to 32 bytes, which is aligned to its
 * size, or to half of it if that is 16 or 32. Images are the bytes of such a
 * word in the order of memory.
 */
#ifndef MXEFI_ATOMIC_PLAN_H
#define MXEFI_ATOMIC_PLAN_H

#include "atomic_op.h"

#define MXEFI_MAX_WORD 32	/* bytes */

enum mxefi_unit_kind {
	MXEFI_UNIT_CMP_SWP,	/* one masked compare-and-swap */
	MXEFI_UNIT_FETCH_ADD,	/* one masked fetch-and-add */
	MXEFI_UNIT_LOOP,	/* an atomic read, then compare-and-swaps */
};

struct mxefi_unit {
	uint64_t addr;		/* of the word */
	enum mxefi_unit_kind kind;
	uint8_t log_size;	/* of the word: 0 to 5 */
	uint8_t offset;		/* of the first element in the word, in bytes */
	uint8_t count;		/* number of elements */
	uint8_t src[MXEFI_MAX_WORD];	/* operands of the elements */
	uint8_t cmp[MXEFI_MAX_WORD];	/* their compare operands */
	/*
	 * Operands of the next masked atomic. A fetch-and-add has the summands
	 * in swap and the boundaries in swap_mask.
	 */
	uint8_t compare[MXEFI_MAX_WORD] __attribute__((aligned(8)));
	uint8_t compare_mask[MXEFI_MAX_WORD] __attribute__((aligned(8)));
	uint8_t swap[MXEFI_MAX_WORD] __attribute__((aligned(8)));
	uint8_t swap_mask[MXEFI_MAX_WORD] __attribute__((aligned(8)));
};

/**
 * mxefi_unit_plan() - Plan a unit of the first elements of an array.
 * @unit: filled in
 * @sizes: bit n is set if the device has masked atomics of 2^n bytes
 * @op: operation
 * @type: datatype
 * @addr: address of the array, a multiple of mxefi_type_align()
 * @count: number of elements, at least 1
 * @src: operands, or NULL for FI_ATOMIC_READ
 * @cmp: compare operands, or NULL
 *
 * Return: the number of elements in the unit, or 0 if the device has no masked
 * atomics of that size.
 */
size_t mxefi_unit_plan(struct mxefi_unit *unit, uint64_t sizes, enum fi_op op,
		       enum fi_datatype type, uint64_t addr, size_t count,
		       const void *src, const void *cmp);

/**
 * mxefi_unit_step() - Evaluate what an atomic of a MXEFI_UNIT_LOOP returned.
 * @unit: unit, which gets the operands of the next compare-and-swap
 * @op: operation
 * @type: datatype
 * @old: image of the word before the atomic
 *
 * Return: true if the unit is complete.
 */
bool mxefi_unit_step(struct mxefi_unit *unit, enum fi_op op,
		     enum fi_datatype type, const uint8_t *old);

/**
 * mxefi_unit_exact() - Check whether words contain nothing but elements.
 * @sizes: bit n is set if the device has masked atomics of 2^n bytes
 *
 * Return: false if the word of an element of 1 or 2 bytes is larger than it.
 */
bool mxefi_unit_exact(uint64_t sizes);

/**
 * mxefi_unit_possible() - Check whether masked atomics can execute a datatype.
 * @sizes: bit n is set if the device has masked atomics of 2^n bytes
 * @type: datatype
 *
 * Return: true if they can.
 */
bool mxefi_unit_possible(uint64_t sizes, enum fi_datatype type);

#endif /* MXEFI_ATOMIC_PLAN_H */
