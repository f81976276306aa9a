/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Addresses by node and service. */
#ifndef MXEFI_NAME_H
#define MXEFI_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mxefi_addr;
struct mxefi_domain;
struct mxefi_name;

#define MXEFI_RESOLVE_MS 5000	/* to wait for the answer to a question */

int mxefi_name_parse(const char *node, const char *service, uint64_t flags,
		     struct mxefi_addr *addr);
uint32_t mxefi_name_service(const void *addr, size_t len);
bool mxefi_name_is_endpoint(const struct mxefi_addr *addr);
bool mxefi_name_is_loopback(const struct mxefi_addr *addr);
int mxefi_name_resolve(struct mxefi_addr *addr, unsigned int timeout_ms);
struct mxefi_name *mxefi_name_open(struct mxefi_domain *dom, uint32_t port,
				   const struct mxefi_addr *addr);
void mxefi_name_close(struct mxefi_name *name);

#endif /* MXEFI_NAME_H */
