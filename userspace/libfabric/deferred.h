/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Calls that wait until a counter triggers them. */
#ifndef MXEFI_DEFERRED_H
#define MXEFI_DEFERRED_H

#include <stdint.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>

struct mxefi_domain;
struct mxefi_ep;

/* The arguments of a call of an endpoint. */
struct mxefi_call {
	uint64_t flags;
	union {
		struct fi_msg_tagged msg;	/* also without a tag */
		struct fi_msg_rma rma;
		struct {
			struct fi_msg_atomic msg;
			struct fi_msg_fetch fetch;
			struct fi_msg_compare compare;
		} atomic;
	};
};

void mxefi_deferred_setup(struct mxefi_ep *ep);
void mxefi_deferred_setup_domain(struct mxefi_domain *dom);
int mxefi_deferred_control(struct mxefi_domain *dom, int command,
			   struct fi_deferred_work *work);
ssize_t mxefi_deferred_cancel(struct mxefi_ep *ep, const void *context);
void mxefi_deferred_forget(struct mxefi_ep *ep);

#endif /* MXEFI_DEFERRED_H */
