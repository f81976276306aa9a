/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory regions. */
#ifndef MXEFI_MR_H
#define MXEFI_MR_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fi_domain.h>

struct mxefi_domain;

extern struct fi_ops_mr mxefi_mr_ops;

void mxefi_mr_count(struct mxefi_domain *dom, uint32_t rkey, bool reads,
		    bool writes);

#endif /* MXEFI_MR_H */
