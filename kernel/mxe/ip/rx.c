// SPDX-License-Identifier: GPL-2.0
/*
 * Checks received packets, finds their QPs, and gives them to the requester or
 * the responder under the lock of that side.
 */
#include <linux/if_vlan.h>
#include <linux/rculist.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/udp.h>
#include <net/vxlan.h>
#include <rdma/ib_cache.h>

#include "dc/dc.h"
#include "dc/dc_rx.h"
#include "fast/rx_dst.h"
#include "ip/cnp.h"
#include "ip/mcast.h"
#include "ip/qpn.h"
#include "ip/rx.h"
#include "mxe.h"
#include "queues/qp.h"
#include "queues/xrc.h"
#include "rc/complete.h"
#include "rc/deliver.h"
#include "rc/send.h"
#include "trace.h"
#include "wire/hdr.h"
#include "wire/icrc.h"

/* ---- packets ------------------------------------------------------------ */

/*
 * Returns the device that counts a packet without a QP: that of its netdev,
 * else any device of the netns, or NULL.
 */
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

/*
 * Returns true if the UDP header follows the fixed IP header. FOU and GUE pass
 * packets to UDP that have tunnel headers between them.
 */
static bool mxe_rx_is_plain(const struct sk_buff *skb, bool is_ipv4)
{
	return mxe_icrc_is_defined(skb, is_ipv4) &&
	       skb_transport_header(skb) - skb_network_header(skb) ==
	       (is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
}

/* Returns true if a packet is valid and its ICRC correct.  Counts a drop. */
static bool mxe_rx_check(struct mxe_netns *mnet, struct sk_buff *skb,
			 struct mxe_pkt *pkt)
{
	enum mxe_pkt_error err;
	bool is_ipv4;
	const u8 *bth;
	size_t len;

	if (skb_linearize(skb)) {
		mxe_rx_count_drop(mnet, skb, drop_no_memory);
		return false;
	}
	bth = (const u8 *)(udp_hdr(skb) + 1);
	len = skb_tail_pointer(skb) - bth;
	is_ipv4 = ip_hdr(skb)->version == 4;
	if (!mxe_rx_is_plain(skb, is_ipv4)) {
		mxe_rx_count_drop(mnet, skb, drop_length);
		return false;
	}
	err = mxe_pkt_parse(pkt, bth, len);
	if (err) {
		mxe_rx_count_pkt_error(mnet, skb, err);
		return false;
	}

	if (!mxe_icrc_is_correct(skb, is_ipv4, bth, len - MXE_ICRC_SIZE)) {
		mxe_rx_count_drop(mnet, skb, drop_icrc);
		return false;
	}
	return true;
}

/* ---- QPs ----------------------------------------------------------------- */

static void mxe_rx_dgid(const struct sk_buff *skb, union ib_gid *gid)
{
	if (ip_hdr(skb)->version == 4)
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr,
				       (struct in6_addr *)gid);
	else
		memcpy(gid, &ipv6_hdr(skb)->daddr, sizeof(*gid));
}

/* Returns the netdev of a packet that a layer-3 master device has passed on. */
static struct net_device *mxe_rx_l3_slave(const struct sk_buff *skb)
{
	struct net_device *ndev = skb->dev;
	int ifindex = ip_hdr(skb)->version == 4 ? inet_sdif(skb) : inet6_sdif(skb);

	if (ifindex == ndev->ifindex)
		return NULL;
	return dev_get_by_index_rcu(dev_net(ndev), ifindex) ?: ndev;
}

/* Returns the netdev of a received packet, or NULL if this host sent it. */
static struct net_device *mxe_rx_netdev(const struct sk_buff *skb)
{
	struct net_device *ndev = skb->dev;

	if (ndev->flags & IFF_LOOPBACK)
		return NULL;
	return netif_is_l3_master(ndev) ? mxe_rx_l3_slave(skb) : ndev;
}

/*
 * Returns true if a netdev is that of a device, or stacked on it as a VLAN is.
 * Packets for an address of one such netdev may arrive on another one, because
 * Linux answers ARP requests on all. Packets of other netdevs could come from
 * everybody whose packets a tunnel of this host decapsulates.
 */
