/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests to the memory of the fake of fake_emu.h: word n of fake.mem, with
 * the result in word n of fake.buf.
 */
#ifndef EXP_EMU_REQ_H
#define EXP_EMU_REQ_H

#include <string.h>
#include "fake_emu.h"
#include "short_names.h"
#include "tap.h"

#define SIGNALED IBV_EXP_SEND_SIGNALED
#define ALL (~0ULL)

struct req {
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;
};

/**
 * init() - Fill in a request for one word.
 * @r: request
 * @opcode: IBV_EXP_WR_*
 * @wr_id: wr_id
 * @flags: IBV_EXP_SEND_* flags
 * @word: index of the word in fake.mem and fake.buf
 *
 * Return: the work request in @r.
 */
static inline struct ibv_exp_send_wr *init(struct req *r, int opcode,
					   uint64_t wr_id, uint64_t flags,
					   int word)
{
	memset(r, 0xa5, sizeof(*r));
	r->sge = (struct ibv_sge) { (uintptr_t)&fake.buf[word], 8, LKEY };
	r->wr.next = NULL;
	r->wr.wr_id = wr_id;
	r->wr.sg_list = &r->sge;
	r->wr.num_sge = 1;
	r->wr.exp_opcode = opcode;
	r->wr.exp_send_flags = flags;
	if (opcode >= CS) {
		r->wr.exp_send_flags |= IBV_EXP_SEND_EXT_ATOMIC_INLINE;
		r->wr.ext_op.masked_atomics.log_arg_sz = 3;
		r->wr.ext_op.masked_atomics.remote_addr =
			(uintptr_t)&fake.mem[word];
		r->wr.ext_op.masked_atomics.rkey = RKEY;
	} else {
		r->wr.wr.rdma.remote_addr = (uintptr_t)&fake.mem[word];
		r->wr.wr.rdma.rkey = RKEY;
	}
	return &r->wr;
}

/**
 * cas() - Fill in a masked compare-and-swap request.
 * @r: request
 * @wr_id: wr_id
 * @flags: IBV_EXP_SEND_* flags
 * @word: index of the word
 * @compare: value to compare with
 * @compare_mask: bits to compare
 * @swap: new value
 * @swap_mask: bits to replace
 *
 * Return: the work request in @r.
 */
static inline struct ibv_exp_send_wr *cas(struct req *r, uint64_t wr_id,
					  uint64_t flags, int word,
					  uint64_t compare, uint64_t compare_mask,
					  uint64_t swap, uint64_t swap_mask)
{
	struct ibv_exp_cmp_swap *cs =
		&r->wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;

	init(r, CS, wr_id, flags, word);
	cs->compare_val = compare;
	cs->compare_mask = compare_mask;
	cs->swap_val = swap;
	cs->swap_mask = swap_mask;
	return &r->wr;
}

/**
 * add() - Fill in a masked fetch-and-add request.
 * @r: request
 * @wr_id: wr_id
 * @flags: IBV_EXP_SEND_* flags
 * @word: index of the word
 * @add_val: value to add
 * @boundary: most significant bits of the fields
 *
 * Return: the work request in @r.
 */
static inline struct ibv_exp_send_wr *add(struct req *r, uint64_t wr_id,
					  uint64_t flags, int word,
					  uint64_t add_val, uint64_t boundary)
{
	struct ibv_exp_fetch_add *fa =
		&r->wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;

	init(r, FA, wr_id, flags, word);
	fa->add_val = add_val;
	fa->field_boundary = boundary;
	return &r->wr;
}

/**
 * post() - Post a list of requests.
 * @qp: QP
 * @wr: first request
 *
 * Prints a diagnostic if a post fails at another request than the first.
 *
 * Return: 0 or an errno value.
 */
static inline int post(struct fake_qp *qp, struct ibv_exp_send_wr *wr)
{
	struct ibv_exp_send_wr *bad = NULL;
	int ret = ibv_exp_post_send(&qp->qp, wr, &bad);

	if (ret && bad != wr)
		diag("bad_wr is not the only one");
	return ret;
}

#endif /* EXP_EMU_REQ_H */
