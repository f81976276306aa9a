/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An address vector has the destination of packets.  An address handle is the
 * verbs object of one, with the flow of the packets to it (ah.c).
 */
#ifndef MXE_AH_H
#define MXE_AH_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>

struct mxe_dev;
struct mxe_tx;

#define MXE_FLOW_LABEL_MASK	0xfffffU

/*
 * The address vector of a QP is written by modify_qp() with both locks of the
 * QP held, so either lock suffices to read it. That of a DC initiator or of a
 * UD QP is the last destination. It is never valid for others, and is written
 * and read with send_lock held.
 */
struct mxe_av {
	bool valid;
	bool is_ipv4;
	u8 tclass;
	u8 hop_limit;
	u32 flow_label;
	int ifindex;		/* netdev of the source address */
	__be16 sport;		/* UDP source port */
	union {
		struct {
			__be32 saddr, daddr;
		} v4;
		struct {
			struct in6_addr saddr, daddr;
		} v6;
	};
};

/* Compare the hosts and the netdev. */
static inline bool mxe_av_same_hosts(const struct mxe_av *a, const struct mxe_av *b)
{
	if (a->is_ipv4 != b->is_ipv4 || a->ifindex != b->ifindex)
		return false;
	if (a->is_ipv4)
		return a->v4.saddr == b->v4.saddr && a->v4.daddr == b->v4.daddr;
	return ipv6_addr_equal(&a->v6.saddr, &b->v6.saddr) &&
	       ipv6_addr_equal(&a->v6.daddr, &b->v6.daddr);
}

/* Compare all that packets take from an address vector. */
static inline bool mxe_av_same(const struct mxe_av *a, const struct mxe_av *b)
{
	return a->tclass == b->tclass && a->hop_limit == b->hop_limit &&
	       a->flow_label == b->flow_label && a->sport == b->sport &&
	       mxe_av_same_hosts(a, b);
}

static inline bool mxe_av_is_multicast(const struct mxe_av *av)
{
	return av->is_ipv4 ? ipv4_is_multicast(av->v4.daddr) :
			     ipv6_addr_is_multicast(&av->v6.daddr);
}

/* Check whether a received packet has the addresses of a peer. */
static inline bool mxe_av_sent(const struct mxe_av *av, const struct sk_buff *skb)
{
	if (ip_hdr(skb)->version == 4)
		return av->is_ipv4 && ip_hdr(skb)->saddr == av->v4.daddr &&
		       ip_hdr(skb)->daddr == av->v4.saddr;
	return !av->is_ipv4 &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &av->v6.daddr) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &av->v6.saddr);
}

/*
 * Return false if @ndev is in a VRF, and net.ipv4.udp_l3mdev_accept is 0. The
 * sockets of mxe are not bound to a netdev. Such sockets receive nothing from a
 * VRF unless the administrator says so, to keep the VRF apart.
 * Context: RTNL or RCU read-side section.
 */
static inline bool mxe_av_can_receive(const struct net_device *ndev)
{
#ifdef CONFIG_NET_L3_MASTER_DEV
	return !netif_is_l3_slave(ndev) ||
	       READ_ONCE(dev_net(ndev)->ipv4.sysctl_udp_l3mdev_accept);
#else
	return true;
#endif
}

/* Processes specify an address handle in WQEs by its number. */
struct mxe_ah {
	struct ib_ah ibah;
	struct mxe_ah_flow *flow;
	u32 num;			/* in dev->ahs; 0: kernel consumer */
};

static inline struct mxe_ah *to_mah(struct ib_ah *ibah)
{
	return container_of(ibah, struct mxe_ah, ibah);
}

/*
 * The flow of an address handle: its address, and the headers and the route of
 * the last packet to it. The requests that name the handle have references, so
 * that the consumer may destroy it before they are sent.
 */
struct mxe_ah_flow;

struct mxe_ah_flow *mxe_ah_find_flow(struct mxe_dev *dev, const struct ib_pd *pd,
				     u32 num);
struct mxe_ah_flow *mxe_ah_get_flow(struct mxe_ah_flow *flow);
void mxe_ah_put_flow(struct mxe_ah_flow *flow);
const struct mxe_av *mxe_ah_flow_av(const struct mxe_ah_flow *flow);
void mxe_ah_load_flow(struct mxe_ah_flow *flow, struct mxe_tx *tx);
void mxe_ah_store_flow(struct mxe_ah_flow *flow, struct mxe_tx *tx);
int mxe_av_init(struct mxe_dev *dev, struct mxe_av *av,
		const struct rdma_ah_attr *attr);

/* Verbs, see the members of struct ib_device_ops of the same names. */
int mxe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata);
int mxe_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif /* MXE_AH_H */
