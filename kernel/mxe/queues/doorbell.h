/* SPDX-License-Identifier: GPL-2.0 */
/* The doorbell: the uverbs object through which processes ring (doorbell.c). */
#ifndef MXE_DOORBELL_H
#define MXE_DOORBELL_H

#include <rdma/uverbs_ioctl.h>

extern const struct uapi_definition mxe_doorbell_defs[];

#endif /* MXE_DOORBELL_H */
