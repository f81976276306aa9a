/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detection of firewalls, traffic control and other code of the host that may
 * act on packets (hooks.c).
 */
#ifndef MXE_HOOKS_H
#define MXE_HOOKS_H

#include <linux/types.h>

struct mxe_netns;

bool mxe_hooks_on_loopback(const struct mxe_netns *mnet, bool is_ipv4);

#endif /* MXE_HOOKS_H */
