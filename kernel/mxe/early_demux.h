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
