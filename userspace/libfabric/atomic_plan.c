// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Plans atomic operations as masked atomics. */
#include <string.h>

#include "atomic_plan.h"

#define has_size(sizes, log) (((sizes) >> (log)) & 1)

/**
 * mxefi_unit_exact() - Check whether words contain nothing but elements.
 * @sizes: bit n is set if the device has masked atomics of 2^n bytes
 *
 * Return: false if the word of an element of 1 or 2 bytes is larger than it.
 */
bool mxefi_unit_exact(uint64_t sizes)
{
	return (sizes & 0xf) == 0xf;
}

/*
 * Chooses the largest aligned word of up to 8 bytes that begins with the first
 * element and contains nothing but elements. Returns the log2 of its size.
 */
static int choose_exact(uint64_t addr, size_t length)
{
	int log = 3;

	while (addr % (1U << log) || length < 1U << log)
		log--;
	return log;
}

/*
 * Chooses the smallest word of the device that contains the first element,
 * extended to 8 bytes if that adds elements. Returns the log2 of its size, or
 * -1.
 */
static int choose_around(uint64_t sizes, uint64_t addr, size_t length)
{
	bool in_4 = addr / 4 == (addr + length - 1) / 4;

	if (has_size(sizes, 2) && (in_4 || !has_size(sizes, 3)))
		return 2;
	return has_size(sizes, 3) ? 3 : -1;
}

/* Elements of 8 bytes and more have words of their own. */
static int choose_word(uint64_t sizes, uint64_t addr, size_t size, size_t count)
{
	int log = size == 16 ? 4 : size == 32 ? 5 : 3;

	if (size < 8)
		return mxefi_unit_exact(sizes) ?
		       choose_exact(addr, size * count) :
		       choose_around(sizes, addr, size * count);
	return has_size(sizes, log) ? log : -1;
}

/**
 * mxefi_unit_possible() - Check whether masked atomics can execute a datatype.
 * @sizes: bit n is set if the device has masked atomics of 2^n bytes
 * @type: datatype
 *
 * Return: true if they can.
 */
bool mxefi_unit_possible(uint64_t sizes, enum fi_datatype type)
{
	return choose_word(sizes, 0, mxefi_type_size(type), 1) >= 0;
}

static bool is_zero(const uint8_t *src, enum fi_datatype type)
{
	static const uint8_t none[MXEFI_MAX_ELEMENT];
	uint8_t result[MXEFI_MAX_ELEMENT];
	uint8_t mask[MXEFI_MAX_ELEMENT];

	/* 0 || src is 0 for -0.0, too. */
	mxefi_op_apply(FI_LOR, type, src, NULL, none, result);
	mxefi_type_mask(type, mask);
	for (size_t i = 0; i < mxefi_type_size(type); i++)
		if (result[i] & mask[i])
			return false;
	return true;
}

static void set_top_bit(uint8_t *element, size_t size)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	element[size - 1] = 0x80;
#else
	element[0] = 0x80;
#endif
}

/*
 * Plans one element as a part of a single masked atomic. Returns false if a
 * loop is needed.
 */
static inline __attribute__((always_inline))
bool plan_element(struct mxefi_unit *unit, enum fi_op op, enum fi_datatype type,
		  size_t size, const uint8_t *src, const uint8_t *cmp,
		  size_t at)
{
	static const uint8_t none[MXEFI_MAX_ELEMENT];
	uint8_t *swap = unit->swap + at;
	uint8_t *swap_mask = unit->swap_mask + at;

	unit->kind = MXEFI_UNIT_CMP_SWP;
	switch (op) {
	case FI_ATOMIC_READ:
		return true;
	case FI_CSWAP:
		memcpy(unit->compare + at, cmp, size);
		mxefi_type_mask(type, unit->compare_mask + at);
		/* fall through */
	case FI_ATOMIC_WRITE:
		memcpy(swap, src, size);
		memset(swap_mask, 0xff, size);
		return true;
	case FI_MSWAP:
		memcpy(swap, src, size);
		memcpy(swap_mask, cmp, size);
		return true;
	case FI_BOR:
		memset(swap, 0xff, size);
		memcpy(swap_mask, src, size);
		return true;
	case FI_BAND:
		for (size_t i = 0; i < size; i++)
			swap_mask[i] = (uint8_t)~src[i];
		return true;
	case FI_SUM:
		if (!mxefi_type_is_integer(type))
			return false;
		unit->kind = MXEFI_UNIT_FETCH_ADD;
		memcpy(swap, src, size);
		set_top_bit(swap_mask, size);
		return true;
	case FI_DIFF:
		if (!mxefi_type_is_integer(type))
			return false;
		/* Adds 0 - src. */
		unit->kind = MXEFI_UNIT_FETCH_ADD;
		mxefi_op_apply(op, type, src, NULL, none, swap);
		set_top_bit(swap_mask, size);
		return true;
	case FI_BXOR:
		/* Each bit is a field of its own: adding without carries. */
		unit->kind = MXEFI_UNIT_FETCH_ADD;
		memcpy(swap, src, size);
		memset(swap_mask, 0xff, size);
		return true;
	case FI_LOR:
	case FI_LAND:
		/* "x || 1" is 1 and "x && 0" is 0 for all x. */
		if (is_zero(src, type) == (op == FI_LOR))
			return false;
		mxefi_op_apply(op, type, src, NULL, none, swap);
		memset(swap_mask, 0xff, size);
		return true;
	default:
		return false;
	}
}

