// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_destroy_qp() in front of the one of libibverbs, because some backends have
 * something that goes with a queue pair.  Found as in dereg.c; with the other it
 * stays until a queue pair is created at that address.
 */
#include "backend.h"

int std_destroy_qp(struct ibv_qp *qp);
__asm__(".symver std_destroy_qp, ibv_destroy_qp@IBVERBS_1.1");

EXP_EXPORT
int ibv_destroy_qp(struct ibv_qp *qp)
{
	return exp_destroy_qp(qp, std_destroy_qp);
}
