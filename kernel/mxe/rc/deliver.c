// SPDX-License-Identifier: GPL-2.0
/*
 * Gives requests to the responder of their transport, either now or, in order,
 * from qp->work.
 */
#include <linux/indirect_call_wrapper.h>
#include <linux/skbuff.h>

#include "mxe.h"
#include "queues/qp.h"
#include "queues/xrc.h"
#include "rc/deliver.h"
#include "rc/recv.h"
#include "rc/respond.h"
#include "wire/hdr.h"
#include "wire/psn.h"

/* ---- deferred requests ------------------------------------------------- */

/* In skb->cb of a deferred request. */
struct mxe_deliver_cb {
	bool needs_res;			/* MXE_OP_RESOURCE */
	u16 vlan_id;			/* from the netdev, not the packet */
	u32 psn;
};

static struct mxe_deliver_cb *mxe_deliver_cb(struct sk_buff *skb)
{
	return (struct mxe_deliver_cb *)skb->cb;
}

/*
 * Returns true if one more request may be deferred.  A peer has at most
 * max_dest_rd_atomic requests outstanding whose results are stored, including
 * the READ in progress (IBTA 9.4.4).  Any more are duplicates or not allowed.
 */
static bool mxe_deliver_has_room(const struct mxe_qp *qp, bool needs_res)
{
	const struct mxe_responder *resp = &qp->resp;

	if (needs_res && resp->deferred_res + resp->read.active >= resp->num_res)
		return false;
	return skb_queue_len(&resp->deferred) < qp->ops->min_deferred ||
	       (skb_queue_len(&resp->deferred) < MXE_MAX_DEFERRED_PKTS &&
		atomic_long_read(&qp->dev->deferred) < MXE_MAX_DEFERRED);
}

/* Defers a packet, in front of all others (@first) or behind them. */
static void mxe_deliver_queue(struct mxe_qp *qp, struct sk_buff *skb,
			      const struct mxe_pkt *pkt, bool first)
{
	struct mxe_responder *resp = &qp->resp;
	struct mxe_deliver_cb *cb = mxe_deliver_cb(skb);

	/* The dst is noref.  Drop it before queueing the skb. */
	skb_dst_drop(skb);
	cb->needs_res = pkt->flags & MXE_OP_RESOURCE;
	cb->vlan_id = pkt->vlan_id;
	cb->psn = pkt->psn;
	resp->deferred_res += cb->needs_res;
	atomic_long_add(skb->truesize, &qp->dev->deferred);
	if (first)
		__skb_queue_head(&resp->deferred, skb);
	else
		__skb_queue_tail(&resp->deferred, skb);
}

static void mxe_deliver_add(struct mxe_qp *qp, struct sk_buff *skb,
			    const struct mxe_pkt *pkt)
{
	if (mxe_deliver_has_room(qp, pkt->flags & MXE_OP_RESOURCE)) {
		mxe_deliver_queue(qp, skb, pkt, false);
		return;
	}
	mxe_count(qp->dev, drop_busy);
	kfree_skb(skb);
}

static struct sk_buff *mxe_deliver_take(struct mxe_qp *qp)
{
	struct sk_buff *skb = __skb_dequeue(&qp->resp.deferred);

	if (skb) {
		atomic_long_sub(skb->truesize, &qp->dev->deferred);
		qp->resp.deferred_res -= mxe_deliver_cb(skb)->needs_res;
	}
	return skb;
}

/*
 * Drop the deferred requests of a QP in RESET or ERR, or dying.
 * Context: recv_lock held, or no other user of the QP.
 */
void mxe_deliver_drop_deferred(struct mxe_qp *qp)
{
	struct sk_buff *skb;

	while ((skb = mxe_deliver_take(qp)))
		kfree_skb(skb);
}

/*
 * Returns true if a request is a retransmission, and a READ is in progress or a
 * duplicate waits.  The requester repeats all requests from that PSN on and has
 * the responses to those before it, so no earlier packet is needed.
 */
static bool mxe_deliver_went_back(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_responder *resp = &qp->resp;
	struct sk_buff *oldest = skb_peek(&resp->deferred);
	u32 newest;

	if (!mxe_qp_is_reliable(qp))
		return false;
	/* Otherwise the oldest may be a request whose execution has begun. */
	if (!resp->read.active &&
	    (!oldest || mxe_psn_diff(mxe_deliver_cb(oldest)->psn, resp->epsn) >= 0))
		return false;
	if (oldest)
		newest = mxe_deliver_cb(skb_peek_tail(&resp->deferred))->psn;
	else
		newest = mxe_psn_add(resp->read.psn, (resp->read.left - 1) / qp->mtu);
	return mxe_psn_diff(pkt->psn, newest) <= 0;
}

/* ---- requests ------------------------------------------------------------ */

/*
 * Returns true if a wide atomic must wait until qp->work has enabled the locks
 * (mxe_atomic_use_locks()).  Only a packet that would be executed enables them.
 */
