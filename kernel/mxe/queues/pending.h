/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that one side of a QP must do after it has dropped its lock, as bits of
 * req.pending and resp.pending.
 */
#ifndef MXE_PENDING_H
#define MXE_PENDING_H

#include <linux/bits.h>

/* mxe_qp_send_end() and its siblings consume the bits.  The events are last. */
enum mxe_pending {
	MXE_PENDING_NOTIFY,	/* call that CQ's completion handler */
	MXE_PENDING_CQ_ERROR,	/* report that this CQ was overrun */
	MXE_PENDING_ERROR,	/* move the QP to ERR */
	MXE_PENDING_WORK,	/* queue qp->work */
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
