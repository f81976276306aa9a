/* SPDX-License-Identifier: GPL-2.0 */
/* device.c describes a device to ib_core, and registers it. */
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

/* Tells ib_exp, and kernel consumers by it, what the devices do. */
extern struct ib_exp_driver mxe_exp_driver;

#endif /* MXE_DEVICE_H */
