// SPDX-License-Identifier: GPL-2.0
#include <linux/if_vlan.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <net/addrconf.h>
#include <net/dst_cache.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/route.h>
#include <net/udp_tunnel.h>
#include <net/xfrm.h>
#include <rdma/ib_cache.h>

#include "skb.h"
#include "cnp.h"
#include "complete.h"
#include "early_demux.h"
#include "hdr.h"
#include "mxe.h"
#include "net.h"
#include "tx_direct.h"
#include "psn.h"
#include "qp.h"
#include "respond.h"
#include "trace.h"
#include "gso.h"
#include "uc.h"
#include "ud.h"
#include "xrc.h"

static unsigned int mxe_net_id;
static DEFINE_MUTEX(mxe_net_mutex);

/* ---- sending ----------------------------------------------------------- */

#define MXE_NET_ALIGN	16

struct sk_buff *mxe_net_alloc(struct mxe_qp *qp, const struct mxe_pkt_out *out,
			      struct sk_buff **old, u8 **payload)
{
	/* Tunnels put their headers before each packet of a train. */
	size_t room = max_t(size_t, LL_RESERVED_SPACE(qp->dev->ndev),
			    NET_SKB_PAD) + MXE_HDR_MAX_SIZE;
	/* What follows the BTH is aligned for vectors: the ICRC is made by them. */
	size_t headroom = ALIGN(room + sizeof(struct mxe_bth), MXE_NET_ALIGN) -
			  sizeof(struct mxe_bth);
	size_t len = mxe_pkt_len(out);
	size_t size = headroom + len + MXE_ICRC_SIZE;
	struct sk_buff *skb;

	skb = old ? mxe_skb_reuse(old, size) : mxe_skb_alloc(size);
	if (!skb) {
		mxe_count(qp->dev, send_no_memory);
		return NULL;
	}
	skb_reserve(skb, headroom);
	*payload = mxe_pkt_build(out, __skb_put(skb, len));
	return skb;
}

static noinline struct dst_entry *mxe_net_route4(struct mxe_dev *dev,
						 const struct mxe_av *av,
						 struct dst_cache *cache)
{
	struct flowi4 fl4 = {
		.flowi4_oif = av->ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = av->v4.saddr,
		.daddr = av->v4.daddr,
		.fl4_sport = av->sport,
		.fl4_dport = htons(mxe_udp_port),
	};
	struct rtable *rt;

	mxe_flowi4_set_tos(&fl4, av->tclass);
	rt = ip_route_output_key(dev->mnet->net, &fl4);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (cache)
		dst_cache_set_ip4(cache, &rt->dst, fl4.saddr);
	return &rt->dst;
}

static noinline struct dst_entry *mxe_net_route6(struct mxe_dev *dev,
						 const struct mxe_av *av,
						 struct dst_cache *cache)
{
	const struct mxe_net *mnet = dev->mnet;
	struct flowi6 fl6 = {
		.flowi6_oif = av->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel = ip6_make_flowinfo(av->tclass,
					       htonl(av->flow_label)),
		.saddr = av->v6.saddr,
		.daddr = av->v6.daddr,
		.fl6_sport = av->sport,
		.fl6_dport = htons(mxe_udp_port),
	};
	struct dst_entry *dst;

	/* Under RCU: a device is attached, so the sockets are there. */
	if (!mnet->sk6)
		return ERR_PTR(-EAFNOSUPPORT);
	dst = mxe_ip6_dst_lookup(mnet->net, mnet->sk6->sk, &fl6);
	if (IS_ERR(dst))
		return dst;
	if (cache)
		dst_cache_set_ip6(cache, dst, &fl6.saddr);
	return dst;
}

/*
 * The route, with a reference.  cache: of the queue pair whose address av is, with
 * the one that was found last, if it is good; or NULL.
 */
static struct dst_entry *mxe_net_route(struct mxe_dev *dev,
				       const struct mxe_av *av,
				       struct dst_cache *cache)
{
	struct dst_entry *dst;

	dst = cache ? dst_cache_get(cache) : NULL;
	if (dst)
		return dst;
	return av->is_ipv4 ? mxe_net_route4(dev, av, cache) :
			     mxe_net_route6(dev, av, cache);
}

