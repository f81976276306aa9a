/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What devices really do: what their drivers announce, what is known of the
 * drivers in the kernel, what the administrator says.
 */
#ifndef IB_EXP_TRUTH_H
#define IB_EXP_TRUTH_H

#include <rdma/ib_exp.h>

/* Parameter of the module: NAME=MODE of devices. */
#define IB_EXP_MAX_OVERRIDES	16
extern char *ib_exp_overrides[IB_EXP_MAX_OVERRIDES];
extern int ib_exp_num_overrides;

/* Is every override well formed?  0 or -EINVAL, and says which is not. */
int ib_exp_check_overrides(void);

/* Context: may sleep. */
void ib_exp_truth(struct ib_device *ibdev, struct ib_exp_device_attr *attr);

#endif /* IB_EXP_TRUTH_H */
