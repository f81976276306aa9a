// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the ICRC is equal to its bit-serial definition at every length
 * and alignment. Buffers end with the packet, so KASAN detects a read past the
 * end.
 */
#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/udp.h>

#include "bth.h"
#include "wire/icrc.h"

#define MAX_LEN		(4096 + 64)

/* IBTA 7.8.1: the polynomial of Ethernet, least significant bit first. */
static u32 slow_crc(u32 crc, u8 byte)
{
	unsigned int bit;

	crc ^= byte;
	for (bit = 0; bit < 8; bit++)
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	return crc;
}

/*
 * Annex A17: eight bytes of ones, then the packet from the IP header on, its
 * variant fields ones as well.
 */
static __le32 slow_icrc(const u8 *ip, size_t ip_len, const u8 *bth, size_t len)
{
	u32 crc = ~0;
	size_t i;

	for (i = 0; i < 8; i++)
		crc = slow_crc(crc, 0xff);
	for (i = 0; i < ip_len; i++) {
		bool v4 = ip_len == sizeof(struct iphdr);
		bool varies = v4 ? i == 1 || i == 8 || i == 10 || i == 11 :
				   (i >= 1 && i <= 3) || i == 7;
		u8 byte = varies ? 0xff : ip[i];

		if (!v4 && i == 0)
			byte |= 0x0f;
		crc = slow_crc(crc, byte);
	}
	for (i = 0; i < sizeof(struct udphdr); i++)
		crc = slow_crc(crc, i >= 6 ? 0xff : ip[ip_len + i]);
	for (i = 0; i < len; i++)
		crc = slow_crc(crc, i == 4 ? 0xff : bth[i]);
	return cpu_to_le32(~crc);
}

static void check(struct kunit *test, u8 *buf, const u8 *ip, size_t len,
		  unsigned int align)
{
	size_t v4_len = sizeof(struct iphdr), v6_len = sizeof(struct ipv6hdr);
	u8 *bth = buf + MAX_LEN + 16 - len - align;
	__le32 icrc;

	get_random_bytes(bth, len);
	local_bh_disable();
	icrc = mxe_icrc_ipv4((const void *)ip, (const void *)(ip + v4_len),
			     bth, len);
	KUNIT_EXPECT_EQ_MSG(test, le32_to_cpu(icrc),
			    le32_to_cpu(slow_icrc(ip, v4_len, bth, len)),
			    "IPv4, %zu bytes, alignment %u", len, align);
	icrc = mxe_icrc_ipv6((const void *)ip, (const void *)(ip + v6_len),
			     bth, len);
	KUNIT_EXPECT_EQ_MSG(test, le32_to_cpu(icrc),
			    le32_to_cpu(slow_icrc(ip, v6_len, bth, len)),
			    "IPv6, %zu bytes, alignment %u", len, align);
	local_bh_enable();
}

static void icrc_lengths(struct kunit *test)
{
	u8 *buf = kunit_kmalloc(test, MAX_LEN + 16, GFP_KERNEL);
	u8 ip[64] __aligned(4);
	unsigned int align;
	size_t len;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	get_random_bytes(ip, sizeof(ip));
	for (len = 12; len < 600; len++)
		check(test, buf, ip, len, len % 16);
	for (len = 4096; len <= MAX_LEN; len += 4)
		check(test, buf, ip, len, len / 4 % 16);
	for (align = 0; align < 16; align++) {
		check(test, buf, ip, 12, align);
		check(test, buf, ip, 255 + 12, align);
		check(test, buf, ip, 256 + 12, align);
		check(test, buf, ip, 1024 + 28, align);
		check(test, buf, ip, 4096 + 28, align);
	}
}

/* A changed bit changes the ICRC, except in the byte with FECN and BECN. */
static void icrc_every_byte(struct kunit *test)
{
	const size_t len = 1024 + 12;
	u8 *buf = kunit_kmalloc(test, len, GFP_KERNEL);
	u8 ip[28] __aligned(4);
	__le32 good;
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	get_random_bytes(ip, sizeof(ip));
	get_random_bytes(buf, len);
	local_bh_disable();
	good = mxe_icrc_ipv4((const void *)ip, (const void *)(ip + 20), buf,
			     len);
	for (i = 0; i < len; i++) {
		__le32 bad;

		buf[i] ^= 1 << i % 8;
		bad = mxe_icrc_ipv4((const void *)ip, (const void *)(ip + 20),
				    buf, len);
		buf[i] ^= 1 << i % 8;
		KUNIT_EXPECT_EQ_MSG(test, bad == good, i == 4, "byte %zu", i);
	}
	local_bh_enable();
}

/* The headers of a few QPs recur, each time with another PSN. */
static void icrc_again(struct kunit *test)
{
	const size_t v4_len = sizeof(struct iphdr), len = 40;
	u8 *buf = kunit_kmalloc(test, len, GFP_KERNEL);
	u8 ip[48] __aligned(4);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	get_random_bytes(ip, sizeof(ip));
	get_random_bytes(buf, len);
	local_bh_disable();
	for (i = 0; i < 4096; i++) {
		/*
		 * Far fewer QPs than the cache holds, nearly as many, and more.
		 */
		unsigned int qpn = i % (i < 1024 ? 3 : i < 3072 ? 40 : 150);
		__le32 icrc;

		buf[7] = qpn;
		get_random_bytes(buf + 8, 4);
		ip[offsetof(struct iphdr, id)] = i >> 3;
		ip[offsetof(struct iphdr, id) + 1] = i * 7;
		icrc = mxe_icrc_ipv4((const void *)ip,
				     (const void *)(ip + v4_len), buf, len);
		KUNIT_EXPECT_EQ_MSG(test, le32_to_cpu(icrc),
				    le32_to_cpu(slow_icrc(ip, v4_len, buf, len)),
				    "IPv4, packet %u", i);
		icrc = mxe_icrc_ipv6((const void *)ip,
				     (const void *)(ip + sizeof(struct ipv6hdr)),
				     buf, len);
		KUNIT_EXPECT_EQ_MSG(test, le32_to_cpu(icrc),
				    le32_to_cpu(slow_icrc(ip,
							  sizeof(struct ipv6hdr),
							  buf, len)),
				    "IPv6, packet %u", i);
	}
	local_bh_enable();
}