static noinline void mxe_net_trace_send(const struct mxe_qp *qp,
					const struct sk_buff *skb)
{
	const struct mxe_bth *bth = (const void *)skb->data;
	unsigned int pad = (bth->flags & MXE_BTH_PAD_MASK) >> MXE_BTH_PAD_SHIFT;

	trace_mxe_send(qp, bth->opcode, be32_to_cpu(bth->apsn) & MXE_PSN_MASK,
		       skb->len - mxe_opcode_hdr_len(bth->opcode) - pad);
}

/* cache: as for mxe_net_route(). */
static void mxe_net_xmit(struct mxe_dev *dev, const struct mxe_av *av,
			 struct dst_cache *cache, struct sk_buff *skb,
			 unsigned int num_pkts)
{
	struct dst_entry *dst;

	dst = mxe_net_route(dev, av, cache);
	if (IS_ERR(dst)) {
		mxe_count_by(dev, send_no_route, num_pkts);
		kfree_skb(skb);
		return;
	}

	skb_dst_set(skb, dst);
	mxe_count_by(dev, sent_pkts, num_pkts);
	if (num_pkts > 1)
		mxe_count(dev, sent_gso_batches);
	/* Its cb is all zero, as buffer.c makes them. */
	if (av->is_ipv4)
		mxe_tx_direct(dev, skb);
	else
		ip6_local_out(dev->mnet->net, NULL, skb);
}

void mxe_net_send(struct mxe_qp *qp, struct mxe_net_tx *tx, struct sk_buff *skb)
{
	struct mxe_gso *gso = &tx->gso;

	if (trace_mxe_send_enabled())
		mxe_net_trace_send(qp, skb);
	if (!mxe_gso_has_room(gso, qp->dev->ndev, skb->len + MXE_ICRC_SIZE))
		mxe_net_flush(qp, tx);
	mxe_hdr_push(&tx->hdr, &qp->av, skb, gso->num_pkts);
	mxe_gso_add(gso, skb);
}

void mxe_net_flush(struct mxe_qp *qp, struct mxe_net_tx *tx)
{
	unsigned int num_pkts = tx->gso.num_pkts;
	struct sk_buff *skb;

	if (!num_pkts)
		return;
	skb = mxe_gso_take(&tx->gso);
	if (tx->progress) {
		skb_set_dst_pending_confirm(skb, 1);
		tx->progress = false;
	}
	mxe_net_xmit(qp->dev, &qp->av, &qp->dst_cache, skb, num_pkts);
}

void mxe_net_send_to(struct mxe_qp *qp, const struct mxe_av *av,
		     struct sk_buff *skb)
{
	struct mxe_hdr hdr = {};

	if (trace_mxe_send_enabled())
		mxe_net_trace_send(qp, skb);
	mxe_hdr_push(&hdr, av, skb, 0);
	mxe_net_xmit(qp->dev, av, NULL, skb, 1);
}

/* ---- paths that do not leave the host ----------------------------------- */

/* IPsec: does a packet without a policy pass?  A change renews the routes. */
static bool mxe_net_accepts_without_policy(const struct net *net)
{
#ifdef CONFIG_XFRM
	return net->xfrm.policy_default[XFRM_POLICY_IN] ==
	       XFRM_USERPOLICY_ACCEPT &&
	       net->xfrm.policy_default[XFRM_POLICY_OUT] ==
	       XFRM_USERPOLICY_ACCEPT;
#else
	return true;
#endif
}

bool mxe_net_is_local(struct mxe_qp *qp)
{
	struct dst_entry *dst;
	bool local;

	dst = mxe_net_route(qp->dev, &qp->av, &qp->dst_cache);
	if (IS_ERR(dst))
		return false;
	local = dst->dev->flags & IFF_LOOPBACK && !dst_xfrm(dst) &&
		mxe_net_accepts_without_policy(qp->dev->mnet->net);
	dst_release(dst);
	return local;
}

/* ---- queue pairs ------------------------------------------------------- */

