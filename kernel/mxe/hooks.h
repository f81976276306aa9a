/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hooks.c finds out whether a firewall, traffic control or other code of the host may
 * act on packets.
 */
#ifndef MXE_HOOKS_H
#define MXE_HOOKS_H

#include <linux/types.h>

struct mxe_netns;

/*
 * Returns true if something could act on packets that a host sends to itself: a
 * hook of netfilter other than mxe's, traffic control, a queueing discipline or
 * XDP of the loopback netdev, or a policy of IPsec.  Context: BHs off, RCU.
 */
bool mxe_hooks_on_loopback(const struct mxe_netns *mnet, bool is_ipv4);

#endif /* MXE_HOOKS_H */
