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

/**
 * mxefi_deferred_setup() - Prepare an endpoint for calls with FI_TRIGGER.
 * @ep: endpoint
 */
void mxefi_deferred_setup(struct mxefi_ep *ep);

/**
 * mxefi_deferred_setup_domain() - Prepare a domain for deferred work.
 * @dom: domain
 */
void mxefi_deferred_setup_domain(struct mxefi_domain *dom);

/**
 * mxefi_deferred_control() - Queue or cancel deferred work. Takes the lock.
 * @dom: domain
 * @command: FI_QUEUE_WORK, FI_CANCEL_WORK or FI_FLUSH_WORK
 * @work: work; for FI_FLUSH_WORK, NULL
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_deferred_control(struct mxefi_domain *dom, int command,
			   struct fi_deferred_work *work);

/**
 * mxefi_deferred_cancel() - Cancel a call that waits for its trigger.
 * @ep: endpoint
 * @context: context of the call
 *
 * Return: 0, or -FI_ENOENT if no such call has this context.
 */
ssize_t mxefi_deferred_cancel(struct mxefi_ep *ep, const void *context);

/**
 * mxefi_deferred_forget() - Drop the calls of an endpoint that is closed.
 * @ep: endpoint
 */
void mxefi_deferred_forget(struct mxefi_ep *ep);

#endif /* MXEFI_DEFERRED_H */
