/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* fi_getinfo(). */
#ifndef MXEFI_INFO_H
#define MXEFI_INFO_H

#include <stdint.h>
#include <rdma/fabric.h>

int mxefi_info_get(uint32_t version, const char *node, const char *service,
		   uint64_t flags, const struct fi_info *hints,
		   struct fi_info **info);

#endif /* MXEFI_INFO_H */
