/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `rdma link add ... type mxe`, and events of the netdevs of devices (link.c).
 */
#ifndef MXE_LINK_H
#define MXE_LINK_H

int mxe_link_register(void);
void mxe_link_unregister(void);

#endif /* MXE_LINK_H */
