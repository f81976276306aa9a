/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Posting to send queues. */
#ifndef MXE_SEND_H
#define MXE_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct mxe_qp;

int mxe_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr);

void mxe_send_set_builders(struct mxe_qp *qp);
uint64_t mxe_send_ops(enum ibv_qp_type type);
void mxe_send_init(struct mxe_qp *qp, enum ibv_qp_type type, bool atomics);

#endif /* MXE_SEND_H */
