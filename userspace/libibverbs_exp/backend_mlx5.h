/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* mlx5 posts masked atomics as raw work queue entries (WQEs) of rdma-core's libmlx5. */
#ifndef EXP_BACKEND_MLX5_H
#define EXP_BACKEND_MLX5_H

#include <infiniband/mlx5dv.h>

#include "backend.h"

/* ---- backend_mlx5_dv.c: what is taken from libmlx5 ----------------------- */

struct exp_mlx5dv {
	bool (*is_supported)(struct ibv_device *device);
	struct ibv_qp *(*create_qp)(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr,
				    struct mlx5dv_qp_init_attr *mlx5_attr);
	struct mlx5dv_qp_ex *(*qp_ex_from_ibv_qp_ex)(struct ibv_qp_ex *qpx);
	int (*devx_general_cmd)(struct ibv_context *context, const void *in,
				size_t inlen, void *out, size_t outlen);

	/* All of the above are there, and the builder of raw WQEs. */
	bool has_raw_wqe;
};

/* NULL if this machine has no libmlx5; is_supported is there otherwise. */
const struct exp_mlx5dv *exp_mlx5dv(void);

/* ---- backend_mlx5_wqe.c: WQEs -------------------------------------------- */

/* The device's count of 16-byte units has six bits. */
#define EXP_MLX5_MAX_WQE (63 * 16)

/* Control, remote address, and the operands of a compare-and-swap of 32 bytes. */
#define EXP_MLX5_MAX_FIXED (16 + 16 + 4 * 32)
#define EXP_MLX5_MAX_SGE ((EXP_MLX5_MAX_WQE - EXP_MLX5_MAX_FIXED) / 16)

/* Sizes of operands that there are WQEs for: bit n, 2^n bytes. */
#define EXP_MLX5_SIZES (4 | 8 | 16 | 32)

/*
 * Writes the WQE of a masked atomic of such a size, with at most
 * EXP_MLX5_MAX_SGE buffers, and returns its length.
 */
size_t exp_mlx5_wqe(void *wqe, uint32_t qp_num, bool signaled,
		    const struct ibv_exp_send_wr *wr);

/* ---- backend_mlx5_sq.c: what is posted and not completed ----------------- */

struct exp_mlx5_sq;

/*
 * From now on this queue pair's requests are noted, and its completions are
 * corrected in ibv_poll_cq().  `swap`: results of 8 bytes are turned to
 * big-endian.  NULL with errno.
 */
struct exp_mlx5_sq *exp_mlx5_sq_create(struct ibv_qp *qp,
				       const struct ibv_qp_init_attr_ex *attr,
				       bool swap);
void exp_mlx5_sq_destroy(struct exp_mlx5_sq *sq);

/* Their completions are corrected, too.  0 or errno. */
int exp_mlx5_sq_adopt_cq_ex(struct ibv_cq_ex *cq, uint64_t wc_flags);

bool exp_mlx5_sq_signals_all(const struct exp_mlx5_sq *sq);

/* See struct exp_backend. */
void exp_mlx5_sq_begin(struct exp_mlx5_sq *sq);
int exp_mlx5_sq_add(struct exp_mlx5_sq *sq, const struct ibv_exp_send_wr *wr);
void exp_mlx5_sq_end(struct exp_mlx5_sq *sq, bool posted);
void exp_mlx5_sq_reset(struct exp_mlx5_sq *sq);

#endif /* EXP_BACKEND_MLX5_H */
