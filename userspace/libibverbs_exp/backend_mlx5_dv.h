/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The functions of libmlx5. */
#ifndef EXP_BACKEND_MLX5_DV_H
#define EXP_BACKEND_MLX5_DV_H

#include <stdbool.h>
#include <infiniband/mlx5dv.h>

struct exp_mlx5dv {
	bool (*is_supported)(struct ibv_device *device);
	struct ibv_qp *(*create_qp)(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr,
				    struct mlx5dv_qp_init_attr *mlx5_attr);
	struct mlx5dv_qp_ex *(*qp_ex_from_ibv_qp_ex)(struct ibv_qp_ex *qpx);
	int (*devx_general_cmd)(struct ibv_context *context, const void *in,
				size_t inlen, void *out, size_t outlen);
	int (*init_obj)(struct mlx5dv_obj *obj, uint64_t obj_type);

	/* All of the above, and the builder of raw WQEs, are available. */
	bool has_raw_wqe;
};

/**
 * exp_mlx5dv() - Load libmlx5.
 *
 * Return: the functions of libmlx5, or NULL if it is not installed.  All but
 * is_supported may be NULL.
 */
const struct exp_mlx5dv *exp_mlx5dv(void);

#endif /* EXP_BACKEND_MLX5_DV_H */
