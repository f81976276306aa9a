/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory regions. */
#ifndef MXEFI_MR_H
#define MXEFI_MR_H

#include <rdma/fi_domain.h>

extern struct fi_ops_mr mxefi_mr_ops;

#endif /* MXEFI_MR_H */
