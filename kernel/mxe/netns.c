// SPDX-License-Identifier: GPL-2.0
/* Network namespaces: sockets, devices, and the netdevs of the devices. */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>

#include "fast/early_demux.h"
#include "ip/guard.h"
#include "ip/qpn.h"
#include "ip/rx.h"
#include "mxe.h"
#include "netns.h"
#include "wire/hdr.h"
#include "wire/pkt.h"

static unsigned int mxe_netns_id;
static DEFINE_MUTEX(mxe_netns_mutex);

/* ---- sockets ----------------------------------------------------------- */

static int mxe_netns_set_option(struct socket *sock, int level, int name, int value)
{
	return sock->ops->setsockopt(sock, level, name, KERNEL_SOCKPTR(&value), sizeof(value));
}

/*
 * The path MTU of a QP is that of its consumer, as on an adapter. So the MTU of
 * the netdev decides what can be sent, and not what IP learnt of the path from
 * ICMP or was told by a route. tx.c sends with these sockets. Those of UDP
 * tunnels do not loop multicast packets back by default.
 */
static int mxe_netns_set_options(struct socket *sock, u8 family)
{
	if (family == AF_INET6)
		return mxe_netns_set_option(sock, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
					    IPV6_PMTUDISC_INTERFACE);
	return mxe_netns_set_option(sock, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_INTERFACE) ?:
	       mxe_netns_set_option(sock, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
}

static struct socket *mxe_netns_open(struct mxe_netns *mnet, u8 family)
{
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(mxe_udp_port),
		.ipv6_v6only = family == AF_INET6,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = mnet,
		.encap_type = 1,
		.encap_rcv = mxe_rx_udp,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(mnet->net, &port, &sock);
	if (err)
		return ERR_PTR(err);
	mxe_udp_tunnel_sock_setup(mnet->net, sock, &tunnel);
	err = mxe_netns_set_options(sock, family);
	if (err) {
		mxe_udp_tunnel_sock_release(sock);
		return ERR_PTR(err);
	}
	return sock;
}

static int mxe_netns_open_sockets(struct mxe_netns *mnet)
{
	/* Without IPv6, the device has no IPv6 GIDs. */
	bool has_ipv6 = IS_ENABLED(CONFIG_IPV6) && ipv6_mod_enabled();
	struct socket *sock;
	int err;

	lockdep_assert_held(&mxe_netns_mutex);

	err = mxe_guard_register(mnet, has_ipv6);
	if (err)
		return err;
	sock = mxe_netns_open(mnet, AF_INET);
	if (IS_ERR(sock))
		goto err_unregister_guard;
	mnet->sk4 = sock;

	if (has_ipv6) {
		sock = mxe_netns_open(mnet, AF_INET6);
		if (IS_ERR(sock))
			goto err_close_sk4;
		mnet->sk6 = sock;
	}
	mxe_early_demux_register(mnet);
	return 0;

err_close_sk4:
	mxe_udp_tunnel_sock_release(mnet->sk4);
	mnet->sk4 = NULL;
err_unregister_guard:
	mxe_guard_unregister(mnet);
	return PTR_ERR(sock);
}

static void mxe_netns_close_sockets(struct mxe_netns *mnet)
{
	lockdep_assert_held(&mxe_netns_mutex);

	mxe_early_demux_unregister(mnet);
	/* The release waits for receivers by synchronize_rcu(). */
	if (mnet->sk6)
		mxe_udp_tunnel_sock_release(mnet->sk6);
	mxe_udp_tunnel_sock_release(mnet->sk4);
	mnet->sk4 = NULL;
	mnet->sk6 = NULL;
	mxe_guard_unregister(mnet);
}

/* ---- netdevs, which may be unregistered before their devices ------------ */

static LIST_HEAD(mxe_netns_devs);	/* by netdev_entry, under RTNL */

static void mxe_netns_watch_netdev(struct mxe_dev *dev)
{
	const struct net_device *ndev = dev->ndev;

	rtnl_lock();
	list_add(&dev->netdev_entry, &mxe_netns_devs);
	dev->ndev_gone = ndev->reg_state != NETREG_REGISTERED ||
			 !net_eq(dev_net(ndev), dev->mnet->net);
	rtnl_unlock();
}

static void mxe_netns_forget_netdev(struct mxe_dev *dev)
{
	rtnl_lock();
	list_del(&dev->netdev_entry);
	rtnl_unlock();
}

/*
 * Set ndev_gone of the device, if any, that uses a netdev, because it is
 * unregistered or leaves its netns.
 * Context: RTNL held.
 */
void mxe_netns_netdev_gone(struct net_device *ndev)
{
	struct mxe_dev *dev;

	ASSERT_RTNL();

	list_for_each_entry(dev, &mxe_netns_devs, netdev_entry) {
		if (dev->ndev == ndev)
			dev->ndev_gone = true;
	}
}

/* ---- devices of a namespace --------------------------------------------- */

/*
 * Returns true if a device uses ndev. Two devices on one netdev would have the
 * same addresses, so their packets could not be distinguished.
 */
static bool mxe_netns_has(const struct mxe_netns *mnet,
			  const struct net_device *ndev)
{
	const struct mxe_dev *dev;

	lockdep_assert_held(&mxe_netns_mutex);

	list_for_each_entry(dev, &mnet->devs, mnet_entry)
		if (dev->ndev == ndev)
			return true;
	return false;
}

/*
 * Add a device, whose ndev is set, to the netns of its netdev. Open the sockets
 * for the first device.
 * Context: Process context, without RTNL. May sleep.
 * Return: 0; -EEXIST if another device uses the netdev; or an error of
 * udp_sock_create(), such as -EADDRINUSE.
 */
int mxe_netns_attach(struct mxe_dev *dev, struct net *net)
{
	struct mxe_netns *mnet = net_generic(net, mxe_netns_id);
	int err = 0;

	mutex_lock(&mxe_netns_mutex);
	if (mxe_netns_has(mnet, dev->ndev))
		err = -EEXIST;
	else if (!mnet->users)
		err = mxe_netns_open_sockets(mnet);
	if (!err) {
		mnet->users++;
		dev->mnet = mnet;
		list_add_tail_rcu(&dev->mnet_entry, &mnet->devs);
	}
	mutex_unlock(&mxe_netns_mutex);
	if (!err)
		mxe_netns_watch_netdev(dev);
	return err;
}

/*
 * Remove a device from its netns. Close the sockets after the last device. Wait
 * for a grace period.
 * Context: Process context, without RTNL. May sleep.
 */
void mxe_netns_detach(struct mxe_dev *dev)
{
	struct mxe_netns *mnet = dev->mnet;

	mxe_netns_forget_netdev(dev);
	mutex_lock(&mxe_netns_mutex);
	list_del_rcu(&dev->mnet_entry);
	if (!--mnet->users)
		mxe_netns_close_sockets(mnet);
	mutex_unlock(&mxe_netns_mutex);
	/* Wait for receivers that found the device in devs. */
	synchronize_rcu();
}

static int __net_init mxe_netns_init(struct net *net)
{
	struct mxe_netns *mnet = net_generic(net, mxe_netns_id);

	mnet->recent = alloc_percpu(struct mxe_qp_recent);
	if (!mnet->recent)
		return -ENOMEM;
	mnet->net = net;
	mnet->created = ktime_get_boottime_ns();
	INIT_LIST_HEAD(&mnet->devs);
	xa_init_flags(&mnet->qps, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	/* Random, so that late packets rarely name a reused number. */
	mnet->next_qpn = get_random_u32() & MXE_BTH_QPN_MASK;
	return 0;
}

/* Returns a device of the netns with a reference, or NULL. */
static struct mxe_dev *mxe_netns_first_dev(struct mxe_netns *mnet)
{
	struct mxe_dev *dev;

	mutex_lock(&mxe_netns_mutex);
	dev = list_first_entry_or_null(&mnet->devs, struct mxe_dev, mnet_entry);
	if (dev)
		get_device(&dev->ibdev.dev);
	mutex_unlock(&mxe_netns_mutex);
	return dev;
}

/*
 * The netns ends. Its netdevs are unregistered or have moved, so the removal of
 * their devices is queued or in progress. ib_unregister_device() waits for the
 * removal, or does it.
 */
static void __net_exit mxe_netns_exit(struct net *net)
{
	struct mxe_netns *mnet = net_generic(net, mxe_netns_id);
	struct mxe_dev *dev;

	while ((dev = mxe_netns_first_dev(mnet))) {
		ib_unregister_device(&dev->ibdev);
		put_device(&dev->ibdev.dev);
	}
	WARN_ON(mxe_xa_has_entries(&mnet->qps));
	xa_destroy(&mnet->qps);
	free_percpu(mnet->recent);
}

static struct pernet_operations mxe_netns_ops = {
	.init = mxe_netns_init,
	.exit = mxe_netns_exit,
	.id = &mxe_netns_id,
	.size = sizeof(struct mxe_netns),
};

int mxe_netns_register(void)
{
	return register_pernet_subsys(&mxe_netns_ops);
}

/* Call it when no device is left. */
void mxe_netns_unregister(void)
{
	unregister_pernet_subsys(&mxe_netns_ops);
}
