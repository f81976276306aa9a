/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The calls of FI_MSG. */
#ifndef MXEFI_MSG_H
#define MXEFI_MSG_H

#include <rdma/fi_endpoint.h>

extern struct fi_ops_msg mxefi_msg_ops;

#endif /* MXEFI_MSG_H */
