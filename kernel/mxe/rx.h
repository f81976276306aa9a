/* SPDX-License-Identifier: GPL-2.0 */
/* rx.c takes received packets from UDP to their queue pairs. */
#ifndef MXE_RX_H
#define MXE_RX_H

#include <linux/types.h>

struct mxe_netns;
struct mxe_qp;
struct sk_buff;
struct sock;

/*
 * One or more received packets, linked by next, whose transport headers are set;
 * consumes them.  hint: a queue pair that some may be for, and they came by the
 * netdev of its device; or NULL.  Context: softirq, RCU.
 */
void mxe_rx(struct mxe_netns *mnet, struct sk_buff *list, struct mxe_qp *hint);

/*
 * encap_rcv() of the UDP sockets.  Returns 0: the packet was consumed.
 * Context: softirq, RCU.
 */
int mxe_rx_udp(struct sock *sk, struct sk_buff *skb);

#endif /* MXE_RX_H */
