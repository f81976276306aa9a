// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps processes without CAP_NET_RAW from sending datagrams to the RoCE port,
 * by a netfilter hook at LOCAL_OUT.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "ip/guard.h"
#include "mxe.h"
#include "netns.h"
#include "wire/hdr.h"

#ifdef CONFIG_NETFILTER

static bool mxe_guard_require_net_raw = true;
module_param_named(require_net_raw, mxe_guard_require_net_raw, bool, 0644);
MODULE_PARM_DESC(require_net_raw,
		 "require CAP_NET_RAW of processes that send UDP datagrams to the RoCE port (default Y)");

/*
 * Returns true if the socket was opened with CAP_NET_RAW. A socket of the
 * kernel has no file. It may send for a process that chooses the port, as one
 * of AF_RXRPC does, so it counts as opened without.
 */
static bool mxe_guard_opener_ok(struct sock *sk, struct user_namespace *user_ns)
{
	const struct socket *sock;
	bool ok;

	/* Keeps the file, as the socket is released after sock_orphan(). */
	read_lock_bh(&sk->sk_callback_lock);
	sock = sk->sk_socket;
	ok = sock && sock->file && file_ns_capable(sock->file, user_ns, CAP_NET_RAW);
	read_unlock_bh(&sk->sk_callback_lock);
	return ok;
}

/*
 * Returns true if a packet of a socket may go to the RoCE port. Both the
 * process that opened the socket and the one that uses it need the capability:
 * a program with privileges may be made to write to a socket that it inherited,
 * and may give away a socket that it opened.
 */
static bool mxe_guard_may_send(struct net *net, struct sock *sk)
{
	struct user_namespace *user_ns = net->user_ns;

	if (!sk_fullsock(sk))
		return false;
	/* Opening a raw socket takes the capability. Holding one suffices. */
	if (sk->sk_type == SOCK_RAW)
		return true;
	return mxe_guard_opener_ok(sk, user_ns) &&
	       (!in_task() || ns_capable(user_ns, CAP_NET_RAW));
}

/*
 * Returns true for packets of mxe, with a socket of netns.c or without one. The
 * socket of a SYN-ACK is a request socket, which has no sk_user_data.
 */
static bool mxe_guard_is_own(const struct mxe_netns *mnet, const struct sock *sk)
{
	return !sk || (sk_fullsock(sk) && rcu_dereference_sk_user_data(sk) == mnet);
}

/* Counts for the device of the netdev, else for any device of the netns. */
static void mxe_guard_count(struct mxe_netns *mnet, const struct sk_buff *skb)
{
	const struct net_device *ndev = skb_dst(skb) ? skb_dst(skb)->dev : NULL;
	struct mxe_dev *dev, *any = NULL;

	list_for_each_entry_rcu(dev, &mnet->devs, mnet_entry) {
		if (!any || dev->ndev == ndev)
			any = dev;
	}
	if (any)
		mxe_count(any, refused_datagrams);
}

/* Returns the verdict on a UDP datagram. offset: that of the UDP header. */
static unsigned int mxe_guard_udp(struct mxe_netns *mnet, struct sk_buff *skb,
				  struct sock *sk, unsigned int offset)
{
	const struct udphdr *udph;
	struct udphdr copy;

	udph = skb_header_pointer(skb, offset, sizeof(copy), &copy);
	if (!udph || udph->dest != htons(mxe_udp_port) ||
	    !READ_ONCE(mxe_guard_require_net_raw) || mxe_guard_may_send(mnet->net, sk))
		return NF_ACCEPT;
	mxe_guard_count(mnet, skb);
	return NF_DROP;
}

/*
 * Guard LOCAL_OUT of IPv4, as a netfilter hook. @priv is the netns of mxe.
 * Callers only compare the address of this function.
 * Context: Any. RCU read-side section.
 * Return: NF_ACCEPT, or NF_DROP, with which the sender gets EPERM.
 */
unsigned int mxe_guard_ipv4(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);

	if (mxe_guard_is_own(priv, state->sk) || iph->protocol != IPPROTO_UDP ||
	    iph->frag_off & htons(IP_OFFSET))
		return NF_ACCEPT;
	return mxe_guard_udp(priv, skb, state->sk, skb_network_offset(skb) + ip_hdrlen(skb));
}

/* Of a packet with extension headers, which a process may add. */
static unsigned int mxe_guard_exthdr(struct mxe_netns *mnet, struct sk_buff *skb,
				     struct sock *sk)
{
	u8 nexthdr = ipv6_hdr(skb)->nexthdr;
	__be16 frag_off;
	int offset;

	offset = ipv6_skip_exthdr(skb, skb_network_offset(skb) + sizeof(struct ipv6hdr),
				  &nexthdr, &frag_off);
	if (offset < 0 || nexthdr != IPPROTO_UDP || frag_off & htons(IP6_OFFSET))
		return NF_ACCEPT;
	return mxe_guard_udp(mnet, skb, sk, offset);
}

/* As mxe_guard_ipv4(), for IPv6. */
unsigned int mxe_guard_ipv6(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	if (mxe_guard_is_own(priv, state->sk))
		return NF_ACCEPT;
	if (ipv6_hdr(skb)->nexthdr == IPPROTO_UDP)
		return mxe_guard_udp(priv, skb, state->sk,
				     skb_network_offset(skb) + sizeof(struct ipv6hdr));
	if (ipv6_ext_hdr(ipv6_hdr(skb)->nexthdr))
		return mxe_guard_exthdr(priv, skb, state->sk);
	return NF_ACCEPT;
}

/*
 * The last hooks of LOCAL_OUT, because others may change the destination port
 * (DNAT).
 */
int mxe_guard_register(struct mxe_netns *mnet, bool has_ipv6)
{
	int err;

	mnet->guard4 = (struct nf_hook_ops) {
		.hook = mxe_guard_ipv4,
		.priv = mnet,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	};
	mnet->guard6 = (struct nf_hook_ops) {
		.hook = mxe_guard_ipv6,
		.priv = mnet,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP6_PRI_LAST,
	};
	err = nf_register_net_hook(mnet->net, &mnet->guard4);
	if (err || !has_ipv6)
		return err;
	err = nf_register_net_hook(mnet->net, &mnet->guard6);
	if (err)
		nf_unregister_net_hook(mnet->net, &mnet->guard4);
	else
		mnet->has_guard6 = true;
	return err;
}

void mxe_guard_unregister(struct mxe_netns *mnet)
{
	if (mnet->has_guard6)
		nf_unregister_net_hook(mnet->net, &mnet->guard6);
	mnet->has_guard6 = false;
	nf_unregister_net_hook(mnet->net, &mnet->guard4);
}

#else

int mxe_guard_register(struct mxe_netns *mnet, bool has_ipv6)
{
	pr_notice_once("mxe: kernel without CONFIG_NETFILTER: local processes can send packets to UDP port %u\n",
		       mxe_udp_port);
	return 0;
}

void mxe_guard_unregister(struct mxe_netns *mnet)
{
}

#endif /* CONFIG_NETFILTER */
