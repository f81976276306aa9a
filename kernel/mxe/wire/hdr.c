// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the IP and UDP headers in front of the BTH, and the ICRC behind the
 * payload.
 */
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "ip/ah.h"
#include "wire/hdr.h"
#include "wire/icrc.h"

ushort mxe_udp_port = 4791;

/* bth_len: bytes from the BTH to the ICRC */
static void mxe_hdr_init_udp(struct udphdr *udph, const struct mxe_av *av,
			     size_t bth_len)
{
	*udph = (struct udphdr) {
		.source = av->sport,
		.dest = htons(mxe_udp_port),
		.len = htons(sizeof(*udph) + bth_len + MXE_ICRC_SIZE),
		.check = 0,	/* annex A17: the ICRC protects the packet */
	};
}

static void mxe_hdr_init_ipv4(struct mxe_hdr *hdr, const struct mxe_av *av,
			      const u8 *bth, size_t bth_len)
{
	struct udphdr *udph = &hdr->ipv4.udp;
	struct iphdr *iph = &hdr->ipv4.ip;

	mxe_hdr_init_udp(udph, av, bth_len);
	*iph = (struct iphdr) {
		.version = IPVERSION,
		.ihl = sizeof(*iph) / 4,
		.tos = av->tclass,
		.tot_len = htons(sizeof(hdr->ipv4) + bth_len + MXE_ICRC_SIZE),
		/* Never fragmented, so .id has no meaning (RFC 6864). */
		.frag_off = htons(IP_DF),
		.ttl = av->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr = av->v4.saddr,
		.daddr = av->v4.daddr,
	};
	ip_send_check(iph);
	hdr->bth = get_unaligned((const u64 *)bth);
	hdr->bth_len = bth_len;
	hdr->icrc = mxe_icrc_begin_ipv4(iph, udph, bth);
}

/* Returns true if this packet can reuse the headers of the last one. */
static bool mxe_hdr_is_kept(const struct mxe_hdr *hdr, const u8 *bth, u32 bth_len)
{
#ifdef MXE_WITHOUT_HDR_CACHE
	return false;
#else
	return hdr->bth_len == bth_len &&
	       hdr->bth == get_unaligned((const u64 *)bth);
#endif
}

static void mxe_hdr_push_ipv4(struct mxe_hdr *hdr, const struct mxe_av *av,
			      struct sk_buff *skb, u16 ip_id)
{
	u32 bth_len = skb->len;
	const u8 *bth = skb->data;
	__le32 icrc;

	if (!mxe_hdr_is_kept(hdr, bth, bth_len))
		mxe_hdr_init_ipv4(hdr, av, bth, bth_len);

	memcpy(__skb_push(skb, sizeof(hdr->ipv4)), &hdr->ipv4,
	       sizeof(hdr->ipv4));
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, sizeof(struct iphdr));
	/*
	 * Not 0 in a GSO batch after its first packet.  The stack writes the
	 * checksum when it splits the batch.
	 */
	ip_hdr(skb)->id = htons(ip_id);
	icrc = mxe_icrc_end_ipv4(hdr->icrc, htons(ip_id), bth, bth_len);
	*(__le32 *)__skb_put(skb, sizeof(icrc)) = icrc;
	skb->protocol = htons(ETH_P_IP);
}

static void mxe_hdr_push_ipv6(const struct mxe_av *av, struct sk_buff *skb)
{
	size_t bth_len = skb->len;
	const u8 *bth = skb->data;
	struct ipv6hdr *ip6h;
	struct udphdr *udph;
	__le32 icrc;

	udph = __skb_push(skb, sizeof(*udph));
	skb_reset_transport_header(skb);
	mxe_hdr_init_udp(udph, av, bth_len);
	ip6h = __skb_push(skb, sizeof(*ip6h));
	skb_reset_network_header(skb);
	ip6_flow_hdr(ip6h, av->tclass, htonl(av->flow_label));
	ip6h->payload_len = udph->len;
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = av->hop_limit;
	ip6h->saddr = av->v6.saddr;
	ip6h->daddr = av->v6.daddr;
	icrc = mxe_icrc_ipv6(ip6h, udph, bth, bth_len);
	skb_put_data(skb, &icrc, sizeof(icrc));
	skb->protocol = htons(ETH_P_IPV6);
}

/*
 * Add the IP and UDP headers and the ICRC to a packet to @av, for which @hdr is
 * the cache. @skb begins at the BTH, with headroom of MXE_HDR_MAX_SIZE and
 * tailroom of MXE_ICRC_SIZE. @ip_id of an IPv4 packet is in host byte order.
 * Context: BHs disabled.
 */
void mxe_hdr_push(struct mxe_hdr *hdr, const struct mxe_av *av,
		  struct sk_buff *skb, u16 ip_id)
{
	if (av->is_ipv4)
		mxe_hdr_push_ipv4(hdr, av, skb, ip_id);
	else
		mxe_hdr_push_ipv6(av, skb);
}
