/* SPDX-License-Identifier: GPL-2.0 */
/* Received packets, from UDP to their QPs (rx.c). */
#ifndef MXE_RX_H
#define MXE_RX_H

#include <linux/types.h>

struct mxe_netns;
struct mxe_qp;
struct sk_buff;
struct sock;

void mxe_rx(struct mxe_netns *mnet, struct sk_buff *list, struct mxe_qp *hint);
int mxe_rx_udp(struct sock *sk, struct sk_buff *skb);

#endif /* MXE_RX_H */
