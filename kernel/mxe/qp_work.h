/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The work of a queue pair does what exceeds a slice, must sleep, or calls handlers
 * (qp_work.c).
 */
#ifndef MXE_QP_WORK_H
#define MXE_QP_WORK_H

#include <linux/workqueue.h>

/* The function of qp->work.  One slice of each side, then again if there is more. */
void mxe_qp_work(struct work_struct *work);

#endif /* MXE_QP_WORK_H */
