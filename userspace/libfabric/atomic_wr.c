// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The requests of atomic operations, each for a unit (atomic_plan.h), and what
 * happens when one has completed.
 */
#include <endian.h>
#include <string.h>

#include "atomic_op.h"
#include "atomic_plan.h"
#include "atomic_wr.h"
#include "domain.h"
#include "ep.h"
#include "op.h"
#include "peer.h"
#include "wr.h"

/* A word of up to 8 bytes in the byte order of the host. */
union word {
	uint8_t of_1;
	uint16_t of_2;
	uint32_t of_4;
	uint64_t of_8;
};

static uint64_t load_8(const uint8_t *image)
{
	uint64_t value;

	memcpy(&value, image, sizeof(value));
	return value;
}

/* An operand of a masked atomic, from its image. */
static uint64_t operand(const struct mxefi_unit *unit, const uint8_t *image)
{
	union word word;

	switch (unit->log_size) {
	case 0:
		return *image;
	case 1:
		memcpy(&word, image, 2);
		return word.of_2;
	case 2:
		memcpy(&word, image, 4);
		return word.of_4;
	case 3:
		return load_8(image);
	default:
		return (uintptr_t)image;
	}
}

static bool has_be_results(const struct mxefi_wr *wr)
{
	return (wr->peer->ep->dom->dev.sizes_be >> wr->unit->log_size) & 1;
}

/*
 * Makes a standard atomic of 8 bytes if it does the same as the masked one,
 * because posting it costs less, and devices have it that emulate masked
 * atomics. Returns false if there is none.
 */
static bool set_standard(struct mxefi_wr *wr)
{
	const struct mxefi_unit *unit = wr->unit;
	uint64_t swap_mask, compare_mask;

	if (unit->log_size != 3 || has_be_results(wr))
		return false;
	swap_mask = load_8(unit->swap_mask);
	compare_mask = load_8(unit->compare_mask);
	wr->wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	if (unit->kind == MXEFI_UNIT_FETCH_ADD) {
		if (swap_mask != 1ULL << 63)
			return false;
		wr->wr.wr.atomic.compare_add = load_8(unit->swap);
	} else if (!swap_mask) {
		/* A read. */
		wr->wr.wr.atomic.compare_add = 0;
	} else {
		if (~swap_mask || ~compare_mask)
			return false;
		wr->wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		wr->wr.wr.atomic.compare_add = load_8(unit->compare);
		wr->wr.wr.atomic.swap = load_8(unit->swap);
	}
	wr->wr.wr.atomic.remote_addr = unit->addr;
	wr->wr.wr.atomic.rkey = wr->rkey;
	return true;
}

static void set_masked(struct mxefi_wr *wr)
{
	const struct mxefi_unit *unit = wr->unit;
	__typeof__(wr->masked.ext_op.masked_atomics) *m =
		&wr->masked.ext_op.masked_atomics;
	struct ibv_exp_cmp_swap *cas = &m->wr_data.inline_data.op.cmp_swap;
	struct ibv_exp_fetch_add *add = &m->wr_data.inline_data.op.fetch_add;

	wr->masked.num_sge = 1;
	wr->masked.exp_send_flags = IBV_EXP_SEND_SIGNALED |
				    IBV_EXP_SEND_EXT_ATOMIC_INLINE;
	m->log_arg_sz = unit->log_size;
	m->remote_addr = unit->addr;
	m->rkey = wr->rkey;
	if (unit->kind == MXEFI_UNIT_FETCH_ADD) {
		wr->masked.exp_opcode =
			IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD;
		add->add_val = operand(unit, unit->swap);
		add->field_boundary = operand(unit, unit->swap_mask);
		return;
	}
	wr->masked.exp_opcode = IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP;
	cas->compare_val = operand(unit, unit->compare);
	cas->compare_mask = operand(unit, unit->compare_mask);
	cas->swap_val = operand(unit, unit->swap);
	cas->swap_mask = operand(unit, unit->swap_mask);
}

static void set_operands(struct mxefi_wr *wr)
{
	wr->is_masked = !set_standard(wr);
	if (wr->is_masked)
		set_masked(wr);
}

/* Converts a big-endian result to an image of the word. */
static void convert_result(const struct mxefi_unit *unit, uint8_t *old)
{
	uint8_t *end = old + ((size_t)1 << unit->log_size);
	union word word;

	switch (unit->log_size) {
	case 0:
		return;
	case 1:
		memcpy(&word, old, 2);
		word.of_2 = be16toh(word.of_2);
		memcpy(old, &word, 2);
		return;
	case 2:
		memcpy(&word, old, 4);
		word.of_4 = be32toh(word.of_4);
		memcpy(old, &word, 4);
		return;
	}
	for (; old < end; old += 8) {
		word.of_8 = be64toh(load_8(old));
		memcpy(old, &word, 8);
	}
}

static bool unit_complete(struct mxefi_wr *wr, int err)
{
	struct mxefi_unit *unit = wr->unit;
	struct mxefi_op *op = wr->op;

	if (!err) {
		if (has_be_results(wr))
			convert_result(unit, wr->buf);
		if (unit->kind == MXEFI_UNIT_LOOP &&
		    !mxefi_unit_step(unit, op->atomic, op->datatype, wr->buf)) {
			set_operands(wr);
			mxefi_wr_repeat(wr);
			return false;
		}
		mxefi_op_store(op, wr->first, wr->buf + unit->offset,
			       unit->count);
	}
	if (wr->loop)
		mxefi_wr_loop_end(wr);
	mxefi_op_put(op, err);
	return true;
}

/**
 * mxefi_atomic_wr() - Make the request of a unit.
 * @op: operation, which gets a reference
 * @unit: unit of the operation
 * @key: key of the memory region at the target
 * @first: first element of the unit in the operation
 *
 * Return: the request, or NULL if memory is short.
 */
struct mxefi_wr *mxefi_atomic_wr(struct mxefi_op *op, struct mxefi_unit *unit,
				 uint64_t key, size_t first)
{
	struct mxefi_wr *wr = mxefi_wr_alloc(op->peer);

	if (!wr)
		return NULL;
	wr->op = op;
	wr->unit = unit;
	wr->rkey = (uint32_t)key;
	wr->first = (uint32_t)first;
	wr->loop = unit->kind == MXEFI_UNIT_LOOP;
	wr->complete = unit_complete;
	wr->sge[0].addr = (uintptr_t)wr->buf;
	wr->sge[0].length = 1U << unit->log_size;
	wr->sge[0].lkey = wr->lkey;
	wr->wr.num_sge = 1;
	set_operands(wr);
	op->refs++;
	return wr;
}
