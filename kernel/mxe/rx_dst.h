/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The route by which packets of a connection are received (rx_dst.c).  early_demux.c
 * delivers packets without routing them for as long as that route is valid, as TCP does
 * with sk_rx_dst.
 */
#ifndef MXE_RX_DST_H
#define MXE_RX_DST_H

#include <linux/skbuff.h>

struct mxe_qp;

#ifndef MXE_WITHOUT_EARLY_DEMUX

/* mxe_rx_dst_learn() for a packet that has a route. */
void mxe_rx_dst_keep(struct mxe_qp *qp, const struct sk_buff *skb);

/*
 * Keep the route of skb, if it has one.  It passed IP and UDP, and belongs to the
 * queue pair's connection.  Context: a lock of the queue pair held, RCU.
 */
static inline void mxe_rx_dst_learn(struct mxe_qp *qp, const struct sk_buff *skb)
{
	if (skb_dst(skb))
		mxe_rx_dst_keep(qp, skb);
}

/* The connection changes or ends.  Context: both locks held, or no user. */
void mxe_rx_dst_forget(struct mxe_qp *qp);

#else

static inline void mxe_rx_dst_learn(struct mxe_qp *qp, const struct sk_buff *skb)
{
}

static inline void mxe_rx_dst_forget(struct mxe_qp *qp)
{
}

#endif /* MXE_WITHOUT_EARLY_DEMUX */

#endif /* MXE_RX_DST_H */
