// SPDX-License-Identifier: GPL-2.0
/* GSO batches: joins packets that are sent, and splits received batches. */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "fast/gso.h"

bool mxe_gso_enabled = true;
module_param_named(gso, mxe_gso_enabled, bool, 0644);
MODULE_PARM_DESC(gso,
		 "batch packets with fraglist GSO if the netdev has GSO (default Y)");

/* ---- sending ----------------------------------------------------------- */

/* For a netdev with the first feature only, the stack splits the batches. */
#define MXE_GSO_FEATURES	(NETIF_F_GSO | NETIF_F_GSO_FRAGLIST)

/* Returns the length of the IP and UDP headers of a packet. */
static unsigned int mxe_gso_hdr_len(const struct sk_buff *skb)
{
	return skb_transport_header(skb) + sizeof(struct udphdr) -
	       skb_network_header(skb);
}

/* As mxe_gso_has_room(), for a batch that is not empty. */
bool mxe_gso_takes(const struct mxe_gso *gso,
		   const struct net_device *ndev, size_t len)
{
	const struct sk_buff *head = gso->head;

	/* gso_size is the length of the first packet, and the maximum. */
	return READ_ONCE(mxe_gso_enabled) && ndev->features & MXE_GSO_FEATURES &&
	       gso->num_pkts < MXE_GSO_PKTS &&
	       len <= skb_headlen(head) - mxe_gso_hdr_len(head) &&
	       head->len + len <= IP_MAX_MTU;
}

/*
 * Add a complete packet, which begins at its IP header, to a batch that has
 * room. Consumes @skb.
 * Context: Lock of the QP's side held.
 */
void mxe_gso_add(struct mxe_gso *gso, struct sk_buff *skb)
{
	struct sk_buff *head = gso->head;

	gso->num_pkts++;
	if (!head) {
		gso->head = skb;
		gso->last = skb;
		return;
	}

	__skb_pull(skb, mxe_gso_hdr_len(skb));
	if (gso->last == head)
		skb_shinfo(head)->frag_list = skb;
	else
		gso->last->next = skb;
	gso->last = skb;
	head->len += skb->len;
	head->data_len += skb->len;
	head->truesize += skb->truesize;
}

/*
 * Empty a batch. Return its packets as one socket buffer, or NULL.
 * Context: Lock of the QP's side held.
 */
struct sk_buff *mxe_gso_take(struct mxe_gso *gso)
{
	struct sk_buff *head = gso->head;
	unsigned int hdr_len;

	if (gso->num_pkts > 1) {
		hdr_len = mxe_gso_hdr_len(head);
		skb_shinfo(head)->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
		skb_shinfo(head)->gso_size = skb_headlen(head) - hdr_len;
		skb_shinfo(head)->gso_segs = gso->num_pkts;
		/* No checksum.  Otherwise the stack would compute one. */
		head->ip_summed = CHECKSUM_UNNECESSARY;
		/* The IP layer sets the length in the IP header. */
		udp_hdr(head)->len = htons(head->len - hdr_len +
					   sizeof(struct udphdr));
	}
	*gso = (struct mxe_gso) {};
	return head;
}

/* ---- receiving --------------------------------------------------------- */

/*
 * Return false if the stack must split a received batch, because parts have to
 * be copied. @ip_len is without options or extension headers.
 */
bool mxe_gso_can_split(const struct sk_buff *skb, unsigned int ip_len)
{
	const struct sk_buff *other;

	/* A clone is shared, for example with a packet socket. */
	if (skb_cloned(skb) ||
	    !(skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST) ||
	    skb_shinfo(skb)->gso_type & SKB_GSO_DODGY)
		return false;
	skb_walk_frags(skb, other)
		if (skb_shared(other) || skb_cloned(other) ||
		    skb_transport_offset(other) != -(int)sizeof(struct udphdr) ||
		    mxe_gso_hdr_len(other) != ip_len + sizeof(struct udphdr))
			return false;
	return true;
}

/*
 * Split a received batch, for which mxe_gso_can_split() is true, in place. Its
 * packets are linked by skb->next afterwards. The lengths in the headers of the
 * first packet become those of that packet again.
 */
void mxe_gso_split(struct sk_buff *skb)
{
	unsigned int udp_len;
	struct sk_buff *other;

	skb->next = skb_shinfo(skb)->frag_list;
	skb_shinfo(skb)->frag_list = NULL;
	skb_gso_reset(skb);
	for (other = skb->next; other; other = other->next) {
		skb->len -= other->len;
		skb->data_len -= other->len;
		skb->truesize -= other->truesize;
		other->dev = skb->dev;
	}
	/* Replace the lengths of the batch by those of the first packet. */
	udp_len = skb_tail_pointer(skb) - skb_transport_header(skb);
	udp_hdr(skb)->len = htons(udp_len);
	if (ip_hdr(skb)->version == 4)
		ip_hdr(skb)->tot_len = htons(sizeof(struct iphdr) + udp_len);
	else
		ipv6_hdr(skb)->payload_len = htons(udp_len);
}
