// SPDX-License-Identifier: GPL-2.0
/*
 * The sessions of DC initiators: opens one for the target of a request, keeps
 * it while requests go to other targets, and reacts to control packets.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/ipv6.h>

#include "dc/dci.h"
#include "fast/loopback.h"
#include "fast/rx_dst.h"
#include "ip/tx.h"
#include "mxe.h"
#include "queues/qp.h"
#include "rc/sq.h"
#include "trace.h"

/* A session lives twice as long as the initiator retries, and this longer. */
#define MXE_DCI_SLACK_MS	4000

/* The largest result of mxe_dci_life(). */
static_assert(2 * ((4096ULL << (31 + 2)) * 8 / NSEC_PER_MSEC) +
	      MXE_DCI_SLACK_MS <= MXE_DC_MAX_LIFE);

/*
 * Make a QP of type IB_QPT_DRIVER that is being created a DC initiator.
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_dci_create(struct mxe_qp *qp)
{
	struct mxe_dci *dci = kzalloc(sizeof(*dci), GFP_KERNEL_ACCOUNT);

	if (!dci)
		return -ENOMEM;
	dci->dc.kind = MXE_DC_INITIATOR;
	get_random_bytes(&dci->secret, sizeof(dci->secret));
	qp->dc = &dci->dc;
	return 0;
}

/* Returns the instance of the initiator that a target sees. */
static u64 mxe_dci_instance(const struct mxe_dci *dci,
			    const struct mxe_dci_dest *dest)
{
	const struct mxe_av *av = mxe_ah_flow_av(dest->flow);
	struct {
		struct in6_addr daddr;
		u64 key;
		u32 ifindex;
		u32 dctn;
	} in = {
		.key = dest->key,
		.ifindex = av->ifindex,
		.dctn = dest->dctn,
	};

	static_assert(sizeof(in) == 32);
	if (av->is_ipv4)
		ipv6_addr_set_v4mapped(av->v4.daddr, &in.daddr);
	else
		in.daddr = av->v6.daddr;
	return siphash(&in, sizeof(in), &dci->secret);
}

enum ib_wc_status mxe_dci_parse_dest(struct mxe_qp *qp, struct mxe_send_wr *wr,
				     const struct mxe_send_wqe *wqe,
				     const struct mxe_send_wqe *entry)
{
	struct mxe_dci_dest *dest = mxe_dci_dest(qp, wr);
	struct mxe_dc_dest from;

	dest->flow = NULL;
	if (!(wqe->flags & MXE_SEND_DC))
		return IB_WC_LOC_QP_OP_ERR;
	/* It is at the end of the entry. */
	memcpy(&from, (const void *)entry + qp->req.ring.stride - sizeof(from),
	       sizeof(from));
	/* As in mxe_wqe_fetch_user(), only the copy is used. */
	barrier();
	dest->dctn = from.dct_num & MXE_BTH_QPN_MASK;
	dest->key = from.dct_key;
	dest->flow = mxe_ah_find_flow(qp->dev, qp->pd, from.ah_num);
	return dest->flow ? IB_WC_SUCCESS : IB_WC_LOC_QP_OP_ERR;
}

void mxe_dci_forget(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	mxe_ah_put_flow(mxe_dci_dest(qp, wr)->flow);
}

/*
 * Returns true if destinations have the same target, with which there is one
 * session, even if the traffic class or the flow label differ.
 */
static bool mxe_dci_same_target(const struct mxe_dci_dest *a, const struct mxe_dci_dest *b)
{
	return a->dctn == b->dctn && a->key == b->key &&
	       (a->flow == b->flow ||
		mxe_av_same_hosts(mxe_ah_flow_av(a->flow), mxe_ah_flow_av(b->flow)));
}

/* Returns the destination of the session, if there is one. */
static struct mxe_dci_dest mxe_dci_cur_dest(const struct mxe_qp *qp)
{
	return (struct mxe_dci_dest) {
		.flow = qp->req.flow,
		.key = qp->dc->hdr.key,
		.dctn = qp->dest_qpn,
	};
}

