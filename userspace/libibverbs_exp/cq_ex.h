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

/**
 * exp_cq_ex_hook() - Begin to track the extended CQs of a context.
 * @context: the context, whose backend adopts the CQs
 */
void exp_cq_ex_hook(struct ibv_context *context);

/**
 * exp_open_device() - Implement ibv_open_device().
 * @device: the device
 * @std: ibv_open_device() of libibverbs
 *
 * Calls exp_cq_ex_hook() and exp_backend_adopt().
 *
 * Return: the context, or NULL with errno.
 */
struct ibv_context *
exp_open_device(struct ibv_device *device,
		struct ibv_context *(*std)(struct ibv_device *device));

/**
 * exp_cq_ex_of() - Get the extended CQ of a CQ.
 * @cq: the CQ
 * @wc_flags: filled in with the IBV_WC_EX_WITH_* flags of its creation, or 0
 *
 * Return: @cq, or NULL if it is not known to be extended.
 */
struct ibv_cq_ex *exp_cq_ex_of(struct ibv_cq *cq, uint64_t *wc_flags);

/*
 * In the flags of exp_cq_ex_of(): the CQ is that of a tag-matching SRQ.  The
 * standard verbs do not use this bit.
 */
#define EXP_CQ_HAS_TM (1ull << 62)

/**
 * exp_cq_ex_set_tm() - Note that a CQ is that of a tag-matching SRQ.
 * @cq: the CQ
 */
void exp_cq_ex_set_tm(struct ibv_cq *cq);

/**
 * exp_destroy_cq() - Implement ibv_destroy_cq().
 * @cq: any CQ
 * @std: ibv_destroy_cq() of libibverbs
 *
 * Return: as ibv_destroy_cq().
 */
int exp_destroy_cq(struct ibv_cq *cq, int (*std)(struct ibv_cq *cq));

#endif /* EXP_CQ_EX_H */
