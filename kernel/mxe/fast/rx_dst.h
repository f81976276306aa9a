/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The input route of the packets of a connection (rx_dst.c).  As long as it is
 * valid, early_demux.c delivers packets without routing them, as TCP does with
 * sk_rx_dst.
 */
#ifndef MXE_RX_DST_H
#define MXE_RX_DST_H

#include <linux/seqlock.h>
#include <linux/skbuff.h>
#include <net/dst.h>

struct mxe_qp;

/*
 * lock makes dst and cookie a pair. Readers of IPv4 routes, which have no
 * cookie, read only dst, under RCU.
 */
struct mxe_rx_dst {
	struct dst_entry __rcu *dst;	/* NULL if there is none */
	u32 cookie;			/* by which an IPv6 route is checked */
	seqlock_t lock;
};

/* Initialise the route of a new QP. */
static inline void mxe_rx_dst_init(struct mxe_rx_dst *rx)
{
	seqlock_init(&rx->lock);
}

#ifndef MXE_WITHOUT_EARLY_DEMUX

void mxe_rx_dst_keep(struct mxe_qp *qp, const struct sk_buff *skb);

/*
 * Keep the route, if any, of a packet of the connection of the QP that IP and
 * UDP have accepted.
 * Context: A lock of the QP held, RCU read-side section.
 */
static inline void mxe_rx_dst_learn(struct mxe_qp *qp, const struct sk_buff *skb)
{
	if (skb_dst(skb))
		mxe_rx_dst_keep(qp, skb);
}

/*
 * Return the route without a reference, or NULL if it is not valid any more.
 * Context: Softirq, RCU read-side section.
 */
static inline const struct dst_entry *mxe_rx_dst_valid(const struct mxe_rx_dst *rx,
						       bool is_ipv4)
{
	struct dst_entry *dst;
	unsigned int seq;
	u32 cookie = 0;

	if (is_ipv4) {
		dst = rcu_dereference(rx->dst);
	} else {
		do {
			seq = read_seqbegin(&rx->lock);
			dst = rcu_dereference(rx->dst);
			cookie = READ_ONCE(rx->cookie);
		} while (read_seqretry(&rx->lock, seq));
	}
	return dst ? dst_check(dst, cookie) : NULL;
}

void mxe_rx_dst_forget(struct mxe_qp *qp);

#else

static inline void mxe_rx_dst_learn(struct mxe_qp *qp, const struct sk_buff *skb)
{
}

static inline void mxe_rx_dst_forget(struct mxe_qp *qp)
{
}

#endif /* MXE_WITHOUT_EARLY_DEMUX */

#endif /* MXE_RX_DST_H */
