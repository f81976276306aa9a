/* SPDX-License-Identifier: GPL-2.0 */
/*
 * XRC domains, and the end of their SRQs (xrcd.c). The contracts of the
 * verbs are those of the members of struct ib_device_ops with the same names.
 */
#ifndef MXE_XRCD_H
#define MXE_XRCD_H

#include <rdma/ib_verbs.h>

struct mxe_srq;

int mxe_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int mxe_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

void mxe_xrcd_withdraw(struct mxe_srq *srq);

#endif /* MXE_XRCD_H */
