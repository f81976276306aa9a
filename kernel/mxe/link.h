/* SPDX-License-Identifier: GPL-2.0 */
/* link.c serves `rdma link add ... type mxe`, and follows the netdevs of devices. */
#ifndef MXE_LINK_H
#define MXE_LINK_H

int mxe_link_register(void);
void mxe_link_unregister(void);

#endif /* MXE_LINK_H */