/*
 * The cached header of the IPv6 packet begins with the whole cached header of
 * the IPv4 packet, and both are cached in the same set. Only the lengths of the
 * cached headers differ.
 */
static void icrc_lengths_differ(struct kunit *test)
{
	const size_t v4_len = sizeof(struct iphdr), v6_len = sizeof(struct ipv6hdr);
	const size_t udp_len = sizeof(struct udphdr);
	u8 v4[28] __aligned(4), v6[48] __aligned(4), bth[40];
	unsigned int i;

	get_random_bytes(v4, sizeof(v4));
	get_random_bytes(bth, sizeof(bth));
	get_random_bytes(v6, sizeof(v6));
	v4[0] |= 0x0f;
	memset(v4 + 1, 0xff, 3);
	memset(v4 + offsetof(struct iphdr, id), 0, 2);
	v4[7] = 0xff;
	v4[8] = 0xff;				/* time to live */
	memset(v4 + 10, 0xff, 2);		/* checksum of IP */
	memset(v4 + v4_len + 6, 0xff, 2);	/* and of UDP */
	bth[4] = 0xff;
	memcpy(v6, v4, sizeof(v4));
	memcpy(v6 + sizeof(v4), bth, 8);
	memcpy(v6 + v6_len, v4 + v4_len, udp_len);

	local_bh_disable();
	for (i = 0; i < 3; i++) {
		__le32 icrc = mxe_icrc_ipv6((const void *)v6,
					    (const void *)(v6 + v6_len), bth,
					    sizeof(bth));

		KUNIT_EXPECT_EQ_MSG(test, le32_to_cpu(icrc),
				    le32_to_cpu(slow_icrc(v6, v6_len, bth,
							  sizeof(bth))),
				    "IPv6, round %u", i);
		icrc = mxe_icrc_ipv4((const void *)v4,
				     (const void *)(v4 + v4_len), bth,
				     sizeof(bth));
		KUNIT_EXPECT_EQ_MSG(test, le32_to_cpu(icrc),
				    le32_to_cpu(slow_icrc(v4, v4_len, bth,
							  sizeof(bth))),
				    "IPv4, round %u", i);
	}
	local_bh_enable();
}

/*
 * Fills in the swap mask and the compare mask at the end of a request with
 * 8-byte operands. One byte of the first mask, of the second, or of both is
 * set.
 */
static void fill_masks(u8 *p, unsigned int which)
{
	unsigned int value = which / 3;

	memset(p, 0, 16);
	if (which % 3 != 1)
		p[value % 8] = value;
	if (which % 3 != 0)
		p[8 + value % 8] = value;
}

/*
 * Requests for masked atomics whose masks are zeros except for one byte each,
 * and requests that only begin with the same bytes or only have the same
 * length.
 */
static void icrc_masks(struct kunit *test)
{
	const size_t v4_len = sizeof(struct iphdr), v6_len = sizeof(struct ipv6hdr);
	u8 *buf = kunit_kmalloc(test, 200, GFP_KERNEL);
	u8 ip[48] __aligned(4);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	get_random_bytes(ip, sizeof(ip));
	local_bh_disable();
	for (i = 0; i < 16384; i++) {
		/*
		 * The length of an RC request, of an XRC request, or any other.
		 */
		size_t len = i % 4 < 2 ? 60 : i % 4 == 2 ? 64 : 12 + i / 4 % 188;
		u8 *bth = buf + 200 - len;
		__le32 icrc;

		get_random_bytes(bth, len);
		/*
		 * The opcodes of the masked atomics, the one below and the one
		 * above.
		 */
		bth[0] = BTH_RC_MASKED_CMP_SWAP - 1 + i % 6;
		if (len >= 12 + 16)
			fill_masks(bth + len - 16, i / 12 % 765);
		icrc = mxe_icrc_ipv4((const void *)ip,
				     (const void *)(ip + v4_len), bth, len);
		KUNIT_EXPECT_EQ_MSG(test, le32_to_cpu(icrc),
				    le32_to_cpu(slow_icrc(ip, v4_len, bth, len)),
				    "IPv4, packet %u, %zu bytes", i, len);
		icrc = mxe_icrc_ipv6((const void *)ip,
				     (const void *)(ip + v6_len), bth, len);
		KUNIT_EXPECT_EQ_MSG(test, le32_to_cpu(icrc),
				    le32_to_cpu(slow_icrc(ip, v6_len, bth, len)),
				    "IPv6, packet %u, %zu bytes", i, len);
	}
	local_bh_enable();
}

static struct kunit_case icrc_cases[] = {
	KUNIT_CASE(icrc_again),
	KUNIT_CASE(icrc_lengths_differ),
	KUNIT_CASE(icrc_masks),
	KUNIT_CASE(icrc_lengths),
	KUNIT_CASE(icrc_every_byte),
	{}
};

static struct kunit_suite icrc_suite = {
	.name = "mxe_icrc",
	.test_cases = icrc_cases,
};

kunit_test_suite(icrc_suite);
