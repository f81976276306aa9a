/* SPDX-License-Identifier: GPL-2.0 */
/* The uverbs method that resizes the queues of a QP (qp_resize.c). */
#ifndef MXE_QP_RESIZE_H
#define MXE_QP_RESIZE_H

#include <rdma/uverbs_ioctl.h>

extern const struct uapi_definition mxe_qp_resize_defs[];

#endif /* MXE_QP_RESIZE_H */
