/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The doorbell is the uverbs object through which processes ring for their queue
 * pairs (doorbell.c).
 */
#ifndef MXE_DOORBELL_H
#define MXE_DOORBELL_H

#include <rdma/uverbs_ioctl.h>

extern const struct uapi_definition mxe_doorbell_defs[];

#endif /* MXE_DOORBELL_H */
