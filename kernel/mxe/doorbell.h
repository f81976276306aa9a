/* SPDX-License-Identifier: GPL-2.0 */
/* The uverbs object by which processes ring for their queue pairs. */
#ifndef MXE_DOORBELL_H
#define MXE_DOORBELL_H

#include <rdma/uverbs_ioctl.h>

extern const struct uapi_definition mxe_doorbell_defs[];

#endif /* MXE_DOORBELL_H */
