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
#ifndef MXE_LOOP_H
#define MXE_LOOP_H

#include <linux/types.h>

#include "net.h"

struct mxe_qp;
struct mxe_send_wr;

/* What the requester remembers of its path and its peer.  Under send_lock. */
struct mxe_loop {
	bool known;			/* local and routes are valid */
	bool local;			/* packets would come back unchanged */
	int routes;			/* generation of the routes */
	unsigned long checked;		/* in that jiffy */
	struct mxe_qp_cache peer;
};

enum mxe_loop_result {
	MXE_LOOP_DONE,			/* executed and completed */
	MXE_LOOP_LATER,			/* of its kind, but not now */
	MXE_LOOP_NO,			/* nothing has changed: by packets */
};

/* Module parameter; may change at any time. */
extern bool mxe_loop_direct;

/*
 * Execute the request at sq->cur, which was not started; its cost is taken off
 * sq->budget.  Context: send_lock held.
 */
enum mxe_loop_result mxe_loop_request(struct mxe_qp *qp, struct mxe_send_wr *wr);
/* The address or the peer changes.  Context: send_lock held. */
void mxe_loop_reset(struct mxe_qp *qp);

#endif /* MXE_LOOP_H */
