/* SPDX-License-Identifier: GPL-2.0 */
/* Received packets, from UDP to their QPs (rx.c). */
#ifndef MXE_RX_H
#define MXE_RX_H

#include <linux/types.h>

struct mxe_netns;
struct mxe_qp;
struct sk_buff;
struct sock;

/**
 * mxe_rx() - Check received packets, and give them to their QPs.
 * @mnet: netns in which they were received
 * @list: packets, linked by next, whose transport headers are set; consumed
 * @hint: QP that the packets may be for, or NULL; if set, all packets must have
 *	arrived on the netdev of its device, and not on a VLAN
 *
 * Packets in a row for the same side of a QP are handled under one lock.
 *
 * Context: Softirq, RCU read-side section.  Takes locks of QPs, and calls
 * handlers.
 */
void mxe_rx(struct mxe_netns *mnet, struct sk_buff *list, struct mxe_qp *hint);

/*
 * Receive a packet, whose transport header is set, as encap_rcv() of a socket.
 * Consumes @skb, so it always returns 0.
 * Context: Softirq, RCU read-side section.
 */
int mxe_rx_udp(struct sock *sk, struct sk_buff *skb);

#endif /* MXE_RX_H */
