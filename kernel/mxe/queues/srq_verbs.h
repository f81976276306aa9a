/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verbs of SRQs (srq_verbs.c).  Their contracts are those of the members of
 * struct ib_device_ops with the same names.
 */
#ifndef MXE_SRQ_VERBS_H
#define MXE_SRQ_VERBS_H

#include <rdma/ib_verbs.h>

int mxe_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		   struct ib_udata *udata);
int mxe_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata);
int mxe_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int mxe_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int mxe_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *ibwr,
		      const struct ib_recv_wr **bad_wr);

#endif /* MXE_SRQ_VERBS_H */
