/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory, and requests to it, for tests with the fake of fake_mlx5.h.
 */
#ifndef EXP_MLX5_REQ_H
#define EXP_MLX5_REQ_H

#include "fake_mlx5.h"
#include "tap.h"

#define RKEY 0x100
#define LKEY 0x200
#define SIG IBV_EXP_SEND_SIGNALED
#define WORDS 16
#define FILL 0x77		/* bytes of local before a result arrives */
/* Opcodes of a standard completion that enum ibv_wc_opcode lacks. */
#define WC_MASKED_CS ((enum ibv_wc_opcode)IBV_EXP_WC_MASKED_COMP_SWAP)
#define WC_MASKED_FA ((enum ibv_wc_opcode)IBV_EXP_WC_MASKED_FETCH_ADD)

static uint64_t remote[WORDS] __attribute__((aligned(32)));
static uint8_t local[4096] __attribute__((aligned(32)));

/**
 * start() - Reset the fake and the memory, and register both regions.
 */
static inline void start(void)
{
	fake_mlx5_reset();
	memset(remote, 0, sizeof(remote));
	memset(local, FILL, sizeof(local));
	fake_mlx5_region(remote, sizeof(remote), RKEY);
	fake_mlx5_region(local, sizeof(local), LKEY);
}

/* A request with its SGE and operands. */
struct req {
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;
	uint64_t operands[4][4];
};

/**
 * init() - Fill in a request without operands.
 * @req: request
 * @opcode: IBV_EXP_WR_*
 * @wr_id: wr_id
 * @flags: IBV_EXP_SEND_* flags
 * @offset: offset of the local buffer in bytes
 * @length: length of the local buffer in bytes
 */
static inline void init(struct req *req, int opcode, uint64_t wr_id,
			uint64_t flags, uint32_t offset, uint32_t length)
{
	memset(req, 0xa5, sizeof(*req));
	req->sge = (struct ibv_sge) {
		.addr = (uintptr_t)local + offset, .length = length,
		.lkey = LKEY,
	};
	req->wr.next = NULL;
	req->wr.wr_id = wr_id;
	req->wr.exp_opcode = (enum ibv_exp_wr_opcode)opcode;
	req->wr.exp_send_flags = flags;
	req->wr.sg_list = &req->sge;
	req->wr.num_sge = 1;
}

/**
 * init_plain() - Fill in a standard atomic or an RDMA request of 8 bytes.
 * @req: request
 * @opcode: IBV_EXP_WR_*
 * @wr_id: wr_id
 * @flags: IBV_EXP_SEND_* flags
 * @word: index of the remote word
 * @offset: offset of the local buffer in bytes
 */
static inline void init_plain(struct req *req, int opcode, uint64_t wr_id,
			      uint64_t flags, int word, uint32_t offset)
{
	init(req, opcode, wr_id, flags, offset, 8);
	if (opcode == IBV_EXP_WR_ATOMIC_CMP_AND_SWP ||
	    opcode == IBV_EXP_WR_ATOMIC_FETCH_AND_ADD) {
		req->wr.wr.atomic.remote_addr = (uintptr_t)&remote[word];
		req->wr.wr.atomic.rkey = RKEY;
		req->wr.wr.atomic.compare_add = 1;
		req->wr.wr.atomic.swap = 2;
	} else {
		req->wr.wr.rdma.remote_addr = (uintptr_t)&remote[word];
		req->wr.wr.rdma.rkey = RKEY;
	}
}

/**
 * init_masked() - Fill in a masked atomic, except for its operands.
 * @req: request
 * @opcode: CS or FA
 * @size: size of the operands in bytes
 * @wr_id: wr_id
 * @flags: IBV_EXP_SEND_* flags
 * @word: index of the remote word
 * @offset: offset of the local buffer in bytes
 */
static inline void init_masked(struct req *req, int opcode, int size,
			       uint64_t wr_id, uint64_t flags, int word,
			       uint32_t offset)
{
	init(req, opcode, wr_id, flags | IBV_EXP_SEND_EXT_ATOMIC_INLINE, offset,
	     size);
	req->wr.ext_op.masked_atomics.log_arg_sz = __builtin_ctz(size);
	req->wr.ext_op.masked_atomics.remote_addr = (uintptr_t)&remote[word];
	req->wr.ext_op.masked_atomics.rkey = RKEY;
}

