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

/**
 * mxe_send_set_builders() - Set the builders of an extended QP.
 * @qp: the QP
 */
void mxe_send_set_builders(struct mxe_qp *qp);

/**
 * mxe_send_ops() - Get the operations of a type of QP.
 * @type: type of the QP
 *
 * Return: IBV_QP_EX_WITH_* flags that send_ops_flags may have.
 */
uint64_t mxe_send_ops(enum ibv_qp_type type);

/**
 * mxe_send_init() - Set the opcodes that a new QP accepts.
 * @qp: the QP, whose is_dci is set
 * @type: its type
 * @atomics: true if atomics are accepted
 */
void mxe_send_init(struct mxe_qp *qp, enum ibv_qp_type type, bool atomics);

#endif /* MXE_SEND_H */
