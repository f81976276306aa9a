/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sending messages. */
#ifndef MXEFI_SEND_H
#define MXEFI_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <rdma/fabric.h>

struct fi_msg_tagged;
struct fid_ep;
struct mxefi_handle;
struct mxefi_op;
struct mxefi_report;
struct mxefi_wr;

/**
 * mxefi_send() - Send a message. Takes the lock itself.
 * @ep: endpoint
 * @kind: FI_MSG or FI_TAGGED
 * @m: message
 * @flags: flags of the call
 * @no_event: true reports no success
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_send(struct fid_ep *ep, uint64_t kind,
		   const struct fi_msg_tagged *m, uint64_t flags,
		   bool no_event);

/**
 * mxefi_send_start() - Send a message.
 * @by: endpoint or context with the call
 * @kind: FI_MSG or FI_TAGGED
 * @m: message
 * @flags: flags of the call
 * @report: how it reports its end, or NULL
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_send_start(const struct mxefi_handle *by, uint64_t kind,
			 const struct fi_msg_tagged *m, uint64_t flags,
			 const struct mxefi_report *report);

/**
 * mxefi_send_submit() - Submit the request of an operation that is a message.
 * @op: operation
 * @wr: SEND of the message
 * @wants_fin: true if the operation also waits for a FIN
 */
void mxefi_send_submit(struct mxefi_op *op, struct mxefi_wr *wr,
		       bool wants_fin);

/**
 * mxefi_send_buf() - Send a message of one buffer. Takes the lock itself.
 * @ep: endpoint
 * @kind: FI_MSG or FI_TAGGED
 * @buf: data
 * @len: length of the data in bytes
 * @data: remote CQ data
 * @dest: destination
 * @tag: tag
 * @context: context of the program
 * @flags: flags of the call
 * @no_event: true reports no success
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_send_buf(struct fid_ep *ep, uint64_t kind, const void *buf,
		       size_t len, uint64_t data, fi_addr_t dest, uint64_t tag,
		       void *context, uint64_t flags, bool no_event);

#endif /* MXEFI_SEND_H */
