// SPDX-License-Identifier: GPL-2.0
/*
 * DC targets: the table of the initiators that a target knows, and of their
 * sessions.
 */
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "dc/dct.h"
#include "dc/dc_responder.h"
#include "ip/ah.h"
#include "ip/tx.h"
#include "mxe.h"
#include "netns.h"
#include "trace.h"

#define MXE_DCT_SCAN_INTERVAL	HZ
/* Peers that the scan looks at while it holds the lock. */
#define MXE_DCT_SCAN_SLICE	64
/* Responders that are given up in this time are freed together, in jiffies. */
#define MXE_DCT_FREE_DELAY	1

/* A known initiator.  With a session it is open, else only remembered. */
struct mxe_dct_peer {
	struct hlist_node node;		/* dct->hash[] */
	struct list_head entry;		/* dct->peers */
	struct mxe_dct_addr addr;
	u64 hash;			/* of addr, keyed with dct->secret */
	u32 session;			/* newest accepted */
	struct mxe_dc_responder *resp;	/* NULL: no session */
	/* Last packet, in jiffies; with a session, resp->used may be later. */
	unsigned long used;
	/* Time after that until the session or the record ends, in jiffies. */
	unsigned long life;
};

/* ---- addresses ----------------------------------------------------------- */

/*
 * Set @addr to the initiator that has sent a packet whose network header is
 * set. Of @hdr, only qpn and instance are used.
 */
void mxe_dct_addr_of(struct mxe_dct_addr *addr, const struct sk_buff *skb,
		     const struct mxe_dc_hdr *hdr)
{
	addr->instance = hdr->instance;
	addr->qpn = hdr->qpn;
	addr->reserved = 0;
	if (ip_hdr(skb)->version == 4) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &addr->saddr);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &addr->daddr);
	} else {
		addr->saddr = ipv6_hdr(skb)->saddr;
		addr->daddr = ipv6_hdr(skb)->daddr;
	}
}

static u64 mxe_dct_addr_hash(const struct mxe_dct *dct, const struct mxe_dct_addr *addr)
{
	return siphash(addr, sizeof(*addr), &dct->secret);
}

/*
 * Sets the address vector of packets to an initiator.  The target is open, so
 * its attributes do not change before it is reset.  Returns false if the
 * initiator has not sent to a GID of the device.
 */
static bool mxe_dct_av(struct mxe_qp *qp, const struct mxe_dct_addr *addr,
		       struct mxe_av *av)
{
	const struct ib_gid_attr *sgid;
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	int err;

