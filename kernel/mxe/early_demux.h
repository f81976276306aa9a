/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Early demultiplexing bypasses routing and the socket lookup for received
 * packets, as TCP's does. The first packet of a connection takes the slow path.
 * Later packets use the route by which it was accepted, as long as that route
 * is valid.
 *
 * The bypass begins after the last hook of netfilter's PRE_ROUTING, provided
 * that no later code could act on the packet: no LOCAL_IN hook, IPsec policy,
 * BPF program for socket lookup, layer-3 master device, or lightweight tunnel,
 * and for IPv6 no routing rules.
 *
 * If no code before that hook would see the packet either, the bypass begins
 * after the last hook of the netdev's ingress: there must be no other
 * PRE_ROUTING hook, packet socket, or upper netdev. mxe then does the work of
 * ip_rcv() or ipv6_rcv() itself.
 */
#ifndef MXE_EARLY_DEMUX_H
#define MXE_EARLY_DEMUX_H

struct mxe_dev;
struct mxe_netns;

#ifndef MXE_WITHOUT_EARLY_DEMUX

/**
 * mxe_early_demux_register() - Register the PRE_ROUTING hooks of a netns.
 * @mnet: the netns, whose sockets are open
 *
 * A failure is not reported, because packets take the slow path then.
 *
 * Context: Process context. May sleep.
 */
void mxe_early_demux_register(struct mxe_netns *mnet);

/**
 * mxe_early_demux_unregister() - Undo mxe_early_demux_register().
 * @mnet: the netns
 *
 * The hooks may still be running until a grace period has passed.
 *
 * Context: Process context. May sleep.
 */
void mxe_early_demux_unregister(struct mxe_netns *mnet);

/**
 * mxe_early_demux_add_ingress() - Register the ingress hook of a device's
 * netdev.
 * @dev: the device, whose mnet is set
 *
 * A failure is not reported, because packets take the slow path then.
 *
 * Context: RTNL held.
 */
void mxe_early_demux_add_ingress(struct mxe_dev *dev);

/**
 * mxe_early_demux_remove_ingress() - Undo mxe_early_demux_add_ingress().
 * @dev: the device
 *
 * The hook may still be running until a grace period has passed.
 *
 * Context: RTNL held.
 */
void mxe_early_demux_remove_ingress(struct mxe_dev *dev);

#else

static inline void mxe_early_demux_register(struct mxe_netns *mnet)
{
}

static inline void mxe_early_demux_unregister(struct mxe_netns *mnet)
{
}

static inline void mxe_early_demux_add_ingress(struct mxe_dev *dev)
{
}

static inline void mxe_early_demux_remove_ingress(struct mxe_dev *dev)
{
}

#endif /* MXE_WITHOUT_EARLY_DEMUX */

#endif /* MXE_EARLY_DEMUX_H */
