/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The input route of the packets of a connection (rx_dst.c).  As long as it is
 * valid, early_demux.c delivers packets without routing them, as TCP does with
 * sk_rx_dst.
 */
#ifndef MXE_RX_DST_H
#define MXE_RX_DST_H

#include <linux/skbuff.h>

struct mxe_qp;

#ifndef MXE_WITHOUT_EARLY_DEMUX

/**
 * mxe_rx_dst_keep() - Keep the route of a packet that has one.
 * @qp: the QP
 * @skb: packet of the connection of the QP, accepted by IP and UDP
 *
 * Context: A lock of the QP held, RCU read-side section.
 */
void mxe_rx_dst_keep(struct mxe_qp *qp, const struct sk_buff *skb);

/**
 * mxe_rx_dst_learn() - Keep the route of a packet, if it has one.
 * @qp: the QP
 * @skb: packet of the connection of the QP, accepted by IP and UDP
 *
 * Context: A lock of the QP held, RCU read-side section.
 */
static inline void mxe_rx_dst_learn(struct mxe_qp *qp, const struct sk_buff *skb)
{
	if (skb_dst(skb))
		mxe_rx_dst_keep(qp, skb);
}

/**
 * mxe_rx_dst_forget() - Drop the route, because the connection changes or ends.
 * @qp: the QP
 *
 * Context: Both locks of the QP held, or no packet can reach the QP.
 */
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
