// SPDX-License-Identifier: GPL-2.0
/*
 * Looks up the routes of QPs.  tx.c and loopback.c call it, and qp_verbs.c and
 * dct.c for the caches.  It calls the IP layer.
 */
#include <linux/jiffies.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "hdr.h"
#include "mxe.h"
#include "netns.h"
#include "route.h"

static noinline struct dst_entry *mxe_route_find4(struct mxe_dev *dev,
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

static noinline struct dst_entry *mxe_route_find6(struct mxe_dev *dev,
						  const struct mxe_av *av,
						 struct dst_cache *cache)
{
	const struct mxe_netns *mnet = dev->mnet;
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

	/*
	 * NULL if the host has no IPv6.  Otherwise the sockets exist as long as
	 * a device of the netns does.
	 */
	if (!mnet->sk6)
		return ERR_PTR(-EAFNOSUPPORT);
	dst = mxe_ip6_dst_lookup(mnet->net, mnet->sk6->sk, &fl6);
	if (IS_ERR(dst))
		return dst;
	if (cache)
		dst_cache_set_ip6(cache, dst, &fl6.saddr);
	return dst;
}

struct dst_entry *mxe_route_find(struct mxe_dev *dev, const struct mxe_av *av,
				 struct dst_cache *cache)
{
	return av->is_ipv4 ? mxe_route_find4(dev, av, cache) :
			     mxe_route_find6(dev, av, cache);
}

/*
 * dst_cache ignores entries of the jiffy in which it was reset, because they
 * may be older than the reset.  Nothing is older if no CPU has an entry.
 */
static void mxe_route_cache_is_empty(struct dst_cache *cache)
{
	cache->reset_ts = jiffies - 1;
}

int mxe_route_cache_init(struct dst_cache *cache, gfp_t gfp)
{
	int err = dst_cache_init(cache, gfp);

	if (!err)
		mxe_route_cache_is_empty(cache);
	return err;
}

void mxe_route_cache_reset(struct dst_cache *cache)
{
	dst_cache_reset_now(cache);
	mxe_route_cache_is_empty(cache);
}
