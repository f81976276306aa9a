/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The invariant CRC of a packet (IBTA 7.8, RoCEv2 annex A17) covers all fields that
 * do not change on the way.
 */
#ifndef MXE_ICRC_H
#define MXE_ICRC_H

#include <linux/ip.h>
#include <linux/types.h>
#include <linux/udp.h>

struct ipv6hdr;

#define MXE_ICRC_SIZE		4

/* CRC-32 of eight bytes of ones, the masked link-layer header. */
#define MXE_ICRC_SEED		0xdebb20e3

/*
 * The ICRC of a packet whose headers are complete, in the byte order of the wire.
 * bth..bth+len is all between the UDP header and the ICRC, in one piece.
 * Context: bottom halves off.
 */
__le32 mxe_icrc_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth, size_t len);
__le32 mxe_icrc_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph, const u8 *bth,
		     size_t len);

/* ---- icrc_fast.c, without which packets are only slower ---------------- */

#ifndef MXE_WITHOUT_ICRC_FAST

static inline bool mxe_icrc_has_fast(void)
{
	return true;
}

/* To be called before the first ICRC.  Returns 0 or -ENOMEM. */
int mxe_icrc_init(void);
void mxe_icrc_exit(void);

/*
 * The ICRC of IPv4 in two parts: packets that differ only in the identification, and
 * from the PSN on, have the first part in common.  Context: bottom halves off.
 */
u32 mxe_icrc_begin_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth);
__le32 mxe_icrc_end_ipv4(u32 crc, __be16 ip_id, const u8 *bth, size_t len);

#else

static inline bool mxe_icrc_has_fast(void)
{
	return false;
}

static inline int mxe_icrc_init(void)
{
	return 0;
}

static inline void mxe_icrc_exit(void)
{
}

static inline u32 mxe_icrc_begin_ipv4(const struct iphdr *iph, const struct udphdr *udph,
				      const u8 *bth)
{
	return 0;
}

/* The headers are in front of the BTH. */
static inline __le32 mxe_icrc_end_ipv4(u32 crc, __be16 ip_id, const u8 *bth, size_t len)
{
	const struct udphdr *udph = (const struct udphdr *)bth - 1;

	return mxe_icrc_ipv4((const struct iphdr *)udph - 1, udph, bth, len);
}

#endif /* MXE_WITHOUT_ICRC_FAST */

/* What mxe_icrc_ipv4() and mxe_icrc_ipv6() call if mxe_icrc_has_fast(). */
__le32 mxe_icrc_fast_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth,
			  size_t len);
__le32 mxe_icrc_fast_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph, const u8 *bth,
			  size_t len);

#endif /* MXE_ICRC_H */
