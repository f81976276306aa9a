/* SPDX-License-Identifier: GPL-2.0 */
/*
 * GSO batches of packets that one side of a QP sends (gso.c). A batch passes
 * IP, traffic control and, with NETIF_F_GSO_FRAGLIST, netdevs and the softirq
 * as one socket buffer. It consists of the first packet, which has the others
 * in its frag_list, in the form in which GRO builds packets for forwarding
 * (SKB_GSO_FRAGLIST).
 *
 * Each packet is complete, with its own headers and ICRC. The stack splits a
 * batch in front of a netdev without the feature, and in front of a socket,
 * into the packets that would have been sent one by one. Splitting gives the
 * IPv4 packets ascending identifications. The ICRC covers this field, so the
 * packets have these identifications from the start.
 */
#ifndef MXE_GSO_H
#define MXE_GSO_H

#include <linux/types.h>

struct net_device;
struct sk_buff;

/* Maximum number of packets in a batch. */
#define MXE_GSO_PKTS	16

/* The batch to be sent next.  Protected by the lock of its side of the QP. */
struct mxe_gso {
	struct sk_buff *head;		/* first packet; NULL: empty */
	struct sk_buff *last;
	unsigned int num_pkts;
};

static inline bool mxe_gso_is_empty(const struct mxe_gso *gso)
{
	return !gso->head;
}

#ifndef MXE_WITHOUT_GSO

/* Module parameter: batch packets if the netdev has GSO. */
extern bool mxe_gso_enabled;

bool mxe_gso_takes(const struct mxe_gso *gso,
		   const struct net_device *ndev, size_t len);

/*
 * Check for room for a packet with @len bytes behind the UDP header. An empty
 * batch has room for every packet.
 * Context: Lock of the QP's side held.
 */
static inline bool mxe_gso_has_room(const struct mxe_gso *gso,
				    const struct net_device *ndev, size_t len)
{
	return mxe_gso_is_empty(gso) || mxe_gso_takes(gso, ndev, len);
}

void mxe_gso_add(struct mxe_gso *gso, struct sk_buff *skb);
struct sk_buff *mxe_gso_take(struct mxe_gso *gso);
bool mxe_gso_can_split(const struct sk_buff *skb, unsigned int ip_len);
void mxe_gso_split(struct sk_buff *skb);

#else /* A batch has one packet. */

static inline bool mxe_gso_has_room(const struct mxe_gso *gso,
				    const struct net_device *ndev, size_t len)
{
	return mxe_gso_is_empty(gso);
}

static inline void mxe_gso_add(struct mxe_gso *gso, struct sk_buff *skb)
{
	gso->head = skb;
	gso->num_pkts = 1;
}

static inline struct sk_buff *mxe_gso_take(struct mxe_gso *gso)
{
	struct sk_buff *skb = gso->head;

	*gso = (struct mxe_gso) {};
	return skb;
}

static inline bool mxe_gso_can_split(const struct sk_buff *skb, unsigned int ip_len)
{
	return false;
}

static inline void mxe_gso_split(struct sk_buff *skb)
{
}

#endif /* MXE_WITHOUT_GSO */

#endif /* MXE_GSO_H */
