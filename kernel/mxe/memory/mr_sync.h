/* SPDX-License-Identifier: GPL-2.0 */
/* Synchronisation of regions with the memory of the process (mr_sync.c). */
#ifndef MXE_MR_SYNC_H
#define MXE_MR_SYNC_H

#include <rdma/uverbs_ioctl.h>

/* The uverbs method that mxe adds to memory regions. */
extern const struct uapi_definition mxe_mr_sync_defs[];

#endif /* MXE_MR_SYNC_H */
