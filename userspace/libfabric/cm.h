/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The calls that connect endpoints. */
#ifndef MXEFI_CM_H
#define MXEFI_CM_H

#include <stddef.h>
#include <rdma/fi_cm.h>

struct mxefi_addr;

extern struct fi_ops_cm mxefi_cm_ops;

int mxefi_copy_addr(const struct mxefi_addr *from, void *addr, size_t *len);

#endif /* MXEFI_CM_H */
