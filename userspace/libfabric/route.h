/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The peer that an address of libfabric means. */
#ifndef MXEFI_ROUTE_H
#define MXEFI_ROUTE_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fabric.h>

struct mxefi_ep;
struct mxefi_peer;

void mxefi_route_setup(struct mxefi_ep *ep);
void mxefi_route_teardown(struct mxefi_ep *ep);
struct mxefi_peer *mxefi_route_get(struct mxefi_ep *ep, fi_addr_t fi_addr);
uint16_t mxefi_route_index(const struct mxefi_ep *ep, fi_addr_t fi_addr);
int mxefi_route_error(const struct mxefi_ep *ep);
fi_addr_t mxefi_route_source(struct mxefi_peer *peer);

#endif /* MXEFI_ROUTE_H */
