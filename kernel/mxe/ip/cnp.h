/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion notification (IBTA annex A17.9). The receiver of a packet with an
 * ECN mark sends a CNP to the sender, which then reduces its window (cnp.c).
 */
#ifndef MXE_CNP_H
#define MXE_CNP_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "queues/qp.h"

void mxe_cnp_marked(struct mxe_qp *qp);

/*
 * Check whether a packet, whose network header is set, has an ECN mark. Its
 * receiver then has to call mxe_cnp_marked().
 */
static inline bool mxe_cnp_is_due(const struct sk_buff *skb)
{
	u8 field = ip_hdr(skb)->version == 4 ?
		   ipv4_get_dsfield(ip_hdr(skb)) :
		   ipv6_get_dsfield(ipv6_hdr(skb));

	return INET_ECN_is_ce(field);
}

/*
 * Answer a packet from the peer, whose network header is set, if it is marked.
 * Context: Softirq, send_lock or recv_lock held.
 */
static inline void mxe_cnp_check(struct mxe_qp *qp, const struct sk_buff *skb)
{
	if (mxe_cnp_is_due(skb))
		mxe_cnp_marked(qp);
}

void mxe_cnp_rcv(struct mxe_qp *qp);
void mxe_cnp_progress(struct mxe_qp *qp);

#endif /* MXE_CNP_H */
