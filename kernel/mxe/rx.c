// SPDX-License-Identifier: GPL-2.0
/*
 * Receives packets: checks them, finds their queue pairs, and gives them to the
 * requester or the responder under the lock of that side.  The sockets of netns.c and
 * early_demux.c call it.  It calls pkt.c and icrc.c to check a packet, qpn.c to find its
 * queue pair, and rx_dst.c and cnp.c with its route and congestion mark.  Then it calls
 * complete.c and send.c for a response, deliver.c for a request, and mcast.c for a
 * multicast datagram.
 */
#include <linux/if_vlan.h>
#include <linux/rculist.h>
#include <net/ipv6.h>
#include <net/udp.h>
#include <rdma/ib_cache.h>

#include "cnp.h"
#include "complete.h"
#include "deliver.h"
#include "hdr.h"
#include "icrc.h"
#include "mcast.h"
#include "mxe.h"
#include "qp.h"
#include "qpn.h"
#include "rx.h"
#include "rx_dst.h"
#include "send.h"
#include "skb.h"
#include "trace.h"

/* ---- packets ------------------------------------------------------------ */

/* Whom to charge a packet that belongs to no queue pair. */
static struct mxe_dev *mxe_rx_dev(struct mxe_netns *mnet,
				  const struct sk_buff *skb)
{
	struct mxe_dev *dev;

	list_for_each_entry_rcu(dev, &mnet->devs, mnet_entry)
		if (dev->ndev == skb->dev)
			return dev;
	return list_first_or_null_rcu(&mnet->devs, struct mxe_dev, mnet_entry);
}

#define mxe_rx_count_drop(mnet, skb, name) do {			\
	struct mxe_dev *__dev = mxe_rx_dev(mnet, skb);		\
									\
	if (__dev)							\
		mxe_count(__dev, name);					\
} while (0)

static void mxe_rx_count_pkt_error(struct mxe_netns *mnet, struct sk_buff *skb,
				   enum mxe_pkt_error err)
{
	switch (err) {
	case MXE_PKT_OK:
		break;
	case MXE_PKT_SHORT:
		mxe_rx_count_drop(mnet, skb, drop_short);
		break;
	case MXE_PKT_VERSION:
		mxe_rx_count_drop(mnet, skb, drop_version);
		break;
	case MXE_PKT_OPCODE:
		mxe_rx_count_drop(mnet, skb, drop_opcode);
		break;
	case MXE_PKT_LENGTH:
		mxe_rx_count_drop(mnet, skb, drop_length);
		break;
	}
}

/* Is it sound?  If not, that is counted. */
static bool mxe_rx_check(struct mxe_netns *mnet, struct sk_buff *skb,
			 struct mxe_pkt *pkt)
{
	const struct udphdr *udph;
	const struct iphdr *iph;
	enum mxe_pkt_error err;
	bool is_ipv4;
	__le32 icrc;
	const u8 *bth;
	size_t len;

	if (skb_linearize(skb)) {
		mxe_rx_count_drop(mnet, skb, drop_no_memory);
		return false;
	}
	iph = ip_hdr(skb);
	udph = udp_hdr(skb);
	bth = (const u8 *)(udph + 1);
	len = skb_tail_pointer(skb) - bth;
	is_ipv4 = iph->version == 4;
	/* IP options are not covered by any rule of the ICRC. */
	if (is_ipv4 && iph->ihl != 5) {
		mxe_rx_count_drop(mnet, skb, drop_length);
		return false;
	}
	err = mxe_hdr_parse_bth(pkt, is_ipv4, bth, len);
	if (err) {
		mxe_rx_count_pkt_error(mnet, skb, err);
		return false;
	}

	len -= MXE_ICRC_SIZE;
	icrc = is_ipv4 ? mxe_icrc_ipv4(iph, udph, bth, len) :
			 mxe_icrc_ipv6((const void *)iph, udph, bth, len);
	if (icrc != get_unaligned((const __le32 *)(bth + len))) {
		mxe_rx_count_drop(mnet, skb, drop_icrc);
		return false;
	}
	return true;
}

/* ---- the queue pair ------------------------------------------------------ */

static void mxe_rx_dgid(const struct sk_buff *skb, union ib_gid *gid)
{
	if (ip_hdr(skb)->version == 4)
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr,
				       (struct in6_addr *)gid);
	else
		memcpy(gid, &ipv6_hdr(skb)->daddr, sizeof(*gid));
}

