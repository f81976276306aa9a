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

/**
 * ib_exp_class_register() - Create the class.
 *
 * Context: Process context. May sleep.
 * Return: 0 or an error of class_register().
 */
int ib_exp_class_register(void);

/**
 * ib_exp_class_unregister() - Remove the class, which has no devices left.
 *
 * Context: Process context. May sleep.
 */
void ib_exp_class_unregister(void);

/**
 * ib_exp_class_add() - Create the directory of a device.
 * @dev: the device, whose attributes are final except max_retries
 *
 * Context: Process context. May sleep.
 * Return: 0 or an error of device_create().
 */
int ib_exp_class_add(struct ib_exp_device *dev);

/**
 * ib_exp_class_remove() - Remove the directory of a device.
 * @dev: the device
 *
 * No attribute is being read or written after this returns.
 *
 * Context: Process context. May sleep.
 */
void ib_exp_class_remove(struct ib_exp_device *dev);

/**
 * ib_exp_class_rename() - Follow a change of the ib_device's name.
 * @dev: the device
 *
 * Context: Process context. May sleep. ib_core serialises renames with each
 * other and with the removal of the device.
 */
void ib_exp_class_rename(struct ib_exp_device *dev);

#endif /* IB_EXP_CLASS_H */
