/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The peer that an address of libfabric means. */
#ifndef MXEFI_ROUTE_H
#define MXEFI_ROUTE_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fabric.h>

struct mxefi_ep;
struct mxefi_peer;

/**
 * mxefi_route_setup() - Free the peers of removed addresses from now on.
 * @ep: endpoint
 */
void mxefi_route_setup(struct mxefi_ep *ep);

/**
 * mxefi_route_teardown() - Forget all addresses.
 * @ep: endpoint, which need not be set up
 */
void mxefi_route_teardown(struct mxefi_ep *ep);

/**
 * mxefi_route_get() - Find or make the peer of an address.
 * @ep: endpoint
 * @fi_addr: address of libfabric
 *
 * Return: the peer, which may not be connected yet, or NULL if the address is
 * not valid or memory is short.
 */
struct mxefi_peer *mxefi_route_get(struct mxefi_ep *ep, fi_addr_t fi_addr);

/**
 * mxefi_route_index() - Find the receive context that an address names.
 * @ep: endpoint
 * @fi_addr: address of fi_rx_addr(), or any other
 *
 * Return: its index, or 0.
 */
uint16_t mxefi_route_index(const struct mxefi_ep *ep, fi_addr_t fi_addr);

/**
 * mxefi_route_error() - Get the error that a call returns if there is no peer.
 * @ep: endpoint
 *
 * Return: a negative error of libfabric.
 */
int mxefi_route_error(const struct mxefi_ep *ep);

/**
 * mxefi_route_source() - Find the address that a message came from.
 * @peer: peer
 *
 * Return: address of libfabric, or FI_ADDR_NOTAVAIL if the program has not
 * inserted it.
 */
fi_addr_t mxefi_route_source(struct mxefi_peer *peer);

#endif /* MXEFI_ROUTE_H */
