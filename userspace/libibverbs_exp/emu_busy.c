// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counts the busy QPs of each CQ, that is those with a request in the loop.
 * emu_qp.c and emu_cq.c change the count, and the thread reads it. It calls
 * emu_progress.c to wake the thread.
 */
#include "emu.h"

void emu_busy_set(struct emu_cq *cq, bool busy)
{
	__atomic_add_fetch(&cq->busy, busy ? 1 : -1, __ATOMIC_SEQ_CST);
	if (busy)
		emu_progress_kick();
}

bool emu_busy_is(const struct emu_cq *cq)
{
	return __atomic_load_n(&cq->busy, __ATOMIC_SEQ_CST) &&
	       __atomic_load_n(&cq->process, __ATOMIC_RELAXED) ==
	       emu_progress_process();
}
