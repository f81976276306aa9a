/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `rdma link add ... type mxe`, and events of the netdevs of devices (link.c).
 */
#ifndef MXE_LINK_H
#define MXE_LINK_H

/**
 * mxe_link_register() - Register the link type and the netdev notifier.
 *
 * Context: Process context. May sleep.
 * Return: 0 or a negative errno.
 */
int mxe_link_register(void);

/**
 * mxe_link_unregister() - Undo mxe_link_register().
 *
 * Context: Process context. May sleep.
 */
void mxe_link_unregister(void);

#endif /* MXE_LINK_H */