/* Not inlined: the slow path, which the test "late" delays (tests/verbs/manifest). */
noinline struct mxe_qp *mxe_net_fill_qp(struct mxe_net *mnet, u32 qpn,
					struct mxe_qp_cache *cache, long generation)
{
	cache->qp = xa_load(&mnet->qps, qpn);
	cache->qpn = qpn;
	cache->generation = generation;
	return cache->qp;
}

/* ---- receiving --------------------------------------------------------- */

/* Whom to charge a packet that belongs to no queue pair. */
static struct mxe_dev *mxe_net_rx_dev(struct mxe_net *mnet,
				      const struct sk_buff *skb)
{
	struct mxe_dev *dev;

	list_for_each_entry_rcu(dev, &mnet->devs, mnet_entry)
		if (dev->ndev == skb->dev)
			return dev;
	return list_first_or_null_rcu(&mnet->devs, struct mxe_dev, mnet_entry);
}

#define mxe_net_count_drop(mnet, skb, name) do {			\
	struct mxe_dev *__dev = mxe_net_rx_dev(mnet, skb);		\
									\
	if (__dev)							\
		mxe_count(__dev, name);					\
} while (0)

static void mxe_net_count_pkt_error(struct mxe_net *mnet, struct sk_buff *skb,
				    enum mxe_pkt_error err)
{
	switch (err) {
	case MXE_PKT_OK:
		break;
	case MXE_PKT_SHORT:
		mxe_net_count_drop(mnet, skb, drop_short);
		break;
	case MXE_PKT_VERSION:
		mxe_net_count_drop(mnet, skb, drop_version);
		break;
	case MXE_PKT_OPCODE:
		mxe_net_count_drop(mnet, skb, drop_opcode);
		break;
	case MXE_PKT_LENGTH:
		mxe_net_count_drop(mnet, skb, drop_length);
		break;
	}
}

/* Is the packet of the connection that the queue pair has? */
static bool mxe_net_address_ok(const struct mxe_qp *qp,
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

static void mxe_net_dgid(const struct sk_buff *skb, union ib_gid *gid)
{
	if (ip_hdr(skb)->version == 4)
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr,
				       (struct in6_addr *)gid);
	else
		memcpy(gid, &ipv6_hdr(skb)->daddr, sizeof(*gid));
}

