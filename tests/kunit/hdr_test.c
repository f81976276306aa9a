// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that headers cached for the next packet are equal to headers that are
 * built for it.
 */
#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <net/ip.h>

#include "ip/ah.h"
#include "wire/hdr.h"
#include "wire/icrc.h"
#include "wire/pkt.h"

#define HEADROOM	64

static const struct mxe_av v4 = {
	.valid = true,
	.is_ipv4 = true,
	.tclass = 0x22,
	.hop_limit = 7,
	.sport = htons(0xc123),
	.v4.saddr = htonl(0x0a4d0001),
	.v4.daddr = htonl(0x0a4d0002),
};

static struct sk_buff *push(struct kunit *test, struct mxe_hdr *hdr,
			    const struct mxe_av *av, const u8 *bth, size_t len,
			    u16 ip_id)
{
	struct sk_buff *skb = alloc_skb(HEADROOM + len + MXE_ICRC_SIZE,
					GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, HEADROOM);
	skb_put_data(skb, bth, len);
	local_bh_disable();
	mxe_hdr_push(hdr, av, skb, ip_id);
	local_bh_enable();
	return skb;
}

/*
 * Compares a packet with one that is built without cached headers, and checks
 * the fields of its headers.
 */
static void expect_as_new(struct kunit *test, struct mxe_hdr *hdr,
			  const struct mxe_av *av, const u8 *bth, size_t len,
			  u16 ip_id)
{
	struct mxe_hdr none = {};
	struct sk_buff *skb = push(test, hdr, av, bth, len, ip_id);
	struct sk_buff *other = push(test, &none, av, bth, len, ip_id);
	const struct iphdr *iph = ip_hdr(skb);
	const struct udphdr *udph = udp_hdr(skb);
	__le32 icrc;

	KUNIT_EXPECT_EQ(test, skb->len, 28 + (u32)len + MXE_ICRC_SIZE);
	KUNIT_EXPECT_EQ(test, skb->len, other->len);
	KUNIT_EXPECT_EQ(test, memcmp(skb->data, other->data, other->len), 0);
	KUNIT_EXPECT_PTR_EQ(test, (const u8 *)iph, (const u8 *)skb->data);
	KUNIT_EXPECT_PTR_EQ(test, (const u8 *)udph, (const u8 *)(iph + 1));
	KUNIT_EXPECT_EQ(test, ntohs(iph->id), ip_id);
	KUNIT_EXPECT_EQ(test, ntohs(iph->tot_len), (u16)skb->len);
	KUNIT_EXPECT_EQ(test, iph->tos, av->tclass);
	KUNIT_EXPECT_EQ(test, iph->ttl, av->hop_limit);
	KUNIT_EXPECT_EQ(test, ntohl(iph->saddr), ntohl(av->v4.saddr));
	KUNIT_EXPECT_EQ(test, ntohl(iph->daddr), ntohl(av->v4.daddr));
	if (!ip_id)
		KUNIT_EXPECT_EQ(test, ip_fast_csum(iph, iph->ihl), 0);
	KUNIT_EXPECT_EQ(test, ntohs(udph->source), ntohs(av->sport));
	KUNIT_EXPECT_EQ(test, ntohs(udph->len), (u16)skb->len - 20);
	KUNIT_EXPECT_EQ(test, ntohs(skb->protocol), ETH_P_IP);
	local_bh_disable();
	icrc = mxe_icrc_ipv4(iph, udph, bth, len);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, memcmp(&icrc, skb_tail_pointer(skb) -
				     MXE_ICRC_SIZE, MXE_ICRC_SIZE), 0);
	kfree_skb(skb);
	kfree_skb(other);
}

/*
 * Consecutive packets differ in the BTH, the payload, the length and the IP ID.
 */
static void hdr_kept(struct kunit *test)
{
	struct mxe_hdr hdr = {};
	unsigned int i;
	u8 bth[80];

	get_random_bytes(bth, sizeof(bth));
	for (i = 0; i < 256; i++) {
		size_t len = 16 + 4 * (i / 3 % 3);

		get_random_bytes(bth + 8, sizeof(bth) - 8);
		/*
		 * Every fifth packet changes one of the bytes before the PSN.
		 */
		if (i % 5 == 0)
			bth[i / 5 % 8] ^= 1 << i % 8;
		expect_as_new(test, &hdr, &v4, bth, len, i % 7 ? 0 : i * 257);
	}
}

/* Cached headers are used until mxe_hdr_forget(), whatever the address. */
static void hdr_forgotten(struct kunit *test)
{
	struct mxe_hdr hdr = {};
	struct mxe_av av = v4;
	u8 bth[24] = { 1 };
	struct sk_buff *skb;

	expect_as_new(test, &hdr, &av, bth, sizeof(bth), 0);
	av.v4.daddr = htonl(0x0a4d0003);
	/* The cached headers still have the old address. */
	skb = push(test, &hdr, &av, bth, sizeof(bth), 0);
	KUNIT_EXPECT_EQ(test, ntohl(ip_hdr(skb)->daddr), ntohl(v4.v4.daddr));
	kfree_skb(skb);
	mxe_hdr_forget(&hdr);
	expect_as_new(test, &hdr, &av, bth, sizeof(bth), 0);
}

static struct kunit_case hdr_cases[] = {
	KUNIT_CASE(hdr_kept),
	KUNIT_CASE(hdr_forgotten),
	{}
};

static struct kunit_suite hdr_suite = {
	.name = "mxe_hdr",
	.test_cases = hdr_cases,
};

kunit_test_suite(hdr_suite);
