/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The arithmetic of masked atomics.
 *
 * These are pure functions.  They take the old value of a word and the operands
 * of a request, and return the value to store.  The operation itself always
 * returns the old value to the requester, whether or not the word changed.  The
 * caller makes load and store one atomic step.
 *
 * Masked compare-and-swap
 *	If old and compare agree in every bit that is set in compare_mask, the
 *	bits that are set in swap_mask are replaced by those of swap.  Otherwise
 *	the word does not change.  A compare_mask of 0 always matches.
 *
 * Masked fetch-and-add
 *	The word is divided into fields, which are added independently.  A bit
 *	that is set in boundary is the most significant bit of a field, and the
 *	carry out of it is dropped.  With a boundary of 0 the whole word is one
 *	field.  With all ones each bit is a field, so the operation is an
 *	exclusive or.  The most significant bit of the word ends a field whether
 *	it is set in boundary or not.
 *
 * These are the definitions of RFC 7306, sections 5.1 and 5.2.
 *
 * All functions run in constant time: no loop over bits, no branch on data.
 * Operands are integers in host byte order.  The functions know neither the
 * kernel nor libc beyond fixed-width integers.
 */
#ifndef MASKED_ATOMIC_H
#define MASKED_ATOMIC_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#endif

/*
 * Words wider than 64 bits.  w[0] is the least significant part and carries
 * into w[1], and so on, on hosts of either byte order.
 */
struct masked_u128 {
	uint64_t w[2];
};

struct masked_u256 {
	uint64_t w[4];
};

/**
 * masked_cmp_swap_u32() - Compute a masked compare-and-swap of 32 bits.
 * @old: old value of the word
 * @compare: value to compare with
 * @compare_mask: bits to compare
 * @swap: value to swap in
 * @swap_mask: bits to swap
 *
 * Return: the value to store.
 */
static inline uint32_t masked_cmp_swap_u32(uint32_t old, uint32_t compare,
					   uint32_t compare_mask,
					   uint32_t swap, uint32_t swap_mask)
{
	/* All ones if the comparison succeeds, otherwise 0. */
	uint32_t match = -(uint32_t)!((old ^ compare) & compare_mask);

	return old ^ ((old ^ swap) & swap_mask & match);
}

/**
 * masked_cmp_swap_u64() - Compute a masked compare-and-swap of 64 bits.
 * @old: old value of the word
 * @compare: value to compare with
 * @compare_mask: bits to compare
 * @swap: value to swap in
 * @swap_mask: bits to swap
 *
 * Return: the value to store.
 */
static inline uint64_t masked_cmp_swap_u64(uint64_t old, uint64_t compare,
					   uint64_t compare_mask,
					   uint64_t swap, uint64_t swap_mask)
{
	uint64_t match = -(uint64_t)!((old ^ compare) & compare_mask);

	return old ^ ((old ^ swap) & swap_mask & match);
}

/*
 * How the fetch-and-adds work: with the top bit of each field cleared, no field
 * of the sum can carry out of itself, and its top bit holds the carry into that
 * place. Adding the top bits without carry, which is an exclusive or, completes
 * the sum.
 */

/**
 * masked_fetch_add_u32() - Compute a masked fetch-and-add of 32 bits.
 * @old: old value of the word
 * @add: summands, one in each field
 * @boundary: most significant bit of each field
 *
 * Return: the value to store.
 */
static inline uint32_t masked_fetch_add_u32(uint32_t old, uint32_t add,
					    uint32_t boundary)
{
	return ((old & ~boundary) + (add & ~boundary)) ^
	       ((old ^ add) & boundary);
}

/**
 * masked_fetch_add_u64() - Compute a masked fetch-and-add of 64 bits.
 * @old: old value of the word
 * @add: summands, one in each field
 * @boundary: most significant bit of each field
 *
 * Return: the value to store.
 */
static inline uint64_t masked_fetch_add_u64(uint64_t old, uint64_t add,
					    uint64_t boundary)
{
	return ((old & ~boundary) + (add & ~boundary)) ^
	       ((old ^ add) & boundary);
}

/**
 * masked_cmp_swap_words() - Compute a masked compare-and-swap of a wide word,
 *	in place.
 * @old: @n parts of 64 bits, the least significant first; replaced by the value
 *	to store
 * @compare: value to compare with
 * @compare_mask: bits to compare
 * @swap: value to swap in
 * @swap_mask: bits to swap
 * @n: number of parts
 */
static inline void masked_cmp_swap_words(uint64_t *old, const uint64_t *compare,
					 const uint64_t *compare_mask,
					 const uint64_t *swap,
					 const uint64_t *swap_mask,
					 unsigned int n)
{
	uint64_t differ = 0;
	uint64_t match;
	unsigned int i;

	for (i = 0; i < n; i++)
		differ |= (old[i] ^ compare[i]) & compare_mask[i];
	match = -(uint64_t)!differ;
	for (i = 0; i < n; i++)
		old[i] ^= (old[i] ^ swap[i]) & swap_mask[i] & match;
}

