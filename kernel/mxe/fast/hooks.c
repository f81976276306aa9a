// SPDX-License-Identifier: GPL-2.0
/*
 * Detects code of the host that could act on packets that stay on it. It reads
 * the tables of netfilter, traffic control, XDP and IPsec.
 */
#include <linux/filter.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>
#include <net/xfrm.h>

#include "fast/hooks.h"
#include "ip/guard.h"
#include "netns.h"

/*
 * Returns a value other than 0 if the netdev has traffic control, a netfilter
 * hook or XDP.
 */
static unsigned long mxe_hooks_of_netdev(const struct net_device *lo)
{
	const struct netdev_queue *txq = netdev_get_tx_queue(lo, 0);
	unsigned long any;

	/* Ignore "noqueue", and "noop" of a netdev that is down. */
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

#ifdef CONFIG_NETFILTER

/*
 * Returns true for a hook of a security module, which has one in every netns.
 * These check and label the packets of sockets, and treat packets without a
 * socket as those of the kernel, so they may be bypassed. The priorities are
 * reserved for them. Rules of nft may have any priority, so their type excludes
 * them.
 */
static bool mxe_hooks_is_lsm(const struct nf_hook_ops *ops)
{
	return ops->hook_ops_type == NF_HOOK_OP_UNDEFINED &&
	       (ops->priority == NF_IP_PRI_SELINUX_FIRST ||
		ops->priority == NF_IP_PRI_SELINUX_LAST);
}

/*
 * Returns true if there is a hook that is neither `own` nor that of a security
 * module.
 */
static bool mxe_hooks_has_others(const struct nf_hook_entries __rcu *entries, nf_hookfn *own)
{
	const struct nf_hook_entries *hooks = rcu_dereference_bh(entries);
	struct nf_hook_ops **ops;
	unsigned int i;

	if (!hooks)
		return false;
	/* As nfnetlink_hook does, which lists the hooks. */
	ops = nf_hook_entries_get_hook_ops(hooks);
	for (i = 0; i < hooks->num_hook_entries; i++)
		if (hooks->hooks[i].hook != own && !mxe_hooks_is_lsm(READ_ONCE(ops[i])))
			return true;
	return false;
}

static bool mxe_hooks_of_netfilter(const struct mxe_netns *mnet, bool is_ipv4)
{
	const struct nf_hook_ops *own = is_ipv4 ? &mnet->early_demux4 : &mnet->early_demux6;
	struct nf_hook_entries __rcu **hooks;

	hooks = is_ipv4 ? mnet->net->nf.hooks_ipv4 : mnet->net->nf.hooks_ipv6;
	return rcu_access_pointer(hooks[NF_INET_LOCAL_IN]) ||
	       mxe_hooks_has_others(hooks[NF_INET_LOCAL_OUT],
				    is_ipv4 ? mxe_guard_ipv4 : mxe_guard_ipv6) ||
	       mxe_hooks_has_others(hooks[NF_INET_POST_ROUTING], NULL) ||
	       mxe_hooks_has_others(hooks[NF_INET_PRE_ROUTING], own->hook);
}

#else

static bool mxe_hooks_of_netfilter(const struct mxe_netns *mnet, bool is_ipv4)
{
	return false;
}

#endif /* CONFIG_NETFILTER */

/**
 * mxe_hooks_on_loopback() - Check for code that acts on packets to this host.
 * @mnet: the netns
 * @is_ipv4: true for IPv4 packets, false for IPv6
 *
 * Such code is a netfilter hook that belongs neither to mxe nor to a security
 * module, a BPF program that selects sockets, an IPsec policy, or traffic
 * control, a queueing discipline or XDP on the loopback netdev.
 *
 * Context: BHs disabled, RCU read-side section.
 * Return: true if there is any. A part that the kernel was built without, such
 * as netfilter, is not tested.  All others are.
 */
bool mxe_hooks_on_loopback(const struct mxe_netns *mnet, bool is_ipv4)
{
	const struct net *net = mnet->net;
	unsigned long any;

#ifdef CONFIG_BPF_SYSCALL
	if (static_branch_unlikely(&bpf_sk_lookup_enabled))
		return true;
#endif
	any = mxe_hooks_of_netdev(net->loopback_dev);
#ifdef CONFIG_XFRM
	any |= net->xfrm.policy_count[XFRM_POLICY_IN] |
	       net->xfrm.policy_count[XFRM_POLICY_OUT];
#endif
	return any || mxe_hooks_of_netfilter(mnet, is_ipv4);
}
