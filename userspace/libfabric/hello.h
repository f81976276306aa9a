/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Connecting by hellos. */
#ifndef MXEFI_HELLO_H
#define MXEFI_HELLO_H

#include <stddef.h>

struct mxefi_addr;
struct mxefi_ep;
struct mxefi_hello;

void mxefi_hello_setup(struct mxefi_ep *ep);
int mxefi_hello_start(struct mxefi_ep *ep, const struct mxefi_addr *peer,
		     const struct mxefi_hello *request, const void *data,
		     size_t len);

#endif /* MXEFI_HELLO_H */
