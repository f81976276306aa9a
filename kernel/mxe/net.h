/* SPDX-License-Identifier: GPL-2.0 */
/*
 * UDP, IP and network namespaces: the only part that knows them.
 *
 * One pair of sockets per network namespace, present while a device uses it.
 * Queue pair numbers are unique in a namespace, not only on a device, so that
 * a packet needs one lookup to find its queue pair; addresses are then held
 * against the queue pair's own.
 */
#ifndef MXE_NET_H
#define MXE_NET_H

#include <linux/list.h>
#include <linux/skbuff.h>
#include <linux/xarray.h>

#include "wire.h"

struct mxe_av;
struct mxe_dev;
struct mxe_qp;
struct net;
struct socket;

/*
 * Lifetime: part of the namespace.  users, sk4, sk6 and devs are under
 * mxe_net_mutex; a device of the namespace holds a user, and the namespace
 * does not end before its devices are gone (mxe_net_exit()).  devs is also
 * read under RCU.
 */
struct mxe_net {
	struct net *net;
	unsigned int users;
	struct socket *sk4, *sk6;
	struct list_head devs;
	struct xarray qps;		/* by number; queue pairs by RCU */
	u32 next_qpn;			/* lock of qps */
};

/* UDP port of RoCEv2 traffic; fixed at module load. */
extern ushort mxe_net_port;

int mxe_net_register(void);
void mxe_net_unregister(void);

/*
 * Use the namespace of a device, whose ndev is set; opens the sockets if it is
 * the first.  -EEXIST if there is another on ndev.
 */
int mxe_net_attach(struct mxe_dev *dev, struct net *net);
void mxe_net_detach(struct mxe_dev *dev);

/*
 * A buffer for a packet, and where it is written from BTH on.
 * Context: any but hard interrupts.
 */
struct sk_buff *mxe_net_alloc(struct mxe_qp *qp, const struct mxe_pkt_out *out,
			      u8 **payload);
/*
 * Complete and send it; consumes skb.  -EHOSTUNREACH if there is no route.
 * A packet that the network drops is not an error.
 * Context: bottom halves off.
 */
int mxe_net_send(struct mxe_qp *qp, struct sk_buff *skb);

/* The same, but to the address of a datagram. */
int mxe_net_send_to(struct mxe_qp *qp, const struct mxe_av *av,
		    struct sk_buff *skb);

/* Take a received packet apart; its transport header is set. */
enum mxe_pkt_error mxe_net_parse(const struct sk_buff *skb,
				 struct mxe_pkt *pkt);

#endif /* MXE_NET_H */
