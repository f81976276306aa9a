/* SPDX-License-Identifier: GPL-2.0 */
/* What mxe adds to the uverbs ioctl ABI. */
#ifndef MXE_UVERBS_H
#define MXE_UVERBS_H

#include <rdma/uverbs_ioctl.h>

extern const struct uapi_definition mxe_uapi_defs[];

#endif /* MXE_UVERBS_H */