/* Is it addressed to a GID of the device?  The device is registered. */
static noinline bool mxe_net_gid_ok(struct mxe_dev *dev,
				    const struct sk_buff *skb)
{
	const struct ib_gid_attr *attr;
	union ib_gid gid;

	mxe_net_dgid(skb, &gid);
	attr = rdma_find_gid_by_port(&dev->ibdev, &gid,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/* QP 1 of the device that the packet is addressed to.  Context: RCU. */
static struct mxe_qp *mxe_net_gsi(struct mxe_net *mnet,
				  const struct sk_buff *skb)
{
	struct mxe_dev *dev;

	list_for_each_entry_rcu(dev, &mnet->devs, mnet_entry) {
		/* There from registration on, as the GID table is. */
		struct mxe_qp *qp = rcu_dereference(dev->gsi);

		if (qp && mxe_net_gid_ok(dev, skb))
			return qp;
	}
	return NULL;
}

/* Did it come by the device's netdev, or one that stands on that? */
static bool mxe_net_came_by(const struct mxe_dev *dev,
			    const struct sk_buff *skb)
{
	const struct net_device *ndev = skb->dev;

	if (is_vlan_dev(ndev))
		ndev = vlan_dev_real_dev(ndev);
	return ndev == dev->ndev;
}

/* Copies for the members of the group on every device; consumes skb. */
static noinline void mxe_net_rcv_mcast(struct mxe_net *mnet,
				       const struct mxe_pkt *pkt,
				       struct sk_buff *skb)
{
	struct mxe_dev *dev;
	bool done = false;
	union ib_gid gid;

	mxe_net_dgid(skb, &gid);
	list_for_each_entry_rcu(dev, &mnet->devs, mnet_entry) {
		if (!mxe_net_came_by(dev, skb) ||
		    !mxe_mcast_rcv(dev, &gid, pkt, skb))
			continue;
		mxe_count(dev, rcvd_pkts);
		done = true;
	}
	if (!done)
		mxe_net_count_drop(mnet, skb, drop_mcast);
	mxe_net_consume(skb);
}

static bool mxe_net_transport_ok(const struct mxe_qp *qp,
				 const struct mxe_pkt *pkt)
{
	/* An initiator of XRC executes nothing. */
	if (pkt->flags & MXE_OP_REQUEST && mxe_qp_is_xrc_ini(qp))
		return false;
	return mxe_pkt_transport(pkt) == mxe_qp_transport(qp);
}

static void mxe_net_deliver_ud(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			       struct sk_buff *skb)
{
	if (!mxe_net_gid_ok(qp->dev, skb)) {
		mxe_count(qp->dev, drop_address);
		kfree_skb(skb);
		return;
	}
	mxe_rq_begin(qp);
	mxe_ud_rcv(qp, pkt, skb);
	mxe_rq_end(qp);
}

/* Give a checked packet to its side of the queue pair; consumes skb. */
static void mxe_net_deliver_cnp(struct mxe_qp *qp, struct sk_buff *skb)
{
	mxe_sq_begin(qp);
	if (mxe_net_address_ok(qp, skb))
		mxe_cnp_rcv(qp);
	else
		mxe_count(qp->dev, drop_address);
	mxe_sq_end(qp);
	mxe_net_consume(skb);
}

static void mxe_net_deliver_response(struct mxe_qp *qp,
				     const struct mxe_pkt *pkt,
				     struct sk_buff *skb)
{
	lockdep_assert_held(&qp->send_lock);

	if (mxe_net_address_ok(qp, skb)) {
		mxe_early_demux_learn(qp, skb);
		mxe_cnp_check(qp, skb);
		mxe_complete_pkt(qp, pkt);
	} else {
		mxe_count(qp->dev, drop_address);
	}
	mxe_net_consume(skb);
}

static void mxe_net_deliver_request(struct mxe_qp *qp,
				    const struct mxe_pkt *pkt,
				    struct sk_buff *skb)
{
	lockdep_assert_held(&qp->recv_lock);

	if (!mxe_net_address_ok(qp, skb)) {
		mxe_count(qp->dev, drop_address);
		kfree_skb(skb);
		return;
	}
	mxe_early_demux_learn(qp, skb);
	mxe_cnp_check(qp, skb);
	/* As an RC request does, it waits for those that do not fit in. */
	if (mxe_qp_is_uc(qp) && qp->rq.budget > 0 &&
	    skb_queue_empty(&qp->rq.deferred))
		mxe_uc_rcv(qp, pkt, skb);
	else if (mxe_qp_is_uc(qp))
		mxe_respond_defer(qp, pkt, skb);
	else
		mxe_respond_pkt(qp, pkt, skb);
}

static void mxe_net_deliver(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			    struct sk_buff *skb)
{
	if (pkt->flags & MXE_OP_CNP) {
		mxe_net_deliver_cnp(qp, skb);
		return;
	}
	if (pkt->flags & MXE_OP_DETH) {
		mxe_net_deliver_ud(qp, pkt, skb);
	} else if (pkt->flags & MXE_OP_RESPONSE) {
		mxe_sq_begin(qp);
		mxe_net_deliver_response(qp, pkt, skb);
		mxe_sq_end(qp);
	} else {
		mxe_rq_begin(qp);
		mxe_net_deliver_request(qp, pkt, skb);
		mxe_rq_end(qp);
	}
}

/* bth..bth+len: to the ICRC and with it. */
static __always_inline enum mxe_pkt_error
mxe_net_parse_bth(struct mxe_pkt *pkt, bool is_ipv4, const u8 *bth, size_t len)
{
	enum mxe_pkt_error err;

	err = mxe_pkt_parse(pkt, bth, len);
	pkt->is_ipv4 = is_ipv4;
	pkt->vlan_id = VLAN_N_VID;
	return err;
}

enum mxe_pkt_error mxe_net_parse(const struct sk_buff *skb,
				 struct mxe_pkt *pkt)
{
	const u8 *bth = (const u8 *)(udp_hdr(skb) + 1);

	return mxe_net_parse_bth(pkt, ip_hdr(skb)->version == 4, bth,
				 skb_tail_pointer(skb) - bth);
}

/* Is it sound?  If not, that is counted. */
static bool mxe_net_check(struct mxe_net *mnet, struct sk_buff *skb,
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
		mxe_net_count_drop(mnet, skb, drop_no_memory);
		return false;
	}
	iph = ip_hdr(skb);
	udph = udp_hdr(skb);
	bth = (const u8 *)(udph + 1);
	len = skb_tail_pointer(skb) - bth;
	is_ipv4 = iph->version == 4;
	/* IP options are not covered by any rule of the ICRC. */
	if (is_ipv4 && iph->ihl != 5) {
		mxe_net_count_drop(mnet, skb, drop_length);
		return false;
	}
	err = mxe_net_parse_bth(pkt, is_ipv4, bth, len);
	if (err) {
		mxe_net_count_pkt_error(mnet, skb, err);
		return false;
	}

	len -= MXE_ICRC_SIZE;
	icrc = is_ipv4 ? mxe_icrc_ipv4(iph, udph, bth, len) :
			 mxe_icrc_ipv6((const void *)iph, udph, bth, len);
	if (icrc != get_unaligned((const __le32 *)(bth + len))) {
		mxe_net_count_drop(mnet, skb, drop_icrc);
		return false;
	}
	return true;
}

static noinline void mxe_net_trace_receive(const struct mxe_qp *qp,
					   const struct mxe_pkt *pkt)
{
	trace_mxe_receive(qp, pkt->opcode, pkt->psn, pkt->payload_len);
}

/* Is a sound packet for this queue pair?  If not, that is counted. */
static bool mxe_net_admit(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	mxe_count(qp->dev, rcvd_pkts);
	if (trace_mxe_receive_enabled())
		mxe_net_trace_receive(qp, pkt);
	if ((pkt->pkey & 0x7fff) != 0x7fff) {
		mxe_count(qp->dev, drop_pkey);
		return false;
	}
	if (!(pkt->flags & MXE_OP_CNP) && !mxe_net_transport_ok(qp, pkt)) {
		mxe_count(qp->dev, drop_transport);
		return false;
	}
	return true;
}

/* The queue pair that a sound packet is for.  If there is none, that is counted. */
static struct mxe_qp *mxe_net_lookup(struct mxe_net *mnet,
				     const struct sk_buff *skb, u32 qpn)
{
	struct mxe_qp *qp;

	qp = qpn == 1 ? mxe_net_gsi(mnet, skb) : mxe_qp_find(mnet, qpn);
	if (!qp)
		mxe_net_count_drop(mnet, skb, drop_qpn);
	return qp;
}

void mxe_net_input(struct mxe_net *mnet, struct sk_buff *skb,
		   struct mxe_qp *qp)
{
	struct mxe_pkt pkt __uninitialized;

	if (!mxe_net_check(mnet, skb, &pkt))
		goto drop;
	/* Who knows the queue pair has seen that the netdev is the device's own. */
	if (!qp) {
		if (is_vlan_dev(skb->dev))
			pkt.vlan_id = vlan_dev_vlan_id(skb->dev);
		if (pkt.qpn == IB_MULTICAST_QPN && pkt.flags & MXE_OP_DETH &&
		    (pkt.pkey & 0x7fff) == 0x7fff) {
			mxe_net_rcv_mcast(mnet, &pkt, skb);
			return;
		}
		qp = mxe_net_lookup(mnet, skb, pkt.qpn);
	}
	if (!qp || !mxe_net_admit(qp, &pkt))
		goto drop;
	mxe_net_deliver(qp, &pkt, skb);
	return;
drop:
	kfree_skb(skb);
}

/*
 * For which side of the connection is the packet, as far as its header tells?
 * MXE_OP_REQUEST, MXE_OP_RESPONSE; 0: it may be anybody's.
 */
static u32 mxe_net_side(const struct mxe_qp *qp, const struct sk_buff *skb)
{
	const struct mxe_bth *bth = (const void *)(udp_hdr(skb) + 1);
	u32 flags;

	if (skb_tail_pointer(skb) < (const u8 *)(bth + 1) ||
	    (be32_to_cpu(bth->qpn) & MXE_BTH_QPN_MASK) != qp->qpn)
		return 0;
	flags = mxe_opcode_flags(bth->opcode);
	if (flags & (MXE_OP_DETH | MXE_OP_CNP))
		return 0;
	return flags & (MXE_OP_REQUEST | MXE_OP_RESPONSE);
}

static struct sk_buff *mxe_net_pop(struct sk_buff **list)
{
	struct sk_buff *skb = *list;

	*list = skb->next;
	skb_mark_not_on_list(skb);
	return skb;
}

/* Take the packets of one side from the list, of which there is one at least. */
static void mxe_net_input_responses(struct mxe_net *mnet, struct mxe_qp *qp,
				    struct sk_buff **list)
{
	mxe_sq_begin(qp);
	do {
		struct sk_buff *skb = mxe_net_pop(list);
		struct mxe_pkt pkt __uninitialized;

		if (mxe_net_check(mnet, skb, &pkt) && mxe_net_admit(qp, &pkt))
			mxe_net_deliver_response(qp, &pkt, skb);
		else
			kfree_skb(skb);
	} while (*list && mxe_net_side(qp, *list) == MXE_OP_RESPONSE);
	mxe_sq_end(qp);
}

static void mxe_net_input_requests(struct mxe_net *mnet, struct mxe_qp *qp,
				   struct sk_buff **list)
{
	mxe_rq_begin(qp);
	do {
		struct sk_buff *skb = mxe_net_pop(list);
		struct mxe_pkt pkt __uninitialized;

		if (mxe_net_check(mnet, skb, &pkt) && mxe_net_admit(qp, &pkt)) {
			mxe_net_deliver_request(qp, &pkt, skb);
			mxe_respond_spend(qp, &pkt);
		} else {
			kfree_skb(skb);
		}
		/* With XRC the next may be for another queue than rq.pending. */
		if (qp->rq.pending && mxe_qp_is_xrc_tgt(qp))
			break;
	} while (*list && mxe_net_side(qp, *list) == MXE_OP_REQUEST);
	mxe_rq_end(qp);
}

void mxe_net_input_list(struct mxe_net *mnet, struct sk_buff *list,
			 struct mxe_qp *qp)
{
	mxe_count(qp->dev, rcvd_gso_batches);
	while (list) {
		u32 side = mxe_net_side(qp, list);

		if (side == MXE_OP_RESPONSE)
			mxe_net_input_responses(mnet, qp, &list);
		else if (side == MXE_OP_REQUEST)
			mxe_net_input_requests(mnet, qp, &list);
		else
			mxe_net_input(mnet, mxe_net_pop(&list), NULL);
	}
}

/*
 * The UDP socket's receive hook.  Context: softirq, RCU.  Returns 0: the
 * packet is ours whatever it is.
 */
static int mxe_net_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct mxe_net *mnet = rcu_dereference_sk_user_data(sk);

	if (mnet)
		mxe_net_input(mnet, skb, NULL);
	else
		kfree_skb(skb);
	return 0;
}

