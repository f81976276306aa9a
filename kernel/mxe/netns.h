/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Network namespaces (netns). All devices of a netns share a pair of UDP
 * sockets, which is open while the netns has devices (netns.c).
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
 * The part of mxe in a netns.
 *
 * Lifetime: that of the netns. Each device of the netns counts as a user, and
 * the netns does not end before its devices are gone (mxe_netns_exit()).
 *
 * mxe_netns_mutex protects users, sk4, sk6, devs, and the hooks of guard.c and
 * early_demux.c. devs is also read under RCU.
 */
struct mxe_netns {
	struct net *net;
	unsigned int users;
	struct socket *sk4, *sk6;
	struct list_head devs;
	struct xarray qps;		/* QPs by number, read under RCU */
	atomic_long_t qps_generation;	/* number of removals from qps */
	u32 next_qpn;			/* under the lock of qps */
	bool reuses_qpns;		/* some have had two QPs */
	u64 created;			/* ns of the boot-time clock */
	struct mxe_qp_recent __percpu *recent;	/* QPs of the last packets */
#ifdef CONFIG_NETFILTER
	struct nf_hook_ops guard4, guard6;	/* see guard.h */
	bool has_guard6;
	/* See early_demux.h. */
	struct nf_hook_ops early_demux4, early_demux6;
	bool has_early_demux4, has_early_demux6;
#endif
};

int mxe_netns_register(void);

void mxe_netns_unregister(void);
int mxe_netns_attach(struct mxe_dev *dev, struct net *net);
void mxe_netns_detach(struct mxe_dev *dev);
void mxe_netns_netdev_gone(struct net_device *ndev);

#endif /* MXE_NETNS_H */
