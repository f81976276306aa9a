/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Atomics whose target is a tagged receive buffer. */
#ifndef MXEFI_TAGGED_ATOMIC_H
#define MXEFI_TAGGED_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "atomic_op.h"

struct mxefi_device;
struct mxefi_ep;
struct mxefi_msg;

#define MXEFI_MAX_TAGGED_ELEMENT 8	/* bytes */
#define MXEFI_MAX_TAGGED_SIZE (MXEFI_MAX_ATOMIC_COUNT * MXEFI_MAX_TAGGED_ELEMENT)

bool mxefi_tagged_atomic_supported(const struct mxefi_device *dev,
				   enum mxefi_form form, enum fi_op op,
				   enum fi_datatype type);
int mxefi_tagged_atomic_check(const struct mxefi_ep *ep,
			      const struct mxefi_msg *msg, size_t len);
int mxefi_tagged_atomic_execute(const struct mxefi_msg *msg,
				const uint8_t *operands, const struct iovec *iov,
				size_t iov_count, uint8_t *results);

#endif /* MXEFI_TAGGED_ATOMIC_H */
