// SPDX-License-Identifier: GPL-2.0
/*
 * Sends packets past those parts of the IP layer that have nothing to do for them.
 * tx.c calls it; it calls the hooks of netfilter and the neighbour.
 */
#include <linux/netfilter.h>
#include <net/arp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/l3mdev.h>
#include <net/neighbour.h>
#include <net/net_namespace.h>
#include <net/route.h>
#include <net/sock.h>

#include "mxe.h"
#include "netns.h"
#include "tx_direct.h"

#ifdef CONFIG_NETFILTER

/* Returns true if the route does nothing but lead to a neighbour. */
static bool mxe_tx_direct_is_plain(const struct rtable *rt)
{
	return rt->rt_type == RTN_UNICAST && !dst_xfrm(&rt->dst) &&
	       !rt->dst.lwtstate;
}

/* As dst_mtu(), which is asked only where there is more to say than the netdev. */
static unsigned int mxe_tx_direct_mtu(const struct rtable *rt)
{
	if (rt->rt_pmtu || dst_metric_raw(&rt->dst, RTAX_MTU))
		return dst_mtu(&rt->dst);
	return READ_ONCE(rt->dst.dev->mtu);
}

static bool mxe_tx_direct_fits(const struct sk_buff *skb, const struct rtable *rt)
{
	return skb->len <= mxe_tx_direct_mtu(rt) &&
	       skb_headroom(skb) >= LL_RESERVED_SPACE(rt->dst.dev);
}

/*
 * Behind POST_ROUTING.  Hooks may have changed packet and route, and may have kept
 * it for a while: mxe_early_demux_unregister() lets go of what they keep.
 */
static int mxe_tx_direct_finish(struct net *net, struct sock *sk,
				struct sk_buff *skb)
{
	struct rtable *rt = skb_rtable(skb);
	struct neighbour *neigh;
	int ret;

	if (!mxe_tx_direct_is_plain(rt) || rt->rt_gw_family == AF_INET6 ||
	    !mxe_tx_direct_fits(skb, rt)) {
		/* It has been through the hooks. */
		IPCB(skb)->flags |= IPSKB_REROUTED;
		return dst_output(net, sk, skb);
	}

	mxe_ip_count_out(net, skb->len);
	rcu_read_lock();
	neigh = ip_neigh_gw4(rt->dst.dev, rt_nexthop(rt, ip_hdr(skb)->daddr));
	if (IS_ERR(neigh)) {
		ret = PTR_ERR(neigh);
		kfree_skb(skb);
	} else {
		sock_confirm_neigh(skb, neigh);
		ret = neigh_output(neigh, skb, false);
	}
	rcu_read_unlock();
	return ret;
}

/* Behind LOCAL_OUT, where it may have got another route. */
static int mxe_tx_direct_routed(struct net *net, struct sock *sk,
				struct sk_buff *skb)
{
	struct rtable *rt = skb_rtable(skb);

	if (!mxe_tx_direct_is_plain(rt))
		return dst_output(net, sk, skb);
	skb->dev = rt->dst.dev;
	return NF_HOOK(NFPROTO_IPV4, NF_INET_POST_ROUTING, net, sk, skb, NULL,
		       skb->dev, mxe_tx_direct_finish);
}

void mxe_tx_direct(struct mxe_dev *dev, struct sk_buff *skb)
{
	const struct mxe_netns *mnet = dev->mnet;
	struct rtable *rt = skb_rtable(skb);

	/* Without the hook nobody would let go of what others keep. */
	if (!mnet->has_early_demux || skb_is_gso(skb) || !mxe_tx_direct_is_plain(rt) ||
	    netif_is_l3_slave(rt->dst.dev)) {
		ip_local_out(mnet->net, NULL, skb);
		return;
	}
	mxe_count(dev, sent_direct_pkts);
	NF_HOOK(NFPROTO_IPV4, NF_INET_LOCAL_OUT, mnet->net, NULL, skb, NULL,
		rt->dst.dev, mxe_tx_direct_routed);
}

#else

void mxe_tx_direct(struct mxe_dev *dev, struct sk_buff *skb)
{
	ip_local_out(dev->mnet->net, NULL, skb);
}

#endif /* CONFIG_NETFILTER */
