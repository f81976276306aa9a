// SPDX-License-Identifier: GPL-2.0
/*
 * Netfilter hooks that recognise packets of known connections before the IP
 * layer routes them.
 */
#include <linux/filter.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_bridge.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/xfrm.h>

#include "fast/early_demux.h"
#include "fast/gso.h"
#include "fast/rx_dst.h"
#include "ip/qpn.h"
#include "ip/rx.h"
#include "mxe.h"
#include "netns.h"
#include "queues/qp.h"

#ifdef CONFIG_NETFILTER

/* Returns the hooks of netfilter for the packets of a family. */
static struct nf_hook_entries __rcu **mxe_early_demux_hooks(struct net *net,
							    bool is_ipv4)
{
	return is_ipv4 ? net->nf.hooks_ipv4 : net->nf.hooks_ipv6;
}

static unsigned int mxe_early_demux_ip_len(bool is_ipv4)
{
	return is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

/*
 * Returns true if a hook between this point and the socket could act on the
 * packet.
 */
static bool mxe_early_demux_interferes(struct net *net, struct sk_buff *skb,
				       bool is_ipv4)
{
	if (rcu_access_pointer(mxe_early_demux_hooks(net, is_ipv4)[NF_INET_LOCAL_IN]))
		return true;
	/* Tunnel metadata, or a layer-3 master device. */
	if (skb_dst(skb) || netif_is_l3_slave(skb->dev))
		return true;
	/*
	 * Unlike the IPv4 routes, those of IPv6 stay valid when a routing rule
	 * is added.
	 */
	if (!is_ipv4 && fib6_has_custom_rules(net))
		return true;
#ifdef CONFIG_BPF_SYSCALL
	if (static_branch_unlikely(&bpf_sk_lookup_enabled))
		return true;
#endif
#ifdef CONFIG_XFRM
	if (!__xfrm_check_nopolicy(net, skb, XFRM_POLICY_IN))
		return true;
#endif
	return false;
}

/* Pull the headers up to and including the BTH into the linear area. */
static bool mxe_early_demux_pull(struct sk_buff *skb, bool is_ipv4)
{
	const unsigned int len = mxe_early_demux_ip_len(is_ipv4) +
				 sizeof(struct udphdr) + sizeof(struct mxe_bth);

	if (likely(skb_headlen(skb) >= len))
		return true;
	/*
	 * Pulling data from the other packets of a GSO batch would break the
	 * batch.
	 */
	return !skb_is_gso(skb) && pskb_may_pull(skb, len);
}

static bool mxe_early_demux_is_udp4(const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);

	return iph->ihl == 5 && iph->protocol == IPPROTO_UDP && !ip_is_fragment(iph);
}

/*
 * Returns true for UDP without extension headers. Fragments have an extension
 * header.
 */
static bool mxe_early_demux_is_udp6(const struct sk_buff *skb)
{
	return ipv6_hdr(skb)->nexthdr == IPPROTO_UDP;
}

/*
 * Returns true if the UDP layer would deliver this packet to our socket
 * unmodified.
 */
static bool mxe_early_demux_is_roce(const struct sk_buff *skb, bool is_ipv4)
{
	const unsigned int ip_len = mxe_early_demux_ip_len(is_ipv4);
	const struct udphdr *udph = (const void *)(skb_network_header(skb) + ip_len);

	/*
	 * Packets with a UDP checksum are left to the UDP layer, which verifies
	 * it. The sockets of both families accept packets without one.
	 */
	return skb->pkt_type == PACKET_HOST &&
	       (is_ipv4 ? mxe_early_demux_is_udp4(skb) : mxe_early_demux_is_udp6(skb)) &&
	       udph->dest == htons(mxe_udp_port) && !udph->check &&
	       ntohs(udph->len) == skb->len - ip_len;
}

static bool mxe_early_demux_same4(const struct mxe_av *av, const struct iphdr *iph)
{
	return av->is_ipv4 && av->v4.daddr == iph->saddr && av->v4.saddr == iph->daddr;
}

static bool mxe_early_demux_same6(const struct mxe_av *av, const struct ipv6hdr *ip6h)
{
	return !av->is_ipv4 && ipv6_addr_equal(&av->v6.daddr, &ip6h->saddr) &&
	       ipv6_addr_equal(&av->v6.saddr, &ip6h->daddr);
}

