/* SPDX-License-Identifier: GPL-2.0 */
/* Verbs that create, modify, query and destroy queue pairs (qp_verbs.c). */
#ifndef MXE_QP_VERBS_H
#define MXE_QP_VERBS_H

#include <rdma/ib_verbs.h>

/* Members of struct ib_device_ops, which specifies them. */
int mxe_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		  struct ib_udata *udata);
int mxe_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int mxe_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
int mxe_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

#endif /* MXE_QP_VERBS_H */