/* ---- namespaces -------------------------------------------------------- */

static struct socket *mxe_net_open(struct mxe_net *mnet, u8 family)
{
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(mxe_udp_port),
		.ipv6_v6only = family == AF_INET6,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = mnet,
		.encap_type = 1,
		.encap_rcv = mxe_net_rcv,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(mnet->net, &port, &sock);
	if (err)
		return ERR_PTR(err);
	mxe_udp_tunnel_sock_setup(mnet->net, sock, &tunnel);
	return sock;
}

static int mxe_net_open_sockets(struct mxe_net *mnet)
{
	struct socket *sock;

	lockdep_assert_held(&mxe_net_mutex);

	sock = mxe_net_open(mnet, AF_INET);
	if (IS_ERR(sock))
		return PTR_ERR(sock);
	mnet->sk4 = sock;
	mxe_early_demux_register(mnet);

	/* A host without IPv6 has no IPv6 GIDs either. */
	if (!IS_ENABLED(CONFIG_IPV6) || !ipv6_mod_enabled())
		return 0;
	sock = mxe_net_open(mnet, AF_INET6);
	if (IS_ERR(sock)) {
		mxe_early_demux_unregister(mnet);
		mxe_udp_tunnel_sock_release(mnet->sk4);
		mnet->sk4 = NULL;
		return PTR_ERR(sock);
	}
	mnet->sk6 = sock;
	return 0;
}

