/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completions of the experimental verbs, for the tests. */
#ifndef EXP_WC_H
#define EXP_WC_H

#include <infiniband/verbs_exp.h>
#include "vt.h"

/**
 * exp_wc_poll() - Wait for a completion.
 * @cq: completion queue
 *
 * Return: the completion.
 */
static inline struct ibv_exp_wc exp_wc_poll(struct ibv_cq *cq)
{
	uint64_t until = vt_now_ms() + VT_MS;
	struct ibv_exp_wc wc;

	while (!ibv_exp_poll_cq(cq, 1, &wc, sizeof(wc)))
		if (vt_now_ms() > until)
			vt_bail("no completion");
	return wc;
}

#endif /* EXP_WC_H */