/**
 * masked_fetch_add_words() - Compute a masked fetch-and-add of a wide word, in
 *	place.
 * @old: @n parts of 64 bits, the least significant first; replaced by the value
 *	to store
 * @add: summands, one in each field
 * @boundary: most significant bit of each field
 * @n: number of parts
 */
static inline void masked_fetch_add_words(uint64_t *old, const uint64_t *add,
					  const uint64_t *boundary,
					  unsigned int n)
{
	uint64_t carry = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		uint64_t top = (old[i] ^ add[i]) & boundary[i];
		uint64_t part = old[i] & ~boundary[i];
		uint64_t sum = part + (add[i] & ~boundary[i]);
		uint64_t out = sum < part;

		sum += carry;
		carry = out | (sum < carry);
		old[i] = sum ^ top;
	}
}

/**
 * masked_cmp_swap_u128() - Compute a masked compare-and-swap of 128 bits.
 * @old: old value of the word
 * @compare: value to compare with
 * @compare_mask: bits to compare
 * @swap: value to swap in
 * @swap_mask: bits to swap
 *
 * Return: the value to store.
 */
static inline struct masked_u128
masked_cmp_swap_u128(const struct masked_u128 *old,
		     const struct masked_u128 *compare,
		     const struct masked_u128 *compare_mask,
		     const struct masked_u128 *swap,
		     const struct masked_u128 *swap_mask)
{
	struct masked_u128 res = *old;

	masked_cmp_swap_words(res.w, compare->w, compare_mask->w, swap->w,
			      swap_mask->w, 2);
	return res;
}

/**
 * masked_fetch_add_u128() - Compute a masked fetch-and-add of 128 bits.
 * @old: old value of the word
 * @add: summands, one in each field
 * @boundary: most significant bit of each field
 *
 * Return: the value to store.
 */
static inline struct masked_u128
masked_fetch_add_u128(const struct masked_u128 *old,
		      const struct masked_u128 *add,
		      const struct masked_u128 *boundary)
{
	struct masked_u128 res = *old;

	masked_fetch_add_words(res.w, add->w, boundary->w, 2);
	return res;
}

/**
 * masked_cmp_swap_u256() - Compute a masked compare-and-swap of 256 bits.
 * @old: old value of the word
 * @compare: value to compare with
 * @compare_mask: bits to compare
 * @swap: value to swap in
 * @swap_mask: bits to swap
 *
 * Return: the value to store.
 */
static inline struct masked_u256
masked_cmp_swap_u256(const struct masked_u256 *old,
		     const struct masked_u256 *compare,
		     const struct masked_u256 *compare_mask,
		     const struct masked_u256 *swap,
		     const struct masked_u256 *swap_mask)
{
	struct masked_u256 res = *old;

	masked_cmp_swap_words(res.w, compare->w, compare_mask->w, swap->w,
			      swap_mask->w, 4);
	return res;
}

/**
 * masked_fetch_add_u256() - Compute a masked fetch-and-add of 256 bits.
 * @old: old value of the word
 * @add: summands, one in each field
 * @boundary: most significant bit of each field
 *
 * Return: the value to store.
 */
static inline struct masked_u256
masked_fetch_add_u256(const struct masked_u256 *old,
		      const struct masked_u256 *add,
		      const struct masked_u256 *boundary)
{
	struct masked_u256 res = *old;

	masked_fetch_add_words(res.w, add->w, boundary->w, 4);
	return res;
}

/**
 * masked_cmp_swap_is_plain_u32() - Determine if nothing is masked.
 * @compare_mask: bits to compare
 * @swap_mask: bits to swap
 *
 * Return: true if the result is that of the standard compare-and-swap for every
 * value of the other operands.
 */
static inline bool masked_cmp_swap_is_plain_u32(uint32_t compare_mask,
						uint32_t swap_mask)
{
	return !~(compare_mask & swap_mask);
}

/**
 * masked_cmp_swap_is_plain_u64() - Determine if nothing is masked.
 * @compare_mask: bits to compare
 * @swap_mask: bits to swap
 *
 * Return: true if the result is that of the standard compare-and-swap for every
 * value of the other operands.
 */
static inline bool masked_cmp_swap_is_plain_u64(uint64_t compare_mask,
						uint64_t swap_mask)
{
	return !~(compare_mask & swap_mask);
}

/**
 * masked_fetch_add_is_plain_u32() - Determine if the word is a single field.
 * @boundary: most significant bit of each field
 *
 * Return: true if the result is that of the standard fetch-and-add for every
 * value of the other operands.
 */
static inline bool masked_fetch_add_is_plain_u32(uint32_t boundary)
{
	return !(boundary << 1);
}

/**
 * masked_fetch_add_is_plain_u64() - Determine if the word is a single field.
 * @boundary: most significant bit of each field
 *
 * Return: true if the result is that of the standard fetch-and-add for every
 * value of the other operands.
 */
static inline bool masked_fetch_add_is_plain_u64(uint64_t boundary)
{
	return !(boundary << 1);
}

#endif /* MASKED_ATOMIC_H */