	sgid = rdma_find_gid_by_port(&qp->dev->ibdev,
				     (const union ib_gid *)&addr->daddr,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	if (IS_ERR(sgid))
		return false;
	rdma_ah_set_ah_flags(&attr, IB_AH_GRH);
	rdma_ah_set_grh(&attr, (union ib_gid *)&addr->saddr, 0, sgid->index, 0, 0);
	attr.grh.sgid_attr = sgid;
	if (qp->attr.ah_attr.ah_flags & IB_AH_GRH) {
		attr.grh.traffic_class = qp->attr.ah_attr.grh.traffic_class;
		attr.grh.hop_limit = qp->attr.ah_attr.grh.hop_limit;
		attr.grh.flow_label = qp->attr.ah_attr.grh.flow_label;
	}
	err = mxe_av_init(qp->dev, av, &attr);
	rdma_put_gid_attr(sgid);
	if (err)
		return false;
	av->sport = htons(rdma_get_udp_sport(av->flow_label, qp->qpn, addr->qpn));
	return true;
}

/* ---- answers ------------------------------------------------------------- */

/* Sends an answer whose code and DCTLETH are filled in. */
static void mxe_dct_answer(struct mxe_qp *qp, const struct mxe_av *av,
			   const struct mxe_dc_hdr *request,
			   struct mxe_dc_hdr *answer)
{
	answer->qpn = qp->qpn;
	answer->session = request->session;
	answer->instance = request->instance;
	trace_mxe_dc_answer(qp, request->qpn, request->session, answer->code);
	mxe_tx_send_dc_control(qp, av, request->qpn, answer);
}

/*
 * Reports a wrong access key if the target is armed.  Requests with a wrong key
 * cannot raise more events than the process has asked for.
 */
static void mxe_dct_report(struct mxe_qp *qp)
{
	struct mxe_dct *dct = to_mdct(qp);
	bool armed;

	spin_lock(&dct->lock);
	armed = dct->armed;
	dct->armed = false;
	spin_unlock(&dct->lock);
	if (!armed)
		return;
	/* mxe_qp_recv_end() calls the event handler and holds the QP then. */
	mxe_qp_recv_begin(qp);
	if (!qp->dying)
		qp->resp.pending |= BIT(MXE_PENDING_EV_ACCESS_ERR);
	mxe_qp_recv_end(qp);
}

/* ---- tokens -------------------------------------------------------------- */

static u64 mxe_dct_interval(void)
{
	return div_u64(get_jiffies_64(), MXE_DC_TOKEN_TIME * HZ);
}

/* Returns the token of an initiator in a session.  0 means no token. */
static u64 mxe_dct_token(const struct mxe_dct *dct, u64 hash, u32 session,
			 u64 interval)
{
	return siphash_3u64(hash, session, interval, &dct->secret) ?: 1;
}

static bool mxe_dct_token_ok(const struct mxe_dct *dct, u64 hash,
			     const struct mxe_dc_hdr *hdr)
{
	u64 now = mxe_dct_interval();

	return hdr->token &&
	       (hdr->token == mxe_dct_token(dct, hash, hdr->session, now) ||
		hdr->token == mxe_dct_token(dct, hash, hdr->session, now - 1));
}

/* ---- peers --------------------------------------------------------------- */

static struct hlist_head *mxe_dct_bucket(const struct mxe_dct *dct, u64 hash)
{
	return &dct->hash[hash % MXE_DCT_HASH_SIZE];
}

/* The hash protects the instance, as in mxe_dc_responder_is(). */
static struct mxe_dct_peer *mxe_dct_peer_find(const struct mxe_dct *dct,
					      const struct mxe_dct_addr *addr, u64 hash)
{
	struct mxe_dct_peer *peer;

	lockdep_assert_held(&dct->lock);

	hlist_for_each_entry(peer, mxe_dct_bucket(dct, hash), node)
		if (peer->hash == hash && !memcmp(&peer->addr, addr, sizeof(*addr)))
			return peer;
	return NULL;
}

/* Takes the time of the last packet from the responder of the session. */
static void mxe_dct_peer_sync(struct mxe_dct_peer *peer)
{
	unsigned long used = READ_ONCE(peer->resp->used);

	if (time_after(used, peer->used))
		peer->used = used;
}

/* Returns NULL if there is no room or no memory. */
static struct mxe_dct_peer *mxe_dct_peer_add(struct mxe_dct *dct,
					     const struct mxe_dct_addr *addr, u64 hash)
{
	struct mxe_dct_peer *peer;

	lockdep_assert_held(&dct->lock);

	if (dct->num_peers >= MXE_DCT_MAX_PEERS)
		return NULL;
	peer = kzalloc(sizeof(*peer), MXE_PKT_GFP);
	if (!peer)
		return NULL;
	peer->addr = *addr;
	peer->hash = hash;
	hlist_add_head(&peer->node, mxe_dct_bucket(dct, hash));
	list_add_tail(&peer->entry, &dct->peers);
	if (!dct->num_peers++)
		queue_delayed_work(system_unbound_wq, &dct->work,
				   MXE_DCT_SCAN_INTERVAL);
	return peer;
}

static void mxe_dct_peer_free(struct mxe_dct *dct, struct mxe_dct_peer *peer)
{
	lockdep_assert_held(&dct->lock);

	hlist_del(&peer->node);
	list_del(&peer->entry);
	dct->num_peers--;
	kfree(peer);
}

/* Leaves a responder that is not in use any more to the work. */
static void mxe_dct_give_up(struct mxe_dct *dct, struct mxe_dc_responder *resp)
{
	bool first = list_empty(&dct->closed);

	lockdep_assert_held(&dct->lock);

	list_add_tail(&resp->entry, &dct->closed);
	if (first && !dct->dying)
		mod_delayed_work(system_unbound_wq, &dct->work, MXE_DCT_FREE_DELAY);
}

/*
 * Ends the session of a peer.  Its responder executes nothing from here on, nor
 * the rest of a READ, so no request of an old session follows one of a new
 * session.  The peer is remembered for MXE_DC_RECORD_TIME longer than the
 * session could live, because it may retry until then.  Returns the responder,
 * which the caller may flush after it has dropped the lock.  Then it must be in
 * an RCU read-side section, because the work may free the responder at once.
 */
static struct mxe_dc_responder *mxe_dct_peer_end(struct mxe_dct *dct,
						 struct mxe_dct_peer *peer)
{
	struct mxe_dc_responder *resp = peer->resp;

