/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tracks the requests in flight of mlx5 QPs. */
#ifndef EXP_BACKEND_MLX5_SQ_H
#define EXP_BACKEND_MLX5_SQ_H

#include <stdbool.h>
#include <stdint.h>

struct exp_mlx5_sq;
struct ibv_context;
struct ibv_cq_ex;
struct ibv_exp_send_wr;
struct ibv_qp;
struct ibv_qp_init_attr_ex;

void exp_mlx5_sq_adopt(struct ibv_context *context);
struct exp_mlx5_sq *exp_mlx5_sq_create(struct ibv_qp *qp,
				       const struct ibv_qp_init_attr_ex *attr,
				       bool swap);
void exp_mlx5_sq_destroy(struct exp_mlx5_sq *sq);
int exp_mlx5_sq_adopt_cq_ex(struct ibv_cq_ex *ex, uint64_t wc_flags);
bool exp_mlx5_sq_signals_all(const struct exp_mlx5_sq *sq);
void exp_mlx5_sq_begin(struct exp_mlx5_sq *sq);
int exp_mlx5_sq_add(struct exp_mlx5_sq *sq, const struct ibv_exp_send_wr *wr);
void exp_mlx5_sq_end(struct exp_mlx5_sq *sq, bool posted);
void exp_mlx5_sq_reset(struct exp_mlx5_sq *sq);

#endif /* EXP_BACKEND_MLX5_SQ_H */
