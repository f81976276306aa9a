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

size_t mxefi_unit_plan(struct mxefi_unit *unit, uint64_t sizes, enum fi_op op,
		       enum fi_datatype type, uint64_t addr, size_t count,
		       const void *src, const void *cmp);
bool mxefi_unit_step(struct mxefi_unit *unit, enum fi_op op,
		     enum fi_datatype type, const uint8_t *old);
bool mxefi_unit_exact(uint64_t sizes);
bool mxefi_unit_possible(uint64_t sizes, enum fi_datatype type);

#endif /* MXEFI_ATOMIC_PLAN_H */
