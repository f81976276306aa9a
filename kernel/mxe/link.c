// SPDX-License-Identifier: GPL-2.0
/*
 * Adds devices for `rdma link add`, reports the state of their ports, and
 * removes them when their netdev is unregistered.
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <rdma/rdma_netlink.h>

#include "device.h"
#include "ip/ah.h"
#include "link.h"
#include "mxe.h"
#include "netns.h"

static int mxe_link_new(const char *name, struct net_device *ndev)
{
	struct ib_device *ibdev;

	if (ndev->type != ARPHRD_ETHER || ndev->flags & IFF_LOOPBACK) {
		netdev_err(ndev, "mxe: not an Ethernet device\n");
		return -EINVAL;
	}
	/* ib_core adds the GIDs of a VLAN to the device on the lower netdev. */
	if (is_vlan_dev(ndev)) {
		netdev_err(ndev, "mxe: is a VLAN; add the link to its lower netdev, which carries the VLAN\n");
		return -EPERM;
	}
	if (!mxe_av_can_receive(ndev)) {
		netdev_err(ndev, "mxe: is in a VRF; set net.ipv4.udp_l3mdev_accept=1 to receive from it\n");
		return -EOPNOTSUPP;
	}
	ibdev = ib_device_get_by_netdev(ndev, MXE_DRIVER_ID);
	if (ibdev) {
		netdev_err(ndev, "mxe: already used by %s\n",
			   dev_name(&ibdev->dev));
		ib_device_put(ibdev);
		return -EEXIST;
	}
	return mxe_device_add(name, ndev);
}

static struct rdma_link_ops mxe_link_ops = {
	.type = "mxe",
	.newlink = mxe_link_new,
};

/* Context: RTNL held, so removals of devices must be queued. */
static int mxe_link_netdev_event(struct notifier_block *nb, unsigned long event,
				 void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct ib_device *ibdev;

	/*
	 * Before the lookup, which does not find a device that is being
	 * removed.
	 */
	if (event == NETDEV_UNREGISTER)
		mxe_netns_netdev_gone(ndev);

	ibdev = ib_device_get_by_netdev(ndev, MXE_DRIVER_ID);
	if (!ibdev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:
		ib_unregister_device_queued(ibdev);
		break;
	case NETDEV_CHANGEUPPER:
		if (!mxe_av_can_receive(ndev))
			netdev_warn(ndev, "mxe: %s receives nothing from a VRF; set net.ipv4.udp_l3mdev_accept=1\n",
				    dev_name(&ibdev->dev));
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		mxe_device_port_event(to_mdev(ibdev));
		break;
	default:
		break;
	}
	ib_device_put(ibdev);
	return NOTIFY_OK;
}

static struct notifier_block mxe_link_netdev_notifier = {
	.notifier_call = mxe_link_netdev_event,
};

/* Context: May sleep. */
int mxe_link_register(void)
{
	int err = register_netdevice_notifier(&mxe_link_netdev_notifier);

	if (err)
		return err;
	rdma_link_register(&mxe_link_ops);
	return 0;
}

/* Context: May sleep. */
void mxe_link_unregister(void)
{
	rdma_link_unregister(&mxe_link_ops);
	unregister_netdevice_notifier(&mxe_link_netdev_notifier);
}
