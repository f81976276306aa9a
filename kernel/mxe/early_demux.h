/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A shorter way for received packets, past routing and the look-up of a socket,
 * like the early demultiplexing of TCP: the first packet of a connection goes
 * the whole way, and the route that it was accepted by serves those that follow
 * as long as it is valid.
 *
 * It begins behind the last hook of netfilter's PRE_ROUTING, and is taken only
 * where nothing later has a say: no hook of LOCAL_IN, no policy of IPsec, no BPF
 * program that chooses sockets, no layer-3 domain.  IPv4 only.
 *
 * Where nobody would see the packet before that either, it begins behind the last
 * hook of the netdev's ingress: no other hook of PRE_ROUTING, no packet socket, no
 * netdev on top.  Then mxe does what ip_rcv() would have done.
 */
#ifndef MXE_EARLY_DEMUX_H
#define MXE_EARLY_DEMUX_H

#include <linux/skbuff.h>

struct mxe_dev;
struct mxe_net;
struct mxe_qp;
struct net_device;

/* For a namespace.  Context: may sleep. */
void mxe_early_demux_register(struct mxe_net *mnet);
/* Packets may be on the way until a grace period has passed. */
void mxe_early_demux_unregister(struct mxe_net *mnet);

/*
 * For a device, which has its mnet: at its netdev.  Packets may be on the way until
 * a grace period after the end.  Context: may sleep; takes RTNL.
 */
void mxe_early_demux_attach(struct mxe_dev *dev);
void mxe_early_demux_detach(struct mxe_dev *dev);
/*
 * The netdev goes, or leaves the namespace: dev->ndev_gone of its device, if there
 * is one, is true from now on.  Context: RTNL held.
 */
void mxe_early_demux_netdev_gone(struct net_device *ndev);

/*
 * Returns true if something could act on packets that a host sends to itself: a
 * hook of netfilter other than mxe's, traffic control, a queueing discipline or
 * XDP of the loopback netdev, or a policy of IPsec.  Context: BHs off, RCU.
 */
bool mxe_hooks_on_loopback(const struct mxe_net *mnet, bool is_ipv4);

/*
 * skb came the whole way and is of the queue pair's connection.
 * Context: a lock of the queue pair held, RCU.
 */
void mxe_early_demux_keep(struct mxe_qp *qp, const struct sk_buff *skb);

/* skb is of the queue pair's connection.  Context: the same. */
static inline void mxe_early_demux_learn(struct mxe_qp *qp, const struct sk_buff *skb)
{
	if (skb_dst(skb))
		mxe_early_demux_keep(qp, skb);
}

/* The connection changes or ends.  Context: both locks held, or no user. */
void mxe_early_demux_forget(struct mxe_qp *qp);

#endif /* MXE_EARLY_DEMUX_H */