/* Compares the addresses with those of the connection, without a lock. */
static bool mxe_early_demux_address_ok(const struct mxe_qp *qp,
				       const struct sk_buff *skb, bool is_ipv4)
{
	/*
	 * A hint. modify_qp may change the peer, and rx.c checks under the
	 * lock.
	 */
	return data_race(is_ipv4 ? mxe_early_demux_same4(&qp->av, ip_hdr(skb)) :
				   mxe_early_demux_same6(&qp->av, ipv6_hdr(skb)));
}

/*
 * Returns the QP of a packet if the QP has a valid route for it, else NULL. The
 * addresses must match, because QP numbers are not unique among hosts, and a
 * packet with other addresses may have to be forwarded.
 */
static struct mxe_qp *mxe_early_demux_qp(struct mxe_netns *mnet,
					 const struct sk_buff *skb, bool is_ipv4,
					 const struct dst_entry **dst)
{
	const struct mxe_bth *bth;
	struct mxe_qp *qp;

	bth = (const void *)(skb->data + mxe_early_demux_ip_len(is_ipv4) +
			     sizeof(struct udphdr));
	qp = mxe_qpn_find(mnet, be32_to_cpu(bth->qpn) & MXE_BTH_QPN_MASK);
	if (qp && unlikely(qp->ops->hint))
		qp = qp->ops->hint(qp, skb, bth);
	if (!qp || skb->dev != qp->dev->ndev ||
	    !mxe_early_demux_address_ok(qp, skb, is_ipv4))
		return NULL;
	/*
	 * The route is that of these addresses, because modify_qp forgets the
	 * old route before it changes them. Pairs with mxe_rx_dst_forget().
	 */
	smp_rmb();
	*dst = mxe_rx_dst_valid(&qp->rx_dst, is_ipv4);
	return *dst ? qp : NULL;
}

/* Counts a packet or GSO batch as IP and UDP do when they deliver it. */
static void mxe_early_demux_count(struct net *net, const struct dst_entry *dst,
				  unsigned int num_pkts, bool is_ipv4)
{
	if (is_ipv4) {
		__IP_INC_STATS(net, IPSTATS_MIB_INDELIVERS);
		__SNMP_ADD_STATS(net->mib.udp_statistics, UDP_MIB_INDATAGRAMS, num_pkts);
	} else {
		__IP6_INC_STATS(net, ip6_dst_idev(dst), IPSTATS_MIB_INDELIVERS);
		__SNMP_ADD_STATS(net->mib.udp_stats_in6, UDP_MIB_INDATAGRAMS, num_pkts);
	}
}

/*
 * Passes a packet or GSO batch to its QP, or leaves it to the stack. skb->data
 * is the IP header, and the headers have been pulled. Returns the verdict of
 * the hook.
 */
static unsigned int mxe_early_demux_take(struct mxe_netns *mnet, struct sk_buff *skb,
					 bool is_ipv4, bool is_gso)
{
	unsigned int num_pkts = is_gso ? skb_shinfo(skb)->gso_segs : 1;
	unsigned int ip_len = mxe_early_demux_ip_len(is_ipv4);
	struct net *net = mnet->net;
	const struct dst_entry *dst;
	struct mxe_qp *qp;

	if (!mxe_early_demux_is_roce(skb, is_ipv4) ||
	    mxe_early_demux_interferes(net, skb, is_ipv4) ||
	    (is_gso && !mxe_gso_can_split(skb, ip_len)))
		return NF_ACCEPT;
	qp = mxe_early_demux_qp(mnet, skb, is_ipv4, &dst);
	if (!qp)
		return NF_ACCEPT;

	mxe_count_by(qp->dev, rcvd_early_pkts, num_pkts);
	mxe_early_demux_count(net, dst, num_pkts, is_ipv4);
	__skb_pull(skb, ip_len);
	skb_reset_transport_header(skb);
	if (is_gso) {
		mxe_count(qp->dev, rcvd_gso_batches);
		mxe_gso_split(skb);
	}
	mxe_rx(mnet, skb, qp);
	return NF_STOLEN;
}

static unsigned int mxe_early_demux_take_gso4(struct mxe_netns *mnet,
					      struct sk_buff *skb)
{
	return mxe_early_demux_take(mnet, skb, true, true);
}

static unsigned int mxe_early_demux_take_gso6(struct mxe_netns *mnet,
					      struct sk_buff *skb)
{
	return mxe_early_demux_take(mnet, skb, false, true);
}

