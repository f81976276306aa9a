/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xrcd.c has the domains of extended reliable connections, and numbers the shared
 * receive queues in them.
 */
#ifndef MXE_XRCD_H
#define MXE_XRCD_H

#include <rdma/ib_verbs.h>

struct mxe_srq;

int mxe_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int mxe_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/*
 * Give a shared queue a number, by which it can be found; take it away again
 * and wait until no target queue pair uses the queue.  Context: may sleep.
 */
int mxe_xrcd_publish(struct mxe_srq *srq);
void mxe_xrcd_withdraw(struct mxe_srq *srq);

#endif /* MXE_XRCD_H */
