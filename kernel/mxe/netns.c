// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces: their sockets, the devices in them, and the netdevs of these.
 * device.c, link.c and main.c call it; it gives the sockets to rx.c, and calls
 * early_demux.c.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>

#include "early_demux.h"
#include "hdr.h"
#include "mxe.h"
#include "netns.h"
#include "pkt.h"
#include "qpn.h"
#include "rx.h"

static unsigned int mxe_netns_id;
static DEFINE_MUTEX(mxe_netns_mutex);

/* ---- sockets ----------------------------------------------------------- */

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
	return sock;
}

static int mxe_netns_open_sockets(struct mxe_netns *mnet)
{
	struct socket *sock;

	lockdep_assert_held(&mxe_netns_mutex);

	sock = mxe_netns_open(mnet, AF_INET);
	if (IS_ERR(sock))
		return PTR_ERR(sock);
	mnet->sk4 = sock;
	mxe_early_demux_register(mnet);

	/* A host without IPv6 has no IPv6 GIDs either. */
	if (!IS_ENABLED(CONFIG_IPV6) || !ipv6_mod_enabled())
		return 0;
	sock = mxe_netns_open(mnet, AF_INET6);
	if (IS_ERR(sock)) {
		mxe_early_demux_unregister(mnet);
		mxe_udp_tunnel_sock_release(mnet->sk4);
		mnet->sk4 = NULL;
		return PTR_ERR(sock);
	}
	mnet->sk6 = sock;
	return 0;
}

static void mxe_netns_close_sockets(struct mxe_netns *mnet)
{
	lockdep_assert_held(&mxe_netns_mutex);

	mxe_early_demux_unregister(mnet);
	/* Waits for receivers: synchronize_rcu(). */
	if (mnet->sk6)
		mxe_udp_tunnel_sock_release(mnet->sk6);
	mxe_udp_tunnel_sock_release(mnet->sk4);
	mnet->sk4 = NULL;
	mnet->sk6 = NULL;
}

/* ---- devices whose netdev may go before they do ------------------------- */

static LIST_HEAD(mxe_netns_devs);	/* under RTNL */

static void mxe_netns_watch_netdev(struct mxe_dev *dev)
{
	const struct net_device *ndev = dev->ndev;

	rtnl_lock();
	list_add(&dev->netdev_entry, &mxe_netns_devs);
	dev->ndev_gone = ndev->reg_state != NETREG_REGISTERED ||
			 !net_eq(dev_net(ndev), dev->mnet->net);
	if (!dev->ndev_gone)
		mxe_early_demux_add_ingress(dev);
	rtnl_unlock();
}

static void mxe_netns_forget_netdev(struct mxe_dev *dev)
{
	rtnl_lock();
	list_del(&dev->netdev_entry);
	mxe_early_demux_remove_ingress(dev);
	rtnl_unlock();
}

void mxe_netns_netdev_gone(struct net_device *ndev)
{
	struct mxe_dev *dev;

	ASSERT_RTNL();

	list_for_each_entry(dev, &mxe_netns_devs, netdev_entry) {
		if (dev->ndev == ndev) {
			dev->ndev_gone = true;
			mxe_early_demux_remove_ingress(dev);
		}
	}
}

/* ---- devices of a namespace --------------------------------------------- */

/* Is there a device on ndev?  Two of them would be told apart by nothing. */
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

void mxe_netns_detach(struct mxe_dev *dev)
{
	struct mxe_netns *mnet = dev->mnet;

	mxe_netns_forget_netdev(dev);
	mutex_lock(&mxe_netns_mutex);
	list_del_rcu(&dev->mnet_entry);
	if (!--mnet->users)
		mxe_netns_close_sockets(mnet);
	mutex_unlock(&mxe_netns_mutex);
	/* Receivers that found the device to charge a drop. */
	synchronize_rcu();
}

static int __net_init mxe_netns_init(struct net *net)
{
	struct mxe_netns *mnet = net_generic(net, mxe_netns_id);

	mnet->recent = alloc_percpu(struct mxe_qp_recent);
	if (!mnet->recent)
		return -ENOMEM;
	mnet->net = net;
	INIT_LIST_HEAD(&mnet->devs);
	xa_init_flags(&mnet->qps, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	/* Numbers of an earlier module or namespace are not met again soon. */
	mnet->next_qpn = get_random_u32() & MXE_BTH_QPN_MASK;
	return 0;
}

/* A device of the namespace that is still there, held; or NULL. */
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
 * The namespace ends.  Its netdevs have gone or moved, so the removal of their
 * devices is queued, or under way: ib_unregister_device() waits for that, or does it.
 */
static void __net_exit mxe_netns_exit(struct net *net)
{
	struct mxe_netns *mnet = net_generic(net, mxe_netns_id);
	struct mxe_dev *dev;

	while ((dev = mxe_netns_first_dev(mnet))) {
		ib_unregister_device(&dev->ibdev);
		put_device(&dev->ibdev.dev);
	}
	WARN_ON(!xa_empty(&mnet->qps));
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

void mxe_netns_unregister(void)
{
	unregister_pernet_subsys(&mxe_netns_ops);
}
