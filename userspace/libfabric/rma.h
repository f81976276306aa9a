/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The calls of FI_RMA. */
#ifndef MXEFI_RMA_H
#define MXEFI_RMA_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fi_rma.h>

struct mxefi_handle;
struct mxefi_report;

extern struct fi_ops_rma mxefi_rma_ops;

ssize_t mxefi_rma_start(const struct mxefi_handle *by,
			const struct fi_msg_rma *msg, uint64_t flags,
			bool is_read, const struct mxefi_report *report);

#endif /* MXEFI_RMA_H */
