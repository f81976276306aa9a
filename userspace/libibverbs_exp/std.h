/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The functions of libibverbs that this library interposes (std.c). */
#ifndef EXP_STD_H
#define EXP_STD_H

#include <infiniband/verbs.h>

struct exp_std {
	int (*close_device)(struct ibv_context *context);
	int (*dereg_mr)(struct ibv_mr *mr);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*destroy_qp)(struct ibv_qp *qp);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
};

/**
 * exp_std() - Get the functions of libibverbs that this library interposes.
 *
 * Return: the functions, never NULL. Aborts the process if libibverbs lacks one
 * of them.
 */
const struct exp_std *exp_std(void);

#endif /* EXP_STD_H */
