/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Extended CQs. */
#ifndef EXP_CQ_EX_H
#define EXP_CQ_EX_H

#include <stdint.h>
#include <infiniband/verbs.h>

/* Readable members of a completion in a CQ with timestamps. */
#define EXP_CQ_TIMED_FLAGS \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)

/* Those in a CQ that may become that of a tag-matching SRQ. */
#define EXP_CQ_TM_FLAGS \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_TM_INFO)

void exp_cq_ex_hook(struct ibv_context *context);
struct ibv_context *
exp_open_device(struct ibv_device *device,
		struct ibv_context *(*std)(struct ibv_device *device));
struct ibv_cq_ex *exp_cq_ex_of(struct ibv_cq *cq, uint64_t *wc_flags);

/*
 * In the flags of exp_cq_ex_of(): the CQ is that of a tag-matching SRQ.  The
 * standard verbs do not use this bit.
 */
#define EXP_CQ_HAS_TM (1ull << 62)

void exp_cq_ex_set_tm(struct ibv_cq *cq);
int exp_destroy_cq(struct ibv_cq *cq, int (*std)(struct ibv_cq *cq));

#endif /* EXP_CQ_EX_H */
