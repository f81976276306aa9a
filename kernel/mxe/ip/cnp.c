// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion notification: sends CNPs for marked packets, and reduces the send
 * window when a CNP arrives.
 */
#include <linux/timekeeping.h>
#include <net/inet_ecn.h>

#include "ip/cnp.h"
#include "ip/tx.h"
#include "mxe.h"
#include "wire/psn.h"

/* Minimum time between two CNPs of a QP. */
#define MXE_CNP_INTERVAL_NS	(50 * NSEC_PER_USEC)

static void mxe_cnp_send(struct mxe_qp *qp)
{
	struct mxe_av av = qp->av;
	struct sk_buff *skb;
	u8 *p;

	/* CNPs are not subject to congestion control: not ECN-capable. */
	av.tclass &= ~INET_ECN_MASK;
	skb = mxe_tx_alloc(qp, MXE_OPCODE_CNP, qp->dest_qpn | MXE_BTH_BECN, 0, 0, &p);
	if (!skb)
		return;
	memset(p, 0, MXE_CNP_RESERVED_SIZE);
	mxe_count(qp->dev, sent_cnp);
	mxe_tx_send_to(qp, &av, skb);
}

/*
 * Answer an ECN-marked packet from the peer with a CNP.
 * Context: Softirq, send_lock or recv_lock held.
 */
void mxe_cnp_marked(struct mxe_qp *qp)
{
	u64 now;

	if (!mxe_qp_can_receive(qp->state))
		return;
	mxe_count(qp->dev, rcvd_ecn_marked);
	/* Requester and responder may race here, which costs one extra CNP. */
	now = ktime_get_ns();
	if ((s64)(now - READ_ONCE(qp->cnp_sent)) < MXE_CNP_INTERVAL_NS)
		return;
	WRITE_ONCE(qp->cnp_sent, now);
	mxe_cnp_send(qp);
}

/*
 * Process a CNP from the peer: halve the send window, at most once for each
 * flight of packets.
 * Context: send_lock held.
 */
void mxe_cnp_rcv(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;

	lockdep_assert_held(&qp->send_lock);

	if (!mxe_qp_can_send(qp->state)) {
		mxe_count(qp->dev, drop_state);
		return;
	}
	mxe_count(qp->dev, rcvd_cnp);
	/* Packets of this QP are not ECN-capable, so none can be marked. */
	if (!(qp->av.tclass & INET_ECN_MASK))
		return;
	/*
	 * Packets from before the last accepted CNP are still in flight, so
	 * this CNP reports the same congestion. Otherwise cnp_psn is stale.
	 */
	if (mxe_psn_diff(req->cnp_psn, req->una) > 0 &&
	    mxe_psn_diff(req->sent_psn, req->cnp_psn) >= 0)
		return;
	req->cnp_psn = req->sent_psn;
	req->window = max(req->window / 2, 1U);
}

/*
 * Widen the send window after an acknowledgment.
 * Context: send_lock held.
 */
void mxe_cnp_progress(struct mxe_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);

	if (qp->req.window < MXE_MAX_UNACKED)
		qp->req.window++;
}
