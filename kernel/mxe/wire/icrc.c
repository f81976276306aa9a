// SPDX-License-Identifier: GPL-2.0
/* The ICRC of a packet, as RoCEv2 annex A17 defines it. */
#include <linux/crc32.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "wire/icrc.h"
#include "wire/pkt.h"

/* In ip, the fields that routers may change are already replaced by ones. */
static __le32 mxe_icrc_finish(const void *ip, size_t ip_len, const struct udphdr *udph,
			      const u8 *bth, size_t len)
{
	u32 crc = crc32_le(MXE_ICRC_SEED, ip, ip_len);
	u8 masked[sizeof(struct mxe_bth)];
	struct udphdr udp = *udph;

	udp.check = (__force __sum16)0xffff;
	crc = crc32_le(crc, (const u8 *)&udp, sizeof(udp));

	memcpy(masked, bth, sizeof(masked));
	masked[offsetof(struct mxe_bth, qpn)] = 0xff;	/* FECN, BECN, resv8a */
	crc = crc32_le(crc, masked, sizeof(masked));

	return cpu_to_le32(~crc32_le(crc, bth + sizeof(masked), len - sizeof(masked)));
}

/*
 * Return the ICRC of an IPv4 packet as it is stored in the packet. The headers
 * are complete, and the IP header has 20 bytes. The packet is contiguous from
 * @bth up to the ICRC. @len is the number of bytes between the UDP header and
 * the ICRC.
 * Context: BHs disabled.
 */
__le32 mxe_icrc_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth, size_t len)
{
	struct iphdr ip;

	if (mxe_icrc_has_fast())
		return mxe_icrc_fast_ipv4(iph, udph, bth, len);

	ip = *iph;
	ip.tos = 0xff;
	ip.ttl = 0xff;
	ip.check = (__force __sum16)0xffff;
	return mxe_icrc_finish(&ip, sizeof(ip), udph, bth, len);
}

/* As mxe_icrc_ipv4(), for an IPv6 packet without extension headers. */
__le32 mxe_icrc_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph, const u8 *bth,
		     size_t len)
{
	struct ipv6hdr ip;

	if (mxe_icrc_has_fast())
		return mxe_icrc_fast_ipv6(ip6h, udph, bth, len);

	ip = *ip6h;
	ip.priority = 0xf;				/* traffic class */
	memset(ip.flow_lbl, 0xff, sizeof(ip.flow_lbl));	/* and flow label */
	ip.hop_limit = 0xff;
	return mxe_icrc_finish(&ip, sizeof(ip), udph, bth, len);
}