static void mxe_net_close_sockets(struct mxe_net *mnet)
{
	lockdep_assert_held(&mxe_net_mutex);

	mxe_early_demux_unregister(mnet);
	/* Waits for receivers: synchronize_rcu(). */
	if (mnet->sk6)
		mxe_udp_tunnel_sock_release(mnet->sk6);
	mxe_udp_tunnel_sock_release(mnet->sk4);
	mnet->sk4 = NULL;
	mnet->sk6 = NULL;
}

/* Is there a device on ndev?  Two of them would be told apart by nothing. */
static bool mxe_net_has(const struct mxe_net *mnet,
			const struct net_device *ndev)
{
	const struct mxe_dev *dev;

	lockdep_assert_held(&mxe_net_mutex);

	list_for_each_entry(dev, &mnet->devs, mnet_entry)
		if (dev->ndev == ndev)
			return true;
	return false;
}

int mxe_net_attach(struct mxe_dev *dev, struct net *net)
{
	struct mxe_net *mnet = net_generic(net, mxe_net_id);
	int err = 0;

	mutex_lock(&mxe_net_mutex);
	if (mxe_net_has(mnet, dev->ndev))
		err = -EEXIST;
	else if (!mnet->users)
		err = mxe_net_open_sockets(mnet);
	if (!err) {
		mnet->users++;
		dev->mnet = mnet;
		list_add_tail_rcu(&dev->mnet_entry, &mnet->devs);
	}
	mutex_unlock(&mxe_net_mutex);
	if (!err)
		mxe_early_demux_attach(dev);
	return err;
}