/* Clears the words of the operands. Most units have one, so this is a loop. */
static inline void clear_operands(struct mxefi_unit *unit)
{
	for (size_t i = 0; i < (size_t)1 << unit->log_size; i += 8) {
		memset(unit->compare + i, 0, 8);
		memset(unit->compare_mask + i, 0, 8);
		memset(unit->swap + i, 0, 8);
		memset(unit->swap_mask + i, 0, 8);
	}
}

/* Plans the elements as a single masked atomic, or returns false. */
static bool plan_elements(struct mxefi_unit *unit, enum fi_op op,
			  enum fi_datatype type, size_t size,
			  const uint8_t *src, const uint8_t *cmp)
{
	/* The most frequent size: the compiler copies elements by a move. */
	if (size == 8)
		return plan_element(unit, op, type, 8, src, cmp, 0);
	for (size_t i = 0; i < unit->count; i++) {
		size_t at = i * size;

		if (!plan_element(unit, op, type, size, src ? src + at : NULL,
				  cmp ? cmp + at : NULL, unit->offset + at))
			return false;
	}
	return true;
}

/* Keeps the operands for a loop, whose first request reads the word. */
static void plan_loop(struct mxefi_unit *unit, const void *src, const void *cmp,
		      size_t length)
{
	unit->kind = MXEFI_UNIT_LOOP;
	clear_operands(unit);
	memcpy(unit->src, src, length);
	if (cmp)
		memcpy(unit->cmp, cmp, length);
}

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
		       const void *src, const void *cmp)
{
	size_t size = mxefi_type_size(type);
	size_t word, fit;
	int log;

	/*
	 * Elements of 8 bytes and more have words of their own. A single
	 * compare-and-swap of two elements would compare both.
	 */
	if (size >= 8 || op == FI_CSWAP)
		count = 1;
	if (size == 8 && has_size(sizes, 3))
		log = 3;
	else
		log = choose_word(sizes, addr, size, count > 8 ? 8 : count);
	if (log < 0)
		return 0;
	word = (size_t)1 << log;
	/* An element of 32 bytes may be at an odd multiple of 16. */
	unit->addr = size < word ? addr & ~(uint64_t)(word - 1) : addr;
	unit->log_size = (uint8_t)log;
	unit->offset = (uint8_t)(addr - unit->addr);
	if (count > 1) {
		fit = (word - unit->offset) / size;
		if (count > fit)
			count = fit;
	}
	unit->count = (uint8_t)count;
	clear_operands(unit);
	if (!plan_elements(unit, op, type, size, src, cmp))
		plan_loop(unit, src, cmp, count * size);
	return count;
}

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
		     enum fi_datatype type, const uint8_t *old)
{
	size_t size = mxefi_type_size(type);
	size_t length = unit->count * size;
	uint8_t *swap_mask = unit->swap_mask + unit->offset;

	/* Only the first request, a read, has no bits to compare. */
	if (unit->compare_mask[unit->offset] &&
	    !memcmp(old + unit->offset, unit->compare + unit->offset, length))
		return true;
	for (size_t i = 0; i < unit->count; i++) {
		size_t at = unit->offset + i * size;

		mxefi_op_apply(op, type, unit->src + i * size,
			       unit->cmp + i * size, old + at, unit->swap + at);
	}
	if (!memcmp(old + unit->offset, unit->swap + unit->offset, length))
		return true;
	memcpy(unit->compare + unit->offset, old + unit->offset, length);
	memset(unit->compare_mask + unit->offset, 0xff, length);
	memset(swap_mask, 0xff, length);
	return false;
}
