/* SPDX-License-Identifier: GPL-2.0 */
/* restrack.c gives `rdma resource show ... -dd` the details of objects of mxe. */
#ifndef MXE_RESTRACK_H
#define MXE_RESTRACK_H

#include <rdma/ib_verbs.h>

/*
 * The object may be on its way out: its verb has run, ib_core has not let go
 * of the structure.  Only members of that are read, never what it points to.
 */
int mxe_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int mxe_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int mxe_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

#endif /* MXE_RESTRACK_H */
