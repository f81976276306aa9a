/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The invariant CRC of a packet (IBTA 7.8, RoCEv2 annex A17): of everything
 * that does not change on the way.
 */
#ifndef MXE_ICRC_H
#define MXE_ICRC_H

#include <linux/types.h>

struct iphdr;
struct ipv6hdr;
struct udphdr;

#define MXE_ICRC_SIZE		4

/* Before all others.  Without a fast routine packets are only slower.  0 or -ENOMEM. */
int mxe_icrc_init(void);
void mxe_icrc_exit(void);

/*
 * Of a packet whose headers are complete.  bth..bth+len is what follows the
 * UDP header, without the ICRC.  Returned as it is stored.
 * Context: bottom halves off.
 */
__le32 mxe_icrc_ipv4(const struct iphdr *iph, const struct udphdr *udph,
		     const u8 *bth, size_t len);
__le32 mxe_icrc_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph,
		     const u8 *bth, size_t len);

/*
 * That of IPv4 in two parts: packets that differ only in the identification, and from
 * the PSN on, have the first in common.  Context: the same.
 */
u32 mxe_icrc_begin_ipv4(const struct iphdr *iph, const struct udphdr *udph,
			const u8 *bth);
__le32 mxe_icrc_end_ipv4(u32 crc, __be16 ip_id, const u8 *bth, size_t len);

#endif /* MXE_ICRC_H */