/**
 * set_cs() - Set the operands of a masked compare-and-swap.
 * @req: request
 * @compare: value to compare with
 * @compare_mask: bits to compare
 * @swap: new value
 * @swap_mask: bits to replace
 *
 * Above 8 bytes, the arguments are addresses in req->operands.
 */
static inline void set_cs(struct req *req, uint64_t compare,
			  uint64_t compare_mask, uint64_t swap,
			  uint64_t swap_mask)
{
	struct ibv_exp_cmp_swap *cs =
		&req->wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;

	cs->compare_val = compare;
	cs->compare_mask = compare_mask;
	cs->swap_val = swap;
	cs->swap_mask = swap_mask;
}

/**
 * set_fa() - Set the operands of a masked fetch-and-add.
 * @req: request
 * @add: value to add
 * @boundary: most significant bits of the fields
 *
 * Above 8 bytes, the arguments are addresses in req->operands.
 */
static inline void set_fa(struct req *req, uint64_t add, uint64_t boundary)
{
	struct ibv_exp_fetch_add *fa =
		&req->wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;

	fa->add_val = add;
	fa->field_boundary = boundary;
}

/**
 * init_cs8() - Fill in a masked compare-and-swap of 8 bytes with zero operands.
 * @req: request
 * @wr_id: wr_id
 * @flags: IBV_EXP_SEND_* flags
 * @word: index of the remote word
 * @offset: offset of the local buffer in bytes
 */
static inline void init_cs8(struct req *req, uint64_t wr_id, uint64_t flags,
			    int word, uint32_t offset)
{
	init_masked(req, CS, 8, wr_id, flags, word, offset);
	set_cs(req, 0, 0, 0, 0);
}

/**
 * init_fa8() - Fill in a masked fetch-and-add of 8 bytes that adds 1.
 * @req: request
 * @wr_id: wr_id
 * @flags: IBV_EXP_SEND_* flags
 * @word: index of the remote word
 * @offset: offset of the local buffer in bytes
 */
static inline void init_fa8(struct req *req, uint64_t wr_id, uint64_t flags,
			    int word, uint32_t offset)
{
	init_masked(req, FA, 8, wr_id, flags, word, offset);
	set_fa(req, 1, 0);
}

/**
 * link_reqs() - Link requests to one list.
 * @reqs: requests
 * @n: number of requests
 */
static inline void link_reqs(struct req *reqs, int n)
{
	int i;

	for (i = 0; i + 1 < n; i++)
		reqs[i].wr.next = &reqs[i + 1].wr;
}

/**
 * post() - Post a list of requests.
 * @qp: QP
 * @req: first request
 *
 * Return: 0 or an errno value.
 */
static inline int post(struct ibv_qp *qp, struct req *req)
{
	struct ibv_exp_send_wr *bad;

	return ibv_exp_post_send(qp, &req->wr, &bad);
}

/**
 * result() - Read a result of 8 bytes.
 * @offset: offset of the local buffer in bytes
 *
 * Return: the result.
 */
static inline uint64_t result(uint32_t offset)
{
	uint64_t value;

	memcpy(&value, local + offset, 8);
	return value;
}

/**
 * set_operands() - Set the operands of a masked atomic to those in
 *	req->operands.
 * @req: request
 * @opcode: CS or FA
 * @size: size of the operands in bytes
 */
static inline void set_operands(struct req *req, int opcode, int size)
{
	uint64_t (*op)[4] = req->operands;
#define OPERAND(n) (size > 8 ? (uintptr_t)op[n] : op[n][0])

	if (opcode == CS)
		set_cs(req, OPERAND(0), OPERAND(1), OPERAND(2), OPERAND(3));
	else
		set_fa(req, OPERAND(0), OPERAND(1));
#undef OPERAND
}

#endif /* EXP_MLX5_REQ_H */