/* Is it addressed to a GID of the device?  The device is registered. */
static noinline bool mxe_rx_gid_ok(struct mxe_dev *dev,
				   const struct sk_buff *skb)
{
	const struct ib_gid_attr *attr;
	union ib_gid gid;

	mxe_rx_dgid(skb, &gid);
	attr = rdma_find_gid_by_port(&dev->ibdev, &gid,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/* QP 1 of the device that the packet is addressed to.  Context: RCU. */
static struct mxe_qp *mxe_rx_gsi(struct mxe_netns *mnet,
				 const struct sk_buff *skb)
{
	struct mxe_dev *dev;

	list_for_each_entry_rcu(dev, &mnet->devs, mnet_entry) {
		/* There from registration on, as the GID table is. */
		struct mxe_qp *qp = rcu_dereference(dev->gsi);

		if (qp && mxe_rx_gid_ok(dev, skb))
			return qp;
	}
	return NULL;
}

/* The queue pair that a sound packet is for.  If there is none, that is counted. */
static struct mxe_qp *mxe_rx_lookup(struct mxe_netns *mnet,
				    const struct sk_buff *skb, u32 qpn)
{
	struct mxe_qp *qp;

	qp = qpn == 1 ? mxe_rx_gsi(mnet, skb) : mxe_qpn_find(mnet, qpn);
	if (!qp)
		mxe_rx_count_drop(mnet, skb, drop_qpn);
	return qp;
}

/* Is the packet of the connection that the queue pair has? */
static bool mxe_rx_address_ok(const struct mxe_qp *qp,
			      const struct sk_buff *skb)
{
	const struct mxe_av *av = &qp->av;

	if (!av->valid)
		return false;
	if (ip_hdr(skb)->version == 4)
		return av->is_ipv4 && ip_hdr(skb)->saddr == av->v4.daddr &&
		       ip_hdr(skb)->daddr == av->v4.saddr;
	return !av->is_ipv4 &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &av->v6.daddr) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &av->v6.saddr);
}

static bool mxe_rx_transport_ok(const struct mxe_qp *qp,
				const struct mxe_pkt *pkt)
{
	/* An initiator of XRC executes nothing. */
	if (pkt->flags & MXE_OP_REQUEST && mxe_qp_is_xrc_ini(qp))
		return false;
	return mxe_pkt_transport(pkt) == mxe_qp_transport(qp);
}

static noinline void mxe_rx_trace_receive(const struct mxe_qp *qp,
					  const struct mxe_pkt *pkt)
{
	trace_mxe_receive(qp, pkt->opcode, pkt->psn, pkt->payload_len);
}

/*
 * Returns true if the queue pair may get a packet of this transport and partition;
 * otherwise the drop is counted.
 */
static bool mxe_rx_admit(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	mxe_count(qp->dev, rcvd_pkts);
	if (trace_mxe_receive_enabled())
		mxe_rx_trace_receive(qp, pkt);
	if ((pkt->pkey & 0x7fff) != 0x7fff) {
		mxe_count(qp->dev, drop_pkey);
		return false;
	}
	if (!(pkt->flags & MXE_OP_CNP) && !mxe_rx_transport_ok(qp, pkt)) {
		mxe_count(qp->dev, drop_transport);
		return false;
	}
	return true;
}

/* ---- multicast ----------------------------------------------------------- */

/* Did it come by the device's netdev, or one that stands on that? */
static bool mxe_rx_came_by(const struct mxe_dev *dev,
			   const struct sk_buff *skb)
{
	const struct net_device *ndev = skb->dev;

	if (is_vlan_dev(ndev))
		ndev = vlan_dev_real_dev(ndev);
	return ndev == dev->ndev;
}

/* Copies for the members of the group on every device; consumes skb. */
static noinline void mxe_rx_mcast(struct mxe_netns *mnet,
				  const struct mxe_pkt *pkt,
				       struct sk_buff *skb)
{
	struct mxe_dev *dev;
	bool done = false;
	union ib_gid gid;

	mxe_rx_dgid(skb, &gid);
	list_for_each_entry_rcu(dev, &mnet->devs, mnet_entry) {
		if (!mxe_rx_came_by(dev, skb) ||
		    !mxe_mcast_rcv(dev, &gid, pkt, skb))
			continue;
		mxe_count(dev, rcvd_pkts);
		done = true;
	}
	if (!done)
		mxe_rx_count_drop(mnet, skb, drop_mcast);
	mxe_skb_consume(skb);
}

static bool mxe_rx_is_mcast(const struct mxe_pkt *pkt)
{
	return pkt->qpn == IB_MULTICAST_QPN && pkt->flags & MXE_OP_DETH &&
	       (pkt->pkey & 0x7fff) == 0x7fff;
}

/* ---- dispatch ------------------------------------------------------------ */

/*
 * A run of packets for one side of one queue pair.  The lock of that side is held
 * while qp is set.
 */
struct mxe_rx_run {
	struct mxe_qp *qp;
	bool is_request;
};

static __always_inline void mxe_rx_run_end(struct mxe_rx_run *run)
{
	struct mxe_qp *qp = run->qp;

	if (!qp)
		return;
	run->qp = NULL;
	if (run->is_request) {
		__acquire(&qp->recv_lock);
		mxe_rq_end(qp);
	} else {
		__acquire(&qp->send_lock);
		mxe_sq_end(qp);
	}
}

