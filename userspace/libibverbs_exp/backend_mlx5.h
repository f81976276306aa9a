/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The mlx5 backend posts masked atomics as raw WQEs of libmlx5. */
#ifndef EXP_BACKEND_MLX5_H
#define EXP_BACKEND_MLX5_H

#include <infiniband/mlx5dv.h>

#include "backend.h"

/* ---- backend_mlx5_dv.c: functions of libmlx5 ----------------------------- */

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
 * Return: its functions, of which is_supported is not NULL, or NULL if libmlx5
 * is not installed.
 */
const struct exp_mlx5dv *exp_mlx5dv(void);

/* ---- backend_mlx5_wqe.c: WQEs -------------------------------------------- */

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

/**
 * exp_mlx5_wqe() - Write the WQE of a masked atomic.
 * @wqe: room for EXP_MLX5_MAX_WQE bytes
 * @qp_num: number of the QP
 * @xrc: true if the QP is an XRC initiator
 * @av: address of the DC target if the QP is a DC initiator, else NULL
 * @signaled: true to request a completion
 * @wr: request with an operand size of EXP_MLX5_SIZES and at most
 *	EXP_MLX5_MAX_SGE SGEs, or EXP_MLX5_MAX_SGE_DC if @av is not NULL
 *
 * Return: length of the WQE in bytes.
 */
size_t exp_mlx5_wqe(void *wqe, uint32_t qp_num, bool xrc,
		    const struct mlx5_wqe_av *av, bool signaled,
		    const struct ibv_exp_send_wr *wr);

/* ---- backend_mlx5_sq.c: tracking of requests in flight ------------------- */

struct exp_mlx5_sq;

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

#endif /* EXP_BACKEND_MLX5_H */
