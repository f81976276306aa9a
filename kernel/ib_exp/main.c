// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and unloads the module, in order, and has its parameter.  Calls caps.c, class.c
 * and ib_core with the client of client.c.
 */
#include <linux/module.h>

#include "caps.h"
#include "class.h"
#include "client.h"

module_param_array_named(override, ib_exp_overrides, charp,
			 &ib_exp_num_overrides, 0444);
MODULE_PARM_DESC(override,
		 "NAME=MODE,...: the device of that name does masked atomics natively, emulated, or not at all (native, emulated, none), whatever is known of it");

static int __init ib_exp_init(void)
{
	int err;

	err = ib_exp_caps_check_overrides();
	if (err)
		return err;
	err = ib_exp_class_register();
	if (err)
		return err;
	err = ib_register_client(&ib_exp_client);
	if (err)
		ib_exp_class_unregister();
	return err;
}

/* No user of an exported function is there any more, or it would be in use. */
static void __exit ib_exp_exit(void)
{
	ib_unregister_client(&ib_exp_client);
	ib_exp_class_unregister();
}

module_init(ib_exp_init);
module_exit(ib_exp_exit);

MODULE_AUTHOR("The mxe developers");
MODULE_DESCRIPTION("Masked atomics for the kernel on every RDMA device");
MODULE_LICENSE("GPL");
MODULE_VERSION(MXE_VERSION);
