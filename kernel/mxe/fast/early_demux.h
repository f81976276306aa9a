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
 */
#ifndef MXE_EARLY_DEMUX_H
#define MXE_EARLY_DEMUX_H

struct mxe_netns;

#ifndef MXE_WITHOUT_EARLY_DEMUX

/*
 * Register the PRE_ROUTING hooks of a netns, whose sockets are open. A failure
 * is not reported, because packets take the slow path then.
 * Context: May sleep.
 */
void mxe_early_demux_register(struct mxe_netns *mnet);

/*
 * The hooks may still be running until a grace period has passed.
 * Context: May sleep.
 */
void mxe_early_demux_unregister(struct mxe_netns *mnet);

#else

static inline void mxe_early_demux_register(struct mxe_netns *mnet)
{
}

static inline void mxe_early_demux_unregister(struct mxe_netns *mnet)
{
}

#endif /* MXE_WITHOUT_EARLY_DEMUX */

#endif /* MXE_EARLY_DEMUX_H */
