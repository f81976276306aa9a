/* SPDX-License-Identifier: GPL-2.0 */
/* emulate.c executes masked atomics by means of standard ones. */
#ifndef IB_EXP_EMULATE_H
#define IB_EXP_EMULATE_H

#include <rdma/ib_exp.h>

struct ib_exp_qp_priv;

/**
 * ib_exp_emulate_lower() - Convert a masked atomic to the equal standard one.
 * @masked: request for which ib_exp_wr_is_standard() is true
 * @wr: the standard request, filled in completely
 */
void ib_exp_emulate_lower(const struct ib_atomic_wr *masked, struct ib_atomic_wr *wr);

/**
 * ib_exp_emulate() - Execute a masked atomic as a loop of compare-and-swaps.
 * @qp: the QP, of which the caller holds a reference
 * @wr: the request, which ib_exp_post_send_slow() has validated
 * @result: CPU address of the SGE's 8 bytes
 *
 * The reference is dropped when the request completes, or here on an error.
 *
 * Context: Any, as ib_post_send().
 * Return: 0, -ENOMEM, or an error of ib_post_send().
 */
int ib_exp_emulate(struct ib_exp_qp_priv *qp, const struct ib_atomic_wr *wr,
		   u64 *result);

#endif /* IB_EXP_EMULATE_H */
