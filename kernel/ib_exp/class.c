// SPDX-License-Identifier: GPL-2.0
/* The class infiniband_exp in sysfs and the attributes of its devices. */
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/sysfs.h>

#include "class.h"
#include "device.h"

static const char * const mode_names[] = {
	[IB_EXP_NONE] = "none",
	[IB_EXP_EMULATED] = "emulated",
	[IB_EXP_NATIVE] = "native",
};

static const char * const reply_names[] = {
	[IB_EXP_REPLY_NONE] = "none",
	[IB_EXP_REPLY_HOST] = "host",
	[IB_EXP_REPLY_BE] = "be",
};

/* The abbreviations that libibverbs uses. */
static const char *cap_name(enum ib_atomic_cap cap)
{
	switch (cap) {
	case IB_ATOMIC_NONE:
		return "none";
	case IB_ATOMIC_HCA:
		return "hca";
	case IB_ATOMIC_GLOB:
		return "glob";
	}
	return "unknown";
}

#define IB_EXP_SHOW(name, fmt, value)					\
static ssize_t name##_show(struct device *class_dev,			\
			   struct device_attribute *attr, char *buf)	\
{									\
	struct ib_exp_device *dev = dev_get_drvdata(class_dev);		\
									\
	return sysfs_emit(buf, fmt "\n", value);			\
}

IB_EXP_SHOW(masked_cmp_swap, "%s", mode_names[dev->attr.masked_cmp_swap])
IB_EXP_SHOW(masked_fetch_add, "%s", mode_names[dev->attr.masked_fetch_add])
IB_EXP_SHOW(atomic_cap, "%s", cap_name(dev->attr.atomic_cap))
IB_EXP_SHOW(masked_atomic_cap_reported, "%s",
	    cap_name(dev->attr.masked_atomic_cap_reported))
IB_EXP_SHOW(log_arg_sizes, "%#x", dev->attr.log_arg_sizes)
IB_EXP_SHOW(reply_endianness, "%s", reply_names[dev->attr.reply])
IB_EXP_SHOW(max_retries, "%u", READ_ONCE(dev->attr.max_retries))
IB_EXP_SHOW(reason, "%s", dev->attr.reason)

static ssize_t max_retries_store(struct device *class_dev,
				 struct device_attribute *attr,
				 const char *buf, size_t count)
{
	struct ib_exp_device *dev = dev_get_drvdata(class_dev);
	u32 value;
	int err;

	err = kstrtou32(buf, 0, &value);
	if (err)
		return err;
	WRITE_ONCE(dev->attr.max_retries, value);
	return count;
}

static DEVICE_ATTR_RO(masked_cmp_swap);
static DEVICE_ATTR_RO(masked_fetch_add);
static DEVICE_ATTR_RO(atomic_cap);
static DEVICE_ATTR_RO(masked_atomic_cap_reported);
static DEVICE_ATTR_RO(log_arg_sizes);
static DEVICE_ATTR_RO(reply_endianness);
static DEVICE_ATTR_RW(max_retries);
static DEVICE_ATTR_RO(reason);

static struct attribute *ib_exp_attrs[] = {
	&dev_attr_masked_cmp_swap.attr,
	&dev_attr_masked_fetch_add.attr,
	&dev_attr_atomic_cap.attr,
	&dev_attr_masked_atomic_cap_reported.attr,
	&dev_attr_log_arg_sizes.attr,
	&dev_attr_reply_endianness.attr,
	&dev_attr_max_retries.attr,
	&dev_attr_reason.attr,
	NULL
};
ATTRIBUTE_GROUPS(ib_exp);

static struct class ib_exp_class = {
	.name = "infiniband_exp",
	.dev_groups = ib_exp_groups,
};

/* Held from the choice of a name until the device has it. */
static DEFINE_MUTEX(ib_exp_names_lock);

/*
 * Chooses the name of a device: that of the ib_device or, if that is taken, the
 * same with the index that `rdma dev` shows.  A name can be taken by a device
 * that was renamed while it was being removed, in which case no client learned
 * the new name.  Since Linux 7.3, devices in different network namespaces can
 * also have the same name.
 */
static void ib_exp_class_name(const struct ib_device *ibdev, char *name,
			      size_t size)
{
	struct device *other;

	lockdep_assert_held(&ib_exp_names_lock);
	strscpy(name, dev_name(&ibdev->dev), size);
	other = class_find_device_by_name(&ib_exp_class, name);
	if (!other)
		return;
	put_device(other);
	snprintf(name, size, "%s.%u", dev_name(&ibdev->dev), ibdev->index);
}

/**
 * ib_exp_class_add() - Create the directory of a device.
 * @dev: the device, whose attributes are final except max_retries
 *
 * Context: Process context. May sleep.
 * Return: 0 or an error of device_create().
 */
int ib_exp_class_add(struct ib_exp_device *dev)
{
	char name[IB_DEVICE_NAME_MAX + 12];

	mutex_lock(&ib_exp_names_lock);
	ib_exp_class_name(dev->ibdev, name, sizeof(name));
	dev->class_dev = device_create(&ib_exp_class, NULL, MKDEV(0, 0), dev,
				       "%s", name);
	mutex_unlock(&ib_exp_names_lock);
	return PTR_ERR_OR_ZERO(dev->class_dev);
}

/**
 * ib_exp_class_remove() - Remove the directory of a device.
 * @dev: the device
 *
 * No attribute is being read or written after this returns.
 *
 * Context: Process context. May sleep.
 */
void ib_exp_class_remove(struct ib_exp_device *dev)
{
	device_unregister(dev->class_dev);
}

/**
 * ib_exp_class_rename() - Follow a change of the ib_device's name.
 * @dev: the device
 *
 * Context: Process context. May sleep. ib_core serialises renames with each
 * other and with the removal of the device.
 */
void ib_exp_class_rename(struct ib_exp_device *dev)
{
	char name[IB_DEVICE_NAME_MAX + 12];
	int err;

	mutex_lock(&ib_exp_names_lock);
	ib_exp_class_name(dev->ibdev, name, sizeof(name));
	err = device_rename(dev->class_dev, name);
	mutex_unlock(&ib_exp_names_lock);
	if (err)
		ibdev_err(dev->ibdev, "ib_exp: failed to rename the device in sysfs: %pe\n",
			  ERR_PTR(err));
}

/**
 * ib_exp_class_register() - Create the class.
 *
 * Context: Process context. May sleep.
 * Return: 0 or an error of class_register().
 */
int ib_exp_class_register(void)
{
	return class_register(&ib_exp_class);
}

/**
 * ib_exp_class_unregister() - Remove the class, which has no devices left.
 *
 * Context: Process context. May sleep.
 */
void ib_exp_class_unregister(void)
{
	class_unregister(&ib_exp_class);
}
