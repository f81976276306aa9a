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

/**
 * mxe_icrc_ipv4() - Compute the ICRC of an IPv4 packet.
 * @iph: complete IP header of 20 bytes
 * @udph: complete UDP header
 * @bth: first byte of the BTH, contiguous up to the ICRC
 * @len: bytes between the UDP header and the ICRC
 *
 * Context: BHs disabled.
 * Return: the ICRC as it is stored in the packet.
 */
__le32 mxe_icrc_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth, size_t len);

/**
 * mxe_icrc_ipv6() - Compute the ICRC of an IPv6 packet.
 * @ip6h: complete IP header, without extension headers
 * @udph: complete UDP header
 * @bth: first byte of the BTH, contiguous up to the ICRC
 * @len: bytes between the UDP header and the ICRC
 *
 * Context: BHs disabled.
 * Return: the ICRC as it is stored in the packet.
 */
__le32 mxe_icrc_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph, const u8 *bth,
		     size_t len);

/**
 * mxe_icrc_is_defined() - Check that a received packet can have an ICRC.
 * @skb: packet whose network header is set
 * @is_ipv4: its IP version
 *
 * The rules of the ICRC do not cover IP options and extension headers.
 *
 * Return: true if the UDP header follows the fixed IP header.
 */
static inline bool mxe_icrc_is_defined(const struct sk_buff *skb, bool is_ipv4)
{
	return is_ipv4 ? ip_hdr(skb)->ihl == 5 : ipv6_hdr(skb)->nexthdr == IPPROTO_UDP;
}

/**
 * mxe_icrc_is_correct() - Check the ICRC of a received packet.
 * @skb: packet for which mxe_icrc_is_defined() is true, whose network and
 *	transport headers are set
 * @is_ipv4: its IP version
 * @bth: first byte of the BTH, contiguous up to and including the ICRC
 * @len: bytes between the UDP header and the ICRC
 *
 * Context: BHs disabled.
 * Return: true if the packet was not changed on its way.
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

/**
 * mxe_icrc_init() - Build the tables, before the first ICRC.
 *
 * Context: Process context. May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_icrc_init(void);

/**
 * mxe_icrc_exit() - Free the memory of mxe_icrc_init(), after the last ICRC.
 *
 * Context: Process context. May sleep.
 */
void mxe_icrc_exit(void);

/**
 * mxe_icrc_begin_ipv4() - Compute the CRC of the headers of an IPv4 packet.
 * @iph: IP header, whose identification is ignored
 * @udph: UDP header
 * @bth: BTH, of which the part before the PSN is used
 *
 * Packets that differ only in the identification and from the PSN on have the
 * same value, so the caller may keep it.
 *
 * Context: BHs disabled.
 * Return: the CRC for mxe_icrc_end_ipv4().
 */
u32 mxe_icrc_begin_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth);

/**
 * mxe_icrc_end_ipv4() - Complete the ICRC of an IPv4 packet.
 * @crc: result of mxe_icrc_begin_ipv4()
 * @ip_id: identification of the IP header
 * @bth: first byte of the BTH, contiguous up to the ICRC; the headers precede
 *	it
 * @len: bytes between the UDP header and the ICRC
 *
 * Context: BHs disabled.
 * Return: the ICRC as it is stored in the packet.
 */
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

/**
 * mxe_icrc_fast_ipv4() - Implement mxe_icrc_ipv4() if mxe_icrc_has_fast().
 * @iph: as for mxe_icrc_ipv4()
 * @udph: as for mxe_icrc_ipv4()
 * @bth: as for mxe_icrc_ipv4()
 * @len: as for mxe_icrc_ipv4()
 *
 * Context: BHs disabled.
 * Return: the ICRC as it is stored in the packet.
 */
__le32 mxe_icrc_fast_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth,
			  size_t len);

/**
 * mxe_icrc_fast_ipv6() - Implement mxe_icrc_ipv6() if mxe_icrc_has_fast().
 * @ip6h: as for mxe_icrc_ipv6()
 * @udph: as for mxe_icrc_ipv6()
 * @bth: as for mxe_icrc_ipv6()
 * @len: as for mxe_icrc_ipv6()
 *
 * Context: BHs disabled.
 * Return: the ICRC as it is stored in the packet.
 */
__le32 mxe_icrc_fast_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph, const u8 *bth,
			  size_t len);

#endif /* MXE_ICRC_H */
