/* SPDX-License-Identifier: GPL-2.0 */
/* device.c keeps the list of RDMA devices. */
#ifndef IB_EXP_DEVICE_H
#define IB_EXP_DEVICE_H

#include <linux/completion.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <rdma/ib_exp.h>

/* Default limit of retries of an emulated request after the first try. */
#define IB_EXP_MAX_RETRIES	1024

/*
 * An RDMA device.
 *
 * Lifetime: from the client's add() to the end of its remove(). The latter
 * waits until the last QP is disabled, so an enabled QP keeps its device.
 */
struct ib_exp_device {
	struct ib_device *ibdev;
	struct device *class_dev;
	/* Immutable, except max_retries, which sysfs writes without a lock. */
	struct ib_exp_device_attr attr;
	struct list_head entry;		/* in the list of devices */

	struct mutex qps_lock;		/* nests inside ib_exp_devices_lock */
	struct list_head qps;		/* enabled QPs, under qps_lock */
	refcount_t users;		/* one for each enabled QP, and one */
	struct completion unused;	/* users has dropped to 0 */
};

void ib_exp_device_add(struct ib_exp_device *dev);
void ib_exp_device_del(struct ib_exp_device *dev);
struct ib_exp_device *ib_exp_device_lock(struct ib_device *ibdev);
void ib_exp_device_put(struct ib_exp_device *dev);

#endif /* IB_EXP_DEVICE_H */
