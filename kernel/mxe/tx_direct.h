/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A shorter way for packets that are sent, past those parts of the IP layer that
 * have nothing to do for them.  What has a say keeps it: the hooks of LOCAL_OUT and
 * POST_ROUTING are gone through, as are neighbours, queueing disciplines and what
 * else a netdev has.  In a layer-3 domain, as a train, or by a route that does more
 * than lead to a neighbour (tunnels, IPsec, multicast, a smaller MTU) a packet goes
 * the whole way.  IPv4 only.
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
