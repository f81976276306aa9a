/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The calls of FI_RMA. */
#ifndef MXEFI_RMA_H
#define MXEFI_RMA_H

#include <rdma/fi_rma.h>

extern struct fi_ops_rma mxefi_rma_ops;

#endif /* MXEFI_RMA_H */
