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

/**
 * exp_mlx5_sq_adopt() - Implement adopt() of struct exp_backend.
 * @context: the context
 */
void exp_mlx5_sq_adopt(struct ibv_context *context);

/**
 * exp_mlx5_sq_create() - Begin to track the requests of a QP.
 * @qp: the new QP
 * @attr: attributes with which it was created
 * @swap: true to convert results of 8 bytes to big-endian
 *
 * From now on its completions are corrected in ibv_poll_cq().
 *
 * Return: the send queue, or NULL with errno.
 */
struct exp_mlx5_sq *exp_mlx5_sq_create(struct ibv_qp *qp,
				       const struct ibv_qp_init_attr_ex *attr,
				       bool swap);

/**
 * exp_mlx5_sq_destroy() - Undo exp_mlx5_sq_create().
 * @sq: send queue, which is freed
 */
void exp_mlx5_sq_destroy(struct exp_mlx5_sq *sq);

/**
 * exp_mlx5_sq_adopt_cq_ex() - Correct the completions of an extended CQ, too.
 * @cq: new extended CQ
 * @wc_flags: IBV_WC_EX_WITH_* flags with which it was created
 *
 * Return: 0 or ENOMEM.
 */
int exp_mlx5_sq_adopt_cq_ex(struct ibv_cq_ex *cq, uint64_t wc_flags);

/**
 * exp_mlx5_sq_signals_all() - Check if all requests of a QP are signaled.
 * @sq: the send queue
 *
 * Return: true if the QP was created with sq_sig_all.
 */
bool exp_mlx5_sq_signals_all(const struct exp_mlx5_sq *sq);

/**
 * exp_mlx5_sq_begin() - Implement batch_begin() of struct exp_backend.
 * @sq: the send queue
 */
void exp_mlx5_sq_begin(struct exp_mlx5_sq *sq);

/**
 * exp_mlx5_sq_add() - Implement batch_add() of struct exp_backend.
 * @sq: the send queue
 * @wr: the request
 *
 * Return: 0 or a positive errno.
 */
int exp_mlx5_sq_add(struct exp_mlx5_sq *sq, const struct ibv_exp_send_wr *wr);

/**
 * exp_mlx5_sq_end() - Implement batch_end() of struct exp_backend.
 * @sq: the send queue
 * @posted: true if the requests of the batch are to be posted
 */
void exp_mlx5_sq_end(struct exp_mlx5_sq *sq, bool posted);

/**
 * exp_mlx5_sq_reset() - Implement reset() of struct exp_backend.
 * @sq: the send queue
 */
void exp_mlx5_sq_reset(struct exp_mlx5_sq *sq);

#endif /* EXP_BACKEND_MLX5_SQ_H */
