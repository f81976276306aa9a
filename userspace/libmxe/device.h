/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Devices of this provider. */
#ifndef MXE_DEVICE_H
#define MXE_DEVICE_H

#include <stdbool.h>

struct ibv_device;

bool mxe_is_device(struct ibv_device *device);

#endif /* MXE_DEVICE_H */
