/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Address vectors. */
#ifndef MXEFI_AV_H
#define MXEFI_AV_H

#include <stddef.h>
#include <rdma/fi_domain.h>

struct mxefi_addr;
struct mxefi_domain;

struct mxefi_av {
	struct fid_av fid;
	struct mxefi_domain *dom;
	unsigned int users;
	struct mxefi_addr *addrs;	/* id 0: removed */
	size_t size, count, removed;
	int rx_ctx_bits;	/* of addresses, for the index of a context */
	uint64_t changes;	/* insertions and removals; from 1 */
};

int mxefi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		  struct fid_av **av, void *context);

const struct mxefi_addr *mxefi_av_get(struct mxefi_av *av, fi_addr_t fi_addr);
fi_addr_t mxefi_av_find(const struct mxefi_av *av, const struct mxefi_addr *addr);

#endif /* MXEFI_AV_H */
