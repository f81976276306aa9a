// SPDX-License-Identifier: GPL-2.0
/*
 * Initialises and removes the module, and defines its parameters, except those
 * of the shortcuts.
 */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "device.h"
#include "fast/skb.h"
#include "link.h"
#include "mxe.h"
#include "netns.h"
#include "queues/qp.h"
#include "queues/qp_work.h"
#include "wire/hdr.h"
#include "wire/icrc.h"

module_param_named(port, mxe_udp_port, ushort, 0444);
MODULE_PARM_DESC(port, "UDP port of RoCEv2 traffic (default 4791)");

static char *atomic_reply = "host";
module_param(atomic_reply, charp, 0444);
MODULE_PARM_DESC(atomic_reply,
		 "byte order of atomic results: host (default), or be: big-endian, and only on QPs with the big-endian flag");

module_param_named(coherent, mxe_device_coherent, bool, 0644);
MODULE_PARM_DESC(coherent,
		 "N: devices that are added later have memory that is not coherent, to test programs for missing synchronisation (default Y)");

static int __init mxe_main_read_params(void)
{
	if (!mxe_udp_port) {
		pr_err("mxe: invalid parameter port: must not be 0\n");
		return -EINVAL;
	}
	if (!strcmp(atomic_reply, "be")) {
		mxe_device_reply_be = true;
	} else if (strcmp(atomic_reply, "host")) {
		pr_err("mxe: invalid parameter atomic_reply: \"%s\" is neither host nor be\n",
		       atomic_reply);
		return -EINVAL;
	}
	return 0;
}

static int __init mxe_init(void)
{
	int err;

	err = mxe_main_read_params();
	if (err)
		return err;
	err = mxe_qp_init();
	if (err)
		return err;
	err = mxe_icrc_init();
	if (err)
		goto err_exit_qp;
	err = mxe_netns_register();
	if (err)
		goto err_exit_icrc;
	err = ib_exp_register_driver(&mxe_exp_driver);
	if (err)
		goto err_unregister_net;
	err = mxe_link_register();
	if (err)
		goto err_unregister_exp;
	return 0;

err_unregister_exp:
	ib_exp_unregister_driver(&mxe_exp_driver);
err_unregister_net:
	mxe_netns_unregister();
err_exit_icrc:
	mxe_icrc_exit();
err_exit_qp:
	mxe_qp_exit();
	mxe_skb_exit();
	return err;
}

static void __exit mxe_exit(void)
{
	mxe_link_unregister();
	/* Removes all devices, and waits for removals in progress. */
	ib_unregister_driver((enum rdma_driver_id)MXE_DRIVER_ID);
	ib_exp_unregister_driver(&mxe_exp_driver);
	mxe_netns_unregister();
	mxe_icrc_exit();
	mxe_qp_work_exit();
	mxe_qp_exit();
	mxe_skb_exit();
	/* kfree_rcu() of memory regions needs no code of this module. */
}

module_init(mxe_init);
module_exit(mxe_exit);

MODULE_AUTHOR("The mxe developers");
MODULE_DESCRIPTION("Software RoCEv2 device with masked atomics");
MODULE_LICENSE("GPL");
MODULE_VERSION(MXE_VERSION);
MODULE_ALIAS_RDMA_LINK("mxe");
