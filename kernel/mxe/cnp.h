/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion notification (IBTA annex A17.9): the receiver of a marked packet of a
 * connection sends a CNP to the sender, which then slows down.
 */
#ifndef MXE_CNP_H
#define MXE_CNP_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "qp.h"

/*
 * A packet of the connection has come that a switch has marked: tell the peer.
 * Context: softirq, one of the locks held.
 */
void mxe_cnp_marked(struct mxe_qp *qp);

/* A packet of the connection has come, marked or not.  Context: the same. */
static inline void mxe_cnp_check(struct mxe_qp *qp, const struct sk_buff *skb)
{
	u8 field = ip_hdr(skb)->version == 4 ?
		   ipv4_get_dsfield(ip_hdr(skb)) :
		   ipv6_get_dsfield(ipv6_hdr(skb));

	if (INET_ECN_is_ce(field))
		mxe_cnp_marked(qp);
}

/* The peer says that our packets are marked.  Context: send_lock held. */
void mxe_cnp_rcv(struct mxe_qp *qp);
/* Something was acknowledged: go faster again.  Context: send_lock held. */
void mxe_cnp_progress(struct mxe_qp *qp);

#endif /* MXE_CNP_H */