	lockdep_assert_held(&dct->lock);

	mxe_dc_responder_halt(resp);
	trace_mxe_dc_close(dct->qp, peer->addr.qpn, peer->session);
	if (rcu_access_pointer(dct->recent) == resp)
		RCU_INIT_POINTER(dct->recent, NULL);
	mxe_dct_peer_sync(peer);
	peer->resp = NULL;
	peer->life += MXE_DC_RECORD_TIME * HZ;
	dct->num_open--;
	mxe_dct_give_up(dct, resp);
	return resp;
}

static void mxe_dct_free_closed(struct mxe_dct *dct)
{
	struct mxe_dc_responder *resp, *next;
	LIST_HEAD(closed);

	spin_lock_bh(&dct->lock);
	list_splice_init(&dct->closed, &closed);
	spin_unlock_bh(&dct->lock);
	list_for_each_entry_safe(resp, next, &closed, entry) {
		mxe_dc_responder_free(resp);
		cond_resched();
	}
}

/* ---- expiry -------------------------------------------------------------- */

/*
 * Looks at some of *left peers, and ends a session or forgets a peer whose time
 * is over.  All sessions end if the target is not open.  Returns false if
 * nothing is left to look at.  Another scan may have forgotten some meanwhile.
 */
static bool mxe_dct_scan_slice(struct mxe_dct *dct, u32 *left)
{
	u32 limit = MXE_DCT_SCAN_SLICE;
	bool more;

	spin_lock_bh(&dct->lock);
	while (*left && limit-- && !list_empty(&dct->peers)) {
		struct mxe_dct_peer *peer =
			list_first_entry(&dct->peers, struct mxe_dct_peer, entry);

		(*left)--;
		list_move_tail(&peer->entry, &dct->peers);
		if (peer->resp && !dct->open) {
			mxe_dct_peer_end(dct, peer);
			continue;
		}
		if (peer->resp)
			mxe_dct_peer_sync(peer);
		/* The next scan sees what this one misses. */
		if (peer->resp && mxe_dc_responder_is_busy(peer->resp))
			peer->used = jiffies;
		if (time_before(jiffies, peer->used + peer->life))
			continue;
		if (peer->resp) {
			trace_mxe_dc_expire(dct->qp, peer->addr.qpn, peer->session);
			mxe_dct_peer_end(dct, peer);
			mxe_count(dct->qp->dev, dc_expired);
		} else {
			mxe_dct_peer_free(dct, peer);
		}
	}
	more = *left && !list_empty(&dct->peers);
	spin_unlock_bh(&dct->lock);
	return more;
}

/* Looks at @left peers.  Another scan may rotate the list at the same time. */
static void mxe_dct_scan(struct mxe_dct *dct, u32 left)
{
	while (mxe_dct_scan_slice(dct, &left))
		cond_resched();
}

/*
 * Runs soon after a responder is given up.  The scan waits, because peers that
 * often end their sessions could otherwise keep it busy.
 */
static void mxe_dct_work(struct work_struct *work)
{
	struct mxe_dct *dct = container_of(to_delayed_work(work), struct mxe_dct, work);

	if (time_after_eq(jiffies, dct->scan_at)) {
		dct->scan_at = jiffies + MXE_DCT_SCAN_INTERVAL;
		mxe_dct_scan(dct, READ_ONCE(dct->num_peers));
	}
	mxe_dct_free_closed(dct);

	spin_lock_bh(&dct->lock);
	if (!dct->dying && dct->num_peers)
		queue_delayed_work(system_unbound_wq, &dct->work,
				   MXE_DCT_SCAN_INTERVAL);
	spin_unlock_bh(&dct->lock);
}

/* ---- packets ------------------------------------------------------------- */

/* Returns why a session may not be opened, or MXE_DC_DATA if it may. */
static u8 mxe_dct_check(struct mxe_dct *dct, const struct mxe_dc_hdr *hdr)
{
	lockdep_assert_held(&dct->lock);

	if (hdr->key != dct->key) {
		dct->key_violations++;
		mxe_count(dct->qp->dev, dc_key_violations);
		return MXE_DC_BAD_KEY;
	}
	if (hdr->mtu < IB_MTU_256 || hdr->mtu > dct->qp->attr.path_mtu ||
	    hdr->life > MXE_DC_MAX_LIFE) {
		mxe_count(dct->qp->dev, dc_refused);
		return MXE_DC_REFUSED;
	}
	return MXE_DC_DATA;
}

/*
 * Opens the session of a request.  *known is the peer, or NULL, and is set to
 * it.  *old is set to the responder that the session replaces.  Returns
 * MXE_DC_DATA, or why it was not opened.
 */
static u8 mxe_dct_accept(struct mxe_dct *dct, struct mxe_dct_peer **known,
			 const struct mxe_dct_addr *addr, u64 hash,
			 const struct mxe_dc_hdr *hdr, const struct mxe_av *av,
			 struct mxe_dc_responder **old)
{
	struct mxe_dct_peer *peer = *known;
	struct mxe_dc_responder *resp;
	struct mem_cgroup *outer;

