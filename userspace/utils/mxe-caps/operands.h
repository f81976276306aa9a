/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The operands of the self-test, and their arithmetic. */
#ifndef OPERANDS_H
#define OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct st_case;
struct st_mismatch;

enum st_op {
	ST_CMP_SWAP,		/* the standard atomics, 8 bytes */
	ST_FETCH_ADD,
	ST_MASKED_CMP_SWAP,
	ST_MASKED_FETCH_ADD,	/* no field extends across words of 8 bytes */
	ST_WIDE_FETCH_ADD,	/* fields of more than 8 bytes */
	ST_NUM_OPS,
};

/* A number of up to 32 bytes.  w[0] is the least significant part. */
struct st_word {
	uint64_t w[4];
};

/* In a fetch-and-add, compare is the addend and compare_mask the boundary. */
struct st_operands {
	struct st_word old;	/* in memory before the operation */
	struct st_word compare;
	struct st_word compare_mask;
	struct st_word swap;
	struct st_word swap_mask;
};

/*
 * The word and what surrounds it.  The operation must not change a byte of an
 * area beside its word.
 */
#define ST_AREA 96

static inline bool st_op_is_masked(enum st_op op)
{
	return op >= ST_MASKED_CMP_SWAP;
}

static inline bool st_op_is_cmp_swap(enum st_op op)
{
	return op == ST_CMP_SWAP || op == ST_MASKED_CMP_SWAP;
}

unsigned int st_num_edges(enum st_op op);
void st_operands_make(enum st_op op, uint32_t size, uint32_t seed,
		      unsigned int set, struct st_operands *o);
struct st_word st_expected(enum st_op op, uint32_t size,
			   const struct st_operands *o);
void st_encode(const struct st_word *word, uint32_t size, bool be, void *to);
size_t st_area_offset(uint32_t size, unsigned int set);
void st_areas_fill(uint32_t size, unsigned int set, const struct st_operands *o,
		   uint8_t *memory, uint8_t *result);
bool st_check(const struct st_case *c, unsigned int set,
	      const struct st_operands *o, const uint8_t *memory,
	      const uint8_t *result, struct st_mismatch *m);

/* Room for 32 bytes in hexadecimal, "0x" and the final 0. */
#define ST_HEX (2 + 64 + 1)

const char *st_hex(const struct st_word *word, uint32_t size, char *text);

#endif /* OPERANDS_H */
