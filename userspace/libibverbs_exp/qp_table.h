/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of the QPs that support masked atomics, and of the DC initiators.
 */
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
 * A QP that supports masked atomics, or a DC initiator.
 *
 * Lifetime: programs destroy QPs with ibv_destroy_qp(), which this library
 * intercepts only if it precedes libibverbs in symbol lookup (interpose.c), or
 * if the QP is emulated (emu_hook.c).
 * Entries are found by the address of the QP (table.h). An entry remains after
 * its QP was destroyed, and is reused for the next QP at that address.
 * Therefore only exp_qp_find() may match entries with QPs.
 *
 * Locking: entry and qp never change. The other members are written before
 * ibv_exp_create_qp() returns the QP.
 */
struct exp_qp {
	struct exp_entry entry;
	struct ibv_qp *qp;

	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq;
	uint32_t handle;
	uint32_t qp_num;
	struct ibv_qp_ex *qpx;	/* NULL: created without builders */
	const struct exp_backend *backend;	/* NULL: entry not in use */

	enum ibv_exp_atomic_cap atomic_cap;
	bool has_atomics;	/* false: all atomics are refused */
	bool inline_recv;	/* has inline receive */
	bool is_dci;		/* DC initiator */
	uint32_t max_atomic_arg;	/* bytes */
	uint32_t max_send_sge;
	uint64_t sizes;		/* bit n: 2^n bytes */

	struct mxedv_qp_ex *mqp;	/* of backend_mxe.c */
	struct emu_qp *emu;		/* of backend_emu.c, owned */
	struct mlx5dv_qp_ex *mlx5_qpx;	/* of backend_mlx5.c */
	struct exp_mlx5_sq *mlx5_sq;	/* of backend_mlx5.c, owned */
};

const struct exp_qp *exp_qp_find(struct ibv_qp *qp);
void exp_qp_add(struct ibv_qp *qp, struct exp_qp *new);
void exp_qp_forget(const struct ibv_qp *qp);
int exp_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  int (*std)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			     int mask));
int exp_destroy_qp(struct ibv_qp *qp, int (*std)(struct ibv_qp *qp));

#endif /* EXP_QP_TABLE_H */
