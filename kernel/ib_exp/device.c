// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>

#include "caps.h"
#include "class.h"
#include "device.h"
#include "qp.h"

/* Devices from the end of add() to the beginning of remove(). */
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

/* ---- the client -------------------------------------------------------- */

static int ib_exp_add(struct ib_device *ibdev)
{
	struct ib_exp_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int err;

	if (!dev)
		return -ENOMEM;
	dev->ibdev = ibdev;
	mutex_init(&dev->qps_lock);
	INIT_LIST_HEAD(&dev->qps);
	refcount_set(&dev->users, 1);
	init_completion(&dev->unused);
	ib_exp_caps_query(ibdev, &dev->attr);

	err = ib_exp_class_add(dev);
	if (err) {
		ibdev_err(ibdev, "ib_exp: not in sysfs: %pe\n", ERR_PTR(err));
		kfree(dev);
		return err;
	}
	ib_set_client_data(ibdev, &ib_exp_client, dev);
	mutex_lock(&ib_exp_devices_lock);
	list_add_tail(&dev->entry, &ib_exp_devices);
	mutex_unlock(&ib_exp_devices_lock);
	return 0;
}

static void ib_exp_remove(struct ib_device *ibdev, void *client_data)
{
	struct ib_exp_device *dev = client_data;

	/* No queue pair is enabled from here on. */
	mutex_lock(&ib_exp_devices_lock);
	list_del(&dev->entry);
	mutex_unlock(&ib_exp_devices_lock);

	ib_exp_qps_tell(dev);
	ib_exp_device_put(dev);
	wait_for_completion(&dev->unused);
	ib_exp_class_remove(dev);
	mutex_destroy(&dev->qps_lock);
	kfree(dev);
}

static void ib_exp_rename(struct ib_device *ibdev, void *client_data)
{
	ib_exp_class_rename(client_data);
}

/* Devices without kernel verbs are told about as well. */
struct ib_client ib_exp_client = {
	.name = "ib_exp",
	.add = ib_exp_add,
	.remove = ib_exp_remove,
	.rename = ib_exp_rename,
	.no_kverbs_req = true,
};
