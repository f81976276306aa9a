/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guard of the RoCE port (guard.c): a process without CAP_NET_RAW cannot
 * send datagrams to it from this host. RoCE packets carry no secret, so any
 * packet from the address of a peer is taken for one of that peer.
 */
#ifndef MXE_GUARD_H
#define MXE_GUARD_H

#include <linux/netfilter.h>

struct mxe_netns;

#ifdef CONFIG_NETFILTER

/**
 * mxe_guard_ipv4() - Check a packet at LOCAL_OUT of IPv4.
 * @priv: the netns of mxe
 * @skb: a packet of this host
 * @state: the hook, with the socket of the sender
 *
 * A netfilter hook. Callers only compare its address.
 *
 * Context: Any context. RCU read-side section.
 * Return: NF_ACCEPT, or NF_DROP, with which the sender gets EPERM.
 */
unsigned int mxe_guard_ipv4(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);

/**
 * mxe_guard_ipv6() - Check a packet at LOCAL_OUT of IPv6.
 * @priv: as of mxe_guard_ipv4()
 * @skb: as of mxe_guard_ipv4()
 * @state: as of mxe_guard_ipv4()
 *
 * Context: Any context. RCU read-side section.
 * Return: as of mxe_guard_ipv4().
 */
unsigned int mxe_guard_ipv6(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);

#endif /* CONFIG_NETFILTER */

/**
 * mxe_guard_register() - Guard the RoCE port of a netns.
 * @mnet: the netns
 * @has_ipv6: guard that of IPv6, too
 *
 * Prints a notice if the kernel has no netfilter, because the port is not
 * guarded then.
 *
 * Context: Process context. May sleep.
 * Return: 0 or a negative errno.
 */
int mxe_guard_register(struct mxe_netns *mnet, bool has_ipv6);

/**
 * mxe_guard_unregister() - Undo mxe_guard_register().
 * @mnet: the netns
 *
 * Context: Process context. May sleep.
 */
void mxe_guard_unregister(struct mxe_netns *mnet);

#endif /* MXE_GUARD_H */
