/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The calls of FI_ATOMIC. */
#ifndef MXEFI_ATOMIC_H
#define MXEFI_ATOMIC_H

#include <stdint.h>
#include <rdma/fi_atomic.h>

#include "atomic_op.h"

struct mxefi_call;
struct mxefi_handle;
struct mxefi_report;

extern struct fi_ops_atomic mxefi_atomic_ops;

ssize_t mxefi_atomic_start(const struct mxefi_handle *by,
			   enum mxefi_form form, const struct mxefi_call *args,
			   const struct mxefi_report *report);

int mxefi_atomic_query(struct fid_domain *domain, enum fi_datatype datatype,
		       enum fi_op op, struct fi_atomic_attr *attr,
		       uint64_t flags);

#endif /* MXEFI_ATOMIC_H */