static bool mxe_dci_is_connected_to(const struct mxe_qp *qp,
				    const struct mxe_dci_dest *dest)
{
	const struct mxe_dci *dci = to_mdci(qp);

	return dci->connected && dest->dctn == qp->dest_qpn &&
	       dest->key == dci->dc.hdr.key && mxe_tx_is_aimed(qp, dest->flow);
}

/*
 * Check whether @wr, which is at req.cur or behind it and not started, may be
 * started now. A request for another target waits until all earlier ones are
 * acknowledged.
 * Context: send_lock held.
 */
bool mxe_dci_may_start(const struct mxe_qp *qp, const struct mxe_send_wr *wr)
{
	const struct mxe_requester *req = &qp->req;

	lockdep_assert_held(&qp->send_lock);

	/* The oldest request begins a session if it has to. */
	return wr == mxe_sq_wr(req, req->tail) ||
	       mxe_dci_is_connected_to(qp, mxe_dci_dest(qp, wr));
}

/*
 * Free the initiator, which is dying, or was never published.
 * Context: Process context.
 */
void mxe_dci_destroy(struct mxe_qp *qp)
{
	kfree_rcu(to_mdci(qp), rcu);
}

/*
 * Returns how long the target must keep the session after the last packet, in
 * ms.  A packet is retransmitted for retry_cnt + 1 timeouts of up to 4 T each
 * (IBTA 9.7.6.1.3).  The initiator does not use a session again that has been
 * idle for half of its life.
 */
static u32 mxe_dci_life(const struct mxe_qp *qp)
{
	u64 ns = 0;

	if (qp->attr.timeout)
		ns = (4096ULL << (qp->attr.timeout + 2)) *
		     (qp->attr.retry_cnt + 1);
	return 2 * div_u64(ns, NSEC_PER_MSEC) + MXE_DCI_SLACK_MS;
}

/* Returns the life of the session in ns. */
static u64 mxe_dci_life_ns(const struct mxe_dci *dci)
{
	return (u64)dci->dc.hdr.life * NSEC_PER_MSEC;
}

/* Returns true if no response has arrived for half the life of the session. */
static bool mxe_dci_is_idle(const struct mxe_dci *dci)
{
	ktime_t ns = ktime_sub(ktime_get_coarse_boottime(), dci->heard);

	return ktime_to_ns(ns) >= mxe_dci_life_ns(dci) / 2;
}

/* Copies the session to the headers of the packets to come. */
static void mxe_dci_fill(struct mxe_dci *dci)
{
	struct mxe_dc_hdr *hdr = &dci->dc.hdr;

	hdr->connect = !dci->s.acked;
	hdr->session = dci->s.session;
	hdr->token = dci->s.token;
}

/* Sends to another destination than before. */
static void mxe_dci_aim(struct mxe_qp *qp, const struct mxe_dci_dest *dest)
{
	if (mxe_tx_aim(qp, dest->flow)) {
		mxe_rx_dst_forget(qp);
		mxe_loopback_forget(&qp->req.loopback);
	}
	qp->dest_qpn = dest->dctn;
	qp->dc->hdr.key = dest->key;
}

static void mxe_dci_open(struct mxe_qp *qp, const struct mxe_dci_dest *dest)
{
	struct mxe_dci *dci = to_mdci(qp);
	struct mxe_dc_hdr *hdr = &dci->dc.hdr;

	dci->connected = true;
	dci->s = (struct mxe_dci_session) { .session = ++dci->newest };
	/* Exact, because it is compared with a time of the target. */
	dci->begun = ktime_get_boottime();
	dci->heard = ktime_get_coarse_boottime();
	hdr->qpn = qp->qpn;
	hdr->instance = mxe_dci_instance(dci, dest);
	hdr->psn = get_random_u32() & MXE_PSN_MASK;
	hdr->mtu = qp->attr.path_mtu;
	hdr->life = mxe_dci_life(qp);
	mxe_dci_fill(dci);
	mxe_sq_set_psn(&qp->req, hdr->psn);
	mxe_count(qp->dev, dc_connects);
	trace_mxe_dc_connect(qp, dest->dctn, dci->s.session);
}

