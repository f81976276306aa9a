// SPDX-License-Identifier: GPL-2.0
#include <linux/filter.h>
#include <linux/ip.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <net/xfrm.h>

#include "early.h"
#include "mxe.h"
#include "net.h"
#include "qp.h"
#include "train.h"

void mxe_early_keep(struct mxe_qp *qp, const struct sk_buff *skb)
{
	struct dst_entry *dst = skb_dst(skb);

	if (dst == rcu_access_pointer(qp->rx_dst))
		return;
	/* A packet by another netdev could be one that routing refuses. */
	if (skb->dev != qp->dev->ndev || ip_hdr(skb)->version != 4)
		return;
	/* Each side has its lock: two packets may meet here. */
	if (dst_hold_safe(dst))
		dst_release(unrcu_pointer(xchg(&qp->rx_dst,
					       RCU_INITIALIZER(dst))));
}

void mxe_early_forget(struct mxe_qp *qp)
{
	dst_release(unrcu_pointer(xchg(&qp->rx_dst, NULL)));
}

#ifdef CONFIG_NETFILTER

/* Has something between here and the socket a say? */
static bool mxe_early_interferes(struct net *net, struct sk_buff *skb)
{
	if (rcu_access_pointer(net->nf.hooks_ipv4[NF_INET_LOCAL_IN]))
		return true;
	/* A tunnel's metadata */
	if (skb_dst(skb) || netif_is_l3_slave(skb->dev))
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

/* Is it what the UDP layer would give to our socket just as it is? */
static bool mxe_early_is_roce(struct sk_buff *skb)
{
	const struct udphdr *udph;
	const struct iphdr *iph;

	if (skb->pkt_type != PACKET_HOST || ip_hdr(skb)->ihl != 5 ||
	    ip_hdr(skb)->protocol != IPPROTO_UDP || ip_is_fragment(ip_hdr(skb)) ||
	    !pskb_may_pull(skb, sizeof(*iph) + sizeof(*udph) +
				sizeof(struct mxe_bth)))
		return false;
	iph = ip_hdr(skb);
	udph = (const void *)(iph + 1);
	/* A checksum is left to those who know. */
	return udph->dest == htons(mxe_net_port) && !udph->check &&
	       ntohs(udph->len) == skb->len - sizeof(*iph);
}

/*
 * The queue pair of a packet with a route that it may go by, or NULL.  That it is
 * of its connection is for the transport to check.
 */
static struct mxe_qp *mxe_early_qp(struct mxe_net *mnet,
				   const struct sk_buff *skb)
{
	const struct mxe_bth *bth;
	struct dst_entry *dst;
	struct mxe_qp *qp;

	bth = (const void *)(skb->data + sizeof(struct iphdr) +
			     sizeof(struct udphdr));
	qp = mxe_qp_find(mnet, be32_to_cpu(bth->qpn) & MXE_BTH_QPN_MASK);
	if (!qp)
		return NULL;
	dst = rcu_dereference(qp->rx_dst);
	return dst && skb->dev == qp->dev->ndev && dst_check(dst, 0) ? qp : NULL;
}

/* The last hook of PRE_ROUTING.  Context: softirq, RCU. */
static unsigned int mxe_early_hook(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	struct mxe_net *mnet = priv;
	struct net *net = state->net;
	bool train = skb_is_gso(skb);
	unsigned int num_pkts = train ? skb_shinfo(skb)->gso_segs : 1;
	struct mxe_qp *qp;

	if (!mxe_early_is_roce(skb) || mxe_early_interferes(net, skb) ||
	    (train && !mxe_train_can_split(skb)))
		return NF_ACCEPT;
	qp = mxe_early_qp(mnet, skb);
	if (!qp)
		return NF_ACCEPT;

	mxe_count_by(qp->dev, rcvd_early_pkts, num_pkts);
	__IP_INC_STATS(net, IPSTATS_MIB_INDELIVERS);
	__SNMP_ADD_STATS(net->mib.udp_statistics, UDP_MIB_INDATAGRAMS,
			 num_pkts);
	__skb_pull(skb, sizeof(struct iphdr));
	skb_reset_transport_header(skb);
	if (train) {
		mxe_train_split(skb);
		mxe_net_input_train(mnet, skb, qp);
	} else {
		mxe_net_input(mnet, skb, qp);
	}
	return NF_STOLEN;
}

void mxe_early_register(struct mxe_net *mnet)
{
	mnet->early = (struct nf_hook_ops) {
		.hook = mxe_early_hook,
		.priv = mnet,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_PRE_ROUTING,
		.priority = NF_IP_PRI_LAST,
	};
	/* Without it packets only take longer. */
	mnet->has_early = !nf_register_net_hook(mnet->net, &mnet->early);
}

void mxe_early_unregister(struct mxe_net *mnet)
{
	if (mnet->has_early)
		nf_unregister_net_hook(mnet->net, &mnet->early);
	mnet->has_early = false;
}

#else

void mxe_early_register(struct mxe_net *mnet)
{
}

void mxe_early_unregister(struct mxe_net *mnet)
{
}

#endif /* CONFIG_NETFILTER */
