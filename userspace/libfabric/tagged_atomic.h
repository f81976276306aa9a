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

/**
 * mxefi_tagged_atomic_supported() - Check whether a target can execute an
 *	operation.
 * @dev: device of the target
 * @form: form of the call
 * @op: operation
 * @type: datatype
 *
 * Return: true if the operation exists, and the CPU executes it atomically with
 * respect to the atomics of the device.
 */
bool mxefi_tagged_atomic_supported(const struct mxefi_device *dev,
				   enum mxefi_form form, enum fi_op op,
				   enum fi_datatype type);

/**
 * mxefi_tagged_atomic_check() - Check a request of a peer.
 * @ep: endpoint
 * @msg: header of the request
 * @len: bytes that follow it
 *
 * Return: 0 or an errno of libfabric. FI_EACCES: the program has not asked for
 * the atomics of peers. FI_EOPNOTSUPP: not supported here. FI_EINVAL: the
 * lengths do not match.
 */
int mxefi_tagged_atomic_check(const struct mxefi_ep *ep,
			      const struct mxefi_msg *msg, size_t len);

/**
 * mxefi_tagged_atomic_execute() - Execute a request that has been checked.
 * @msg: header of the request
 * @operands: bytes that follow it
 * @iov: receive buffer
 * @iov_count: number of its elements
 * @results: values before, @msg->len bytes
 *
 * Return: 0, or FI_EINVAL: an element is outside of the buffer or not aligned.
 * Then nothing was changed.
 */
int mxefi_tagged_atomic_execute(const struct mxefi_msg *msg,
				const uint8_t *operands, const struct iovec *iov,
				size_t iov_count, uint8_t *results);

#endif /* MXEFI_TAGGED_ATOMIC_H */
