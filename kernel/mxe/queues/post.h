/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The post verbs of kernel consumers (post.c). Their contracts are those of the
 * members of struct ib_device_ops with the same names.
 */
#ifndef MXE_POST_H
#define MXE_POST_H

#include <rdma/ib_verbs.h>

int mxe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *ibwr,
		  const struct ib_send_wr **bad_wr);
int mxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *ibwr,
		  const struct ib_recv_wr **bad_wr);

#endif /* MXE_POST_H */
