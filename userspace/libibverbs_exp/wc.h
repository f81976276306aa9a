/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reading of extended completions, and translation of opcodes. */
#ifndef EXP_WC_H
#define EXP_WC_H

#include <stdint.h>
#include <infiniband/verbs_exp.h>

/**
 * exp_wc_fix_atomic() - Implement exp_backend.fix_wc() for backends whose
 * completions of atomics have the opcodes of OFED.
 * @std: the completion
 * @wc: the same for the program, to be corrected
 */
void exp_wc_fix_atomic(const struct ibv_wc *std, struct ibv_exp_wc *wc);

/**
 * exp_wc_read() - Read the current completion of an extended CQ.
 * @cq: the CQ, between ibv_start_poll() and ibv_end_poll()
 * @calls: has the functions to read with: @cq, or a copy from before they were
 *	replaced
 * @wc_flags: IBV_WC_EX_WITH_* flags with which @cq was created
 * @wc: filled in
 */
void exp_wc_read(struct ibv_cq_ex *cq, const struct ibv_cq_ex *calls,
		 uint64_t wc_flags, struct ibv_wc *wc);

#endif /* EXP_WC_H */
