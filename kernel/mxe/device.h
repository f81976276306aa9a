/* SPDX-License-Identifier: GPL-2.0 */
/* The ib_device: attributes, port, registration. */
#ifndef MXE_DEVICE_H
#define MXE_DEVICE_H

#include <rdma/ib_exp.h>
#include <rdma/ib_verbs.h>

#include "mxe.h"

/* Module parameter: devices made from now on answer in big-endian only. */
extern bool mxe_device_reply_be;

/* Make and register a device on a netdev.  Context: may sleep, no RTNL. */
int mxe_device_add(const char *name, struct net_device *ndev);
/* The state of the netdev may have changed.  Context: RTNL. */
void mxe_device_port_event(struct mxe_dev *dev);

enum ib_atomic_cap mxe_device_atomic_cap(const struct mxe_dev *dev);

/* Tells ib_exp, and kernel consumers by it, what the devices do. */
extern struct ib_exp_driver mxe_exp_driver;

void mxe_device_dealloc(struct ib_device *ibdev);
int mxe_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		     struct ib_udata *udata);
int mxe_query_port(struct ib_device *ibdev, u32 port,
		   struct ib_port_attr *attr);
int mxe_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);
int mxe_get_port_immutable(struct ib_device *ibdev, u32 port,
			   struct ib_port_immutable *immutable);
enum rdma_link_layer mxe_get_link_layer(struct ib_device *ibdev, u32 port);
void mxe_get_fw_str(struct ib_device *ibdev, char *str);

#endif /* MXE_DEVICE_H */