	lockdep_assert_held(&dct->lock);

	/* A packet creates what the owner of the target pays for. */
	outer = set_active_memcg(dct->qp->memcg);
	resp = mxe_dc_responder_create(dct->qp, addr, hdr, av);
	if (resp && !peer)
		peer = mxe_dct_peer_add(dct, addr, hash);
	set_active_memcg(outer);
	if (!resp)
		goto busy;
	if (!peer) {
		mxe_dct_give_up(dct, resp);
		goto busy;
	}
	if (peer->resp)
		*old = mxe_dct_peer_end(dct, peer);
	peer->session = hdr->session;
	peer->resp = resp;
	peer->life = msecs_to_jiffies(hdr->life);
	dct->num_open++;
	trace_mxe_dc_accept(dct->qp, hdr->qpn, hdr->session);
	mxe_count(dct->qp->dev, dc_accepts);
	*known = peer;
	return MXE_DC_DATA;
busy:
	mxe_count(dct->qp->dev, dc_busy);
	return MXE_DC_BUSY;
}

/*
 * Sets the code and the DCTLETH of the answer.  With MXE_DC_DATA there is none,
 * but *resp.
 */
static void mxe_dct_decide(struct mxe_dct *dct, const struct mxe_dct_addr *addr,
			   u64 hash, const struct mxe_dc_hdr *hdr,
			   const struct mxe_av *av, struct mxe_dc_hdr *answer,
			   struct mxe_dc_responder **resp,
			   struct mxe_dc_responder **old)
{
	struct mxe_dct_peer *peer = mxe_dct_peer_find(dct, addr, hash);
	struct mxe_dct_record record = {
		.known = peer,
		.open = peer && peer->resp,
		.session = peer ? peer->session : 0,
	};

