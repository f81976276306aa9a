/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The invariant CRC of a packet (IBTA 7.8, RoCEv2 annex A17) covers all fields
 * that routers and switches do not change.
 */
#ifndef MXE_ICRC_H
#define MXE_ICRC_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <linux/udp.h>

#define MXE_ICRC_SIZE		4

/*
 * State of the CRC-32 after the masked link-layer header: eight bytes of ones.
 */
#define MXE_ICRC_SEED		0xdebb20e3

__le32 mxe_icrc_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth, size_t len);
__le32 mxe_icrc_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph, const u8 *bth,
		     size_t len);

/*
 * Check that the UDP header of a received packet, whose network header is set,
 * follows the fixed IP header. The rules of the ICRC do not cover IP options
 * and extension headers.
 */
static inline bool mxe_icrc_is_defined(const struct sk_buff *skb, bool is_ipv4)
{
	return is_ipv4 ? ip_hdr(skb)->ihl == 5 : ipv6_hdr(skb)->nexthdr == IPPROTO_UDP;
}

/*
 * Check that a received packet was not changed on its way.
 * mxe_icrc_is_defined() is true, and network and transport headers are set. The
 * packet is contiguous from @bth up to and including the ICRC. @len is the
 * number of bytes between the UDP header and the ICRC.
 * Context: BHs disabled.
 */
static inline bool mxe_icrc_is_correct(const struct sk_buff *skb, bool is_ipv4,
				       const u8 *bth, size_t len)
{
	__le32 icrc = is_ipv4 ?
		      mxe_icrc_ipv4(ip_hdr(skb), udp_hdr(skb), bth, len) :
		      mxe_icrc_ipv6(ipv6_hdr(skb), udp_hdr(skb), bth, len);

	return icrc == get_unaligned((const __le32 *)(bth + len));
}

/* ---- icrc_fast.c, a shortcut ------------------------------------------- */

#ifndef MXE_WITHOUT_ICRC_FAST

static inline bool mxe_icrc_has_fast(void)
{
	return true;
}

int mxe_icrc_init(void);
void mxe_icrc_exit(void);
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

/* Computes the ICRC from scratch, because crc is not used. */
static inline __le32 mxe_icrc_end_ipv4(u32 crc, __be16 ip_id, const u8 *bth, size_t len)
{
	const struct udphdr *udph = (const struct udphdr *)bth - 1;

	return mxe_icrc_ipv4((const struct iphdr *)udph - 1, udph, bth, len);
}

#endif /* MXE_WITHOUT_ICRC_FAST */

__le32 mxe_icrc_fast_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth,
			  size_t len);
__le32 mxe_icrc_fast_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph, const u8 *bth,
			  size_t len);

#endif /* MXE_ICRC_H */
