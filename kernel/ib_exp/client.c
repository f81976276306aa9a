// SPDX-License-Identifier: GPL-2.0
/* The ib_core client, which follows devices that come, go and are renamed. */
#include <linux/slab.h>

#include "caps.h"
#include "class.h"
#include "client.h"
#include "device.h"
#include "qp.h"

static int ib_exp_client_add(struct ib_device *ibdev)
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
		ibdev_err(ibdev, "ib_exp: failed to create the sysfs directory: %pe\n",
			  ERR_PTR(err));
		kfree(dev);
		return err;
	}
	ib_set_client_data(ibdev, &ib_exp_client, dev);
	ib_exp_device_add(dev);
	return 0;
}

static void ib_exp_client_remove(struct ib_device *ibdev, void *client_data)
{
	struct ib_exp_device *dev = client_data;

	/* No QP can be enabled from here on. */
	ib_exp_device_del(dev);
	ib_exp_qp_tell_all(dev);
	ib_exp_device_put(dev);
	wait_for_completion(&dev->unused);
	ib_exp_class_remove(dev);
	mutex_destroy(&dev->qps_lock);
	kfree(dev);
}

static void ib_exp_client_rename(struct ib_device *ibdev, void *client_data)
{
	ib_exp_class_rename(client_data);
}

/* no_kverbs_req: sysfs also shows devices that have no kernel verbs. */
struct ib_client ib_exp_client = {
	.name = "ib_exp",
	.add = ib_exp_client_add,
	.remove = ib_exp_client_remove,
	.rename = ib_exp_client_rename,
	.no_kverbs_req = true,
};
