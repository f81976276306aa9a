// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Replaces std.c of libibverbs_exp, so that it calls the libibverbs of the
 * other fakes. Not every test defines all of these calls.
 */
#include <errno.h>

#include "std.h"

#pragma weak ibv_close_device
#pragma weak ibv_dereg_mr
#pragma weak ibv_destroy_cq
#pragma weak ibv_destroy_qp
#pragma weak ibv_open_device
#pragma weak ibv_modify_qp

/* objects.c calls these for DC initiators, which only t_exp_dc modifies. */
__attribute__((weak)) int ibv_query_qp(struct ibv_qp *qp,
				       struct ibv_qp_attr *attr, int mask,
				       struct ibv_qp_init_attr *init_attr)
{
	(void)qp;
	(void)attr;
	(void)mask;
	(void)init_attr;
	return EIO;
}

__attribute__((weak)) int ibv_query_gid(struct ibv_context *context,
					uint8_t port_num, int index,
					union ibv_gid *gid)
{
	(void)context;
	(void)port_num;
	(void)index;
	(void)gid;
	return -1;
}

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
