// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Replaces std.c of libibverbs_exp, so that it calls the libibverbs of the
 * other fakes. Not every test defines all of these calls.
 */
#include "std.h"

#pragma weak ibv_close_device
#pragma weak ibv_dereg_mr
#pragma weak ibv_destroy_cq
#pragma weak ibv_destroy_qp
#pragma weak ibv_open_device
#pragma weak ibv_modify_qp

const struct exp_std *exp_std(void)
{
	static const struct exp_std std = {
		.close_device = ibv_close_device,
		.dereg_mr = ibv_dereg_mr,
		.destroy_cq = ibv_destroy_cq,
		.destroy_qp = ibv_destroy_qp,
		.open_device = ibv_open_device,
		.modify_qp = ibv_modify_qp,
	};

	return &std;
}
