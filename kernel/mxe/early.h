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
 */
#ifndef MXE_EARLY_H
#define MXE_EARLY_H

#include <linux/skbuff.h>

struct mxe_net;
struct mxe_qp;

/* For a namespace.  Context: may sleep. */
void mxe_early_register(struct mxe_net *mnet);
/* Packets may be on the way until a grace period has passed. */
void mxe_early_unregister(struct mxe_net *mnet);

/*
 * skb came the whole way and is of the queue pair's connection.
 * Context: a lock of the queue pair held, RCU.
 */
void mxe_early_keep(struct mxe_qp *qp, const struct sk_buff *skb);

/* skb is of the queue pair's connection.  Context: the same. */
static inline void mxe_early_learn(struct mxe_qp *qp, const struct sk_buff *skb)
{
	if (skb_dst(skb))
		mxe_early_keep(qp, skb);
}

/* The connection changes or ends.  Context: both locks held, or no user. */
void mxe_early_forget(struct mxe_qp *qp);

#endif /* MXE_EARLY_H */
