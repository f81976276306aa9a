/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Connecting by hellos. */
#ifndef MXEFI_HELLO_H
#define MXEFI_HELLO_H

#include <stddef.h>

struct mxefi_addr;
struct mxefi_ep;
struct mxefi_hello;

/**
 * mxefi_hello_setup() - Set the functions that connect an endpoint.
 * @ep: endpoint
 */
void mxefi_hello_setup(struct mxefi_ep *ep);

/**
 * mxefi_hello_start() - Connect an endpoint of type FI_EP_MSG.
 * @ep: endpoint
 * @peer: address of a passive endpoint, or of the endpoint that has asked
 * @request: hello that is accepted, or NULL
 * @data: data of the program
 * @len: their length in bytes
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_hello_start(struct mxefi_ep *ep, const struct mxefi_addr *peer,
		     const struct mxefi_hello *request, const void *data,
		     size_t len);

#endif /* MXEFI_HELLO_H */
