/* SPDX-License-Identifier: GPL-2.0 */
/*
 * XRC domains, and the numbers of their SRQs (xrcd.c). The contracts of the
 * verbs are those of the members of struct ib_device_ops with the same names.
 */
#ifndef MXE_XRCD_H
#define MXE_XRCD_H

#include <rdma/ib_verbs.h>

struct mxe_srq;

int mxe_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int mxe_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/**
 * mxe_xrcd_publish() - Give an XRC SRQ its number, so that packets find it.
 * @srq: the SRQ, completely initialised
 *
 * Context: Process context. May sleep.
 * Return: 0 or a negative errno of xa_alloc_cyclic_bh().
 */
int mxe_xrcd_publish(struct mxe_srq *srq);

/**
 * mxe_xrcd_withdraw() - Undo mxe_xrcd_publish().
 * @srq: the SRQ
 *
 * Waits until no target uses the SRQ.
 *
 * Context: Process context. May sleep.
 */
void mxe_xrcd_withdraw(struct mxe_srq *srq);

#endif /* MXE_XRCD_H */
