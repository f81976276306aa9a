/* SPDX-License-Identifier: GPL-2.0 */
/* emulate.c executes masked atomics by means of standard ones. */
#ifndef IB_EXP_EMULATE_H
#define IB_EXP_EMULATE_H

#include <rdma/ib_exp.h>

struct ib_exp_qp_priv;

void ib_exp_emulate_lower(const struct ib_atomic_wr *masked, struct ib_atomic_wr *wr);
int ib_exp_emulate(struct ib_exp_qp_priv *qp, const struct ib_atomic_wr *wr,
		   u64 *result);

#endif /* IB_EXP_EMULATE_H */
