/* SPDX-License-Identifier: GPL-2.0 */
/* emulate.c executes masked atomics by standard ones. */
#ifndef IB_EXP_EMULATE_H
#define IB_EXP_EMULATE_H

#include <rdma/ib_exp.h>

struct ib_exp_qp_priv;

/*
 * The standard atomic that does what a masked one does whose masks allow it
 * (ib_exp_wr_is_standard()).
 */
void ib_exp_emulate_lower(const struct ib_atomic_wr *masked, struct ib_atomic_wr *wr);

/*
 * Carry out a masked atomic, checked, by compare-and-swaps.  The caller has
 * taken a user of the queue pair; it is given back when the request completes,
 * or by this function if it fails.  Context: any.
 */
int ib_exp_emulate(struct ib_exp_qp_priv *qp, const struct ib_atomic_wr *wr,
		   u64 *result);

#endif /* IB_EXP_EMULATE_H */
