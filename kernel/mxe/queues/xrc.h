/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Extended reliable connections (IBTA annex A14). One connection between two
 * hosts carries the requests for all processes of the responding host. Each
 * request names an SRQ. The SRQ determines the protection domain whose keys the
 * request may use, and the CQ.
 *
 * The initiator is the send side of a reliable connection.  The target is the
 * responder.  It has no queues, and belongs to an XRC domain rather than to a
 * process.
 */
#ifndef MXE_XRC_H
#define MXE_XRC_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "queues/qp.h"

struct mxe_srq;

/*
 * An XRC domain.
 *
 * Lifetime: QPs and SRQs of the domain keep it alive by the use count of
 * ib_core.
 */
struct mxe_xrcd {
	struct ib_xrcd ibxrcd;
	struct mutex lock;		/* tgts; outside QP locks */
	struct list_head tgts;		/* targets, by xrcd_entry */
};

static inline struct mxe_xrcd *to_mxrcd(struct ib_xrcd *ibxrcd)
{
	return container_of(ibxrcd, struct mxe_xrcd, ibxrcd);
}

void mxe_xrc_join(struct mxe_qp *qp, struct ib_xrcd *ibxrcd);
void mxe_xrc_leave(struct mxe_qp *qp);
struct mxe_srq *mxe_xrc_find(struct mxe_qp *qp, u32 srqn);
int mxe_xrc_select(struct mxe_qp *qp, u32 srqn, bool start);

/*
 * Check whether a section of the receive side must end before the next request.
 * Events in resp->pending refer to resp->srq, and the next request to an XRC
 * target may name another SRQ.
 * Context: recv_lock of @qp held.
 */
static inline bool mxe_xrc_must_end(const struct mxe_qp *qp)
{
	return qp->resp.pending && qp->ops->select_srq;
}

#endif /* MXE_XRC_H */
