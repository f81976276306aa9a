/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* cq_ex.c keeps account of extended completion queues. */
#ifndef EXP_CQ_EX_H
#define EXP_CQ_EX_H

#include <stdint.h>
#include <infiniband/verbs.h>

/*
 * From now on extended completion queues of the context are known, and
 * adopted by its backend.
 */
void exp_cq_ex_hook(struct ibv_context *context);

/* ibv_open_device(), with `std` as the one of libibverbs: the context is seen. */
struct ibv_context *
exp_open_device(struct ibv_device *device,
		struct ibv_context *(*std)(struct ibv_device *device));

/*
 * Returns cq, if it is known to be extended, and what can be read of its
 * completions; else NULL.
 */
struct ibv_cq_ex *exp_cq_ex_of(struct ibv_cq *cq, uint64_t *wc_flags);

/* ibv_destroy_cq(), with `std` as the one of libibverbs. */
int exp_destroy_cq(struct ibv_cq *cq, int (*std)(struct ibv_cq *cq));

#endif /* EXP_CQ_EX_H */
