// SPDX-License-Identifier: GPL-2.0
#include <linux/filter.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/kallsyms.h>
#include <linux/netfilter.h>
#include <linux/netfilter_bridge.h>
#include <linux/netfilter_ipv4.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>
#include <net/sock.h>
#include <net/xfrm.h>

#include "early_demux.h"
#include "mxe.h"
#include "net.h"
#include "qp.h"
#include "gso.h"

void mxe_early_demux_keep(struct mxe_qp *qp, const struct sk_buff *skb)
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

void mxe_early_demux_forget(struct mxe_qp *qp)
{
	dst_release(unrcu_pointer(xchg(&qp->rx_dst, NULL)));
}

#ifdef CONFIG_NETFILTER

/* Has something between here and the socket a say? */
static __always_inline bool mxe_early_demux_interferes(struct net *net,
						 struct sk_buff *skb)
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

/* Make the headers up to BTH readable, if it has them. */
static __always_inline bool mxe_early_demux_pull(struct sk_buff *skb)
{
	const unsigned int len = sizeof(struct iphdr) + sizeof(struct udphdr) +
				 sizeof(struct mxe_bth);

	if (likely(skb_headlen(skb) >= len))
		return true;
	/* What is taken from a train's other packets would break it. */
	return !skb_is_gso(skb) && pskb_may_pull(skb, len);
}

/* Is it what the UDP layer would give to our socket just as it is? */
static __always_inline bool mxe_early_demux_is_roce(const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);
	const struct udphdr *udph = (const void *)(iph + 1);

	/* A checksum is left to those who know. */
	return skb->pkt_type == PACKET_HOST && iph->ihl == 5 &&
	       iph->protocol == IPPROTO_UDP && !ip_is_fragment(iph) &&
	       udph->dest == htons(mxe_udp_port) && !udph->check &&
	       ntohs(udph->len) == skb->len - sizeof(*iph);
}

/* Is it from the peer, to us?  The transport asks again, under its lock. */
static __always_inline bool mxe_early_demux_address_ok(const struct mxe_qp *qp,
						 const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);

	/* A guess: it may be given another peer here and now. */
	return data_race(qp->av.v4.daddr == iph->saddr &&
			 qp->av.v4.saddr == iph->daddr);
}

/*
 * The queue pair of a packet with a route that it may go by, or NULL.  A packet of
 * any other addresses may be for another host: numbers of queue pairs are not unique.
 */
static __always_inline struct mxe_qp *
mxe_early_demux_qp(struct mxe_net *mnet, const struct sk_buff *skb)
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
	return dst && skb->dev == qp->dev->ndev &&
	       mxe_early_demux_address_ok(qp, skb) && dst_check(dst, 0) ? qp : NULL;
}

/* Would ip_rcv() take it just as it is?  It has no options. */
static __always_inline bool mxe_early_demux_is_sound(const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);

	return iph->version == 4 && ntohs(iph->tot_len) == skb->len &&
	       !ip_fast_csum(iph, sizeof(*iph) / 4);
}

/* What ip_rcv() would have done to a packet that it takes as it is. */
static __always_inline void
mxe_early_demux_rcv_ip(struct net *net, struct sk_buff *skb, unsigned int num_pkts)
{
	__IP_UPD_PO_STATS(net, IPSTATS_MIB_IN, skb->len);
	__IP_ADD_STATS(net, IPSTATS_MIB_NOECTPKTS +
			    (ip_hdr(skb)->tos & INET_ECN_MASK), num_pkts);
	skb_orphan(skb);
}

/*
 * Give a packet or a train, which begins at its IP header and is pulled, to its
 * queue pair, or leave it to the stack.  at_netdev: before ip_rcv(), not behind it.
 * Returns the verdict of the hook.  One copy for each case: this is for every packet.
 */
