// SPDX-License-Identifier: GPL-2.0
/*
 * The list of registered devices, and the references that keep a device until
 * its last user is gone.
 */
#include <linux/errno.h>

#include "device.h"

static LIST_HEAD(ib_exp_devices);
static DEFINE_MUTEX(ib_exp_devices_lock);

static struct ib_exp_device *ib_exp_device_find(const struct ib_device *ibdev)
{
	struct ib_exp_device *dev;

	lockdep_assert_held(&ib_exp_devices_lock);
	list_for_each_entry(dev, &ib_exp_devices, entry)
		if (dev->ibdev == ibdev)
			return dev;
	return NULL;
}

/**
 * ib_exp_device_lock() - Look up a device and lock its list of QPs.
 * @ibdev: the device as ib_core knows it
 *
 * Context: Process context. May sleep. On success the caller holds qps_lock.
 * Return: the device, or NULL if it is not registered or is being removed.
 */
struct ib_exp_device *ib_exp_device_lock(struct ib_device *ibdev)
{
	struct ib_exp_device *dev;

	mutex_lock(&ib_exp_devices_lock);
	dev = ib_exp_device_find(ibdev);
	if (dev)
		mutex_lock(&dev->qps_lock);
	mutex_unlock(&ib_exp_devices_lock);
	return dev;
}

/**
 * ib_exp_device_add() - Make a device visible to lookups.
 * @dev: the device, completely initialised
 *
 * Context: Process context. May sleep.
 */
void ib_exp_device_add(struct ib_exp_device *dev)
{
	mutex_lock(&ib_exp_devices_lock);
	list_add_tail(&dev->entry, &ib_exp_devices);
	mutex_unlock(&ib_exp_devices_lock);
}

/**
 * ib_exp_device_del() - Hide a device from lookups.
 * @dev: the device
 *
 * Context: Process context. May sleep.
 */
void ib_exp_device_del(struct ib_exp_device *dev)
{
	mutex_lock(&ib_exp_devices_lock);
	list_del(&dev->entry);
	mutex_unlock(&ib_exp_devices_lock);
}

/**
 * ib_exp_device_put() - Drop a reference. remove() waits for the last one.
 * @dev: the device
 *
 * Context: Any.
 */
void ib_exp_device_put(struct ib_exp_device *dev)
{
	if (refcount_dec_and_test(&dev->users))
		complete(&dev->unused);
}

int ib_exp_query_device(struct ib_device *ibdev,
			struct ib_exp_device_attr *attr)
{
	struct ib_exp_device *dev = ib_exp_device_lock(ibdev);

	if (!dev)
		return -ENODEV;
	*attr = dev->attr;
	mutex_unlock(&dev->qps_lock);
	return 0;
}
EXPORT_SYMBOL_GPL(ib_exp_query_device);
