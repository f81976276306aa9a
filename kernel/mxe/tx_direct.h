/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tx_direct.c sends packets past the parts of the IP layer that do nothing
 * for them. The packets still pass everything that could act on them: the hooks
 * of LOCAL_OUT and POST_ROUTING, the neighbour, queueing disciplines and the
 * netdev.
 *
 * GSO batches take the slow path. So do packets in a layer-3 domain, packets
 * larger than the MTU of the netdev, and packets whose route does more than
 * lead to a neighbour (tunnels, IPsec, multicast).
 */
#ifndef MXE_TX_DIRECT_H
#define MXE_TX_DIRECT_H

#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ip6_route.h>

#include "mxe.h"
#include "netns.h"

#ifndef MXE_WITHOUT_TX_DIRECT
/**
 * mxe_tx_direct_ipv4() - Send an IPv4 packet or GSO batch.
 * @dev: the device
 * @skb: packet with a complete IP header and a route; consumed
 *
 * Context: BHs disabled.
 */
void mxe_tx_direct_ipv4(struct mxe_dev *dev, struct sk_buff *skb);

/**
 * mxe_tx_direct_ipv6() - Send an IPv6 packet or GSO batch.
 * @dev: the device
 * @skb: packet with a complete IP header and a route; consumed
 *
 * Context: BHs disabled.
 */
void mxe_tx_direct_ipv6(struct mxe_dev *dev, struct sk_buff *skb);
#else
static inline void mxe_tx_direct_ipv4(struct mxe_dev *dev, struct sk_buff *skb)
{
	ip_local_out(dev->mnet->net, dev->mnet->sk4->sk, skb);
}

static inline void mxe_tx_direct_ipv6(struct mxe_dev *dev, struct sk_buff *skb)
{
	ip6_local_out(dev->mnet->net, NULL, skb);
}
#endif

#endif /* MXE_TX_DIRECT_H */
