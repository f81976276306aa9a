/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tag-matching SRQs of the end-to-end tests. */
#ifndef TM_H
#define TM_H

#include "vt.h"

/**
 * tm_cq() - Create a CQ for a tag-matching SRQ.
 * @dev: device
 *
 * Return: the CQ.
 */
static inline struct ibv_cq_ex *tm_cq(struct vt_dev *dev)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4096,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_TM_INFO,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(dev->ctx, &attr);

	if (!cq)
		vt_bail("ibv_create_cq_ex");
	return cq;
}

/**
 * tm_srq() - Create a tag-matching SRQ.
 * @dev: device
 * @cq: result of tm_cq()
 * @max_wr: receive requests
 * @tags: tags
 * @ops: operations that can be outstanding
 *
 * Return: the SRQ, or NULL with errno.
 */
static inline struct ibv_srq *tm_srq(struct vt_dev *dev, struct ibv_cq_ex *cq,
				     uint32_t max_wr, uint32_t tags, uint32_t ops)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = max_wr, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = dev->pd,
		.cq = ibv_cq_ex_to_cq(cq),
		.tm_cap = { .max_num_tags = tags, .max_ops = ops },
	};

	return ibv_create_srq_ex(dev->ctx, &attr);
}

#endif /* TM_H */
