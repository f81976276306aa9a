// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_dereg_mr() in front of the one of libibverbs, because it frees what
 * ibv_exp_reg_mr() has allocated.  Programs that are linked with this library
 * first, as the linker script and pkg-config do, find this one.  With the other
 * the memory stays.
 */
#include "calls.h"

int std_dereg_mr(struct ibv_mr *mr);
__asm__(".symver std_dereg_mr, ibv_dereg_mr@IBVERBS_1.1");

EXP_EXPORT
int ibv_dereg_mr(struct ibv_mr *mr)
{
	return exp_dereg_mr(mr, std_dereg_mr);
}
