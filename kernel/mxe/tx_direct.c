// SPDX-License-Identifier: GPL-2.0
/*
 * Sends packets past the parts of the IP layer that do nothing for them.  tx.c
 * calls it.  It calls the hooks of netfilter and the neighbour.
 */
#include <linux/netfilter.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/ndisc.h>
#include <net/neighbour.h>
#include <net/net_namespace.h>
#include <net/route.h>
#include <net/sock.h>

#include "guard.h"
#include "mxe.h"
#include "netns.h"
#include "tx_direct.h"

#ifdef CONFIG_NETFILTER

/* Passes a packet to the neighbour, which may be an error pointer. */
static __always_inline int mxe_tx_direct_to(struct neighbour *neigh, struct sk_buff *skb)
{
	if (IS_ERR(neigh)) {
		kfree_skb(skb);
		return PTR_ERR(neigh);
	}
	sock_confirm_neigh(skb, neigh);
	return neigh_output(neigh, skb, false);
}

static bool mxe_tx_direct_fits(const struct sk_buff *skb, const struct net_device *ndev)
{
	return skb->len <= READ_ONCE(ndev->mtu) && skb_headroom(skb) >= LL_RESERVED_SPACE(ndev);
}

/* ---- IPv4 -------------------------------------------------------------- */

/* Returns true if the route only leads to a neighbour. */
static bool mxe_tx_direct_is_plain4(const struct rtable *rt)
{
	return rt->rt_type == RTN_UNICAST && !dst_xfrm(&rt->dst) &&
	       !rt->dst.lwtstate;
}

/*
 * Called after POST_ROUTING. Hooks may have changed the packet and its route,
 * and may have queued the packet (NF_QUEUE). mxe_early_demux_unregister() drops
 * queued packets, so this is never called after the module was unloaded.
 */
static int mxe_tx_direct_finish4(struct net *net, struct sock *sk,
				 struct sk_buff *skb)
{
	struct rtable *rt = skb_rtable(skb);
	struct neighbour *neigh;
	int ret;

	if (!mxe_tx_direct_is_plain4(rt) || rt->rt_gw_family == AF_INET6 ||
	    !mxe_tx_direct_fits(skb, rt->dst.dev)) {
		/*
		 * The packet has passed the hooks, so do not call them again.
		 */
		IPCB(skb)->flags |= IPSKB_REROUTED;
		return dst_output(net, sk, skb);
	}

	mxe_ip_count_out(net, skb->len);
	rcu_read_lock();
	neigh = ip_neigh_gw4(rt->dst.dev, rt_nexthop(rt, ip_hdr(skb)->daddr));
	ret = mxe_tx_direct_to(neigh, skb);
	rcu_read_unlock();
	return ret;
}

/* Does as ip_local_out(), but does not call the guard. */
static void mxe_tx_direct_slow4(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	struct iphdr *iph = ip_hdr(skb);

	if (!mxe_guard_is_alone(net->nf.hooks_ipv4[NF_INET_LOCAL_OUT], true) ||
	    netif_is_l3_slave(skb_dst(skb)->dev)) {
		ip_local_out(net, sk, skb);
		return;
	}
	if (skb_is_gso(skb)) {
		iph->tot_len = htons(skb->len);
		ip_send_check(iph);
	}
	dst_output(net, sk, skb);
}

/* Passes a packet with a plain route to the hooks of POST_ROUTING. */
static __always_inline void mxe_tx_direct_post4(struct net *net, struct sock *sk,
						struct sk_buff *skb, struct net_device *ndev)
{
	skb->dev = ndev;
	NF_HOOK(NFPROTO_IPV4, NF_INET_POST_ROUTING, net, sk, skb, NULL, ndev,
		mxe_tx_direct_finish4);
}

/* Called after LOCAL_OUT, where hooks may have changed the route. */
static int mxe_tx_direct_routed4(struct net *net, struct sock *sk,
				 struct sk_buff *skb)
{
	struct rtable *rt = skb_rtable(skb);

	if (!mxe_tx_direct_is_plain4(rt))
		return dst_output(net, sk, skb);
	mxe_tx_direct_post4(net, sk, skb, rt->dst.dev);
	return 0;
}

void mxe_tx_direct_ipv4(struct mxe_dev *dev, struct sk_buff *skb)
{
	const struct mxe_netns *mnet = dev->mnet;
	struct rtable *rt = skb_rtable(skb);
	struct sock *sk = mnet->sk4->sk;

	/* Without the early demux hook, nothing would drop queued packets. */
	if (!mnet->has_early_demux4 || skb_is_gso(skb) || !mxe_tx_direct_is_plain4(rt) ||
	    netif_is_l3_slave(rt->dst.dev)) {
		mxe_tx_direct_slow4(mnet->net, sk, skb);
		return;
	}
	mxe_count(dev, sent_direct_pkts);
	/* Few hosts have another hook at LOCAL_OUT. */
	if (mxe_guard_is_alone(mnet->net->nf.hooks_ipv4[NF_INET_LOCAL_OUT], true))
		mxe_tx_direct_post4(mnet->net, sk, skb, rt->dst.dev);
	else
		NF_HOOK(NFPROTO_IPV4, NF_INET_LOCAL_OUT, mnet->net, sk, skb, NULL,
			rt->dst.dev, mxe_tx_direct_routed4);
}

