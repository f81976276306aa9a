/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* wc.c reads the completions of extended completion queues, and translates opcodes. */
#ifndef EXP_WC_H
#define EXP_WC_H

#include <stdint.h>
#include <infiniband/verbs_exp.h>

/* The fix_wc of a backend whose standard completions of atomics have OFED's opcodes. */
void exp_wc_fix_atomic(const struct ibv_wc *std, struct ibv_exp_wc *wc);

/*
 * Reads the completion between ibv_start_poll() and ibv_end_poll().  `calls` holds the
 * functions to read it with: those of cq, now or before they were replaced.
 */
void exp_wc_read(struct ibv_cq_ex *cq, const struct ibv_cq_ex *calls,
		 uint64_t wc_flags, struct ibv_wc *wc);

#endif /* EXP_WC_H */
