/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive contexts. */
#ifndef MXEFI_SRX_H
#define MXEFI_SRX_H

#include <stdint.h>
#include <rdma/fi_endpoint.h>

#include "context.h"

struct mxefi_domain;

struct mxefi_srx {
	struct mxefi_handle self;	/* without an endpoint */
	struct mxefi_domain *dom;
	uint64_t caps;
	unsigned int users;		/* endpoints */
	struct mxefi_recvs recvs;
};

static inline struct mxefi_srx *to_srx(struct fid_ep *fid)
{
	return container_of(to_handle(fid), struct mxefi_srx, self);
}

static inline struct mxefi_srx *fid_to_srx(struct fid *fid)
{
	return to_srx(container_of(fid, struct fid_ep, fid));
}

int mxefi_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr,
		   struct fid_ep **srx, void *context);

#endif /* MXEFI_SRX_H */
