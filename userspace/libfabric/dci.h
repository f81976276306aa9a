/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Initiators of the dynamically connected (DC) transport. */
#ifndef MXEFI_DCI_H
#define MXEFI_DCI_H

#include <stdbool.h>

struct mxefi_addr;
struct mxefi_ep;
struct mxefi_peer;
struct mxefi_wr;

/**
 * mxefi_dci_open() - Create the DC initiators of an endpoint, unless it has
 * them.
 * @ep: endpoint
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_dci_open(struct mxefi_ep *ep);

/**
 * mxefi_dci_close() - End all requests and destroy the DC initiators.
 * @ep: endpoint, which is closing or has no requests
 */
void mxefi_dci_close(struct mxefi_ep *ep);

/**
 * mxefi_dci_end_all() - End all requests, because the device was removed.
 * @ep: endpoint, which need not have initiators
 */
void mxefi_dci_end_all(struct mxefi_ep *ep);

/**
 * mxefi_dci_is_sending() - Check whether DC requests are in flight.
 * @ep: endpoint
 *
 * Return: true if some are, or wait for it.
 */
bool mxefi_dci_is_sending(const struct mxefi_ep *ep);

/**
 * mxefi_dci_may_use() - Check whether an endpoint may use DC.
 * @ep: endpoint
 *
 * Return: true if it may.
 */
bool mxefi_dci_may_use(const struct mxefi_ep *ep);

/**
 * mxefi_dci_reaches() - Check whether an endpoint can use DC to an address.
 * @ep: endpoint
 * @addr: address
 *
 * Return: true if it has a DC target whose path MTU is not smaller than ours.
 */
bool mxefi_dci_reaches(const struct mxefi_ep *ep,
		       const struct mxefi_addr *addr);

/**
 * mxefi_dci_is_mutual() - Check whether two endpoints can use DC both ways.
 * @ep: endpoint
 * @addr: address of the other one
 *
 * Return: true if both have DC targets of the same path MTU.
 */
bool mxefi_dci_is_mutual(const struct mxefi_ep *ep,
			 const struct mxefi_addr *addr);

/**
 * mxefi_dci_attach() - Let the initiators serve a peer.
 * @peer: peer of an endpoint with initiators, whose address has a DC target
 *
 * Return: 0 or -FI_ENOMEM.
 */
int mxefi_dci_attach(struct mxefi_peer *peer);

/**
 * mxefi_dci_detach() - Undo mxefi_dci_attach().
 * @peer: peer that is drained, or is not attached
 */
void mxefi_dci_detach(struct mxefi_peer *peer);

/**
 * mxefi_dci_is_resolved() - Check whether the address of a peer is resolved.
 * @peer: peer
 *
 * Return: true if the address of the peer's host is resolved. If not, this
 * begins, and at its end on_resolved() is called for each connection to a peer
 * of that host.
 */
bool mxefi_dci_is_resolved(const struct mxefi_peer *peer);

/**
 * mxefi_dci_ready() - Implement ready() of channels over DC.
 * @peer: peer
 *
 * Return: true if a request can be posted now.
 */
bool mxefi_dci_ready(struct mxefi_peer *peer);

/**
 * mxefi_dci_post() - Implement post() of channels over DC.
 * @wr: request
 *
 * Return: 0, or an error and it is not posted.
 */
int mxefi_dci_post(struct mxefi_wr *wr);

/**
 * mxefi_dci_withdraw() - Forget that a peer waits for room.
 * @peer: peer without requests that are queued
 */
void mxefi_dci_withdraw(struct mxefi_peer *peer);

/**
 * mxefi_dci_is_drained() - Check whether a peer has no requests in flight.
 * @peer: peer
 *
 * Return: true if none is in flight or is to be posted again.
 */
bool mxefi_dci_is_drained(const struct mxefi_peer *peer);

/**
 * mxefi_dci_find() - Find a peer with a DC target and without a connection.
 * @ep: endpoint
 * @addr: address with the target
 *
 * Return: the peer, or NULL.
 */
struct mxefi_peer *mxefi_dci_find(struct mxefi_ep *ep,
				  const struct mxefi_addr *addr);

/**
 * mxefi_dci_add() - Add such a peer.
 * @ep: endpoint with initiators
 * @addr: address with the target
 *
 * Return: the peer, or NULL if memory is short.
 */
struct mxefi_peer *mxefi_dci_add(struct mxefi_ep *ep,
				 const struct mxefi_addr *addr);

/**
 * mxefi_dci_remove() - Free such a peer as soon as it has no requests.
 * @peer: peer without addresses, which may get one before
 */
void mxefi_dci_remove(struct mxefi_peer *peer);

#endif /* MXEFI_DCI_H */
