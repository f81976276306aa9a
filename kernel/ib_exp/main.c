// SPDX-License-Identifier: GPL-2.0
/* Initialises and removes the module, and defines its parameter. */
#include <linux/module.h>

#include "caps.h"
#include "class.h"
#include "client.h"

module_param_array_named(override, ib_exp_overrides, charp,
			 &ib_exp_num_overrides, 0444);
MODULE_PARM_DESC(override,
		 "NAME=MODE,...: override how device NAME executes masked atomics; MODE is native, emulated or none");

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

/* Modules that use exported functions hold a reference, so none is left. */
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
