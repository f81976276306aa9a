/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The IP and UDP headers of packets, and the ICRC (hdr.c).
 */
#ifndef MXE_HDR_H
#define MXE_HDR_H

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <linux/udp.h>

#include "wire/pkt.h"

struct mxe_av;
struct sk_buff;

#define MXE_HDR_MAX_SIZE	(sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/*
 * The headers of the last IPv4 packet to an address. The next packet often
 * differs only from the PSN on, and then reuses them. Each side of a QP has its
 * own and uses it under its lock. A zeroed struct is empty.
 */
struct mxe_hdr {
	u64 bth;			/* BTH up to the PSN, big-endian */
	u32 bth_len;			/* bytes, BTH to ICRC; 0: empty */
	u32 icrc;			/* mxe_icrc_begin_ipv4() */
	struct {
		struct iphdr ip;	/* identification 0, with checksum */
		struct udphdr udp;
	} ipv4;
};

/* UDP port of RoCEv2, set when the module is loaded. */
extern ushort mxe_udp_port;

/*
 * Empty the cache of headers, because the address changes.
 * Context: Lock of the owner held.
 */
static inline void mxe_hdr_forget(struct mxe_hdr *hdr)
{
	hdr->bth_len = 0;
}

void mxe_hdr_push(struct mxe_hdr *hdr, const struct mxe_av *av,
		  struct sk_buff *skb, u16 ip_id);

/*
 * Check a received linear packet, whose transport header is set, from the BTH
 * on.
 * Return: MXE_PKT_OK or the reason to drop the packet.
 */
static inline enum mxe_pkt_error mxe_hdr_parse(const struct sk_buff *skb,
					       struct mxe_pkt *pkt)
{
	const u8 *bth = (const u8 *)(udp_hdr(skb) + 1);

	pkt->vlan_id = VLAN_N_VID;
	return mxe_pkt_parse(pkt, bth, skb_tail_pointer(skb) - bth);
}

#endif /* MXE_HDR_H */
