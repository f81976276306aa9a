/* SPDX-License-Identifier: GPL-2.0 */
/* device.c keeps the devices of the host. */
#ifndef IB_EXP_DEVICE_H
#define IB_EXP_DEVICE_H

#include <linux/completion.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <rdma/ib_exp.h>

/* Tries of an emulated request after the first, unless told otherwise. */
#define IB_EXP_MAX_RETRIES	1024

/*
 * A device.
 *
 * Lifetime: from the client's add() to the end of its remove(), which waits for
 * the last queue pair to be disabled.  So an enabled queue pair keeps its device.
 */
struct ib_exp_device {
	struct ib_device *ibdev;
	struct device *class_dev;
	/* Immutable but for max_retries, which is read and written at any time. */
	struct ib_exp_device_attr attr;
	struct list_head entry;		/* in the list of devices */

	struct mutex qps_lock;		/* inside that of the list */
	struct list_head qps;		/* enabled queue pairs; under qps_lock */
	refcount_t users;		/* one for each of them, and one */
	struct completion unused;	/* no users */
};

/* Lookups find the device from add to del.  Context: may sleep. */
void ib_exp_device_add(struct ib_exp_device *dev);
void ib_exp_device_del(struct ib_exp_device *dev);

/*
 * Returns the device with its qps_lock held, or NULL if it is not registered or is
 * being removed.  Context: may sleep.
 */
struct ib_exp_device *ib_exp_device_lock(struct ib_device *ibdev);

/* Drops a user.  The last one ends the lifetime.  Context: any. */
void ib_exp_device_put(struct ib_exp_device *dev);

#endif /* IB_EXP_DEVICE_H */