/* Handles a packet of a family at the end of PRE_ROUTING. */
static unsigned int mxe_early_demux_pre_routing(struct mxe_netns *mnet,
						struct sk_buff *skb, bool is_ipv4)
{
	u8 protocol = is_ipv4 ? ip_hdr(skb)->protocol : ipv6_hdr(skb)->nexthdr;

	/*
	 * With skb->sk, a rule or program has chosen a socket for the packet.
	 * br_netfilter calls the hooks before the bridge has processed the
	 * frame.
	 */
	if (protocol != IPPROTO_UDP || skb->sk || nf_bridge_in_prerouting(skb) ||
	    !mxe_early_demux_pull(skb, is_ipv4))
		return NF_ACCEPT;
	if (!skb_is_gso(skb))
		return mxe_early_demux_take(mnet, skb, is_ipv4, false);
	/* Here is_gso is a constant, too, so that neither case tests it. */
	return is_ipv4 ? mxe_early_demux_take_gso4(mnet, skb) :
			 mxe_early_demux_take_gso6(mnet, skb);
}

/*
 * The last hook of PRE_ROUTING of IPv4. Flattened, so that the IP version is a
 * constant everywhere: that saves 190 instructions of a wire operation.
 * Context: Softirq, RCU.
 */
static __flatten unsigned int mxe_early_demux_hook4(void *priv, struct sk_buff *skb,
						    const struct nf_hook_state *state)
{
	return mxe_early_demux_pre_routing(priv, skb, true);
}

/* The last hook of PRE_ROUTING of IPv6, flattened for the same reason. */
static __flatten unsigned int mxe_early_demux_hook6(void *priv, struct sk_buff *skb,
						    const struct nf_hook_state *state)
{
	return mxe_early_demux_pre_routing(priv, skb, false);
}

/* ---- namespaces -------------------------------------------------------- */

/*
 * Registers a hook of the last priority, and unregisters it again if it is not
 * the last hook. Netfilter runs a new hook before older ones of the same
 * priority, so hooks that are registered later keep this one last. Returns true
 * if the hook is registered.
 */
static bool mxe_early_demux_register_last(struct net *net, struct nf_hook_ops *ops,
					  struct nf_hook_entries __rcu **entries)
{
	const struct nf_hook_entries *hooks;
	bool is_last;

	if (nf_register_net_hook(net, ops))
		return false;
	rcu_read_lock();
	hooks = rcu_dereference(*entries);
	is_last = hooks->hooks[hooks->num_hook_entries - 1].hook == ops->hook;
	rcu_read_unlock();
	if (!is_last)
		nf_unregister_net_hook(net, ops);
	return is_last;
}

void mxe_early_demux_register(struct mxe_netns *mnet)
{
	mnet->early_demux4 = (struct nf_hook_ops) {
		.hook = mxe_early_demux_hook4,
		.priv = mnet,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_PRE_ROUTING,
		.priority = NF_IP_PRI_LAST,
	};
	mnet->has_early_demux4 =
		mxe_early_demux_register_last(mnet->net, &mnet->early_demux4,
					      &mnet->net->nf.hooks_ipv4[NF_INET_PRE_ROUTING]);
	/* The host may have no IPv6. */
	if (!mnet->sk6)
		return;
	mnet->early_demux6 = (struct nf_hook_ops) {
		.hook = mxe_early_demux_hook6,
		.priv = mnet,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_PRE_ROUTING,
		.priority = NF_IP6_PRI_LAST,
	};
	mnet->has_early_demux6 =
		mxe_early_demux_register_last(mnet->net, &mnet->early_demux6,
					      &mnet->net->nf.hooks_ipv6[NF_INET_PRE_ROUTING]);
}

void mxe_early_demux_unregister(struct mxe_netns *mnet)
{
	if (mnet->has_early_demux4)
		nf_unregister_net_hook(mnet->net, &mnet->early_demux4);
	mnet->has_early_demux4 = false;
	if (mnet->has_early_demux6)
		nf_unregister_net_hook(mnet->net, &mnet->early_demux6);
	mnet->has_early_demux6 = false;
}

#else

void mxe_early_demux_register(struct mxe_netns *mnet)
{
}

void mxe_early_demux_unregister(struct mxe_netns *mnet)
{
}

#endif /* CONFIG_NETFILTER */
