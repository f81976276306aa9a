/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The work item of a QP does work that exceeds a slice or sleeps, and calls the
 * handlers that a verb may not call (qp_work.c).
 */
#ifndef MXE_QP_WORK_H
#define MXE_QP_WORK_H

#include <linux/timer.h>
#include <linux/workqueue.h>

void mxe_qp_work(struct work_struct *work);
void mxe_qp_work_late(struct timer_list *timer);
void mxe_qp_work_exit(void);

#endif /* MXE_QP_WORK_H */