/* ---- kept sessions ------------------------------------------------------- */

/* If it is lost, the target closes the session when it has been idle. */
static void mxe_dci_disconnect(struct mxe_qp *qp, struct mxe_dci_kept *kept)
{
	struct mxe_dc_hdr hdr = {
		.code = MXE_DC_DISCONNECT,
		.qpn = qp->qpn,
		.session = kept->session,
		.instance = kept->instance,
	};

	trace_mxe_dc_disconnect(qp, kept->dest.dctn, hdr.session);
	mxe_tx_send_dc_control(qp, mxe_ah_flow_av(kept->dest.flow), kept->dest.dctn, &hdr);
	mxe_ah_put_flow(kept->dest.flow);
	kept->dest.flow = NULL;
}

/* Returns an empty slot. A session that is kept ends if there is none. */
static struct mxe_dci_kept *mxe_dci_get_slot(struct mxe_qp *qp)
{
	struct mxe_dci *dci = to_mdci(qp);
	struct mxe_dci_kept *oldest = dci->kept;
	int i;

	for (i = 0; i < MXE_DCI_KEPT; i++) {
		struct mxe_dci_kept *kept = &dci->kept[i];

		if (!kept->dest.flow)
			return kept;
		if (ktime_before(kept->heard, oldest->heard))
			oldest = kept;
	}
	mxe_dci_disconnect(qp, oldest);
	return oldest;
}

/* Keeps the session, whose requests are all acknowledged. */
static void mxe_dci_keep(struct mxe_qp *qp)
{
	struct mxe_dci *dci = to_mdci(qp);

	mxe_ah_get_flow(qp->req.flow);
	*mxe_dci_get_slot(qp) = (struct mxe_dci_kept) {
		.dest = mxe_dci_cur_dest(qp),
		.session = dci->s.session,
		.life = dci->dc.hdr.life,
		.instance = dci->dc.hdr.instance,
		.psn = qp->req.max_psn,
		.heard = dci->heard,
	};
}

/* Takes the session with a target from its slot. Returns false without one. */
static bool mxe_dci_take(struct mxe_dci *dci, const struct mxe_dci_dest *dest,
			 struct mxe_dci_kept *taken)
{
	int i;

	for (i = 0; i < MXE_DCI_KEPT; i++) {
		struct mxe_dci_kept *kept = &dci->kept[i];

		if (kept->dest.flow && mxe_dci_same_target(&kept->dest, dest)) {
			*taken = *kept;
			kept->dest.flow = NULL;
			return true;
		}
	}
	return false;
}

static void mxe_dci_resume(struct mxe_qp *qp, const struct mxe_dci_kept *kept)
{
	struct mxe_dci *dci = to_mdci(qp);

	dci->s = (struct mxe_dci_session) { .session = kept->session, .acked = true };
	dci->heard = kept->heard;
	dci->dc.hdr.instance = kept->instance;
	dci->dc.hdr.life = kept->life;
	mxe_dci_fill(dci);
	mxe_sq_set_psn(&qp->req, kept->psn);
}

/* Leaves the target, if there is one, for another. */
static void mxe_dci_switch(struct mxe_qp *qp, const struct mxe_dci_dest *dest)
{
	struct mxe_dci_dest cur = mxe_dci_cur_dest(qp);
	struct mxe_dci *dci = to_mdci(qp);
	struct mxe_dci_kept next;
	bool found;

	if (dci->connected && mxe_dci_same_target(&cur, dest)) {
		mxe_dci_aim(qp, dest);
		return;
	}
	found = mxe_dci_take(dci, dest, &next);
	/* A session without a response has sent nothing. */
	if (dci->connected && dci->s.acked)
		mxe_dci_keep(qp);
	mxe_dci_aim(qp, dest);
	dci->connected = found;
	if (!found)
		return;
	mxe_dci_resume(qp, &next);
	mxe_ah_put_flow(next.dest.flow);
}

