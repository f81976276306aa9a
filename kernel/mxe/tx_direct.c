// SPDX-License-Identifier: GPL-2.0
/*
 * Sends packets past the parts of the IP layer that do nothing for them.  tx.c
 * calls it.  It calls the hooks of netfilter and the neighbour.
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

/* Returns true if the route only leads to a neighbour. */
static bool mxe_tx_direct_is_plain(const struct rtable *rt)
{
	return rt->rt_type == RTN_UNICAST && !dst_xfrm(&rt->dst) &&
	       !rt->dst.lwtstate;
}

/* Returns dst_mtu(), without calling it if the netdev determines the MTU. */
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
 * Called after POST_ROUTING. Hooks may have changed the packet and its route,
 * and may have queued the packet (NF_QUEUE). mxe_early_demux_unregister() drops
 * queued packets, so this is never called after the module was unloaded.
 */
static int mxe_tx_direct_finish(struct net *net, struct sock *sk,
				struct sk_buff *skb)
{
	struct rtable *rt = skb_rtable(skb);
	struct neighbour *neigh;
	int ret;

	if (!mxe_tx_direct_is_plain(rt) || rt->rt_gw_family == AF_INET6 ||
	    !mxe_tx_direct_fits(skb, rt)) {
		/*
		 * The packet has passed the hooks, so do not call them again.
		 */
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

/* Called after LOCAL_OUT, where hooks may have changed the route. */
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

	/* Without the early demux hook, nothing would drop queued packets. */
	if (!mnet->has_early_demux4 || skb_is_gso(skb) || !mxe_tx_direct_is_plain(rt) ||
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
