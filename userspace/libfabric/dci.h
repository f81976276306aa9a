/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Initiators of the dynamically connected (DC) transport. */
#ifndef MXEFI_DCI_H
#define MXEFI_DCI_H

#include <stdbool.h>

struct mxefi_addr;
struct mxefi_ep;
struct mxefi_peer;

/**
 * mxefi_dci_open() - Creates the DC initiators of an endpoint.
 * @ep: endpoint
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_dci_open(struct mxefi_ep *ep);

/**
 * mxefi_dci_close() - Ends all requests and destroys the DC initiators.
 * @ep: endpoint, which is closing or has no requests
 */
void mxefi_dci_close(struct mxefi_ep *ep);

/**
 * mxefi_dci_end_all() - Ends all requests, because the device was removed.
 * @ep: endpoint, which need not have initiators
 */
void mxefi_dci_end_all(struct mxefi_ep *ep);

/**
 * mxefi_dci_is_sending() - Checks whether DC requests are in flight.
 * @ep: endpoint
 *
 * Return: true if some are, or wait for it.
 */
bool mxefi_dci_is_sending(const struct mxefi_ep *ep);

/**
 * mxefi_dci_reaches() - Checks whether an endpoint can use DC to an address.
 * @ep: endpoint on a device with DC
 * @addr: address
 *
 * Return: true if it has a DC target whose path MTU is not smaller than ours.
 */
bool mxefi_dci_reaches(const struct mxefi_ep *ep,
		       const struct mxefi_addr *addr);

/**
 * mxefi_dci_find() - Finds the peer with a DC target.
 * @ep: endpoint
 * @addr: address with the target
 *
 * Return: the peer, or NULL.
 */
struct mxefi_peer *mxefi_dci_find(struct mxefi_ep *ep,
				  const struct mxefi_addr *addr);

/**
 * mxefi_dci_add() - Adds a peer with a DC target.
 * @ep: endpoint with initiators
 * @addr: address with the target
 *
 * Return: the peer, or NULL if it has no route or memory is short.
 */
struct mxefi_peer *mxefi_dci_add(struct mxefi_ep *ep,
				 const struct mxefi_addr *addr);

#endif /* MXEFI_DCI_H */
