/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A GSO batch is a number of packets that one side of a queue pair sends together.
 * They pass IP, the netdevs and the softirq as one socket buffer: the first packet,
 * with the others in its frag_list, as GRO leaves packets that are to be forwarded
 * (SKB_GSO_FRAGLIST).
 *
 * Each packet is complete, with its own headers and ICRC.  The stack splits a batch
 * in front of a netdev without the feature and in front of any socket, into the
 * packets that would have been sent one by one.  Splitting gives IPv4 packets
 * ascending identifications.  The ICRC covers that field, so the packets have these
 * identifications from the start.
 */
#ifndef MXE_GSO_H
#define MXE_GSO_H

#include <linux/types.h>

struct net_device;
struct sk_buff;

/* Packets of a batch, at most. */
#define MXE_GSO_PKTS	16

/* A batch that is being made.  Under the lock of its side of the queue pair. */
struct mxe_gso {
	struct sk_buff *head;		/* first packet; NULL: there is none */
	struct sk_buff *last;
	unsigned int num_pkts;
};

static inline bool mxe_gso_is_empty(const struct mxe_gso *gso)
{
	return !gso->head;
}

#ifndef MXE_WITHOUT_GSO

/* Module parameter: batch packets if the netdev supports it. */
extern bool mxe_gso_enabled;

/* mxe_gso_has_room() of a batch that is not empty. */
bool mxe_gso_takes(const struct mxe_gso *gso,
		   const struct net_device *ndev, size_t len);

/* Returns true if a packet with len bytes behind its UDP header fits into the batch. */
static inline bool mxe_gso_has_room(const struct mxe_gso *gso,
				    const struct net_device *ndev, size_t len)
{
	return mxe_gso_is_empty(gso) || mxe_gso_takes(gso, ndev, len);
}

/* Add a packet, which begins at its IP header. */
void mxe_gso_add(struct mxe_gso *gso, struct sk_buff *skb);
/* End the batch.  Returns the skb to be sent, or NULL. */
struct sk_buff *mxe_gso_take(struct mxe_gso *gso);

/*
 * Returns true if mxe_gso_split() can split a received batch.  Otherwise that is left
 * to the stack, which can copy.
 */
bool mxe_gso_can_split(const struct sk_buff *skb);
/* Split a batch into a list of packets, linked by next, with headers as sent.  IPv4. */
void mxe_gso_split(struct sk_buff *skb);

#else /* Each packet is a batch of its own. */

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

static inline bool mxe_gso_can_split(const struct sk_buff *skb)
{
	return false;
}

static inline void mxe_gso_split(struct sk_buff *skb)
{
}

#endif /* MXE_WITHOUT_GSO */

#endif /* MXE_GSO_H */