/* Go on with the run if it is of this side of qp, else begin another. */
static __always_inline void mxe_rx_run_join(struct mxe_rx_run *run,
					    struct mxe_qp *qp, bool is_request)
{
	if (run->qp == qp && run->is_request == is_request)
		return;
	mxe_rx_run_end(run);
	/* mxe_rx_run_end() pairs with these. */
	if (is_request) {
		mxe_rq_begin(qp);
		__release(&qp->recv_lock);
	} else {
		mxe_sq_begin(qp);
		__release(&qp->send_lock);
	}
	run->qp = qp;
	run->is_request = is_request;
}

/*
 * Returns true if the packet is of the queue pair's connection, which learns its
 * route and congestion mark then.  Context: a lock of the queue pair held.
 */
static __always_inline bool mxe_rx_of_connection(struct mxe_qp *qp,
						 const struct sk_buff *skb)
{
	if (!mxe_rx_address_ok(qp, skb)) {
		mxe_count(qp->dev, drop_address);
		return false;
	}
	mxe_rx_dst_learn(qp, skb);
	mxe_cnp_check(qp, skb);
	return true;
}

/* A response, or a CNP; consumes skb. */
static __always_inline void mxe_rx_response(struct mxe_qp *qp,
					    const struct mxe_pkt *pkt,
					    struct sk_buff *skb)
{
	lockdep_assert_held(&qp->send_lock);

	if (pkt->flags & MXE_OP_CNP) {
		if (mxe_rx_address_ok(qp, skb))
			mxe_cnp_rcv(qp);
		else
			mxe_count(qp->dev, drop_address);
	} else if (mxe_rx_of_connection(qp, skb) && mxe_complete_pkt(qp, pkt)) {
		mxe_send_run(qp);
	}
	mxe_skb_consume(skb);
}

/*
 * A request; consumes skb.  more: the lock may be held for others.  Returns false if
 * it must be dropped before.
 */
static __always_inline bool mxe_rx_request(struct mxe_qp *qp,
					   const struct mxe_pkt *pkt,
					   struct sk_buff *skb, bool more)
{
	lockdep_assert_held(&qp->recv_lock);

	if (!(pkt->flags & MXE_OP_DETH) && !mxe_rx_of_connection(qp, skb)) {
		kfree_skb(skb);
		return true;
	}
	mxe_deliver(qp, pkt, skb);
	if (!more)
		return true;
	mxe_deliver_spend(qp, pkt);
	/* With XRC the next may be for another queue than rq.pending. */
	return !(qp->rq.pending && mxe_qp_is_xrc_tgt(qp));
}

/* One packet; consumes skb. */
static __always_inline void mxe_rx_one(struct mxe_netns *mnet,
				       struct sk_buff *skb, struct mxe_qp *hint,
				       struct mxe_rx_run *run, bool more)
{
	struct mxe_pkt pkt __uninitialized;
	struct mxe_qp *qp = hint;

	if (!mxe_rx_check(mnet, skb, &pkt))
		goto drop;
	/* The hint implies that the netdev is the device's own. */
	if (!qp || pkt.qpn != qp->qpn) {
		if (is_vlan_dev(skb->dev))
			pkt.vlan_id = vlan_dev_vlan_id(skb->dev);
		if (mxe_rx_is_mcast(&pkt)) {
			mxe_rx_run_end(run);
			mxe_rx_mcast(mnet, &pkt, skb);
			return;
		}
		qp = mxe_rx_lookup(mnet, skb, pkt.qpn);
	}
	if (!qp || !mxe_rx_admit(qp, &pkt))
		goto drop;
	if (!(pkt.flags & MXE_OP_REQUEST)) {
		mxe_rx_run_join(run, qp, false);
		mxe_rx_response(qp, &pkt, skb);
		return;
	}
	if (pkt.flags & MXE_OP_DETH) {
		/* The GID table has locks of its own. */
		mxe_rx_run_end(run);
		if (!mxe_rx_gid_ok(qp->dev, skb)) {
			mxe_count(qp->dev, drop_address);
			goto drop;
		}
	}
	mxe_rx_run_join(run, qp, true);
	if (!mxe_rx_request(qp, &pkt, skb, more))
		mxe_rx_run_end(run);
	return;
drop:
	kfree_skb(skb);
}

void mxe_rx(struct mxe_netns *mnet, struct sk_buff *list, struct mxe_qp *hint)
{
	struct mxe_rx_run run = {};
	struct sk_buff *skb;

	do {
		skb = list;
		list = skb->next;
		skb_mark_not_on_list(skb);
		mxe_rx_one(mnet, skb, hint, &run, list);
	} while (list);
	mxe_rx_run_end(&run);
}

int mxe_rx_udp(struct sock *sk, struct sk_buff *skb)
{
	struct mxe_netns *mnet = rcu_dereference_sk_user_data(sk);

	/* UDP may have left the rest of a GSO batch here. */
	skb_mark_not_on_list(skb);
	if (mnet)
		mxe_rx(mnet, skb, NULL);
	else
		kfree_skb(skb);
	return 0;
}
