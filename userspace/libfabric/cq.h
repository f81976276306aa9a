/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues. */
#ifndef MXEFI_CQ_H
#define MXEFI_CQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fi_eq.h>

#include "progress.h"
#include "wire.h"

/* An event.  Programs see the members up to err_data. */
struct mxefi_completion {
	struct fi_cq_err_entry entry;	/* err is 0 for a success */
	fi_addr_t src;
	struct mxefi_addr from;		/* data of FI_EADDRNOTAVAIL */
};

struct mxefi_cq {
	struct fid_cq fid;
	struct mxefi_domain *dom;
	struct mxefi_ticker ticker;	/* if there is event_fd */
	enum fi_cq_format format;
	enum fi_wait_obj wait_obj;
	int event_fd;		/* readable if there are events; or -1 */
	unsigned int readers;	/* threads in fi_cq_sread() */
	uint64_t signals;	/* calls of fi_cq_signal() */
	bool signaled;		/* while there was no reader */
	bool overrun;		/* an event was lost, and no more are added */
	unsigned int users;
	struct mxefi_completion *ring;
	size_t size, head, count;	/* the ring grows when it is full */
	struct mxefi_addr from;		/* of the last error that was read */
};

int mxefi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		  struct fid_cq **cq, void *context);

struct mxefi_completion *mxefi_cq_begin(struct mxefi_cq *cq, void *context,
					uint64_t flags, int err);
void mxefi_cq_add(struct mxefi_cq *cq);
bool mxefi_cq_empty(const struct mxefi_cq *cq);

#endif /* MXEFI_CQ_H */
