/* SPDX-License-Identifier: GPL-2.0 */
/* Verbs that create, modify, query and destroy queue pairs (qp_verbs.c). */
#ifndef MXE_QP_VERBS_H
#define MXE_QP_VERBS_H

#include <rdma/ib_verbs.h>

struct mxe_create_qp_resp;
struct mxe_dev;
struct mxe_qp;
struct mxe_ring;

/**
 * mxe_qp_check_depth() - Check the requested sizes of the queues of a QP.
 * @dev: the device
 * @max_send_wr: requests that fit in the send queue
 * @max_recv_wr: requests that fit in the receive queue
 *
 * Return: 0 or -EINVAL.
 */
int mxe_qp_check_depth(struct mxe_dev *dev, u32 max_send_wr, u32 max_recv_wr);

/**
 * mxe_qp_describe_rings() - Describe rings of a QP to its process.
 * @qp: the QP
 * @sq: ring for send requests
 * @rq: ring for receive requests, which may have no memory
 * @resp: set to the description; zeroed before
 */
void mxe_qp_describe_rings(const struct mxe_qp *qp, const struct mxe_ring *sq,
			   const struct mxe_ring *rq, struct mxe_create_qp_resp *resp);

/**
 * mxe_qp_send_slots() - Calculate the number of slots of a send queue.
 * @qp: the QP
 * @entries: requests that can be posted, a power of two
 * @is_user: a process posts them
 *
 * Return: number of elements of req.wrs, a power of two.
 */
u32 mxe_qp_send_slots(const struct mxe_qp *qp, u32 entries, bool is_user);

/**
 * mxe_qp_alloc_rings() - Allocate rings for the queues of a QP.
 * @qp: QP of a process
 * @sq: ring for send requests, with its shape
 * @rq: ring for receive requests, with its shape; without entries: none
 * @uctx: user context of the process
 *
 * Call mxe_ring_destroy() for both after a failure, too.
 *
 * Context: Process context. May sleep.
 * Return: 0 or -ENOMEM.
 */
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
