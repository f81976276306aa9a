/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests between two connected queue pairs of one network namespace, whose
 * addresses are both of this host: executed where they are posted, without
 * packets.
 *
 * Only what is certain to succeed is done here.  Whatever else there is, from
 * a peer that is not ready to a key that is wrong, changes nothing and is left
 * to packets, so that there is one place that answers and reports it.
 */
#ifndef MXE_LOOPBACK_H
#define MXE_LOOPBACK_H

#include <linux/types.h>

#include "qpn.h"

struct mxe_qp;
struct mxe_send_wr;

/* What the requester remembers of its path and its peer.  Under send_lock. */
struct mxe_loopback {
	bool known;			/* local and routes are valid */
	bool local;			/* packets would come back unchanged */
	int routes;			/* generation of the routes */
	unsigned long checked;		/* in that jiffy */
	struct mxe_qp_cache peer_cache;
};

enum mxe_loopback_result {
	MXE_LOOPBACK_DONE,		/* executed and completed */
	MXE_LOOPBACK_LATER,		/* executable here, but not now */
	MXE_LOOPBACK_NO,		/* nothing has changed: send packets */
};

#ifndef MXE_WITHOUT_LOOPBACK

/* Module parameter; may change at any time. */
extern bool mxe_loopback_direct;

/* Packets of a request that takes the loopback path, at most. */
#define MXE_LOOPBACK_PKTS	64

/* Returns the cost of a request, in units of MXE_SLICE.  num_sge: of the list of one side. */
static inline u32 mxe_loopback_cost(u32 len, u32 num_sge)
{
	return 1 + len / 8192 + num_sge / 4;
}

/*
 * Execute the request at sq->cur, which was not started; its cost is taken off
 * sq->budget.  Context: send_lock held.
 */
enum mxe_loopback_result mxe_loopback_request(struct mxe_qp *qp, struct mxe_send_wr *wr);
/* The address or the peer changes.  Context: send_lock held. */
void mxe_loopback_reset(struct mxe_qp *qp);

#else

static inline enum mxe_loopback_result
mxe_loopback_request(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	return MXE_LOOPBACK_NO;
}

static inline void mxe_loopback_reset(struct mxe_qp *qp)
{
}

#endif /* MXE_WITHOUT_LOOPBACK */

#endif /* MXE_LOOPBACK_H */
