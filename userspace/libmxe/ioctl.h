/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Calls of uverbs methods for which libibverbs has no function. */
#ifndef MXE_IOCTL_H
#define MXE_IOCTL_H

#include <stdint.h>

struct ib_uverbs_attr;
struct ibv_context;

enum { MXE_IOCTL_ATTRS = 4 };

int mxe_ioctl(struct ibv_context *context, uint16_t object, uint16_t method,
	      struct ib_uverbs_attr *attrs, unsigned int num_attrs);
int mxe_ioctl_optional(struct ibv_context *context, uint16_t object,
		       uint16_t method, struct ib_uverbs_attr *attrs,
		       unsigned int num_attrs);

#endif /* MXE_IOCTL_H */
