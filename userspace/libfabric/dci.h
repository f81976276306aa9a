/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Initiators of the dynamically connected (DC) transport. */
#ifndef MXEFI_DCI_H
#define MXEFI_DCI_H

#include <stdbool.h>

struct mxefi_addr;
struct mxefi_ep;
struct mxefi_peer;
struct mxefi_wr;

int mxefi_dci_open(struct mxefi_ep *ep);
void mxefi_dci_close(struct mxefi_ep *ep);
void mxefi_dci_end_all(struct mxefi_ep *ep);
bool mxefi_dci_is_sending(const struct mxefi_ep *ep);
bool mxefi_dci_may_use(const struct mxefi_ep *ep);
bool mxefi_dci_reaches(const struct mxefi_ep *ep,
		       const struct mxefi_addr *addr);
bool mxefi_dci_is_mutual(const struct mxefi_ep *ep,
			 const struct mxefi_addr *addr);
int mxefi_dci_attach(struct mxefi_peer *peer);
void mxefi_dci_detach(struct mxefi_peer *peer);
bool mxefi_dci_is_resolved(const struct mxefi_peer *peer);
bool mxefi_dci_ready(struct mxefi_peer *peer);
int mxefi_dci_post(struct mxefi_wr *wr);
void mxefi_dci_withdraw(struct mxefi_peer *peer);
bool mxefi_dci_is_drained(const struct mxefi_peer *peer);
struct mxefi_peer *mxefi_dci_find(struct mxefi_ep *ep,
				  const struct mxefi_addr *addr);
struct mxefi_peer *mxefi_dci_add(struct mxefi_ep *ep,
				 const struct mxefi_addr *addr);
void mxefi_dci_remove(struct mxefi_peer *peer);

#endif /* MXEFI_DCI_H */
