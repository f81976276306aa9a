// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomics whose target is a tagged receive buffer (FI_TAGGED). The request is a
 * message that takes a receive as a tagged message does. The provider at the
 * target executes it with atomics of the CPU, so the device must be atomic with
 * respect to the CPU: mxe is, for up to 8 bytes.
 */
#include <string.h>

#include "device.h"
#include "domain.h"
#include "ep.h"
#include "tagged_atomic.h"
#include "wire.h"

/* An element as bytes and as a word in the byte order of the host. */
union word {
	uint8_t image[MXEFI_MAX_TAGGED_ELEMENT];
	uint8_t of_1;
	uint16_t of_2;
	uint32_t of_4;
	uint64_t of_8;
};

static_assert(sizeof(union word) == MXEFI_MAX_TAGGED_ELEMENT, "union word");

static void load(union word *word, const void *at, size_t size)
{
	switch (size) {
	case 1:
		word->of_1 = __atomic_load_n((const uint8_t *)at, __ATOMIC_SEQ_CST);
		return;
	case 2:
		word->of_2 = __atomic_load_n((const uint16_t *)at, __ATOMIC_SEQ_CST);
		return;
	case 4:
		word->of_4 = __atomic_load_n((const uint32_t *)at, __ATOMIC_SEQ_CST);
		return;
	default:
		word->of_8 = __atomic_load_n((const uint64_t *)at, __ATOMIC_SEQ_CST);
	}
}

#define SWAP(at, old, new_value)						\
	__atomic_compare_exchange_n(at, &(old), new_value, false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/* Stores @new_value if the element still is *@old, which becomes its value. */
static bool swap(void *at, size_t size, union word *old,
		 const union word *new_value)
{
	switch (size) {
	case 1:
		return SWAP((uint8_t *)at, old->of_1, new_value->of_1);
	case 2:
		return SWAP((uint16_t *)at, old->of_2, new_value->of_2);
	case 4:
		return SWAP((uint32_t *)at, old->of_4, new_value->of_4);
	default:
		return SWAP((uint64_t *)at, old->of_8, new_value->of_8);
	}
}

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
				   enum fi_datatype type)
{
	return dev->attr.atomic_cap == IBV_ATOMIC_GLOB &&
	       mxefi_op_valid(form, op, type) &&
	       mxefi_type_size(type) <= MXEFI_MAX_TAGGED_ELEMENT;
}

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
			      const struct mxefi_msg *msg, size_t len)
{
	uint64_t need = FI_ATOMIC;
	size_t operands, size;

	if (msg->atomic.form > MXEFI_COMPARE)
		return FI_EINVAL;
	need |= msg->atomic.form == MXEFI_BASE ? FI_REMOTE_WRITE :
						 FI_REMOTE_READ;
	if ((ep->caps & need) != need)
		return FI_EACCES;
	if (!mxefi_tagged_atomic_supported(&ep->dom->dev, msg->atomic.form,
					   msg->atomic.op,
					   msg->atomic.datatype))
		return FI_EOPNOTSUPP;
	operands = (msg->atomic.op != FI_ATOMIC_READ) +
		   (msg->atomic.form == MXEFI_COMPARE);
	size = mxefi_type_size(msg->atomic.datatype);
	if (!msg->len || msg->len > MXEFI_MAX_ATOMIC_COUNT * size ||
	    msg->len % size || operands * msg->len != len)
		return FI_EINVAL;
	return 0;
}

/* Returns an element of a buffer, or NULL if it is not whole or not aligned. */
static void *find(const struct iovec *iov, size_t iov_count, uint64_t offset,
		  size_t size)
{
	uint8_t *at;

	for (; iov_count && offset >= iov->iov_len; iov_count--)
		offset -= (iov++)->iov_len;
	if (!iov_count || iov->iov_len - offset < size)
		return NULL;
	at = (uint8_t *)iov->iov_base + offset;
	return (uintptr_t)at % size ? NULL : at;
}

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
				size_t iov_count, uint8_t *results)
{
	enum fi_op op = msg->atomic.op;
	enum fi_datatype type = msg->atomic.datatype;
	size_t size = mxefi_type_size(type), len = msg->len;
	void *elements[MXEFI_MAX_ATOMIC_COUNT];

	/* The offset of a later element only wraps if the first one fails. */
	for (size_t i = 0; i < len / size; i++) {
		elements[i] = find(iov, iov_count, msg->addr + i * size, size);
		if (!elements[i])
			return FI_EINVAL;
	}
	for (size_t i = 0; i < len / size; i++) {
		const uint8_t *src = op == FI_ATOMIC_READ ? NULL :
							    operands + i * size;
		const uint8_t *cmp = msg->atomic.form == MXEFI_COMPARE ?
				     src + len : NULL;
		union word old, new_value;

		load(&old, elements[i], size);
		do {
			mxefi_op_apply(op, type, src, cmp, old.image,
				       new_value.image);
			/* A read, or an operation that changes nothing. */
			if (!memcmp(old.image, new_value.image, size))
				break;
		} while (!swap(elements[i], size, &old, &new_value));
		memcpy(results + i * size, old.image, size);
	}
	return 0;
}
