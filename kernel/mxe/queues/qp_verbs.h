/* SPDX-License-Identifier: GPL-2.0 */
/* Verbs that create, modify, query and destroy queue pairs (qp_verbs.c). */
#ifndef MXE_QP_VERBS_H
#define MXE_QP_VERBS_H

#include <rdma/ib_verbs.h>

struct mxe_create_qp_resp;
struct mxe_dev;
struct mxe_qp;
struct mxe_ring;

int mxe_qp_check_depth(struct mxe_dev *dev, u32 max_send_wr, u32 max_recv_wr);

void mxe_qp_describe_rings(const struct mxe_qp *qp, const struct mxe_ring *sq,
			   const struct mxe_ring *rq, struct mxe_create_qp_resp *resp);
u32 mxe_qp_send_slots(const struct mxe_qp *qp, u32 entries, bool is_user);
int mxe_qp_alloc_rings(const struct mxe_qp *qp, struct mxe_ring *sq,
		       struct mxe_ring *rq, struct ib_ucontext *uctx);

/* Members of struct ib_device_ops, which specifies them. */
int mxe_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		  struct ib_udata *udata);
int mxe_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int mxe_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
int mxe_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

#endif /* MXE_QP_VERBS_H */
