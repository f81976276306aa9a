// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Translates work requests to the standard verbs. send.c calls it for QPs that
 * have no entry in qp_table.c, and backend_emu.c for emulated QPs.
 */
#include <errno.h>
#include <string.h>

#include "wr.h"

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
