/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pending bits of one side of a queue pair say what is to be done once its lock
 * is dropped.
 */
#ifndef MXE_PENDING_H
#define MXE_PENDING_H

#include <linux/bits.h>

/* Bits of sq.pending and rq.pending.  The events are last. */
enum mxe_pending {
	MXE_PENDING_NOTIFY,	/* completion handler of that side's CQ */
	MXE_PENDING_CQ_ERROR,	/* that CQ was overrun just now */
	MXE_PENDING_ERROR,		/* move the queue pair to ERR */
	MXE_PENDING_WORK,		/* queue qp->work */
	MXE_PENDING_EV_FATAL,
	MXE_PENDING_EV_REQ_ERR,
	MXE_PENDING_EV_ACCESS_ERR,
	MXE_PENDING_EV_COMM_EST,
	MXE_PENDING_EV_SQ_DRAINED,
	MXE_PENDING_EV_LAST_WQE,
	MXE_PENDING_EV_SRQ_LIMIT,
	MXE_PENDING_EV_SRQ_ERR,
};

/* The bits that are asynchronous events. */
#define MXE_PENDING_EVENTS	GENMASK(MXE_PENDING_EV_SRQ_ERR, MXE_PENDING_EV_FATAL)

#endif /* MXE_PENDING_H */
