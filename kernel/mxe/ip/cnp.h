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

/**
 * mxe_cnp_marked() - Answer an ECN-marked packet with a CNP.
 * @qp: the QP that received the packet from its peer
 *
 * Context: Softirq, send_lock or recv_lock held.
 */
void mxe_cnp_marked(struct mxe_qp *qp);

/**
 * mxe_cnp_is_due() - Check whether a packet has an ECN mark.
 * @skb: received packet, with its network header set
 *
 * Return: true if its receiver has to call mxe_cnp_marked().
 */
static inline bool mxe_cnp_is_due(const struct sk_buff *skb)
{
	u8 field = ip_hdr(skb)->version == 4 ?
		   ipv4_get_dsfield(ip_hdr(skb)) :
		   ipv6_get_dsfield(ipv6_hdr(skb));

	return INET_ECN_is_ce(field);
}

/**
 * mxe_cnp_check() - Examine a packet for an ECN mark.
 * @qp: the QP that received the packet from its peer
 * @skb: the packet, with its network header set
 *
 * Context: Softirq, send_lock or recv_lock held.
 */
static inline void mxe_cnp_check(struct mxe_qp *qp, const struct sk_buff *skb)
{
	if (mxe_cnp_is_due(skb))
		mxe_cnp_marked(qp);
}

/**
 * mxe_cnp_rcv() - Process a CNP from the peer.
 * @qp: the QP
 *
 * Halves the send window, at most once for each flight of packets.
 *
 * Context: send_lock held.
 */
void mxe_cnp_rcv(struct mxe_qp *qp);

/**
 * mxe_cnp_progress() - Widen the send window after an acknowledgment.
 * @qp: the QP
 *
 * Context: send_lock held.
 */
void mxe_cnp_progress(struct mxe_qp *qp);

#endif /* MXE_CNP_H */
