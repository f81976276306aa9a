// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counts the busy QPs, that is those with a request in the loop. emu_qp.c and
 * emu_cq.c change the count, and the thread reads it. It calls emu_progress.c
 * to wake the thread.
 */
#include "emu.h"

static uint32_t busy_total;	/* atomic */

void emu_busy_set(struct emu_cq *cq, bool busy)
{
	uint32_t n = busy ? 1 : -1;

	__atomic_add_fetch(&cq->busy, n, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&busy_total, n, __ATOMIC_SEQ_CST);
	if (busy)
		emu_progress_kick();
}

void emu_busy_clear(struct emu_cq *cq)
{
	__atomic_sub_fetch(&busy_total, cq->busy, __ATOMIC_SEQ_CST);
	__atomic_store_n(&cq->busy, 0, __ATOMIC_SEQ_CST);
}

bool emu_busy_any(void)
{
	return __atomic_load_n(&busy_total, __ATOMIC_SEQ_CST);
}
