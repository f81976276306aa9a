/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The device of fake_mlx5.c executes one request at a time (fake_mlx5_hw.c). */
#ifndef EXP_FAKE_MLX5_HW_H
#define EXP_FAKE_MLX5_HW_H

#include "fake_mlx5.h"

/**
 * fake_mlx5_hw_lock() - Lock the execution of requests.
 *
 * One lock for all QPs, which also protects the CQEs.
 */
void fake_mlx5_hw_lock(void);

/**
 * fake_mlx5_hw_unlock() - Unlock the execution of requests.
 */
void fake_mlx5_hw_unlock(void);

#endif /* EXP_FAKE_MLX5_HW_H */
