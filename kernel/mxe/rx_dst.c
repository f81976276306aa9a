// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the input route of the packets from the peer of a QP. rx.c and
 * qp_verbs.c call it, and early_demux.c reads the route. It calls no other file
 * of mxe.
 */
#include <linux/ip.h>
#include <net/dst.h>

#include "mxe.h"
#include "qp.h"
#include "rx_dst.h"

void mxe_rx_dst_keep(struct mxe_qp *qp, const struct sk_buff *skb)
{
	struct dst_entry *dst = skb_dst(skb);

	if (dst == rcu_access_pointer(qp->rx_dst))
		return;
	/*
	 * Packets on another netdev may have another route.  early_demux.c
	 * handles only those on ndev.
	 */
	if (skb->dev != qp->dev->ndev || ip_hdr(skb)->version != 4)
		return;
	/* The sides of a QP have different locks, so two CPUs may be here. */
	if (dst_hold_safe(dst))
		dst_release(unrcu_pointer(xchg(&qp->rx_dst,
					       RCU_INITIALIZER(dst))));
}

void mxe_rx_dst_forget(struct mxe_qp *qp)
{
	dst_release(unrcu_pointer(xchg(&qp->rx_dst, NULL)));
}
