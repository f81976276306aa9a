/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detection of firewalls, traffic control and other code of the host that may
 * act on packets (hooks.c).
 */
#ifndef MXE_HOOKS_H
#define MXE_HOOKS_H

#include <linux/types.h>

struct mxe_netns;

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
bool mxe_hooks_on_loopback(const struct mxe_netns *mnet, bool is_ipv4);

#endif /* MXE_HOOKS_H */
