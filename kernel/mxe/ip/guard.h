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

unsigned int mxe_guard_ipv4(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);
unsigned int mxe_guard_ipv6(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);

#endif /* CONFIG_NETFILTER */

/*
 * Guard the RoCE port of a netns. Print a notice if the kernel has no
 * netfilter, because the port is not guarded then.
 * Context: May sleep.
 */
int mxe_guard_register(struct mxe_netns *mnet, bool has_ipv6);

/* Context: May sleep. */
void mxe_guard_unregister(struct mxe_netns *mnet);

#endif /* MXE_GUARD_H */
