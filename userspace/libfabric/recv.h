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

void mxefi_recv_setup(struct mxefi_ep *ep);
ssize_t mxefi_recv(struct fid_ep *fid, uint64_t kind,
		   const struct fi_msg_tagged *m, uint64_t flags);
ssize_t mxefi_recv_start(const struct mxefi_handle *by, uint64_t kind,
			 const struct fi_msg_tagged *m, uint64_t flags,
			 const struct mxefi_report *report);
ssize_t mxefi_recv_cancel(struct mxefi_recvs *recvs, const void *context);
void mxefi_recv_cancel_all(struct mxefi_recvs *recvs);

#endif /* MXEFI_RECV_H */