/* ---- IPv6 -------------------------------------------------------------- */

static struct rt6_info *mxe_tx_direct_rt6(const struct sk_buff *skb)
{
	return (struct rt6_info *)skb_dst(skb);
}

/*
 * Returns true if the route only leads to a neighbour. ip6_output() drops
 * packets if IPv6 is disabled on the netdev.
 */
static bool mxe_tx_direct_is_plain6(const struct rt6_info *rt)
{
	const struct inet6_dev *idev = rt->rt6i_idev;

	return !(rt->rt6i_flags & (RTF_REJECT | RTF_LOCAL | RTF_ANYCAST)) &&
	       !dst_xfrm(&rt->dst) && !rt->dst.lwtstate &&
	       idev && !READ_ONCE(idev->cnf.disable_ipv6);
}

/* As mxe_tx_direct_finish4(). */
static int mxe_tx_direct_finish6(struct net *net, struct sock *sk,
				 struct sk_buff *skb)
{
	struct rt6_info *rt = mxe_tx_direct_rt6(skb);
	const struct in6_addr *daddr = &ipv6_hdr(skb)->daddr;
	int ret;

	rcu_read_lock();
	if (mxe_tx_direct_is_plain6(rt) && !ipv6_addr_is_multicast(daddr) &&
	    !dst_feature(&rt->dst, RTAX_FEATURE_ALLFRAG) &&
	    mxe_tx_direct_fits(skb, rt->dst.dev)) {
		mxe_ip6_count_out(net, rt->rt6i_idev, skb->len);
		ret = mxe_tx_direct_to(ip_neigh_gw6(rt->dst.dev, rt6_nexthop(rt, daddr)), skb);
	} else {
		IP6CB(skb)->flags |= IP6SKB_REROUTED;
		ret = dst_output(net, sk, skb);
	}
	rcu_read_unlock();
	return ret;
}

/* Does as ip6_local_out(), but does not call the guard. */
static void mxe_tx_direct_slow6(struct net *net, struct sk_buff *skb)
{
	if (!mxe_guard_is_alone(net->nf.hooks_ipv6[NF_INET_LOCAL_OUT], false) ||
	    netif_is_l3_slave(skb_dst(skb)->dev)) {
		ip6_local_out(net, NULL, skb);
		return;
	}
	ipv6_hdr(skb)->payload_len = htons(skb->len - sizeof(struct ipv6hdr));
	IP6CB(skb)->nhoff = offsetof(struct ipv6hdr, nexthdr);
	dst_output(net, NULL, skb);
}

/* Passes a packet with a plain route to the hooks of POST_ROUTING. */
static __always_inline void mxe_tx_direct_post6(struct net *net, struct sk_buff *skb,
						struct net_device *ndev)
{
	skb->dev = ndev;
	NF_HOOK(NFPROTO_IPV6, NF_INET_POST_ROUTING, net, NULL, skb, NULL, ndev,
		mxe_tx_direct_finish6);
}

/* Called after LOCAL_OUT, where hooks may have changed the route. */
static int mxe_tx_direct_routed6(struct net *net, struct sock *sk,
				 struct sk_buff *skb)
{
	struct rt6_info *rt = mxe_tx_direct_rt6(skb);

	if (!mxe_tx_direct_is_plain6(rt))
		return dst_output(net, sk, skb);
	mxe_tx_direct_post6(net, skb, rt->dst.dev);
	return 0;
}

void mxe_tx_direct_ipv6(struct mxe_dev *dev, struct sk_buff *skb)
{
	const struct mxe_netns *mnet = dev->mnet;
	struct rt6_info *rt = mxe_tx_direct_rt6(skb);

	if (!mnet->has_early_demux6 || skb_is_gso(skb) || !mxe_tx_direct_is_plain6(rt) ||
	    netif_is_l3_slave(rt->dst.dev)) {
		mxe_tx_direct_slow6(mnet->net, skb);
		return;
	}
	mxe_count(dev, sent_direct_pkts);
	/* The position of the next header, for code that fragments. */
	IP6CB(skb)->nhoff = offsetof(struct ipv6hdr, nexthdr);
	/* Few hosts have another hook at LOCAL_OUT. */
	if (mxe_guard_is_alone(mnet->net->nf.hooks_ipv6[NF_INET_LOCAL_OUT], false))
		mxe_tx_direct_post6(mnet->net, skb, rt->dst.dev);
	else
		NF_HOOK(NFPROTO_IPV6, NF_INET_LOCAL_OUT, mnet->net, NULL, skb, NULL,
			rt->dst.dev, mxe_tx_direct_routed6);
}

#else

void mxe_tx_direct_ipv4(struct mxe_dev *dev, struct sk_buff *skb)
{
	ip_local_out(dev->mnet->net, dev->mnet->sk4->sk, skb);
}

void mxe_tx_direct_ipv6(struct mxe_dev *dev, struct sk_buff *skb)
{
	ip6_local_out(dev->mnet->net, NULL, skb);
}

#endif /* CONFIG_NETFILTER */
