// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Replaces std.c, backend_mxe_dv.c and backend_mlx5_dv.c in the static library,
 * because a static program cannot load libraries.
 *
 * A static program chooses its providers when it is linked. A provider that it
 * lacks has no devices. Therefore the functions of libmxe and libmlx5 are weak:
 * they do not link the provider, and are NULL without it.
 */
#include "backend_mlx5_dv.h"
#include "backend_mxe_dv.h"
#include "std.h"

#pragma weak mxedv_is_supported
#pragma weak mxedv_query_device
#pragma weak mxedv_create_qp
#pragma weak mxedv_qp_ex_from_ibv_qp_ex
#pragma weak mxedv_query_dct
#pragma weak mxedv_arm_dct
#pragma weak mlx5dv_is_supported
#pragma weak mlx5dv_create_qp
#pragma weak mlx5dv_qp_ex_from_ibv_qp_ex
#pragma weak mlx5dv_devx_general_cmd
#pragma weak mlx5dv_init_obj

const struct exp_std *exp_std(void)
{
	static const struct exp_std std = {
		.ack_async_event = __real_ibv_ack_async_event,
		.close_device = __real_ibv_close_device,
		.create_qp = __real_ibv_create_qp,
		.dereg_mr = __real_ibv_dereg_mr,
		.destroy_cq = __real_ibv_destroy_cq,
		.destroy_qp = __real_ibv_destroy_qp,
		.destroy_srq = __real_ibv_destroy_srq,
		.get_async_event = __real_ibv_get_async_event,
		.open_device = __real_ibv_open_device,
		.modify_qp = __real_ibv_modify_qp,
	};

	return &std;
}

const struct exp_mxedv *exp_mxedv(const struct ibv_context *context)
{
	static const struct exp_mxedv dv = {
		.is_supported = mxedv_is_supported,
		.query_device = mxedv_query_device,
		.create_qp = mxedv_create_qp,
		.qp_ex_from_ibv_qp_ex = mxedv_qp_ex_from_ibv_qp_ex,
		.query_dct = mxedv_query_dct,
		.arm_dct = mxedv_arm_dct,
	};

	(void)context;
	return dv.is_supported ? &dv : NULL;
}

/* The headers, of the same release as libmlx5, have the builder of raw WQEs. */
const struct exp_mlx5dv *exp_mlx5dv(void)
{
	static const struct exp_mlx5dv dv = {
		.is_supported = mlx5dv_is_supported,
		.create_qp = mlx5dv_create_qp,
		.qp_ex_from_ibv_qp_ex = mlx5dv_qp_ex_from_ibv_qp_ex,
		.devx_general_cmd = mlx5dv_devx_general_cmd,
		.init_obj = mlx5dv_init_obj,
		.has_raw_wqe = true,
	};

	return dv.is_supported ? &dv : NULL;
}
