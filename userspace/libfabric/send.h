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

ssize_t mxefi_send(struct fid_ep *fid, uint64_t kind,
		   const struct fi_msg_tagged *m, uint64_t flags,
		   bool no_event);
ssize_t mxefi_send_start(const struct mxefi_handle *by, uint64_t kind,
			 const struct fi_msg_tagged *m, uint64_t flags,
			 const struct mxefi_report *report);
void mxefi_send_submit(struct mxefi_op *op, struct mxefi_wr *wr,
		       bool wants_fin);
ssize_t mxefi_send_buf(struct fid_ep *fid, uint64_t kind, const void *buf,
		       size_t len, uint64_t data, fi_addr_t dest, uint64_t tag,
		       void *context, uint64_t flags, bool no_event);

#endif /* MXEFI_SEND_H */
