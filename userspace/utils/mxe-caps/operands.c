// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Makes the operands of the self-test, and compares results with the arithmetic
 * of include/masked_atomic.h.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "case.h"
#include "masked_atomic.h"
#include "operands.h"

#define ONES (~(uint64_t)0)
#define TOP_BIT ((uint64_t)1 << 63)
#define WORDS 4

/* ---- words ------------------------------------------------------------- */

static struct st_word fill(uint64_t piece)
{
	return (struct st_word){ { piece, piece, piece, piece } };
}

static void set_bit(struct st_word *word, unsigned int bit)
{
	word->w[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool has_bit(const struct st_word *word, unsigned int bit)
{
	return word->w[bit / 64] >> bit % 64 & 1;
}

static struct st_word bits(unsigned int from, unsigned int to)
{
	struct st_word word = { };

	for (; from < to; from++)
		set_bit(&word, from);
	return word;
}

/* The parts beyond `size` bytes are 0. */
static void truncate_word(struct st_word *word, uint32_t size)
{
	for (uint32_t i = 0; i < WORDS; i++) {
		if (size <= i * 8)
			word->w[i] = 0;
		else if (size - i * 8 < 8)
			word->w[i] &= ((uint64_t)1 << (size - i * 8) * 8) - 1;
	}
}

/* SplitMix64, by Sebastiano Vigna, in the public domain. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static struct st_word random_word(uint64_t *state)
{
	struct st_word word;

	for (int i = 0; i < WORDS; i++)
		word.w[i] = next(state);
	return word;
}

/* Long carries and equal parts are likely. */
static struct st_word random_mask(uint64_t *state)
{
	struct st_word word;

	for (int i = 0; i < WORDS; i++) {
		switch (next(state) % 8) {
		case 0:
			word.w[i] = 0;
			break;
		case 1:
			word.w[i] = ONES;
			break;
		case 2:
			word.w[i] = (uint64_t)1 << next(state) % 64;
			break;
		case 3:
			word.w[i] = next(state) & next(state) & next(state);
			break;
		default:
			word.w[i] = next(state);
		}
	}
	return word;
}

/* ---- edge cases -------------------------------------------------------- */

#define NUM_MASKS 8

static struct st_word edge_mask(unsigned int i, uint32_t size)
{
	switch (i) {
	case 0:
		return fill(0);
	case 1:
		return fill(ONES);
	case 2:
		return bits(0, 1);
	case 3:
		return bits(size * 8 - 1, size * 8);
	case 4:
		return bits(0, size * 4);
	case 5:
		return bits(size * 4, size * 8);
	case 6:
		return fill(0xaaaaaaaaaaaaaaaa);
	default:
		return fill(0x8080808080808080);
	}
}

/* Each pair of masks, with a comparison that succeeds and one that fails. */
#define NUM_MASKED_CMP_SWAP (NUM_MASKS * NUM_MASKS * 2)
#define NUM_CMP_SWAP 4

#define NUM_ADDENDS 5
#define NUM_MASKED_FETCH_ADD (NUM_MASKS * NUM_ADDENDS)

static void edge_addend(unsigned int i, uint32_t size, uint64_t *state,
			struct st_operands *o)
{
	switch (i) {
	case 0:		/* a carry through the whole word */
		o->old = fill(ONES);
		o->compare = bits(0, 1);
		break;
	case 1:
		o->old = fill(ONES);
		o->compare = fill(ONES);
		break;
	case 2:		/* only a carry, which is dropped */
		o->old = bits(size * 8 - 1, size * 8);
		o->compare = o->old;
		break;
	case 3:
		o->old = fill(0);
		o->compare = fill(ONES);
		break;
	default:
		o->old = random_word(state);
		o->compare = random_word(state);
	}
}

/**
 * st_num_edges() - Get the number of operand sets with edge values.
 * @op: operation
 *
 * Return: the first pseudo-random set has this number.
 */
unsigned int st_num_edges(enum st_op op)
{
	switch (op) {
	case ST_CMP_SWAP:
		return NUM_CMP_SWAP;
	case ST_FETCH_ADD:
		return NUM_ADDENDS;
	case ST_MASKED_CMP_SWAP:
		return NUM_MASKED_CMP_SWAP;
	default:
		return NUM_MASKED_FETCH_ADD;
	}
}

/* ---- operand sets ------------------------------------------------------ */

/*
 * Sets `compare` so that the comparison succeeds, or fails because of one bit.
 * Bits outside the mask are noise.
 */
static void make_compare(struct st_operands *o, uint32_t size, bool match,
			 uint64_t *state)
{
	struct st_word noise = random_word(state);
	unsigned int start = next(state) % (size * 8);

	for (int i = 0; i < WORDS; i++)
		o->compare.w[i] = o->old.w[i] ^
				  (noise.w[i] & ~o->compare_mask.w[i]);
	if (match)
		return;
	for (unsigned int i = 0; i < size * 8; i++) {
		unsigned int bit = (start + i) % (size * 8);

		if (!has_bit(&o->compare_mask, bit))
			continue;
		o->compare.w[bit / 64] ^= (uint64_t)1 << bit % 64;
		return;
	}
}

static void make_cmp_swap(enum st_op op, uint32_t size, unsigned int set,
			  uint64_t *state, struct st_operands *o)
{
	bool edge = set < st_num_edges(op), match;

	o->old = random_word(state);
	o->compare_mask = fill(ONES);
	o->swap_mask = fill(ONES);
	if (edge) {
		/* Each bit that is wrongly swapped, or not swapped, shows. */
		for (int i = 0; i < WORDS; i++)
			o->swap.w[i] = ~o->old.w[i];
		match = set % 2;
	} else {
		o->swap = random_mask(state);
		match = next(state) % 4;
	}
	if (st_op_is_masked(op)) {
		o->compare_mask = edge ? edge_mask(set / 2 % NUM_MASKS, size) :
					 random_mask(state);
		o->swap_mask = edge ? edge_mask(set / 2 / NUM_MASKS, size) :
				      random_mask(state);
	} else if (edge && set >= 2) {
		o->old = set == 2 ? fill(0) : fill(ONES);
		o->swap = set == 2 ? fill(ONES) : fill(0);
	}
	truncate_word(&o->compare_mask, size);
	make_compare(o, size, match, state);
}

static void make_fetch_add(enum st_op op, uint32_t size, unsigned int set,
			   uint64_t *state, struct st_operands *o)
{
	if (set < st_num_edges(op)) {
		edge_addend(set % NUM_ADDENDS, size, state, o);
		o->compare_mask = edge_mask(set / NUM_ADDENDS, size);
	} else {
		o->old = random_mask(state);
		o->compare = random_mask(state);
		o->compare_mask = random_mask(state);
	}
	if (!st_op_is_masked(op))
		o->compare_mask = fill(0);
	if (size <= 8)
		return;
	/* At the end of a word of 8 bytes a field ends, or it does not. */
	for (uint32_t i = 0; i < size / 8 - 1; i++) {
		if (op == ST_MASKED_FETCH_ADD)
			o->compare_mask.w[i] |= TOP_BIT;
		else
			o->compare_mask.w[i] &= ~TOP_BIT;
	}
	if (op == ST_MASKED_FETCH_ADD)
		o->compare_mask.w[size / 8 - 1] |= TOP_BIT;
}

/**
 * st_operands_make() - Make one operand set.
 * @op: operation
 * @size: 4, 8, 16 or 32 bytes; 8 for the standard atomics
 * @seed: selects the pseudo-random sets
 * @set: number of the set, from 0; the edge cases come first
 * @o: result; depends on the other arguments only
 */
void st_operands_make(enum st_op op, uint32_t size, uint32_t seed,
		      unsigned int set, struct st_operands *o)
{
	uint64_t state = (uint64_t)seed << 32 | set;

	next(&state);
	memset(o, 0, sizeof(*o));
	if (st_op_is_cmp_swap(op))
		make_cmp_swap(op, size, set, &state, o);
	else
		make_fetch_add(op, size, set, &state, o);
	truncate_word(&o->old, size);
	truncate_word(&o->compare, size);
	truncate_word(&o->compare_mask, size);
	truncate_word(&o->swap, size);
	truncate_word(&o->swap_mask, size);
}

/**
 * st_expected() - Compute the word that the operation must store.
 * @op: operation
 * @size: bytes
 * @o: operands
 *
 * Return: by the functions of include/masked_atomic.h.
 */
struct st_word st_expected(enum st_op op, uint32_t size,
			   const struct st_operands *o)
{
	struct st_word word = o->old;

	if (st_op_is_cmp_swap(op)) {
		if (size <= 8)
			word.w[0] = masked_cmp_swap_u64(
				o->old.w[0], o->compare.w[0],
				o->compare_mask.w[0], o->swap.w[0],
				o->swap_mask.w[0]);
		else
			masked_cmp_swap_words(word.w, o->compare.w,
					      o->compare_mask.w, o->swap.w,
					      o->swap_mask.w, size / 8);
	} else if (size <= 8) {
		/* The carry out of a smaller operand is dropped. */
		word.w[0] = masked_fetch_add_u64(o->old.w[0], o->compare.w[0],
						 o->compare_mask.w[0]);
		truncate_word(&word, size);
	} else {
		masked_fetch_add_words(word.w, o->compare.w,
				       o->compare_mask.w, size / 8);
	}
	return word;
}

/* ---- areas ------------------------------------------------------------- */

#define MEMORY_FILL 0x5a
#define RESULT_FILL 0xa5

/*
 * Returns where byte i of a word, counted from the low end, is in memory. Words
 * of more than 8 bytes are pieces of 8 bytes, the lowest first.
 */
static uint32_t byte_at(uint32_t i, uint32_t size, bool be)
{
	uint32_t piece = size < 8 ? size : 8;

	return be || BYTE_ORDER == BIG_ENDIAN ? i / 8 * 8 + piece - 1 - i % 8 : i;
}

/**
 * st_encode() - Write a word as it is in memory.
 * @word: number; only its low @size bytes are written
 * @size: 1, 2, 4, 8, 16 or 32 bytes
 * @be: each piece of up to 8 bytes is written in big-endian; otherwise in host
 *	byte order.  The first piece is the least significant in both cases.
 * @to: at least @size bytes
 */
void st_encode(const struct st_word *word, uint32_t size, bool be, void *to)
{
	for (uint32_t i = 0; i < size; i++)
		((uint8_t *)to)[byte_at(i, size, be)] = word->w[i / 8] >> i % 8 * 8;
}

/* The opposite of st_encode(). */
static struct st_word decode(const uint8_t *from, uint32_t size, bool be)
{
	struct st_word word = { };

	for (uint32_t i = 0; i < size; i++)
		word.w[i / 8] |= (uint64_t)from[byte_at(i, size, be)] << i % 8 * 8;
	return word;
}

/**
 * st_area_offset() - Place the word in its area.
 * @size: bytes
 * @set: number of the operand set
 *
 * Return: offset in bytes, a multiple of @size that varies with @set.
 */
size_t st_area_offset(uint32_t size, unsigned int set)
{
	return 32 + set * size % 32;
}

/**
 * st_areas_fill() - Write both areas as they are before the operation.
 * @size: bytes
 * @set: number of the operand set
 * @o: operands
 * @memory: area of the responder, ST_AREA bytes
 * @result: area of the requester, ST_AREA bytes
 */
void st_areas_fill(uint32_t size, unsigned int set, const struct st_operands *o,
		   uint8_t *memory, uint8_t *result)
{
	memset(memory, MEMORY_FILL, ST_AREA);
	memset(result, RESULT_FILL, ST_AREA);
	st_encode(&o->old, size, false, memory + st_area_offset(size, set));
}

/**
 * st_hex() - Print a word as one hexadecimal number.
 * @word: number
 * @size: bytes; all leading zeros are printed
 * @text: at least ST_HEX bytes
 *
 * Return: @text.
 */
const char *st_hex(const struct st_word *word, uint32_t size, char *text)
{
	char *at = text + snprintf(text, ST_HEX, "0x");

	for (uint32_t digit = size * 2; digit-- > 0;)
		*at++ = "0123456789abcdef"[word->w[digit / 16] >>
					   digit % 16 * 4 & 15];
	*at = '\0';
	return text;
}

static void word_mismatch(const uint8_t *got, const struct st_word *expected,
			  uint32_t size, bool be, struct st_mismatch *m)
{
	struct st_word word = decode(got, size, be);
	uint8_t other[32];

	st_hex(expected, size, m->expected);
	st_hex(&word, size, m->got);
	st_encode(expected, size, !be, other);
	if (!memcmp(got, other, size))
		m->note = be ? "the expected value in host byte order" :
			       "the expected value in big-endian";
}

/* Returns false if a byte beside the word has changed. */
static bool check_beside(const uint8_t *area, uint8_t value, size_t offset,
			 uint32_t size, struct st_mismatch *m)
{
	for (size_t i = 0; i < ST_AREA; i++) {
		if ((i >= offset && i < offset + size) || area[i] == value)
			continue;
		snprintf(m->expected, sizeof(m->expected), "unchanged");
		snprintf(m->got, sizeof(m->got),
			 "0x%02x instead of 0x%02x at offset %d from the word",
			 area[i], value, (int)i - (int)offset);
		return false;
	}
	return true;
}

/**
 * st_check() - Compare both areas with what the operation must leave there.
 * @c: the case: operation, size and byte order of the result
 * @set: number of the operand set
 * @o: operands
 * @memory: area of the responder, ST_AREA bytes
 * @result: area of the requester, ST_AREA bytes
 * @m: describes the first difference; not written if there is none
 *
 * Return: true if every byte is right.
 */
bool st_check(const struct st_case *c, unsigned int set,
	      const struct st_operands *o, const uint8_t *memory,
	      const uint8_t *result, struct st_mismatch *m)
{
	struct st_word expected = st_expected(c->op, c->size, o);
	size_t at = st_area_offset(c->size, set);
	struct st_mismatch found = { .set = (int)set, .operands = *o };
	uint8_t old[32], new[32], before[32];

	st_encode(&o->old, c->size, c->be_reply, old);
	st_encode(&expected, c->size, false, new);
	st_encode(&o->old, c->size, false, before);
	if (memcmp(result + at, old, c->size)) {
		found.what = "returned value";
		word_mismatch(result + at, &o->old, c->size, c->be_reply,
			      &found);
	} else if (memcmp(memory + at, new, c->size)) {
		found.what = "memory after the operation";
		word_mismatch(memory + at, &expected, c->size, false, &found);
		if (!memcmp(memory + at, before, c->size))
			found.note = "memory is unchanged";
	} else if (!check_beside(memory, MEMORY_FILL, at, c->size, &found)) {
		found.what = "memory beside the word";
	} else if (!check_beside(result, RESULT_FILL, at, c->size, &found)) {
		found.what = "buffer beside the returned value";
	} else {
		return true;
	}
	*m = found;
	return false;
}