	switch (mxe_dct_judge(&record, hdr->connect, hdr->session,
			      mxe_dct_token_ok(dct, hash, hdr))) {
	case MXE_DCT_DELIVER:
		break;
	case MXE_DCT_ACCEPT:
		answer->code = mxe_dct_check(dct, hdr);
		if (!answer->code)
			answer->code = mxe_dct_accept(dct, &peer, addr, hash, hdr, av, old);
		break;
	case MXE_DCT_CHALLENGE:
		/* Nothing is kept: a forged request costs only the answer. */
		answer->code = mxe_dct_check(dct, hdr);
		if (answer->code)
			break;
		answer->code = MXE_DC_CHALLENGE;
		answer->token = mxe_dct_token(dct, hash, hdr->session,
					      mxe_dct_interval());
		answer->age = ktime_get_boottime_ns() - dct->since;
		mxe_count(dct->qp->dev, dc_challenges);
		break;
	case MXE_DCT_STALE:
		answer->code = MXE_DC_STALE;
		answer->token = record.session;
		break;
	case MXE_DCT_NO_SESSION:
		answer->code = MXE_DC_NO_SESSION;
		break;
	}
	if (!answer->code) {
		peer->used = jiffies;
		*resp = peer->resp;
	}
}

/* Returns the responder of a session that is open, or NULL. */
static struct mxe_dc_responder *mxe_dct_find_open(struct mxe_dct *dct,
						  const struct mxe_dct_addr *addr,
						  u64 hash, u32 session)
{
	struct mxe_dc_responder *resp = NULL;
	struct mxe_dct_peer *peer;

	spin_lock(&dct->lock);
	peer = dct->open ? mxe_dct_peer_find(dct, addr, hash) : NULL;
	if (peer && peer->resp && peer->session == session) {
		resp = peer->resp;
		rcu_assign_pointer(dct->recent, resp);
	}
	spin_unlock(&dct->lock);
	return resp;
}

/*
 * Returns the responder of a session that is open, or NULL, with *hash set to
 * the hash of the address.
 */
static struct mxe_dc_responder *mxe_dct_lookup(struct mxe_dct *dct,
					       const struct mxe_dct_addr *addr,
					       u32 session, u64 *hash)
{
	struct mxe_dc_responder *resp = rcu_dereference_bh(dct->recent);

	if (!resp || !mxe_dc_responder_is(resp, addr, session)) {
		*hash = mxe_dct_addr_hash(dct, addr);
		resp = mxe_dct_find_open(dct, addr, *hash, session);
	}
	if (resp)
		WRITE_ONCE(resp->used, jiffies);
	return resp;
}

/*
 * Return the responder of a session that is open, or NULL. It may be closed at
 * any time.
 * Context: BHs disabled, RCU read-side section, in which the result is valid.
 * Takes the lock of the target.
 */
struct mxe_qp *mxe_dct_responder(struct mxe_qp *qp, const struct mxe_dct_addr *addr,
				 u32 session)
{
	struct mxe_dc_responder *resp;
	u64 hash;

	resp = mxe_dct_lookup(to_mdct(qp), addr, session, &hash);
	return resp ? &resp->qp : NULL;
}

/*
 * Return the responder for a request. Open a session if the request demands it.
 * If there is no responder, return NULL and send a control packet that tells
 * the initiator why. The responder may be closed at any time. @skb remains the
 * caller's.
 * Context: BHs disabled, RCU read-side section, in which the result is valid.
 * No lock of a QP held. Takes the lock of the target, recv_lock of a responder
 * that it closes, and recv_lock of the target to report an event.
 */
struct mxe_qp *mxe_dct_find(struct mxe_qp *qp, const struct mxe_dc_hdr *hdr,
			    const struct sk_buff *skb)
{
	struct mxe_dc_responder *resp = NULL, *old = NULL;
	struct mxe_dct *dct = to_mdct(qp);
	struct mxe_dc_hdr answer = {};
	struct mxe_dct_addr addr;
	struct mxe_av av;
	u64 hash;

	mxe_dct_addr_of(&addr, skb, hdr);
	resp = mxe_dct_lookup(dct, &addr, hdr->session, &hash);
	if (resp)
		return &resp->qp;
	if (!READ_ONCE(dct->open))
		goto closed;
	/* Without the lock, because the lookup of the address takes others. */
	if (!mxe_dct_av(qp, &addr, &av)) {
		mxe_count(qp->dev, drop_address);
		return NULL;
	}

	spin_lock(&dct->lock);
	if (!dct->open) {
		spin_unlock(&dct->lock);
		goto closed;
	}
	mxe_dct_decide(dct, &addr, hash, hdr, &av, &answer, &resp, &old);
	spin_unlock(&dct->lock);

	if (old)
		mxe_dc_responder_flush(old);
	if (answer.code == MXE_DC_BAD_KEY)
		mxe_dct_report(qp);
	if (answer.code) {
		mxe_dct_answer(qp, &av, hdr, &answer);
		return NULL;
	}
	return &resp->qp;
closed:
	mxe_count(qp->dev, drop_state);
	return NULL;
}

/*
 * Close a session, because its initiator leaves it. @skb remains the caller's.
 * Context: As mxe_dct_find().
 */
void mxe_dct_disconnect(struct mxe_qp *qp, const struct mxe_dc_hdr *hdr,
			const struct sk_buff *skb)
{
	struct mxe_dc_responder *resp = NULL;
	struct mxe_dct *dct = to_mdct(qp);
	struct mxe_dct_peer *peer;
	struct mxe_dct_addr addr;
	u64 hash;

	mxe_dct_addr_of(&addr, skb, hdr);
	hash = mxe_dct_addr_hash(dct, &addr);
	spin_lock(&dct->lock);
	peer = dct->open ? mxe_dct_peer_find(dct, &addr, hash) : NULL;
	if (peer && peer->resp && peer->session == hdr->session) {
		resp = mxe_dct_peer_end(dct, peer);
		/* It does not retry. */
		peer->used = jiffies;
		peer->life = MXE_DC_RECORD_TIME * HZ;
	}
	spin_unlock(&dct->lock);
	if (resp)
		mxe_dc_responder_flush(resp);
}

/*
 * Count the initiators of a target.
 * Context: RCU read-side section or a verb, no lock of a QP held.
 */
void mxe_dct_query(struct mxe_qp *qp, struct mxe_dct_info *info)
{
	struct mxe_dct *dct = to_mdct(qp);

	spin_lock_bh(&dct->lock);
	info->num_open = dct->num_open;
	info->num_known = dct->num_peers;
	info->key_violations = dct->key_violations;
	info->armed = dct->armed;
	spin_unlock_bh(&dct->lock);
}

/*
 * Arm a target: its next wrong access key raises IB_EVENT_QP_ACCESS_ERR and
 * disarms the target. A change of the state does not disarm it.
 * Context: Process context, a verb, no lock of a QP held.
 */
void mxe_dct_arm(struct mxe_qp *qp)
{
	struct mxe_dct *dct = to_mdct(qp);

	spin_lock_bh(&dct->lock);
	dct->armed = true;
	spin_unlock_bh(&dct->lock);
}

/* ---- targets ------------------------------------------------------------- */

/*
 * Make a QP of type IB_QPT_DRIVER that is being created, with an SRQ, a DC
 * target. Initiators must present @key.
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_dct_create(struct mxe_qp *qp, u64 key)
{
	struct mxe_dct *dct = kzalloc(sizeof(*dct), GFP_KERNEL_ACCOUNT);

	if (!dct)
		return -ENOMEM;
	dct->hash = kcalloc(MXE_DCT_HASH_SIZE, sizeof(*dct->hash),
			    GFP_KERNEL_ACCOUNT);
	if (!dct->hash) {
		kfree(dct);
		return -ENOMEM;
	}
	dct->dc.kind = MXE_DC_TARGET;
	dct->dc.responder = mxe_dct_responder;
	dct->qp = qp;
	dct->key = key;
	spin_lock_init(&dct->lock);
	get_random_bytes(&dct->secret, sizeof(dct->secret));
	INIT_LIST_HEAD(&dct->peers);
	INIT_LIST_HEAD(&dct->closed);
	INIT_DELAYED_WORK(&dct->work, mxe_dct_work);
	dct->scan_at = jiffies + MXE_DCT_SCAN_INTERVAL;
	qp->dc = &dct->dc;
	return 0;
}

/*
 * Apply a new state of the QP to its target. End all sessions unless the state
 * is RTR. When this returns, their requests are not executed any more.
 * Context: No lock of a QP held. May sleep.
 */
void mxe_dct_update(struct mxe_qp *qp)
{
	const struct mxe_netns *mnet = qp->dev->mnet;
	struct mxe_dct *dct = to_mdct(qp);
	u32 left;

	/*
	 * Threads may change the state at the same time.  The last thread that
	 * takes the lock sees the last state.
	 */
	spin_lock_bh(&dct->lock);
	WRITE_ONCE(dct->open, READ_ONCE(qp->state) == IB_QPS_RTR);
	/* Until it got its number, another target may have had it. */
	if (dct->open && !dct->since)
		dct->since = READ_ONCE(mnet->reuses_qpns) ? ktime_get_boottime_ns() :
							    mnet->created;
	left = dct->open ? 0 : dct->num_peers;
	spin_unlock_bh(&dct->lock);
	/* If the work rotates the list meanwhile, it also ends each session. */
	mxe_dct_scan(dct, left);
}

/*
 * Close all sessions, and free the target, which is not found by its number any
 * more.
 * Context: May sleep.
 */
void mxe_dct_destroy(struct mxe_qp *qp)
{
	struct mxe_dct *dct = to_mdct(qp);
	struct mxe_dct_peer *peer, *next;

	/* Packets add and end nothing from here on. */
	spin_lock_bh(&dct->lock);
	dct->dying = true;
	WRITE_ONCE(dct->open, false);
	spin_unlock_bh(&dct->lock);
	cancel_delayed_work_sync(&dct->work);

	list_for_each_entry_safe(peer, next, &dct->peers, entry) {
		spin_lock_bh(&dct->lock);
		if (peer->resp)
			mxe_dct_peer_end(dct, peer);
		mxe_dct_peer_free(dct, peer);
		spin_unlock_bh(&dct->lock);
		cond_resched();
	}
	mxe_dct_free_closed(dct);
	kfree(dct->hash);
	kfree_rcu(dct, rcu);
}
