// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Builds the WQEs of masked atomics for backend_mlx5.c:
 *
 *	control		16 bytes
 *	XRC SRQ		16, only of XRC initiators
 *	DC target	48, only of DC initiators
 *	remote address	16
 *	operands	16 to 128
 *	SGEs		16 each
 *
 * All fields are big-endian. The operands follow each other without gaps. Each
 * has the size of the remote word, and all together have at least 16 bytes.
 * Their order differs from that of struct ibv_exp_cmp_swap.
 */
#include <assert.h>
#include <endian.h>
#include <string.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs_exp.h>

#include "backend_mlx5_wqe.h"
#include "wr.h"

/* The opcode modifier is this flag and log_arg_sz, relative to the minimum. */
#define MLX5_OPMOD_EXT_ATOMIC 8
#define MLX5_LOG_ARG_SZ_MIN 2

/* Operands up to this size are values. Larger ones are addresses of arrays. */
#define MLX5_LOG_ARG_SZ_VALUE 3

static_assert(sizeof(struct mlx5_wqe_ctrl_seg) == 16 &&
	      sizeof(struct mlx5_wqe_raddr_seg) == 16 &&
	      sizeof(struct mlx5_wqe_data_seg) == 16 &&
	      sizeof(struct mlx5_wqe_av) == 48,
	      "segments consist of units of 16 bytes");

static void *put_operand(void *to, uint64_t operand, uint32_t log_arg_sz)
{
	const uint64_t *words = (const uint64_t *)(uintptr_t)operand;
	size_t size = (size_t)1 << log_arg_sz;
	uint64_t word;
	size_t i;

	if (log_arg_sz == MLX5_LOG_ARG_SZ_MIN) {
		uint32_t half = htobe32((uint32_t)operand);

		memcpy(to, &half, sizeof(half));
	} else if (log_arg_sz == MLX5_LOG_ARG_SZ_VALUE) {
		word = htobe64(operand);
		memcpy(to, &word, sizeof(word));
	} else {
		for (i = 0; i < size / sizeof(word); i++) {
			memcpy(&word, &words[i], sizeof(word));
			word = htobe64(word);
			memcpy((char *)to + i * sizeof(word), &word,
			       sizeof(word));
		}
	}
	return (char *)to + size;
}

static void *put_operands(void *to, const struct ibv_exp_send_wr *wr)
{
	const struct ibv_exp_cmp_swap *cs = exp_wr_cmp_swap(wr);
	const struct ibv_exp_fetch_add *fa = exp_wr_fetch_add(wr);
	uint32_t log_arg_sz = wr->ext_op.masked_atomics.log_arg_sz;

	if (wr->exp_opcode == IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP) {
		to = put_operand(to, cs->swap_val, log_arg_sz);
		to = put_operand(to, cs->compare_val, log_arg_sz);
		to = put_operand(to, cs->swap_mask, log_arg_sz);
		return put_operand(to, cs->compare_mask, log_arg_sz);
	}
	to = put_operand(to, fa->add_val, log_arg_sz);
	to = put_operand(to, fa->field_boundary, log_arg_sz);
	if (log_arg_sz == MLX5_LOG_ARG_SZ_MIN) {
		memset(to, 0, 8);
		to = (char *)to + 8;
	}
	return to;
}

/* Skips empty SGEs, because the device takes a length of 0 as 2 GiB. */
static void *put_sges(void *to, const struct ibv_exp_send_wr *wr)
{
	struct mlx5_wqe_data_seg *seg = to;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (!wr->sg_list[i].length)
			continue;
		seg->byte_count = htobe32(wr->sg_list[i].length);
		seg->lkey = htobe32(wr->sg_list[i].lkey);
		seg->addr = htobe64(wr->sg_list[i].addr);
		seg++;
	}
	return seg;
}

static uint8_t ctrl_flags(bool signaled, uint64_t send_flags)
{
	uint8_t flags = 0;

	if (signaled)
		flags |= MLX5_WQE_CTRL_CQ_UPDATE;
	if (send_flags & IBV_EXP_SEND_SOLICITED)
		flags |= MLX5_WQE_CTRL_SOLICITED;
	if (send_flags & IBV_EXP_SEND_FENCE)
		flags |= MLX5_WQE_CTRL_FENCE;
	return flags;
}

/* The number of the SRQ at the remote side, and 12 bytes of 0. */
static void *put_srqn(void *to, uint32_t srqn)
{
	uint32_t seg[4] = { htobe32(srqn) };

	memcpy(to, seg, sizeof(seg));
	return (char *)to + sizeof(seg);
}

/* The address handle has the address of the host, but not the target. */
static void *put_dc_target(void *to, const struct mlx5_wqe_av *av,
			   const struct ibv_exp_send_wr *wr)
{
	struct mlx5_wqe_av seg = *av;

	seg.dqp_dct = htobe32(wr->dc.dct_number | MLX5_EXTENDED_UD_AV);
	seg.key.dc_key = htobe64(wr->dc.dct_access_key);
	memcpy(to, &seg, sizeof(seg));
	return (char *)to + sizeof(seg);
}

/**
 * exp_mlx5_wqe() - Write the WQE of a masked atomic.
 * @wqe: room for EXP_MLX5_MAX_WQE bytes
 * @qp_num: number of the QP
 * @xrc: true if the QP is an XRC initiator
 * @av: address of the DC target if the QP is a DC initiator, else NULL
 * @signaled: true to request a completion
 * @wr: request with an operand size of EXP_MLX5_SIZES and at most
 *	EXP_MLX5_MAX_SGE SGEs, or EXP_MLX5_MAX_SGE_DC if @av is not NULL
 *
 * Return: length of the WQE in bytes.
 */
size_t exp_mlx5_wqe(void *wqe, uint32_t qp_num, bool xrc,
		    const struct mlx5_wqe_av *av, bool signaled,
		    const struct ibv_exp_send_wr *wr)
{
	bool is_cs = wr->exp_opcode == IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP;
	uint32_t opcode = is_cs ? MLX5_OPCODE_ATOMIC_MASKED_CS :
				  MLX5_OPCODE_ATOMIC_MASKED_FA;
	uint32_t opmod = MLX5_OPMOD_EXT_ATOMIC |
			 (wr->ext_op.masked_atomics.log_arg_sz -
			  MLX5_LOG_ARG_SZ_MIN);
	struct mlx5_wqe_ctrl_seg *ctrl = wqe;
	struct mlx5_wqe_raddr_seg *raddr;
	void *end = ctrl + 1;

	memset(ctrl, 0, sizeof(*ctrl));
	if (xrc)
		end = put_srqn(end, wr->qp_type.xrc.remote_srqn);
	if (av)
		end = put_dc_target(end, av, wr);
	raddr = end;
	memset(raddr, 0, sizeof(*raddr));
	raddr->raddr = htobe64(wr->ext_op.masked_atomics.remote_addr);
	raddr->rkey = htobe32(wr->ext_op.masked_atomics.rkey);
	end = put_sges(put_operands(raddr + 1, wr), wr);

	/* libmlx5 inserts the WQE index between opmod and opcode. */
	ctrl->opmod_idx_opcode = htobe32(opmod << 24 | opcode);
	ctrl->qpn_ds = htobe32(qp_num << 8 |
			       (uint32_t)((char *)end - (char *)wqe) / 16);
	ctrl->fm_ce_se = ctrl_flags(signaled, wr->exp_send_flags);
	return (char *)end - (char *)wqe;
}
