/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ib_device: its description for ib_core, and its registration (device.c).
 */
#ifndef MXE_DEVICE_H
#define MXE_DEVICE_H

#include <rdma/ib_exp.h>
#include <rdma/ib_verbs.h>

#include "mxe.h"

/* Module parameter atomic_reply=be, for devices that are created later. */
extern bool mxe_device_reply_be;

/* Module parameter coherent, for devices that are created later. */
extern bool mxe_device_coherent;

int mxe_device_add(const char *name, struct net_device *ndev);
void mxe_device_port_event(struct mxe_dev *dev);

/* Announces the masked atomics of the devices to ib_exp. */
extern struct ib_exp_driver mxe_exp_driver;

#endif /* MXE_DEVICE_H */
