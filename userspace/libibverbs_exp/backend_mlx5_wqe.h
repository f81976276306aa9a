/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The WQEs of masked atomics of mlx5. */
#ifndef EXP_BACKEND_MLX5_WQE_H
#define EXP_BACKEND_MLX5_WQE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ibv_exp_send_wr;
struct mlx5_wqe_av;

/* Bytes. The count of 16-byte units in a WQE has six bits. */
#define EXP_MLX5_MAX_WQE (63 * 16)

/*
 * Control, XRC or address of the DC target, remote address, and operands of a
 * 32-byte compare-and-swap.
 */
#define EXP_MLX5_MAX_FIXED (16 + 16 + 16 + 4 * 32)
#define EXP_MLX5_MAX_FIXED_DC (16 + 48 + 16 + 4 * 32)
#define EXP_MLX5_MAX_SGE ((EXP_MLX5_MAX_WQE - EXP_MLX5_MAX_FIXED) / 16)
#define EXP_MLX5_MAX_SGE_DC ((EXP_MLX5_MAX_WQE - EXP_MLX5_MAX_FIXED_DC) / 16)

/* Supported operand sizes; bit n is the size of 2^n bytes. */
#define EXP_MLX5_SIZES (4 | 8 | 16 | 32)

size_t exp_mlx5_wqe(void *wqe, uint32_t qp_num, bool xrc,
		    const struct mlx5_wqe_av *av, bool signaled,
		    const struct ibv_exp_send_wr *wr);

#endif /* EXP_BACKEND_MLX5_WQE_H */
