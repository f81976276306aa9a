/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Receiving messages. */
#ifndef MXEFI_RECV_H
#define MXEFI_RECV_H

#include <stdint.h>
#include <sys/types.h>

struct fi_msg_tagged;
struct fid_ep;
struct mxefi_ep;
struct mxefi_handle;
struct mxefi_recvs;
struct mxefi_report;

/**
 * mxefi_recv_setup() - Prepare an endpoint for messages.
 * @ep: endpoint
 */
void mxefi_recv_setup(struct mxefi_ep *ep);

/**
 * mxefi_recv() - Post a receive or find a message. Takes the lock itself.
 * @ep: endpoint
 * @kind: FI_MSG or FI_TAGGED
 * @m: buffers, tag and source
 * @flags: flags of the call
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_recv(struct fid_ep *ep, uint64_t kind,
		   const struct fi_msg_tagged *m, uint64_t flags);

/**
 * mxefi_recv_start() - Post a receive or find a message.
 * @by: endpoint or context with the call
 * @kind: FI_MSG or FI_TAGGED
 * @m: buffers, tag and source
 * @flags: flags of the call
 * @report: how it reports its end, or NULL
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_recv_start(const struct mxefi_handle *by, uint64_t kind,
			 const struct fi_msg_tagged *m, uint64_t flags,
			 const struct mxefi_report *report);

/**
 * mxefi_recv_cancel() - Cancel a posted receive.
 * @recvs: queues
 * @context: context of the receive
 *
 * Return: 0, or -FI_ENOENT if no receive has this context.
 */
ssize_t mxefi_recv_cancel(struct mxefi_recvs *recvs, const void *context);

/**
 * mxefi_recv_cancel_all() - Cancel all posted receives.
 * @recvs: queues
 */
void mxefi_recv_cancel_all(struct mxefi_recvs *recvs);

#endif /* MXEFI_RECV_H */
