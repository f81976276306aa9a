/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tx_direct.c sends a packet past those parts of the IP layer that have nothing to do
 * for it.  Everything that could act on the packet still does: the hooks of LOCAL_OUT
 * and POST_ROUTING, the neighbour, queueing disciplines and all of the netdev.  A
 * packet takes the slow path in a layer-3 domain, in a GSO batch, or by a route that
 * does more than lead to a neighbour (tunnels, IPsec, multicast, a smaller MTU).  The
 * bypass is for IPv4 only.
 */
#ifndef MXE_TX_DIRECT_H
#define MXE_TX_DIRECT_H

#include <linux/skbuff.h>
#include <net/ip.h>

#include "mxe.h"
#include "netns.h"

/*
 * Send what has a complete IP header and a route; consumes skb.
 * Context: bottom halves off.
 */
#ifndef MXE_WITHOUT_TX_DIRECT
void mxe_tx_direct(struct mxe_dev *dev, struct sk_buff *skb);
#else
static inline void mxe_tx_direct(struct mxe_dev *dev, struct sk_buff *skb)
{
	ip_local_out(dev->mnet->net, NULL, skb);
}
#endif

#endif /* MXE_TX_DIRECT_H */
