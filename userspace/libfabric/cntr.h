/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counters. */
#ifndef MXEFI_CNTR_H
#define MXEFI_CNTR_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fi_eq.h>

#include "progress.h"

struct mxefi_cntr {
	struct fid_cntr fid;
	struct mxefi_domain *dom;
	struct mxefi_ticker ticker;	/* if there is event_fd */
	uint64_t value, errors;
	enum fi_wait_obj wait_obj;
	int event_fd;		/* readable if changed; or -1 */
	bool changed;		/* since the program has read it */
	unsigned int users;
};

int mxefi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		    struct fid_cntr **cntr, void *context);

bool mxefi_cntr_has_changed(const struct mxefi_cntr *cntr);
void mxefi_cntr_count(struct mxefi_cntr *cntr, bool error);
void mxefi_cntr_set(struct mxefi_cntr *cntr, uint64_t n);

#endif /* MXEFI_CNTR_H */
