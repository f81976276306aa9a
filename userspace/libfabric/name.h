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

/**
 * mxefi_name_parse() - Make an address of a node and a service.
 * @node: name or address of a host, or NULL for this host
 * @service: name or number of a UDP port, or NULL
 * @flags: FI_NUMERICHOST: @node is an address
 * @addr: address with GID and port, but without an endpoint
 *
 * Return: 0, or -FI_ENODATA if there is no such name.
 */
int mxefi_name_parse(const char *node, const char *service, uint64_t flags,
		     struct mxefi_addr *addr);

/**
 * mxefi_name_service() - Get the service of an address that a program gives.
 * @addr: address, or NULL
 * @len: its length in bytes
 *
 * Return: the UDP port, or 0 if the address has none.
 */
uint32_t mxefi_name_service(const void *addr, size_t len);

/**
 * mxefi_name_is_endpoint() - Check the address of an endpoint.
 * @addr: address of unknown origin
 *
 * Return: true if it is well-formed, and not a name that needs an answer.
 */
bool mxefi_name_is_endpoint(const struct mxefi_addr *addr);

/**
 * mxefi_name_is_loopback() - Check whether an address is of this host only.
 * @addr: address
 *
 * Return: true if it is.
 */
bool mxefi_name_is_loopback(const struct mxefi_addr *addr);

/**
 * mxefi_name_resolve() - Ask for the endpoint of an address, and wait.
 * @addr: address of mxefi_name_parse(), which becomes that of the endpoint. An
 *	address of an endpoint remains as it is.
 * @timeout_ms: time in milliseconds
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_name_resolve(struct mxefi_addr *addr, unsigned int timeout_ms);

/**
 * mxefi_name_open() - Answer questions for the address of an endpoint.
 * @dom: domain
 * @port: UDP port
 * @addr: address of the endpoint, which must remain
 *
 * Return: an object for mxefi_name_close(), or NULL if the port is in use.
 */
struct mxefi_name *mxefi_name_open(struct mxefi_domain *dom, uint32_t port,
				   const struct mxefi_addr *addr);

/**
 * mxefi_name_close() - Stop answering.
 * @name: object, or NULL
 */
void mxefi_name_close(struct mxefi_name *name);

#endif /* MXEFI_NAME_H */
