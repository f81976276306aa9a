/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared transmit contexts. */
#ifndef MXEFI_STX_H
#define MXEFI_STX_H

#include <rdma/fi_endpoint.h>

struct mxefi_domain;

/*
 * The endpoints of a domain share the queues of the device anyway, so this has
 * nothing that they use. It may be closed before them: Sandia OpenSHMEM does.
 */
struct mxefi_stx {
	struct fid_stx fid;
	struct mxefi_domain *dom;
};

int mxefi_stx_open(struct fid_domain *domain, struct fi_tx_attr *attr,
		   struct fid_stx **stx, void *context);

#endif /* MXEFI_STX_H */
