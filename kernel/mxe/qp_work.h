/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The work item of a QP does work that exceeds a slice or sleeps, and calls the
 * handlers that a verb may not call (qp_work.c).
 */
#ifndef MXE_QP_WORK_H
#define MXE_QP_WORK_H

#include <linux/workqueue.h>

/**
 * mxe_qp_work() - Do one slice of each side of a QP.
 * @work: qp->work
 *
 * Calls the handlers that verbs have deferred, and prepares the locks for the
 * first wide atomic.  Then continues the receive side and the send side, or
 * flushes them after an error.  Queues itself again if work is left.
 *
 * Context: Runs on mxe_qp_wq.  May sleep.
 */
void mxe_qp_work(struct work_struct *work);

#endif /* MXE_QP_WORK_H */