static bool mxe_rx_has_roce(const struct mxe_netns *mnet, struct net_device *ndev)
{
	struct mxe_dev *dev;

	list_for_each_entry_rcu(dev, &mnet->devs, mnet_entry) {
		if (dev->ndev == ndev)
			return true;
		/* A tunnel is stacked on the netdev of its packets. */
		if (netdev_has_upper_dev_all_rcu(dev->ndev, ndev) && !netif_is_vxlan(ndev))
			return true;
	}
	return false;
}

/*
 * Returns true if a packet is addressed to a GID of the device, which must be
 * registered, and arrived on a netdev of RoCE or that of the GID.
 */
static bool mxe_rx_gid_ok(struct mxe_dev *dev, const struct sk_buff *skb)
{
	struct net_device *ndev = mxe_rx_netdev(skb);
	const struct ib_gid_attr *attr;
	union ib_gid gid;

	if (ndev == dev->ndev || (ndev && mxe_rx_has_roce(dev->mnet, ndev)))
		ndev = NULL;
	mxe_rx_dgid(skb, &gid);
	attr = rdma_find_gid_by_port(&dev->ibdev, &gid,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, ndev);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/* Returns QP 1 of the device that a packet is addressed to, or NULL. */
static struct mxe_qp *mxe_rx_gsi(struct mxe_netns *mnet,
				 const struct sk_buff *skb)
{
	struct mxe_dev *dev;

	list_for_each_entry_rcu(dev, &mnet->devs, mnet_entry) {
		/* If QP 1 exists, the GID table of the device does, too. */
		struct mxe_qp *qp = rcu_dereference(dev->gsi);

		if (qp && mxe_rx_gid_ok(dev, skb))
			return qp;
	}
	return NULL;
}

/* Returns the QP that a packet is for, or NULL.  Counts a drop. */
static struct mxe_qp *mxe_rx_lookup(struct mxe_netns *mnet,
				    const struct sk_buff *skb, u32 qpn)
{
	struct mxe_qp *qp;

	qp = qpn == 1 ? mxe_rx_gsi(mnet, skb) : mxe_qpn_find(mnet, qpn);
	if (!qp)
		mxe_rx_count_drop(mnet, skb, drop_qpn);
	return qp;
}

static bool mxe_rx_transport_ok(const struct mxe_qp *qp,
				const struct mxe_pkt *pkt)
{
	/* An XRC initiator has no responder. */
	if (pkt->flags & MXE_OP_REQUEST && mxe_qp_is_xrc_ini(qp))
		return false;
	return pkt->transport == qp->transport;
}

static void mxe_rx_trace_receive(const struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	trace_mxe_receive(qp, pkt->bth->opcode, pkt->psn, pkt->payload_len);
}

/*
 * Returns true if a packet has the transport and the partition key of the QP.
 * Otherwise it counts a drop.
 */
static bool mxe_rx_admit(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	mxe_count(qp->dev, rcvd_pkts);
	if (trace_mxe_receive_enabled())
		mxe_rx_trace_receive(qp, pkt);
	if (!mxe_pkt_pkey_ok(pkt)) {
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

/* Returns true if a packet arrived on the netdev of @dev, or a VLAN of it. */
static bool mxe_rx_is_on_netdev(const struct mxe_dev *dev,
				const struct sk_buff *skb)
{
	const struct net_device *ndev = skb->dev;

	if (is_vlan_dev(ndev))
		ndev = vlan_dev_real_dev(ndev);
	return ndev == dev->ndev;
}

/* Gives copies to the members of a group on each device, and consumes @skb. */
static void mxe_rx_mcast(struct mxe_netns *mnet, const struct mxe_pkt *pkt,
			 struct sk_buff *skb)
{
	struct mxe_dev *dev;
	bool done = false;
	union ib_gid gid;

	mxe_rx_dgid(skb, &gid);
	list_for_each_entry_rcu(dev, &mnet->devs, mnet_entry) {
		if (!mxe_rx_is_on_netdev(dev, skb) ||
		    !mxe_mcast_rcv(dev, &gid, pkt, skb))
			continue;
		mxe_count(dev, rcvd_pkts);
		done = true;
	}
	if (!done)
		mxe_rx_count_drop(mnet, skb, drop_mcast);
	napi_consume_skb(skb, 1);
}

static bool mxe_rx_is_mcast(const struct mxe_pkt *pkt)
{
	return mxe_pkt_qpn(pkt) == IB_MULTICAST_QPN && pkt->flags & MXE_OP_DETH &&
	       mxe_pkt_pkey_ok(pkt);
}

/* ---- dispatch ------------------------------------------------------------ */

/*
 * Packets in a row for one side of one QP.  The lock of that side is held while
 * qp is set.
 */
struct mxe_rx_run {
	struct mxe_qp *qp;
	bool is_request;
};

static void mxe_rx_run_end(struct mxe_rx_run *run)
{
	struct mxe_qp *qp = run->qp;

	if (!qp)
		return;
	run->qp = NULL;
	if (run->is_request) {
		__acquire(&qp->recv_lock);
		mxe_tx_flush(qp, &qp->resp.tx);
		mxe_qp_recv_end(qp);
	} else {
		__acquire(&qp->send_lock);
		mxe_tx_flush(qp, &qp->req.tx);
		mxe_qp_send_end(qp);
	}
}

/* Continues a run for this side of @qp, or ends it and begins another. */
static void mxe_rx_run_join(struct mxe_rx_run *run, struct mxe_qp *qp, bool is_request)
{
	if (run->qp == qp && run->is_request == is_request)
		return;
	mxe_rx_run_end(run);
	/* Annotations for sparse.  mxe_rx_run_end() drops the lock. */
	if (is_request) {
		mxe_qp_recv_begin(qp);
		__release(&qp->recv_lock);
	} else {
		mxe_qp_send_begin(qp);
		__release(&qp->send_lock);
	}
	run->qp = qp;
	run->is_request = is_request;
}

/*
 * Returns true if a packet has the addresses of the connection, and arrived on
 * a netdev of RoCE or that of the connection.
 */
static bool mxe_rx_is_from_peer(const struct mxe_qp *qp, const struct sk_buff *skb)
{
	struct net_device *ndev;

	if (!mxe_qp_is_from_peer(qp, skb))
		return false;
	if (likely(skb->dev->ifindex == qp->av.ifindex))
		return true;
	ndev = mxe_rx_netdev(skb);
	return !ndev || ndev->ifindex == qp->av.ifindex ||
	       mxe_rx_has_roce(qp->dev->mnet, ndev);
}

/*
 * Returns true if a packet belongs to the connection of the QP.  Then its route
 * is kept, and a congestion mark is answered.  Context: lock of a side held.
 */
static bool mxe_rx_of_connection(struct mxe_qp *qp, const struct sk_buff *skb)
{
	if (!mxe_rx_is_from_peer(qp, skb)) {
		mxe_count(qp->dev, drop_address);
		return false;
	}
	mxe_rx_dst_learn(qp, skb);
	mxe_cnp_check(qp, skb);
	return true;
}

/* Handles a response or a CNP, and consumes @skb. */
static void mxe_rx_response(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			    struct sk_buff *skb)
{
	lockdep_assert_held(&qp->send_lock);

	if (pkt->flags & MXE_OP_CNP) {
		if (mxe_rx_is_from_peer(qp, skb))
			mxe_cnp_rcv(qp);
		else
			mxe_count(qp->dev, drop_address);
	} else if (mxe_rx_of_connection(qp, skb) && mxe_complete_pkt(qp, pkt)) {
		mxe_send_run(qp);
	}
	napi_consume_skb(skb, 1);
}

/*
 * Handles a request, and consumes @skb.  With @more, other packets follow in
 * the list.  Returns false if the lock must be dropped before them.
 */
static bool mxe_rx_request(struct mxe_qp *qp, const struct mxe_pkt *pkt,
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
	return !mxe_xrc_must_end(qp);
}

/*
 * Handles a DC packet, and consumes @skb.  The lookup of a session compares the
 * addresses.
 */
static void mxe_rx_dc(struct mxe_rx_run *run, struct mxe_qp *qp,
		      const struct mxe_pkt *pkt, struct sk_buff *skb, bool more)
{
	struct mxe_dc_hdr hdr;

	/* The lookups in the GID table and of a session take locks. */
	if (skb->dev != qp->dev->ndev || mxe_qp_is_dct(qp))
		mxe_rx_run_end(run);
	/* Packets of this host need no lookup in the GID table. */
	if (skb->dev != qp->dev->ndev && mxe_rx_netdev(skb) &&
	    !mxe_rx_gid_ok(qp->dev, skb)) {
		mxe_count(qp->dev, drop_address);
		goto drop;
	}
	if (!mxe_dc_parse(pkt, &hdr)) {
		mxe_count(qp->dev, drop_version);
		goto drop;
	}
	if (mxe_qp_is_dci(qp)) {
		mxe_rx_run_join(run, qp, false);
		mxe_dc_rx_response(qp, pkt, &hdr, skb);
		napi_consume_skb(skb, 1);
		return;
	}
	qp = mxe_dc_rx_responder(qp, pkt, &hdr, skb);
	if (!qp)
		goto drop;
	mxe_rx_run_join(run, qp, true);
	/* A dying responder may have dropped its route for good. */
	if (!qp->dying)
		mxe_rx_dst_learn(qp, skb);
	mxe_deliver(qp, pkt, skb);
	if (more)
		mxe_deliver_spend(qp, pkt);
	return;
drop:
	kfree_skb(skb);
}

static void mxe_rx_one(struct mxe_netns *mnet, struct sk_buff *skb, struct mxe_qp *hint,
		       struct mxe_rx_run *run, bool more)
{
	struct mxe_pkt pkt __uninitialized;
	struct mxe_qp *qp = hint;

	if (!mxe_rx_check(mnet, skb, &pkt))
		goto drop;
	/* With the hint, the packet did not arrive on a VLAN. */
	pkt.vlan_id = VLAN_N_VID;
	if (!qp || mxe_pkt_qpn(&pkt) != qp->qpn || pkt.flags & MXE_OP_DC_CONTROL) {
		if (is_vlan_dev(skb->dev))
			pkt.vlan_id = vlan_dev_vlan_id(skb->dev);
		if (mxe_rx_is_mcast(&pkt)) {
			mxe_rx_run_end(run);
			mxe_rx_mcast(mnet, &pkt, skb);
			return;
		}
		qp = mxe_rx_lookup(mnet, skb, mxe_pkt_qpn(&pkt));
	}
	if (!qp)
		goto drop;
	if (!mxe_rx_admit(qp, &pkt))
		goto drop;
	if (unlikely(pkt.flags & MXE_OP_DCETH)) {
		mxe_rx_dc(run, qp, &pkt, skb, more);
		return;
	}
	if (!(pkt.flags & MXE_OP_REQUEST)) {
		mxe_rx_run_join(run, qp, false);
		mxe_rx_response(qp, &pkt, skb);
		return;
	}
	if (pkt.flags & MXE_OP_DETH) {
		/* The lookup in the GID table takes locks. */
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

/**
 * mxe_rx() - Check received packets, and give them to their QPs.
 * @mnet: netns in which they were received
 * @list: packets, linked by next, whose transport headers are set; consumed
 * @hint: QP that the packets may be for, or NULL; if set, all packets must have
 *	arrived on the netdev of its device, and not on a VLAN
 *
 * Packets in a row for the same side of a QP are handled under one lock.
 *
 * Context: Softirq, RCU read-side section.  Takes locks of QPs, and calls
 * handlers.
 */
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

/*
 * Receive a packet, whose transport header is set, as encap_rcv() of a socket.
 * Consumes @skb, so it always returns 0.
 * Context: Softirq, RCU read-side section.
 */
int mxe_rx_udp(struct sock *sk, struct sk_buff *skb)
{
	struct mxe_netns *mnet = rcu_dereference_sk_user_data(sk);

	/* UDP may have left a pointer to the rest of a GSO batch in next. */
	skb_mark_not_on_list(skb);
	if (mnet)
		mxe_rx(mnet, skb, NULL);
	else
		kfree_skb(skb);
	return 0;
}
