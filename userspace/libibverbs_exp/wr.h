/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks of work requests before they are posted, and their translation to the
 * standard verbs.
 */
#ifndef EXP_WR_H
#define EXP_WR_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs_exp.h>

#include "qp_table.h"

/* Maximum number of SGEs of inline data. */
#define EXP_WR_MAX_INLINE_SGE 64

/* Flags of a work request that also exist in the standard verbs. */
#define EXP_SEND_STD_FLAGS						\
	(IBV_EXP_SEND_FENCE | IBV_EXP_SEND_SIGNALED |			\
	 IBV_EXP_SEND_SOLICITED | IBV_EXP_SEND_INLINE)

static inline bool exp_wr_is_masked(const struct ibv_exp_send_wr *wr)
{
	return wr->exp_opcode == IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP ||
	       wr->exp_opcode == IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD;
}

/* The operands of a masked compare-and-swap. */
static inline const struct ibv_exp_cmp_swap *
exp_wr_cmp_swap(const struct ibv_exp_send_wr *wr)
{
	return &wr->ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;
}

/* The operands of a masked fetch-and-add. */
static inline const struct ibv_exp_fetch_add *
exp_wr_fetch_add(const struct ibv_exp_send_wr *wr)
{
	return &wr->ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;
}

static inline bool exp_wr_is_inline(const struct ibv_exp_send_wr *wr)
{
	return wr->exp_send_flags & IBV_EXP_SEND_INLINE;
}

/* Checks the operand size of a masked atomic. */
static inline int exp_wr_check_masked(const struct exp_qp *entry,
				      const struct ibv_exp_send_wr *wr)
{
	uint32_t log_arg_sz = wr->ext_op.masked_atomics.log_arg_sz;

	/* OFED never implemented operands by reference. */
	if (!(wr->exp_send_flags & IBV_EXP_SEND_EXT_ATOMIC_INLINE))
		return EINVAL;
	if (log_arg_sz >= 64 || !(entry->sizes & (1ULL << log_arg_sz)))
		return EINVAL;
	if ((1ULL << log_arg_sz) > entry->max_atomic_arg)
		return EINVAL;
	return 0;
}

/* Checks a request whose opcode has no data. */
static inline int exp_wr_check_no_data(const struct ibv_exp_send_wr *wr)
{
	return exp_wr_is_inline(wr) || wr->num_sge ? EINVAL : 0;
}

int exp_access_to_std(uint64_t exp, int *std);
int exp_bind_to_std(const struct ibv_exp_mw_bind_info *exp,
		    struct ibv_mw_bind_info *std);
int exp_wr_check_bind(const struct ibv_exp_send_wr *wr);

/**
 * exp_wr_check_dc() - Check the rules that apply only to DC initiators.
 * @wr: the request
 *
 * Return: 0, or EINVAL if it names no target, or has an opcode that needs no
 * target. DC initiators have no such opcodes.
 */
static inline int exp_wr_check_dc(const struct ibv_exp_send_wr *wr)
{
	switch ((int)wr->exp_opcode) {
	case IBV_EXP_WR_NOP:
	case IBV_EXP_WR_LOCAL_INV:
	case IBV_EXP_WR_BIND_MW:
		return EINVAL;
	default:
		return wr->dc.ah ? 0 : EINVAL;
	}
}

/**
 * exp_wr_check() - Check a request before it is posted.
 * @entry: QP for the request
 * @wr: the request
 *
 * Return: 0 or EINVAL.
 */
static inline int exp_wr_check(const struct exp_qp *entry,
			       const struct ibv_exp_send_wr *wr)
{
	if (wr->exp_send_flags &
	    ~(EXP_SEND_STD_FLAGS | IBV_EXP_SEND_EXT_ATOMIC_INLINE))
		return EINVAL;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > entry->max_send_sge)
		return EINVAL;
	if (exp_wr_is_inline(wr) && wr->num_sge > EXP_WR_MAX_INLINE_SGE)
		return EINVAL;
	if (entry->is_dci && exp_wr_check_dc(wr))
		return EINVAL;

	switch ((int)wr->exp_opcode) {
	case IBV_EXP_WR_SEND:
	case IBV_EXP_WR_SEND_WITH_IMM:
	case IBV_EXP_WR_SEND_WITH_INV:
	case IBV_EXP_WR_RDMA_WRITE:
	case IBV_EXP_WR_RDMA_WRITE_WITH_IMM:
		return 0;
	case IBV_EXP_WR_NOP:
	case IBV_EXP_WR_LOCAL_INV:
		return exp_wr_check_no_data(wr);
	case IBV_EXP_WR_BIND_MW:
		return exp_wr_check_bind(wr);
	case IBV_EXP_WR_RDMA_READ:
		return exp_wr_is_inline(wr) ? EINVAL : 0;
	case IBV_EXP_WR_ATOMIC_CMP_AND_SWP:
	case IBV_EXP_WR_ATOMIC_FETCH_AND_ADD:
		return exp_wr_is_inline(wr) || !entry->has_atomics ? EINVAL : 0;
	case IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP:
	case IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD:
		if (exp_wr_is_inline(wr) || !entry->has_atomics)
			return EINVAL;
		return exp_wr_check_masked(entry, wr);
	default:
		return EINVAL;
	}
}

int exp_wr_to_std(const struct ibv_qp *qp, struct ibv_send_wr *std,
		  const struct ibv_exp_send_wr *wr);

#endif /* EXP_WR_H */
