/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The class infiniband_exp in sysfs. */
#ifndef CLASS_H
#define CLASS_H

#include <stdbool.h>

struct caps_source;

/**
 * caps_sysfs() - Get the path where sysfs is mounted.
 *
 * Return: $SYSFS_PATH, which libibverbs uses as well, or "/sys".
 */
const char *caps_sysfs(void);

/**
 * caps_class_exists() - Check if sysfs has the class infiniband_exp.
 *
 * Return: false while the module ib_exp is not loaded.
 */
bool caps_class_exists(void);

/**
 * caps_ask_class() - Read the files that the class has for a device.
 * @name: device
 * @has_class: result of caps_class_exists()
 * @kernel: result; `error` is set if the class does not have the device
 */
void caps_ask_class(const char *name, bool has_class,
		    struct caps_source *kernel);

#endif /* CLASS_H */
