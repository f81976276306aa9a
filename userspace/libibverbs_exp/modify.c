// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_modify_qp() in front of the one of libibverbs, because a reset empties the
 * send queue, whose account some backends keep.  Found as in dereg.c.
 */
#include "backend.h"

int std_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
__asm__(".symver std_modify_qp, ibv_modify_qp@IBVERBS_1.1");

EXP_EXPORT
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return exp_modify_qp(qp, attr, mask, std_modify_qp);
}
