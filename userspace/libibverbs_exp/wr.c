// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Translates work requests to the standard verbs. */
#include <errno.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "wr.h"

/* The standard access flags, which programs mix with the experimental ones. */
#define EXP_ACCESS_STD 0xffffffffull

/**
 * exp_access_to_std() - Translate access flags to the standard verbs.
 * @exp: IBV_EXP_ACCESS_* and IBV_ACCESS_* flags
 * @std: set to the standard flags
 *
 * Return: 0, or ENOSYS if a flag has no equivalent in the standard verbs.
 */
int exp_access_to_std(uint64_t exp, int *std)
{
	static const struct {
		uint64_t exp;
		int std;
	} flags[] = {
		{ IBV_EXP_ACCESS_MW_ZERO_BASED, IBV_ACCESS_ZERO_BASED },
		{ IBV_EXP_ACCESS_ON_DEMAND, IBV_ACCESS_ON_DEMAND },
		{ IBV_EXP_ACCESS_RELAXED_ORDERING, IBV_ACCESS_RELAXED_ORDERING },
	};
	size_t i;

	*std = exp & EXP_ACCESS_STD;
	exp &= ~EXP_ACCESS_STD;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (exp & flags[i].exp)
			*std |= flags[i].std;
		exp &= ~flags[i].exp;
	}
	return exp ? ENOSYS : 0;
}

/**
 * exp_bind_to_std() - Translate what a window is bound to.
 * @exp: region, range and access flags
 * @std: filled in
 *
 * Return: 0, or an error of exp_access_to_std().
 */
int exp_bind_to_std(const struct ibv_exp_mw_bind_info *exp,
		    struct ibv_mw_bind_info *std)
{
	int access, err;

	err = exp_access_to_std(exp->exp_mw_access_flags, &access);
	*std = (struct ibv_mw_bind_info) {
		.mr = exp->mr,
		.addr = exp->addr,
		.length = exp->length,
		.mw_access_flags = access,
	};
	return err;
}

/**
 * exp_wr_check_bind() - Check a request of opcode IBV_EXP_WR_BIND_MW.
 * @wr: the request
 *
 * Return: 0, EINVAL if it has SGEs, or an error of exp_access_to_std().
 */
int exp_wr_check_bind(const struct ibv_exp_send_wr *wr)
{
	struct ibv_mw_bind_info std;
	int err = exp_wr_check_no_data(wr);

	return err ? err : exp_bind_to_std(&wr->bind_mw.bind_info, &std);
}

/* Returns true if a QP of this type can post an RDMA WRITE. */
static bool can_write(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC || type == IBV_QPT_UC ||
	       type == IBV_QPT_XRC_SEND;
}

/**
 * exp_wr_to_std() - Translate a request to the standard verbs.
 * @qp: QP for the request
 * @std: filled in
 * @wr: the request, not a masked atomic
 *
 * A NOP becomes an RDMA WRITE of length 0.
 *
 * Return: 0, EINVAL, or an error of exp_access_to_std().
 */
int exp_wr_to_std(const struct ibv_qp *qp, struct ibv_send_wr *std,
		  const struct ibv_exp_send_wr *wr)
{
	if (wr->exp_send_flags &
	    ~(EXP_SEND_STD_FLAGS | IBV_EXP_SEND_EXT_ATOMIC_INLINE |
	      IBV_EXP_SEND_IP_CSUM))
		return EINVAL;

	memset(std, 0, sizeof(*std));
	std->wr_id = wr->wr_id;
	std->sg_list = wr->sg_list;
	std->num_sge = wr->num_sge;
	std->opcode = (enum ibv_wr_opcode)wr->exp_opcode;
	std->send_flags = wr->exp_send_flags & EXP_SEND_STD_FLAGS;
	if (wr->exp_send_flags & IBV_EXP_SEND_IP_CSUM)
		std->send_flags |= IBV_SEND_IP_CSUM;
	if (qp->qp_type == IBV_QPT_XRC_SEND)
		std->qp_type.xrc.remote_srqn = wr->qp_type.xrc.remote_srqn;

	switch ((int)wr->exp_opcode) {
	case IBV_EXP_WR_SEND_WITH_IMM:
		std->imm_data = wr->ex.imm_data;
		/* fallthrough */
	case IBV_EXP_WR_SEND:
		if (qp->qp_type == IBV_QPT_UD) {
			std->wr.ud.ah = wr->wr.ud.ah;
			std->wr.ud.remote_qpn = wr->wr.ud.remote_qpn;
			std->wr.ud.remote_qkey = wr->wr.ud.remote_qkey;
		}
		return 0;
	case IBV_EXP_WR_SEND_WITH_INV:
		std->invalidate_rkey = wr->ex.invalidate_rkey;
		return 0;
	case IBV_EXP_WR_LOCAL_INV:
		std->invalidate_rkey = wr->ex.invalidate_rkey;
		return exp_wr_check_no_data(wr);
	case IBV_EXP_WR_BIND_MW:
		std->bind_mw.mw = wr->bind_mw.mw;
		std->bind_mw.rkey = wr->bind_mw.rkey;
		exp_bind_to_std(&wr->bind_mw.bind_info, &std->bind_mw.bind_info);
		return exp_wr_check_bind(wr);
	case IBV_EXP_WR_NOP:
		std->opcode = IBV_WR_RDMA_WRITE;
		return can_write(qp->qp_type) ? exp_wr_check_no_data(wr) :
						EINVAL;
	case IBV_EXP_WR_RDMA_WRITE_WITH_IMM:
		std->imm_data = wr->ex.imm_data;
		/* fallthrough */
	case IBV_EXP_WR_RDMA_WRITE:
	case IBV_EXP_WR_RDMA_READ:
		std->wr.rdma.remote_addr = wr->wr.rdma.remote_addr;
		std->wr.rdma.rkey = wr->wr.rdma.rkey;
		return 0;
	case IBV_EXP_WR_ATOMIC_CMP_AND_SWP:
	case IBV_EXP_WR_ATOMIC_FETCH_AND_ADD:
		std->wr.atomic.remote_addr = wr->wr.atomic.remote_addr;
		std->wr.atomic.compare_add = wr->wr.atomic.compare_add;
		std->wr.atomic.swap = wr->wr.atomic.swap;
		std->wr.atomic.rkey = wr->wr.atomic.rkey;
		return 0;
	default:
		return EINVAL;
	}
}