void mxe_net_detach(struct mxe_dev *dev)
{
	struct mxe_net *mnet = dev->mnet;

	mxe_early_demux_detach(dev);
	mutex_lock(&mxe_net_mutex);
	list_del_rcu(&dev->mnet_entry);
	if (!--mnet->users)
		mxe_net_close_sockets(mnet);
	mutex_unlock(&mxe_net_mutex);
	/* Receivers that found the device to charge a drop. */
	synchronize_rcu();
}

static int __net_init mxe_net_init(struct net *net)
{
	struct mxe_net *mnet = net_generic(net, mxe_net_id);

	mnet->recent = alloc_percpu(struct mxe_qp_recent);
	if (!mnet->recent)
		return -ENOMEM;
	mnet->net = net;
	INIT_LIST_HEAD(&mnet->devs);
	xa_init_flags(&mnet->qps, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	/* Numbers of an earlier module or namespace are not met again soon. */
	mnet->next_qpn = get_random_u32() & MXE_BTH_QPN_MASK;
	return 0;
}

/* A device of the namespace that is still there, held; or NULL. */
static struct mxe_dev *mxe_net_first_dev(struct mxe_net *mnet)
{
	struct mxe_dev *dev;

	mutex_lock(&mxe_net_mutex);
	dev = list_first_entry_or_null(&mnet->devs, struct mxe_dev, mnet_entry);
	if (dev)
		get_device(&dev->ibdev.dev);
	mutex_unlock(&mxe_net_mutex);
	return dev;
}

/*
 * The namespace ends.  Its netdevs have gone or moved, so the removal of their
 * devices is queued, or under way: ib_unregister_device() waits for that, or does it.
 */
static void __net_exit mxe_net_exit(struct net *net)
{
	struct mxe_net *mnet = net_generic(net, mxe_net_id);
	struct mxe_dev *dev;

	while ((dev = mxe_net_first_dev(mnet))) {
		ib_unregister_device(&dev->ibdev);
		put_device(&dev->ibdev.dev);
	}
	WARN_ON(!xa_empty(&mnet->qps));
	xa_destroy(&mnet->qps);
	free_percpu(mnet->recent);
}

static struct pernet_operations mxe_net_ops = {
	.init = mxe_net_init,
	.exit = mxe_net_exit,
	.id = &mxe_net_id,
	.size = sizeof(struct mxe_net),
};

int mxe_net_register(void)
{
	return register_pernet_subsys(&mxe_net_ops);
}

void mxe_net_unregister(void)
{
	unregister_pernet_subsys(&mxe_net_ops);
}
