/* SPDX-License-Identifier: GPL-2.0 */
/*
 * class.c provides /sys/class/infiniband_exp/, which Documentation/ABI/testing/
 * describes.
 *
 * The class is visible in every network namespace.  Its devices have no parent,
 * because a parent in /sys/class/infiniband is visible in only one of them.
 */
#ifndef IB_EXP_CLASS_H
#define IB_EXP_CLASS_H

struct ib_exp_device;

int ib_exp_class_register(void);
void ib_exp_class_unregister(void);
int ib_exp_class_add(struct ib_exp_device *dev);
void ib_exp_class_remove(struct ib_exp_device *dev);
void ib_exp_class_rename(struct ib_exp_device *dev);

#endif /* IB_EXP_CLASS_H */