static __always_inline unsigned int
mxe_early_demux_take(struct mxe_net *mnet, struct sk_buff *skb, bool at_netdev,
	       bool is_gso)
{
	unsigned int num_pkts = is_gso ? skb_shinfo(skb)->gso_segs : 1;
	struct net *net = mnet->net;
	struct mxe_qp *qp;

	if (!mxe_early_demux_is_roce(skb) || (at_netdev && !mxe_early_demux_is_sound(skb)) ||
	    mxe_early_demux_interferes(net, skb) ||
	    (is_gso && !mxe_gso_can_split(skb)))
		return NF_ACCEPT;
	qp = mxe_early_demux_qp(mnet, skb);
	if (!qp)
		return NF_ACCEPT;

	if (at_netdev) {
		mxe_early_demux_rcv_ip(net, skb, num_pkts);
		mxe_count_by(qp->dev, rcvd_ingress_pkts, num_pkts);
	}
	mxe_count_by(qp->dev, rcvd_early_pkts, num_pkts);
	__IP_INC_STATS(net, IPSTATS_MIB_INDELIVERS);
	__SNMP_ADD_STATS(net->mib.udp_statistics, UDP_MIB_INDATAGRAMS,
			 num_pkts);
	__skb_pull(skb, sizeof(struct iphdr));
	skb_reset_transport_header(skb);
	if (is_gso) {
		mxe_gso_split(skb);
		mxe_net_input_list(mnet, skb, qp);
	} else {
		mxe_net_input(mnet, skb, qp);
	}
	return NF_STOLEN;
}

static noinline unsigned int mxe_early_demux_take_gso(struct mxe_net *mnet,
						  struct sk_buff *skb,
						  bool at_netdev)
{
	return mxe_early_demux_take(mnet, skb, at_netdev, true);
}

/* ---- behind PRE_ROUTING ------------------------------------------------ */

/* The last hook of PRE_ROUTING.  Context: softirq, RCU. */
static unsigned int mxe_early_demux_hook(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	/* A socket: somebody has chosen another than ours. */
	if (ip_hdr(skb)->protocol != IPPROTO_UDP || skb->sk ||
	    /* br_netfilter calls: the bridge has not seen the frame yet. */
	    nf_bridge_in_prerouting(skb) || !mxe_early_demux_pull(skb))
		return NF_ACCEPT;
	if (skb_is_gso(skb))
		return mxe_early_demux_take_gso(priv, skb, false);
	return mxe_early_demux_take(priv, skb, false, false);
}

/* ---- packets that would stay on the host -------------------------------- */

/* Not 0: traffic control, netfilter or XDP of the netdev. */
static unsigned long mxe_early_demux_hooks_of_lo(const struct net_device *lo)
{
	const struct netdev_queue *txq = netdev_get_tx_queue(lo, 0);
	unsigned long any;

	/* "noqueue", or "noop" of a netdev that is down, are none. */
	if (rcu_dereference_bh(txq->qdisc)->enqueue &&
	    !(rcu_dereference_bh(txq->qdisc)->flags & TCQ_F_BUILTIN))
		return 1;
	any = mxe_tc_hooks(lo);
#ifdef CONFIG_NETFILTER_INGRESS
	any |= (unsigned long)rcu_access_pointer(lo->nf_hooks_ingress);
#endif
#ifdef CONFIG_NETFILTER_EGRESS
	any |= (unsigned long)rcu_access_pointer(lo->nf_hooks_egress);
#endif
	return any | (unsigned long)rcu_access_pointer(lo->xdp_prog);
}

/*
 * Security modules have hooks in every namespace, where they judge and label
 * the packets of sockets; packets without one count as the kernel's own.  They are
 * no firewall.  The functions have no exported names, so their symbols are looked
 * up, once; without kallsyms they count as any other hook.
 */
static struct {
	nf_hookfn *lsm;
	nf_hookfn *other;		/* what was looked up last, and is none */
} mxe_early_demux_known[NF_INET_NUMHOOKS];

