/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel consumers post send work requests by this verb (post.c). */
#ifndef MXE_POST_H
#define MXE_POST_H

#include <rdma/ib_verbs.h>

int mxe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);

#endif /* MXE_POST_H */
