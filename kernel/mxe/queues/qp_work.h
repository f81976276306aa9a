/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The work item of a QP does work that exceeds a slice or sleeps, and calls the
 * handlers that a verb may not call (qp_work.c).
 */
#ifndef MXE_QP_WORK_H
#define MXE_QP_WORK_H

#include <linux/timer.h>
#include <linux/workqueue.h>

/*
 * Do one slice of each side of a QP. First call the handlers that verbs have
 * deferred, and prepare the locks for the first wide atomic. Then continue the
 * receive side and the send side, or flush them after an error. Queue it again
 * if work is left.
 * Context: Runs on mxe_qp_wq. May sleep. Disables BHs in each half.
 */
void mxe_qp_work(struct work_struct *work);

/*
 * Do a slice of the work of a QP that has not begun. Continue one side of the
 * QP, and the other one a jiffy later, as long as the work item is queued or
 * preempted. Do nothing if it is neither.
 * Context: Timer, BHs disabled.
 */
void mxe_qp_work_late(struct timer_list *timer);

/*
 * End the work that mxe_qp_work_late() may have queued. No QP exists any more.
 * Context: May sleep.
 */
void mxe_qp_work_exit(void);

#endif /* MXE_QP_WORK_H */
