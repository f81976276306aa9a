/* SPDX-License-Identifier: GPL-2.0 */
/*
 * caps.c determines which masked atomics a device really executes, from the
 * driver's announcement, a table of in-tree drivers, and the module parameter.
 */
#ifndef IB_EXP_CAPS_H
#define IB_EXP_CAPS_H

#include <rdma/ib_exp.h>

/* Module parameter "override": an array of NAME=MODE strings. */
#define IB_EXP_MAX_OVERRIDES	16
extern char *ib_exp_overrides[IB_EXP_MAX_OVERRIDES];
extern int ib_exp_num_overrides;

int ib_exp_caps_check_overrides(void);
void ib_exp_caps_query(struct ib_device *ibdev, struct ib_exp_device_attr *attr);

#endif /* IB_EXP_CAPS_H */
