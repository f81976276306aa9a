/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hdr.c writes the headers of IP and UDP in front of the BTH, and the ICRC.  The
 * parser of received packets is here.
 */
#ifndef MXE_HDR_H
#define MXE_HDR_H

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <linux/udp.h>

#include "pkt.h"

struct mxe_av;
struct sk_buff;

#define MXE_HDR_MAX_SIZE	(sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/*
 * The headers of the last IPv4 packet to an address.  The next packet often differs
 * from it only behind the PSN.  Owned by the side that sends to that address; a
 * struct of zeros holds nothing.
 */
struct mxe_hdr {
	u64 bth;			/* its BTH up to the PSN, as it is sent */
	u32 bth_len;			/* from there to the ICRC; 0: none is kept */
	u32 icrc;			/* mxe_icrc_begin_ipv4() */
	struct {
		struct iphdr ip;	/* with identification 0, and a checksum */
		struct udphdr udp;
	} ipv4;
};

/* UDP port of RoCEv2 traffic; fixed when the module is loaded. */
extern ushort mxe_udp_port;

/* The next packet makes its headers anew. */
static inline void mxe_hdr_forget(struct mxe_hdr *hdr)
{
	hdr->bth_len = 0;
}

/*
 * Complete a packet, which begins at the BTH and has room.  hdr: that of the address.
 * ip_id: identification, for IPv4.  Context: bottom halves off.
 */
void mxe_hdr_push(struct mxe_hdr *hdr, const struct mxe_av *av,
		  struct sk_buff *skb, u16 ip_id);

/* Parse bth..bth+len, the ICRC included, of a packet with that IP header. */
static __always_inline enum mxe_pkt_error
mxe_hdr_parse_bth(struct mxe_pkt *pkt, bool is_ipv4, const u8 *bth, size_t len)
{
	enum mxe_pkt_error err;

	err = mxe_pkt_parse(pkt, bth, len);
	pkt->is_ipv4 = is_ipv4;
	pkt->vlan_id = VLAN_N_VID;
	return err;
}

/* Parse a received packet, whose transport header is set. */
static inline enum mxe_pkt_error mxe_hdr_parse(const struct sk_buff *skb,
					       struct mxe_pkt *pkt)
{
	const u8 *bth = (const u8 *)(udp_hdr(skb) + 1);

	return mxe_hdr_parse_bth(pkt, ip_hdr(skb)->version == 4, bth,
				 skb_tail_pointer(skb) - bth);
}

#endif /* MXE_HDR_H */
