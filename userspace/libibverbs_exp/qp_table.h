/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* qp_table.c has the table of the queue pairs that take masked atomics. */
#ifndef EXP_QP_TABLE_H
#define EXP_QP_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs_exp.h>

#include "table.h"

struct emu_qp;
struct exp_backend;
struct exp_mlx5_sq;
struct mlx5dv_qp_ex;
struct mxedv_qp_ex;

/*
 * A queue pair that takes masked atomics.
 *
 * Lifetime: queue pairs are destroyed with ibv_destroy_qp(), which this library
 * sees if it stands before libibverbs (interpose.c).  Entries are found by the
 * address of the queue pair (table.h); one whose queue pair is gone stays until
 * one is created at that address.  A match must be proved by exp_qp_find().
 *
 * Locking: `entry` and `qp` never change.  The other fields are written before
 * the caller of ibv_exp_create_qp() knows the queue pair.
 */
struct exp_qp {
	struct exp_entry entry;
	struct ibv_qp *qp;

	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq;
	uint32_t handle;
	uint32_t qp_num;
	struct ibv_qp_ex *qpx;	/* NULL: made without builders */
	const struct exp_backend *backend;	/* NULL: entry not in use */

	enum ibv_exp_atomic_cap atomic_cap;
	bool has_atomics;	/* false: all atomics are refused */
	uint32_t max_atomic_arg;
	uint32_t max_send_sge;
	uint64_t sizes;

	struct mxedv_qp_ex *mqp;	/* of backend_mxe.c */
	struct emu_qp *emu;		/* of backend_emu.c, owned */
	struct mlx5dv_qp_ex *mlx5_qpx;	/* of backend_mlx5.c */
	struct exp_mlx5_sq *mlx5_sq;	/* as well, owned */
};

/* Returns NULL if qp was not created by ibv_exp_create_qp() with a backend. */
const struct exp_qp *exp_qp_find(struct ibv_qp *qp);

/* Takes over `new`, the entry of the queue pair that has just been created. */
void exp_qp_add(struct ibv_qp *qp, struct exp_qp *new);

/* Forgets the queue pair that was at this address before qp was created there. */
void exp_qp_forget(const struct ibv_qp *qp);

/* ibv_modify_qp(), with `std` as the one of libibverbs. */
int exp_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  int (*std)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			     int mask));

/* ibv_destroy_qp(), with `std` as the one of libibverbs. */
int exp_destroy_qp(struct ibv_qp *qp, int (*std)(struct ibv_qp *qp));

#endif /* EXP_QP_TABLE_H */