void mxe_dci_reset(struct mxe_qp *qp)
{
	struct mxe_dci *dci = to_mdci(qp);
	int i;

	lockdep_assert_held(&qp->send_lock);

	if (!mxe_qp_is_dci(qp))
		return;
	/* The targets then need not keep the sessions until they expire. */
	if (dci->connected)
		mxe_dci_keep(qp);
	dci->connected = false;
	for (i = 0; i < MXE_DCI_KEPT; i++)
		if (dci->kept[i].dest.flow)
			mxe_dci_disconnect(qp, &dci->kept[i]);
	mxe_tx_aim(qp, NULL);
}

/*
 * Connect to the target of @wr, which is at req.cur and not started, by the
 * session that was kept, or else by a new one. While earlier requests are
 * outstanding, do nothing, because @wr has to wait if it has another target.
 * Context: BHs disabled, send_lock held.
 */
void mxe_dci_connect(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	const struct mxe_dci_dest *dest = mxe_dci_dest(qp, wr);
	struct mxe_dci *dci = to_mdci(qp);

	lockdep_assert_held(&qp->send_lock);

	if (!dest->flow || qp->req.tail != qp->req.cur)
		return;
	if (!mxe_dci_is_connected_to(qp, dest))
		mxe_dci_switch(qp, dest);
	/* A new session takes the place of an idle one at the target, too. */
	if (!dci->connected || mxe_dci_is_idle(dci))
		mxe_dci_open(qp, dest);
}

/* ---- sessions in use ----------------------------------------------------- */

/*
 * Return the responder of the session on this host, or NULL. @target is a DC QP
 * of the number and the netns of the target of the session.
 * Context: BHs disabled, RCU read-side section, in which the result is valid.
 * send_lock of @qp held.
 */
struct mxe_qp *mxe_dci_loop_peer(const struct mxe_qp *qp, struct mxe_qp *target)
{
	const struct mxe_dci *dci = to_mdci(qp);
	const struct mxe_av *av = &qp->av;
	struct mxe_dct_addr addr = {
		.instance = dci->dc.hdr.instance,
		.qpn = qp->qpn,
	};

	lockdep_assert_held(&qp->send_lock);

	if (!dci->s.acked || !mxe_qp_is_dct(target))
		return NULL;
	if (av->is_ipv4) {
		ipv6_addr_set_v4mapped(av->v4.saddr, &addr.saddr);
		ipv6_addr_set_v4mapped(av->v4.daddr, &addr.daddr);
	} else {
		addr.saddr = av->v6.saddr;
		addr.daddr = av->v6.daddr;
	}
	return target->dc->responder(target, &addr, dci->s.session);
}

/*
 * Note a response of the session.
 * Context: send_lock held.
 */
void mxe_dci_heard(struct mxe_qp *qp)
{
	struct mxe_dci *dci = to_mdci(qp);

	lockdep_assert_held(&qp->send_lock);

	dci->heard = ktime_get_coarse_boottime();
	if (dci->s.acked)
		return;
	dci->s.acked = true;
	mxe_dci_fill(dci);
}

/*
 * Handle a control packet of the target of a DC initiator that can send. For a
 * resend, everything unacknowledged is sent again when the caller runs the
 * requester.
 * Context: BHs disabled, send_lock held.
 * Return: the reaction. The caller handles MXE_DCI_WAIT and the failures.
 */
enum mxe_dci_reaction mxe_dci_control(struct mxe_qp *qp,
				      const struct mxe_dc_hdr *hdr)
{
	struct mxe_dci *dci = to_mdci(qp);
	enum mxe_dci_reaction reaction;
	ktime_t elapsed;

	lockdep_assert_held(&qp->send_lock);

	elapsed = ktime_sub(ktime_get_boottime(), dci->begun);
	reaction = mxe_dci_react(&dci->s, hdr->code, hdr->session, hdr->token,
				 mxe_dci_would_know(ktime_to_ns(elapsed),
						    mxe_dci_life_ns(dci),
						    hdr->age));
	mxe_dci_fill(dci);
	if (reaction == MXE_DCI_LOST)
		mxe_count(qp->dev, dc_lost_sessions);
	if (reaction == MXE_DCI_RESEND)
		mxe_sq_rewind(qp, qp->req.una);
	return reaction;
}
