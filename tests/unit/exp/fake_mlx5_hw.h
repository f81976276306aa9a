/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The device behind fake_mlx5.c executes one request at a time (fake_mlx5_hw.c). */
#ifndef EXP_FAKE_MLX5_HW_H
#define EXP_FAKE_MLX5_HW_H

#include "fake_mlx5.h"

/* One request at a time is executed in the whole world; guards CQEs as well. */
void fake_mlx5_hw_lock(void);
void fake_mlx5_hw_unlock(void);

#endif /* EXP_FAKE_MLX5_HW_H */