static bool mxe_deliver_wants_locks(struct mxe_qp *qp,
				    const struct mxe_pkt *pkt)
{
	struct mxe_atomic_args args __uninitialized;
	struct mxe_responder *resp = &qp->resp;

	if (!(pkt->flags & MXE_OP_ATOMIC) || likely(mxe_pkt_log_arg_sz(pkt) <= 3) ||
	    pkt->psn != resp->epsn)
		return false;
	mxe_pkt_atomic(pkt, &args);
	if (!mxe_respond_may_atomic(qp, mxe_pkt_va(pkt), &args) || mxe_atomic_ready(&args))
		return false;
	resp->wants_locks = true;
	resp->pending |= BIT(MXE_PENDING_WORK);
	return true;
}

/*
 * Returns true if a request must wait.  Requests are executed in order, so each
 * waits for those that were deferred before.
 */
static bool mxe_deliver_must_wait(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_responder *resp = &qp->resp;

	/* The packets of a list that exceed the slice are deferred. */
	if (resp->budget <= 0)
		resp->pending |= BIT(MXE_PENDING_WORK);
	return resp->budget <= 0 || resp->read.active ||
	       !skb_queue_empty(&resp->deferred) || mxe_deliver_wants_locks(qp, pkt);
}

/*
 * Executes a request whose turn it is, and consumes @skb.  Returns -EBUSY if it
 * cannot be executed yet.  It is then deferred in front of all others.
 */
static int mxe_deliver_now(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			   struct sk_buff *skb)
{
	int err = INDIRECT_CALL_1(qp->ops->request, mxe_respond_request, qp, pkt, skb);

	if (unlikely(err == -EBUSY)) {
		mxe_deliver_queue(qp, skb, pkt, true);
		qp->resp.pending |= BIT(MXE_PENDING_WORK);
		return -EBUSY;
	}
	napi_consume_skb(skb, 1);
	return 0;
}

/*
 * Give a request of the connection, or a datagram, to the responder, now or in
 * order later. The QP may be dying. Consumes @skb.
 * Context: BHs disabled, RCU read-side section, recv_lock held.
 */
void mxe_deliver(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		 struct sk_buff *skb)
{
	lockdep_assert_held(&qp->recv_lock);

	if (!mxe_recv_admit(qp)) {
		kfree_skb(skb);
		return;
	}
	if (!mxe_deliver_must_wait(qp, pkt)) {
		mxe_deliver_now(qp, pkt, skb);
		return;
	}
	/*
	 * If the requester's timer is shorter than the time that the answers
	 * take, finishing the old ones first would leave it without any new
	 * data until its retries are used up.
	 */
	if (mxe_deliver_went_back(qp, pkt)) {
		qp->resp.read.active = false;
		mxe_deliver_drop_deferred(qp);
		qp->resp.pending |= BIT(MXE_PENDING_WORK);
	}
	mxe_deliver_add(qp, skb, pkt);
}

/*
 * Give a multicast datagram to a member of the group, which may be dying. @skb
 * remains the caller's. Execute it now if @now and possible; otherwise a copy
 * waits for qp->work.
 * Context: BHs disabled, RCU read-side section, recv_lock held.
 */
void mxe_deliver_copy(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		      struct sk_buff *skb, bool now)
{
	struct sk_buff *copy;

	lockdep_assert_held(&qp->recv_lock);

	if (!mxe_recv_admit(qp))
		return;
	if (now && !mxe_deliver_must_wait(qp, pkt)) {
		qp->ops->request(qp, pkt, skb);
		return;
	}
	copy = skb_clone(skb, GFP_ATOMIC);
	if (!copy) {
		mxe_count(qp->dev, drop_no_memory);
		return;
	}
	qp->resp.pending |= BIT(MXE_PENDING_WORK);
	mxe_deliver_add(qp, copy, pkt);
}

/*
 * Continue a READ, then execute deferred requests in order. If the slice ends
 * first, qp->work is queued again.
 * Context: qp->work, BHs disabled, recv_lock held.
 */
void mxe_deliver_continue(struct mxe_qp *qp)
{
	struct mxe_responder *resp = &qp->resp;
	struct sk_buff *skb;

	lockdep_assert_held(&qp->recv_lock);

	if (!mxe_qp_can_receive(qp->state))
		return;
	mxe_respond_read_run(qp);
	while (!resp->read.active && !resp->halted &&
	       !skb_queue_empty(&resp->deferred)) {
		struct mxe_pkt pkt __uninitialized;

		if (resp->budget <= 0 || mxe_xrc_must_end(qp)) {
			resp->pending |= BIT(MXE_PENDING_WORK);
			return;
		}
		skb = mxe_deliver_take(qp);
		/* It was parsed before, so this does not fail. */
		if (mxe_hdr_parse(skb, &pkt)) {
			napi_consume_skb(skb, 1);
			continue;
		}
		pkt.vlan_id = mxe_deliver_cb(skb)->vlan_id;
		if (mxe_deliver_wants_locks(qp, &pkt)) {
			mxe_deliver_queue(qp, skb, &pkt, true);
			return;
		}
		if (mxe_deliver_now(qp, &pkt, skb))
			return;
		mxe_deliver_spend(qp, &pkt);
	}
}