static noinline bool mxe_early_demux_learn_lsm(nf_hookfn *hook, unsigned int hooknum)
{
	static const char *const names[] = {
		"apparmor_ip_postroute", "selinux_ip_output",
		"selinux_ip_postroute", "smack_ip_output",
	};
	char name[KSYM_SYMBOL_LEN];

	if (hook == READ_ONCE(mxe_early_demux_known[hooknum].other))
		return false;
	sprint_symbol_no_offset(name, (unsigned long)hook);
	if (match_string(names, ARRAY_SIZE(names), name) >= 0) {
		WRITE_ONCE(mxe_early_demux_known[hooknum].lsm, hook);
		return true;
	}
	WRITE_ONCE(mxe_early_demux_known[hooknum].other, hook);
	return false;
}

/* Returns true if a hook other than `own` or a security module's is there. */
static __always_inline bool
mxe_early_demux_has_others(const struct nf_hook_entries __rcu *entries,
		     unsigned int hooknum, nf_hookfn *own)
{
	const struct nf_hook_entries *hooks = rcu_dereference_bh(entries);
	nf_hookfn *hook;

	if (!hooks)
		return false;
	hook = hooks->hooks[0].hook;
	return hooks->num_hook_entries != 1 ||
	       (hook != own && hook != READ_ONCE(mxe_early_demux_known[hooknum].lsm) &&
		!mxe_early_demux_learn_lsm(hook, hooknum));
}

bool mxe_hooks_on_loopback(const struct mxe_net *mnet, bool is_ipv4)
{
	struct nf_hook_entries __rcu **hooks;
	struct net *net = mnet->net;
	unsigned long any;

#ifdef CONFIG_BPF_SYSCALL
	if (static_branch_unlikely(&bpf_sk_lookup_enabled))
		return true;
#endif
	hooks = is_ipv4 ? net->nf.hooks_ipv4 : net->nf.hooks_ipv6;
	any = (unsigned long)rcu_access_pointer(hooks[NF_INET_LOCAL_IN]) |
	      mxe_early_demux_hooks_of_lo(net->loopback_dev);
#ifdef CONFIG_XFRM
	any |= net->xfrm.policy_count[XFRM_POLICY_IN] |
	       net->xfrm.policy_count[XFRM_POLICY_OUT];
#endif
	return any ||
	       mxe_early_demux_has_others(hooks[NF_INET_LOCAL_OUT],
				    NF_INET_LOCAL_OUT, NULL) ||
	       mxe_early_demux_has_others(hooks[NF_INET_POST_ROUTING],
				    NF_INET_POST_ROUTING, NULL) ||
	       mxe_early_demux_has_others(hooks[NF_INET_PRE_ROUTING],
				    NF_INET_PRE_ROUTING, mxe_early_demux_hook);
}

/* ---- namespaces -------------------------------------------------------- */

/*
 * Registers a hook of the last priority.  It has to be the last one: those of the
 * same priority that were registered before run behind it, and later ones before.
 * Without the hook, packets only take longer.
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

void mxe_early_demux_register(struct mxe_net *mnet)
{
	mnet->early = (struct nf_hook_ops) {
		.hook = mxe_early_demux_hook,
		.priv = mnet,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_PRE_ROUTING,
		.priority = NF_IP_PRI_LAST,
	};
	mnet->has_early =
		mxe_early_demux_register_last(mnet->net, &mnet->early,
					&mnet->net->nf.hooks_ipv4[NF_INET_PRE_ROUTING]);
}

void mxe_early_demux_unregister(struct mxe_net *mnet)
{
	if (mnet->has_early)
		nf_unregister_net_hook(mnet->net, &mnet->early);
	mnet->has_early = false;
}

/* ---- at the netdev ----------------------------------------------------- */

/*
 * Would anybody see the packet between the netdev's ingress and the end of
 * PRE_ROUTING, other than ip_rcv()?  Taps and traffic control have by now.  A
 * module's handler of IPv4 for all netdevs would, and is not known here.
 */
