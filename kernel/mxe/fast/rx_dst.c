// SPDX-License-Identifier: GPL-2.0
/* Keeps the input route of the packets from the peer of a QP. */
#include <linux/ip.h>
#include <net/dst.h>
#include <net/ip6_fib.h>

#include "fast/rx_dst.h"
#include "mxe.h"
#include "queues/qp.h"

/*
 * Both sides of a QP keep routes, each under its own lock, so two CPUs may be
 * here. dst may be NULL, and its reference is taken over.
 */
static void mxe_rx_dst_replace(struct mxe_rx_dst *rx, struct dst_entry *dst, u32 cookie)
{
	struct dst_entry *old;

	write_seqlock_bh(&rx->lock);
	old = rcu_dereference_protected(rx->dst, lockdep_is_held(&rx->lock.lock));
	rcu_assign_pointer(rx->dst, dst);
	WRITE_ONCE(rx->cookie, cookie);
	write_sequnlock_bh(&rx->lock);
	dst_release(old);
}

/* As mxe_rx_dst_learn(), for a packet that has a route. */
void mxe_rx_dst_keep(struct mxe_qp *qp, const struct sk_buff *skb)
{
	bool is_ipv4 = ip_hdr(skb)->version == 4;
	struct mxe_rx_dst *rx = &qp->rx_dst;
	struct dst_entry *dst = skb_dst(skb);
	u32 cookie;

	/*
	 * Packets on another netdev may have another route.  early_demux.c
	 * handles only those on ndev.  A lightweight tunnel, such as a BPF
	 * program of the route, must see every packet.
	 */
	if (skb->dev != qp->dev->ndev || dst->lwtstate)
		return;
	cookie = is_ipv4 ? 0 : rt6_get_cookie((struct rt6_info *)dst);
	if (dst == rcu_access_pointer(rx->dst) && cookie == READ_ONCE(rx->cookie))
		return;
	if (dst_hold_safe(dst))
		mxe_rx_dst_replace(rx, dst, cookie);
}

/*
 * Drop the route, because the connection changes or ends. This is a full
 * barrier: a CPU that sees what the caller writes afterwards does not see the
 * route.
 * Context: Both locks of the QP held, or no packet can reach the QP.
 */
void mxe_rx_dst_forget(struct mxe_qp *qp)
{
	mxe_rx_dst_replace(&qp->rx_dst, NULL, 0);
	/* Pairs with the barrier in mxe_early_demux_qp(). */
	smp_mb();
}
