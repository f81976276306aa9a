/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reading of extended completions, and translation of opcodes. */
#ifndef EXP_WC_H
#define EXP_WC_H

#include <stdint.h>
#include <infiniband/verbs_exp.h>

void exp_wc_fix_atomic(const struct ibv_wc *std, struct ibv_exp_wc *wc);
void exp_wc_read(struct ibv_cq_ex *cq, const struct ibv_cq_ex *calls,
		 uint64_t wc_flags, struct ibv_wc *wc);

#endif /* EXP_WC_H */
