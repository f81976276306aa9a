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
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "hdr.h"
#include "gso.h"
#include "pkt.h"

struct mxe_av;
struct mxe_dev;
struct mxe_qp;
struct mxe_qp_recent;
struct net;
struct socket;

/*
 * Lifetime: part of the namespace.  users, sk4, sk6, devs, early and has_early
 * are under mxe_net_mutex; a device of the namespace holds a user, and the namespace
 * does not end before its devices are gone (mxe_net_exit()).  devs is also
 * read under RCU.
 */
struct mxe_net {
	struct net *net;
	unsigned int users;
	struct socket *sk4, *sk6;
	struct list_head devs;
	struct xarray qps;		/* by number; queue pairs by RCU */
	atomic_long_t qps_generation;		/* counts those taken out of it */
	u32 next_qpn;			/* lock of qps */
	struct mxe_qp_recent __percpu *recent;	/* for whom packets came */
#ifdef CONFIG_NETFILTER
	struct nf_hook_ops early;	/* see early.h */
	bool has_early;
#endif
};

/*
 * The queue pair that a number led to last, which is good under RCU for as long
 * as none of the namespace has gone.  Belongs to one at a time.
 */
struct mxe_qp_cache {
	u32 qpn;
	long generation;			/* mnet->qps_generation at that time */
	struct mxe_qp *qp;		/* or NULL */
};

/* Look for it.  generation: mnet->qps_generation, read before. */
struct mxe_qp *mxe_net_fill_qp(struct mxe_net *mnet, u32 qpn,
			       struct mxe_qp_cache *cache, long generation);

/* The queue pair of that number, or NULL.  Context: RCU. */
static inline struct mxe_qp *mxe_net_find_qp(struct mxe_net *mnet, u32 qpn,
					     struct mxe_qp_cache *cache)
{
	/* Pairs with mxe_destroy_qp(): a count goes with what it counts. */
	long generation = atomic_long_read_acquire(&mnet->qps_generation);

	if (!cache->qp || cache->qpn != qpn || cache->generation != generation)
		return mxe_net_fill_qp(mnet, qpn, cache, generation);
	return cache->qp;
}

/* The QPs that a CPU had packets or doorbells for last.  BHs off. */
struct mxe_qp_recent {
	struct mxe_qp_cache slot[8];
};

/*
 * The QP of that number, or NULL.  It stays for as long as the caller does not
 * leave RCU.  Context: RCU, BHs off.
 */
static inline struct mxe_qp *mxe_qp_find(struct mxe_net *mnet, u32 qpn)
{
	struct mxe_qp_recent *recent = this_cpu_ptr(mnet->recent);

	return mxe_net_find_qp(mnet, qpn,
			       &recent->slot[qpn % ARRAY_SIZE(recent->slot)]);
}

int mxe_net_register(void);
void mxe_net_unregister(void);

/*
 * Use the namespace of a device, whose ndev is set; opens the sockets if it is
 * the first.  -EEXIST if there is another on ndev.
 */
int mxe_net_attach(struct mxe_dev *dev, struct net *net);
void mxe_net_detach(struct mxe_dev *dev);

/*
 * A buffer for a packet, written from BTH to payload, and where that goes; NULL
 * without memory.  old: a received packet that is done with, whose buffer may be
 * taken (mxe_skb_reuse()), or NULL.  Context: bottom halves off.
 */
struct sk_buff *mxe_net_alloc(struct mxe_qp *qp, const struct mxe_pkt_out *out,
			      struct sk_buff **old, u8 **payload);

/* What one side of a queue pair sends.  Under the lock of that side. */
struct mxe_net_tx {
	struct mxe_gso gso;		/* empty while the lock is free */
	struct mxe_hdr hdr;		/* of what was sent last */
	/* Packets have arrived: with the next the neighbour is confirmed. */
	bool progress;
};

/* Before the address is another. */
static inline void mxe_net_forget(struct mxe_net_tx *tx)
{
	mxe_hdr_forget(&tx->hdr);
	tx->progress = false;
}

/*
 * Complete and send it; consumes skb.  It may go with others that follow: the
 * train leaves before the lock is dropped.  That there is no route is counted, and a
 * loss like others.
 * Context: bottom halves off.
 */
void mxe_net_send(struct mxe_qp *qp, struct mxe_net_tx *tx, struct sk_buff *skb);
void mxe_net_flush(struct mxe_qp *qp, struct mxe_net_tx *tx);

/* The same at once, and to the address of a datagram. */
void mxe_net_send_to(struct mxe_qp *qp, const struct mxe_av *av,
		     struct sk_buff *skb);

/*
 * Do packets to the address of the queue pair come back to this host?  The
 * answer may change with mxe_net_routes().  Context: RCU, bottom halves off.
 */
bool mxe_net_is_local(struct mxe_qp *qp);
/* The generation of a protocol's routes. */
static inline int mxe_net_routes(const struct mxe_net *mnet, bool is_ipv4)
{
	return is_ipv4 ? rt_genid_ipv4(mnet->net) : rt_genid_ipv6(mnet->net);
}

/*
 * A received packet, its transport header set; consumes skb.  qp: whose it is, by
 * the number in its BTH, and it came by the netdev of its device; NULL: look for it.
 * Context: softirq, RCU.
 */
void mxe_net_input(struct mxe_net *mnet, struct sk_buff *skb,
		   struct mxe_qp *qp);

/*
 * A list of received packets, of which the first belongs to qp; consumes them.
 * Context: softirq, RCU.
 */
void mxe_net_input_list(struct mxe_net *mnet, struct sk_buff *list,
			 struct mxe_qp *qp);

/* Done with a received packet.  Context: bottom halves off. */
static inline void mxe_net_consume(struct sk_buff *skb)
{
	napi_consume_skb(skb, 1);
}

/* Take a received packet apart; its transport header is set. */
enum mxe_pkt_error mxe_net_parse(const struct sk_buff *skb,
				 struct mxe_pkt *pkt);

#endif /* MXE_NET_H */
