/* SPDX-License-Identifier: GPL-2.0 */
/* The table of verbs. */
#ifndef MXE_VERBS_H
#define MXE_VERBS_H

#include <rdma/ib_verbs.h>

extern const struct ib_device_ops mxe_device_ops;

#endif /* MXE_VERBS_H */
