/* SPDX-License-Identifier: GPL-2.0 */
/* The uverbs methods of DC targets (dct_uverbs.c). */
#ifndef MXE_DCT_UVERBS_H
#define MXE_DCT_UVERBS_H

#include <rdma/uverbs_ioctl.h>

/* The uverbs methods that mxe adds to QPs. */
extern const struct uapi_definition mxe_dct_uverbs_defs[];

#endif /* MXE_DCT_UVERBS_H */
