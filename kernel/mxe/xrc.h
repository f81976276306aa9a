/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An extended reliable connection (IBTA annex A14) between two hosts serves every
 * process of the responding one.  Each request names the shared receive queue that it
 * is for, and by that the process: its protection domain, by whose rights keys are
 * used, and its completion queue.
 *
 * The initiator is the send side of a reliable connection.  The target is the
 * other side and has no queue at all; it belongs to its domain, not to a
 * process.
 */
#ifndef MXE_XRC_H
#define MXE_XRC_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "qp.h"

struct mxe_srq;

/*
 * Lifetime: queue pairs and shared queues of the domain keep it alive through
 * the core's use count.
 */
struct mxe_xrcd {
	struct ib_xrcd ibxrcd;
	struct mutex lock;		/* outside a queue pair's locks */
	struct list_head tgts;		/* target queue pairs, by xrcd_entry */
};

static inline struct mxe_xrcd *to_mxrcd(struct ib_xrcd *ibxrcd)
{
	return container_of(ibxrcd, struct mxe_xrcd, ibxrcd);
}

/* A target queue pair joins its domain, and leaves it.  Context: may sleep. */
void mxe_xrc_join(struct mxe_qp *qp, struct ib_xrcd *ibxrcd);
void mxe_xrc_leave(struct mxe_qp *qp);

/*
 * The shared queue of that number, or NULL if there is none in the domain of
 * the target queue pair.  Good until recv_lock is dropped, or for as long as
 * it stands in rq->srq or rq->read.srq, where mxe_xrcd_withdraw() looks.
 * Context: recv_lock held.
 */
struct mxe_srq *mxe_xrc_find(struct mxe_qp *qp, u32 srqn);
/*
 * Let rq->srq be the queue that the packet, of which it is the turn, names.
 * -EINVAL: there is none, or another than the message began with.
 * Context: recv_lock held.
 */
int mxe_xrc_select(struct mxe_qp *qp, const struct mxe_pkt *pkt);

#endif /* MXE_XRC_H */
