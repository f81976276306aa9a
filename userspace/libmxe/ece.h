/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Enhanced connection establishment (ECE). */
#ifndef MXE_ECE_H
#define MXE_ECE_H

#include "infiniband/mxedv.h"

struct ibv_ece;
struct ibv_qp;
struct mxe_qp;

enum {
	MXE_ECE_MASKED_ATOMICS = MXEDV_ECE_MASKED_ATOMIC_1 |
				 MXEDV_ECE_MASKED_ATOMIC_2 |
				 MXEDV_ECE_MASKED_ATOMIC_4 |
				 MXEDV_ECE_MASKED_ATOMIC_8 |
				 MXEDV_ECE_MASKED_ATOMIC_16 |
				 MXEDV_ECE_MASKED_ATOMIC_32,
};

int mxe_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece);
int mxe_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece);

void mxe_ece_reset(struct mxe_qp *qp);

#endif /* MXE_ECE_H */
