/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All devices of a network namespace share a pair of UDP sockets, which is open while
 * a device uses it (netns.c).
 */
#ifndef MXE_NETNS_H
#define MXE_NETNS_H

#include <linux/list.h>
#include <linux/netfilter.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

struct mxe_dev;
struct mxe_qp_recent;
struct socket;

/*
 * Lifetime: part of the namespace.  users, sk4, sk6, devs, early_demux and has_early_demux
 * are under mxe_netns_mutex; a device of the namespace holds a user, and the namespace
 * does not end before its devices are gone (mxe_netns_exit()).  devs is also
 * read under RCU.
 */
struct mxe_netns {
	struct net *net;
	unsigned int users;
	struct socket *sk4, *sk6;
	struct list_head devs;
	struct xarray qps;		/* by number; queue pairs by RCU */
	atomic_long_t qps_generation;	/* counts those taken out of it */
	u32 next_qpn;			/* lock of qps */
	struct mxe_qp_recent __percpu *recent;	/* for whom packets came */
#ifdef CONFIG_NETFILTER
	struct nf_hook_ops early_demux;	/* see early_demux.h */
	bool has_early_demux;
#endif
};

int mxe_netns_register(void);
void mxe_netns_unregister(void);

/*
 * Use the namespace of a device, whose ndev is set; opens the sockets if it is
 * the first.  -EEXIST if there is another on ndev.  Context: may sleep, no RTNL.
 */
int mxe_netns_attach(struct mxe_dev *dev, struct net *net);
void mxe_netns_detach(struct mxe_dev *dev);

/*
 * The netdev goes, or leaves the namespace: dev->ndev_gone of its device, if there
 * is one, is true from now on.  Context: RTNL held.
 */
void mxe_netns_netdev_gone(struct net_device *ndev);

#endif /* MXE_NETNS_H */
