/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The backend of mlx5, for ConnectX-4 and later. */
#ifndef EXP_BACKEND_MLX5_H
#define EXP_BACKEND_MLX5_H

struct exp_backend;

extern const struct exp_backend exp_backend_mlx5;

#endif /* EXP_BACKEND_MLX5_H */
