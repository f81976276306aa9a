/* SPDX-License-Identifier: GPL-2.0 */
/*
 * caps.c determines which masked atomics a device really executes: what its driver
 * announces, what is known of the kernel's drivers, and what the administrator sets.
 */
#ifndef IB_EXP_CAPS_H
#define IB_EXP_CAPS_H

#include <rdma/ib_exp.h>

/* Parameter of the module: NAME=MODE of devices. */
#define IB_EXP_MAX_OVERRIDES	16
extern char *ib_exp_overrides[IB_EXP_MAX_OVERRIDES];
extern int ib_exp_num_overrides;

/* Returns 0, or logs a malformed override and returns -EINVAL. */
int ib_exp_caps_check_overrides(void);

/* Fills in attr for a registered device.  Context: may sleep. */
void ib_exp_caps_query(struct ib_device *ibdev, struct ib_exp_device_attr *attr);

#endif /* IB_EXP_CAPS_H */