static bool mxe_early_demux_is_seen(const struct net *net, const struct sk_buff *skb)
{
	const struct net_device *ndev = skb->dev;
	const struct nf_hook_entries *hooks;

	/* Bridges, bonds, macvlans and the like; VLANs */
	if (rcu_access_pointer(ndev->rx_handler) || skb_vlan_tag_present(skb))
		return true;
	/* Packet sockets, and what a module attached to the netdev. */
	if (!hlist_empty(&net->packet.sklist) ||
	    !list_empty(&ndev->ptype_specific))
		return true;
	hooks = rcu_dereference(net->nf.hooks_ipv4[NF_INET_PRE_ROUTING]);
	return !hooks || hooks->num_hook_entries != 1 ||
	       hooks->hooks[0].hook != mxe_early_demux_hook;
}

/* The last hook of a netdev's ingress.  Context: softirq, RCU. */
static unsigned int mxe_early_demux_ingress(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	struct mxe_dev *dev = priv;
	struct mxe_net *mnet = dev->mnet;

	if (skb->protocol != htons(ETH_P_IP) ||
	    mxe_early_demux_is_seen(mnet->net, skb) || skb_shared(skb) ||
	    skb_sk_is_prefetched(skb) || !mxe_early_demux_pull(skb))
		return NF_ACCEPT;
	if (skb_is_gso(skb))
		return mxe_early_demux_take_gso(mnet, skb, true);
	return mxe_early_demux_take(mnet, skb, true, false);
}

static void mxe_early_demux_add_ingress(struct mxe_dev *dev)
{
	ASSERT_RTNL();

	dev->ingress = (struct nf_hook_ops) {
		.hook = mxe_early_demux_ingress,
		.dev = dev->ndev,
		.priv = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MAX,
	};
#ifdef CONFIG_NETFILTER_INGRESS
	dev->has_ingress = mxe_early_demux_register_last(dev->mnet->net, &dev->ingress,
						   &dev->ndev->nf_hooks_ingress);
#endif
}

static void mxe_early_demux_remove_ingress(struct mxe_dev *dev)
{
	ASSERT_RTNL();

	if (dev->has_ingress)
		nf_unregister_net_hook(dev->mnet->net, &dev->ingress);
	dev->has_ingress = false;
}

#else

bool mxe_hooks_on_loopback(const struct mxe_net *mnet, bool is_ipv4)
{
	return false;
}

static void mxe_early_demux_add_ingress(struct mxe_dev *dev)
{
}

static void mxe_early_demux_remove_ingress(struct mxe_dev *dev)
{
}

void mxe_early_demux_register(struct mxe_net *mnet)
{
}

void mxe_early_demux_unregister(struct mxe_net *mnet)
{
}

#endif /* CONFIG_NETFILTER */

/* ---- devices whose netdev may go before they do ------------------------- */

static LIST_HEAD(mxe_early_demux_devs);	/* under RTNL */

void mxe_early_demux_attach(struct mxe_dev *dev)
{
	const struct net_device *ndev = dev->ndev;

	rtnl_lock();
	list_add(&dev->early_entry, &mxe_early_demux_devs);
	dev->ndev_gone = ndev->reg_state != NETREG_REGISTERED ||
			 !net_eq(dev_net(ndev), dev->mnet->net);
	if (!dev->ndev_gone)
		mxe_early_demux_add_ingress(dev);
	rtnl_unlock();
}

void mxe_early_demux_detach(struct mxe_dev *dev)
{
	rtnl_lock();
	list_del(&dev->early_entry);
	mxe_early_demux_remove_ingress(dev);
	rtnl_unlock();
}

void mxe_early_demux_netdev_gone(struct net_device *ndev)
{
	struct mxe_dev *dev;

	ASSERT_RTNL();

	list_for_each_entry(dev, &mxe_early_demux_devs, early_entry) {
		if (dev->ndev == ndev) {
			dev->ndev_gone = true;
			mxe_early_demux_remove_ingress(dev);
		}
	}
}
