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
#define FILL 0x77		/* of local, before a result comes */
/* In a standard completion, whose enumeration does not have them. */
#define WC_MASKED_CS ((enum ibv_wc_opcode)IBV_EXP_WC_MASKED_COMP_SWAP)
#define WC_MASKED_FA ((enum ibv_wc_opcode)IBV_EXP_WC_MASKED_FETCH_ADD)

static uint64_t remote[WORDS] __attribute__((aligned(32)));
static uint8_t local[4096] __attribute__((aligned(32)));

static inline void start(void)
{
	fake_mlx5_reset();
	memset(remote, 0, sizeof(remote));
	memset(local, FILL, sizeof(local));
	fake_mlx5_region(remote, sizeof(remote), RKEY);
	fake_mlx5_region(local, sizeof(local), LKEY);
}

/* A request with its buffer: the result goes to local + offset. */
struct req {
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;
	uint64_t operands[4][4];
};

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

/* Operands as in the structures: of 8 bytes, or addresses of req->operands. */
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

static inline void set_fa(struct req *req, uint64_t add, uint64_t boundary)
{
	struct ibv_exp_fetch_add *fa =
		&req->wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;

	fa->add_val = add;
	fa->field_boundary = boundary;
}

static inline void init_cs8(struct req *req, uint64_t wr_id, uint64_t flags,
			    int word, uint32_t offset)
{
	init_masked(req, CS, 8, wr_id, flags, word, offset);
	set_cs(req, 0, 0, 0, 0);
}

static inline void init_fa8(struct req *req, uint64_t wr_id, uint64_t flags,
			    int word, uint32_t offset)
{
	init_masked(req, FA, 8, wr_id, flags, word, offset);
	set_fa(req, 1, 0);
}

static inline void link_reqs(struct req *reqs, int n)
{
	int i;

	for (i = 0; i + 1 < n; i++)
		reqs[i].wr.next = &reqs[i + 1].wr;
}

static inline int post(struct ibv_qp *qp, struct req *req)
{
	struct ibv_exp_send_wr *bad;

	return ibv_exp_post_send(qp, &req->wr, &bad);
}

static inline uint64_t result(uint32_t offset)
{
	uint64_t value;

	memcpy(&value, local + offset, 8);
	return value;
}

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
