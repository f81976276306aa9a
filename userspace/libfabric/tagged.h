/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The calls of FI_TAGGED. */
#ifndef MXEFI_TAGGED_H
#define MXEFI_TAGGED_H

#include <rdma/fi_tagged.h>

extern struct fi_ops_tagged mxefi_tagged_ops;

#endif /* MXEFI_TAGGED_H */
