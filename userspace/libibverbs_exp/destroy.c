// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_destroy_qp() and ibv_destroy_cq() in front of those of libibverbs, because
 * some backends have something that goes with them.  Found as in dereg.c; with
 * the others it stays until another object is created at that address.
 */
#include "backend.h"
#include "emu.h"

int std_destroy_qp(struct ibv_qp *qp);
__asm__(".symver std_destroy_qp, ibv_destroy_qp@IBVERBS_1.1");

int std_destroy_cq(struct ibv_cq *cq);
__asm__(".symver std_destroy_cq, ibv_destroy_cq@IBVERBS_1.1");

EXP_EXPORT
int ibv_destroy_qp(struct ibv_qp *qp)
{
	return exp_destroy_qp(qp, std_destroy_qp);
}

EXP_EXPORT
int ibv_destroy_cq(struct ibv_cq *cq)
{
	return emu_destroy_cq(cq, std_destroy_cq);
}
