// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the route by which packets of a queue pair's peer were accepted.  rx.c and
 * qp_verbs.c call it, and early_demux.c reads what it keeps.  It calls nothing of mxe.
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
	/* A packet by another netdev could be one that routing refuses. */
	if (skb->dev != qp->dev->ndev || ip_hdr(skb)->version != 4)
		return;
	/* Each side has its lock: two packets may meet here. */
	if (dst_hold_safe(dst))
		dst_release(unrcu_pointer(xchg(&qp->rx_dst,
					       RCU_INITIALIZER(dst))));
}

void mxe_rx_dst_forget(struct mxe_qp *qp)
{
	dst_release(unrcu_pointer(xchg(&qp->rx_dst, NULL)));
}
