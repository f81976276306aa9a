/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Early demultiplexing bypasses routing and the socket lookup for received packets,
 * as that of TCP does.  The first packet of a connection takes the slow path.  The
 * route by which it was accepted serves the packets that follow for as long as it is
 * valid.
 *
 * The bypass begins behind the last hook of netfilter's PRE_ROUTING, if nothing later
 * could act on the packet: no hook of LOCAL_IN, no IPsec policy, no BPF program that
 * chooses sockets, no layer-3 domain.  It is for IPv4 only.
 *
 * If nothing in front of that hook would see the packet either, the bypass begins
 * behind the last hook of the netdev's ingress: no other hook of PRE_ROUTING, no
 * packet socket, no netdev on top.  Then mxe does what ip_rcv() would have done.
 */
#ifndef MXE_EARLY_DEMUX_H
#define MXE_EARLY_DEMUX_H

struct mxe_dev;
struct mxe_netns;

#ifndef MXE_WITHOUT_EARLY_DEMUX

/* For a namespace.  Context: may sleep. */
void mxe_early_demux_register(struct mxe_netns *mnet);
/* Packets may be on the way until a grace period has passed. */
void mxe_early_demux_unregister(struct mxe_netns *mnet);

/*
 * For a device, which has its mnet: at its netdev.  Packets may be on the way until
 * a grace period after the end.  Context: RTNL held.
 */
void mxe_early_demux_add_ingress(struct mxe_dev *dev);
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
