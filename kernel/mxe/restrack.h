/* SPDX-License-Identifier: GPL-2.0 */
/* Details of objects for `rdma resource show ... -dd` (restrack.c). */
#ifndef MXE_RESTRACK_H
#define MXE_RESTRACK_H

#include <rdma/ib_verbs.h>

/*
 * The contracts are those of the members of struct ib_device_ops with the same
 * names. The destroy verb of the object may have run already, although ib_core
 * still holds the structure. Therefore these read only members, and follow no
 * pointers.
 */
int mxe_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int mxe_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int mxe_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

#endif /* MXE_RESTRACK_H */
