/* SPDX-License-Identifier: GPL-2.0 */
/*
 * class.c makes /sys/class/infiniband_exp/, as Documentation/ABI/testing/ describes
 * it.
 *
 * The class has no namespaces and its devices no parents, since a parent in
 * /sys/class/infiniband is seen from one network namespace only.
 */
#ifndef IB_EXP_CLASS_H
#define IB_EXP_CLASS_H

struct ib_exp_device;

int ib_exp_class_register(void);
void ib_exp_class_unregister(void);

/* Context: may sleep. */
int ib_exp_class_add(struct ib_exp_device *dev);
/* When it returns nobody reads or writes the device's files. */
void ib_exp_class_remove(struct ib_exp_device *dev);
/* The ib_device has another name now. */
void ib_exp_class_rename(struct ib_exp_device *dev);

#endif /* IB_EXP_CLASS_H */
