// SPDX-License-Identifier: GPL-2.0
/* Looks up the routes of QPs, and keeps the last one of each side of a QP. */
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "ip/route.h"
#include "mxe.h"
#include "netns.h"
#include "wire/hdr.h"

static void mxe_route_keep(struct mxe_route *kept, struct dst_entry *dst,
			   u32 cookie)
{
	dst_hold(dst);
	dst_release(kept->dst);
	kept->dst = dst;
	kept->cookie = cookie;
}

static struct dst_entry *mxe_route_find4(struct mxe_dev *dev, const struct mxe_av *av,
					 struct mxe_route *kept)
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
	if (kept)
		mxe_route_keep(kept, &rt->dst, 0);
	return &rt->dst;
}

static struct dst_entry *mxe_route_find6(struct mxe_dev *dev, const struct mxe_av *av,
					 struct mxe_route *kept)
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
	if (kept)
		mxe_route_keep(kept, dst,
			       rt6_get_cookie(container_of(dst, struct rt6_info, dst)));
	return dst;
}

/*
 * Look up a route in the routing table. If @kept is not NULL, it keeps the
 * route for the next packet.
 * Context: BHs disabled.
 * Return: the route with a reference, or ERR_PTR() of an error of the IP layer.
 */
struct dst_entry *mxe_route_find(struct mxe_dev *dev, const struct mxe_av *av,
				 struct mxe_route *kept)
{
	return av->is_ipv4 ? mxe_route_find4(dev, av, kept) :
			     mxe_route_find6(dev, av, kept);
}
