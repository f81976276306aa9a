// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the packets into which the stack or mxe splits a GSO batch are
 * the packets that would otherwise be sent one by one.
 */
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "fast/gso.h"
#include "harness.h"
#include "stats.h"
#include "wire/icrc.h"
#include "wire/psn.h"

/* A WRITE of three packets, the last one shorter. */
#define PKTS		3
#define LENGTH		(2 * KT_MTU + 60)

/* The packets are complete, in order, and of the right lengths. */
static void expect_packets(struct kunit *test, struct sk_buff *skb, u32 psn)
{
	unsigned int i;

	for (i = 0; i < PKTS; i++, skb = skb->next) {
		const struct udphdr *udph;
		const struct iphdr *iph;
		struct test_pkt pkt = {};
		__le32 found, icrc;
		const u8 *bth;
		size_t len;

		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_ASSERT_EQ(test, skb_linearize(skb), 0);
		iph = ip_hdr(skb);
		udph = udp_hdr(skb);
		bth = (const u8 *)(udph + 1);
		len = skb_tail_pointer(skb) - bth;
		KUNIT_EXPECT_EQ(test, ntohs(iph->tot_len),
				skb_tail_pointer(skb) - (const u8 *)iph);
		KUNIT_EXPECT_EQ(test, ntohs(udph->len), len + sizeof(*udph));
		KUNIT_EXPECT_EQ(test, ntohs(iph->id), i);

		memcpy(&found, bth + len - MXE_ICRC_SIZE, sizeof(found));
		local_bh_disable();
		icrc = mxe_icrc_ipv4(iph, udph, bth, len - MXE_ICRC_SIZE);
		local_bh_enable();
		KUNIT_EXPECT_EQ(test, (__force u32)found, (__force u32)icrc);
		KUNIT_ASSERT_EQ(test, test_pkt_read(&pkt, bth, len), MXE_PKT_OK);
		KUNIT_EXPECT_EQ(test, pkt.psn, mxe_psn_add(psn, i));
		KUNIT_EXPECT_EQ(test, pkt.payload_len,
				i == PKTS - 1 ? LENGTH % KT_MTU : KT_MTU);
	}
	KUNIT_EXPECT_NULL(test, skb);
}

static void post_write(struct kt *kt, struct ib_mr *mr)
{
	struct ib_sge sge = { kt_va(mr, 0), LENGTH, mr->lkey };
	struct ib_rdma_wr wr = {
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.remote_addr = KT_REMOTE_VA,
		.rkey = KT_REMOTE_KEY,
	};

	KUNIT_ASSERT_EQ(kt->test, ib_post_send(kt->qp->ibqp, &wr.wr, NULL), 0);
}

static struct ib_mr *connect(struct kt *kt, netdev_features_t features)
{
	kt->ndev->features |= features;
	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	return kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
}

static void gso_split(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	/* The features of a veth pair. */
	struct ib_mr *mr = connect(kt, NETIF_F_SG | NETIF_F_FRAGLIST |
				   NETIF_F_HW_CSUM | NETIF_F_GSO_UDP_L4 |
				   NETIF_F_GSO_FRAGLIST);
	struct sk_buff *skb, *other;

	post_write(kt, mr);
	KUNIT_ASSERT_EQ(test, kt_num_sent(kt), 1U);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_sent_gso_batches), 1ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_sent_pkts), (u64)PKTS);

	skb = skb_dequeue(&kt->sent);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs, PKTS);
	KUNIT_EXPECT_EQ(test, ntohs(ip_hdr(skb)->tot_len),
			skb->len - skb_network_offset(skb));
	/* A batch that has a clone cannot be split in place. */
	other = skb_clone(skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_FALSE(test, mxe_gso_can_split(skb, sizeof(struct iphdr)));
	kfree_skb(other);
	KUNIT_ASSERT_TRUE(test, mxe_gso_can_split(skb, sizeof(struct iphdr)));
	mxe_gso_split(skb);
	expect_packets(test, skb, KT_SQ_PSN);
	kfree_skb_list(skb);
}

static void gso_segmented(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	/* The features of a network card. The stack segments the batch. */
	struct ib_mr *mr = connect(kt, NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_GSO);
	struct sk_buff *list = NULL, *skb;

	post_write(kt, mr);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_sent_gso_batches), 1ULL);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), (unsigned int)PKTS);
	while ((skb = skb_dequeue_tail(&kt->sent))) {
		skb->next = list;
		list = skb;
	}
	expect_packets(test, list, KT_SQ_PSN);
	kfree_skb_list(list);
}

/* Adds a packet with some bytes behind the UDP header. */
static void add_packet(struct kunit *test, struct mxe_gso *gso, unsigned int len)
{
	const unsigned int hdrs = sizeof(struct iphdr) + sizeof(struct udphdr);
	struct sk_buff *skb = alloc_skb(hdrs + len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reset_network_header(skb);
	skb_put_zero(skb, sizeof(struct iphdr));
	skb_set_transport_header(skb, skb->len);
	skb_put_zero(skb, sizeof(struct udphdr) + len);
	mxe_gso_add(gso, skb);
}

/*
 * A packet longer than the first one does not fit into the batch. No second
 * packet fits if the netdev or the module does not allow batches.
 */
static void gso_ends(struct kunit *test)
{
	const netdev_features_t either = NETIF_F_GSO | NETIF_F_GSO_FRAGLIST;
	static const unsigned int lens[] = { 100, 100, 60, 104, 100 };
	struct net_device *ndev = kt_of(test)->ndev;
	struct mxe_gso gso = {};
	struct sk_buff *skb;
	unsigned int i;

	ndev->features |= NETIF_F_GSO_FRAGLIST;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		KUNIT_EXPECT_EQ(test, mxe_gso_has_room(&gso, ndev, lens[i]),
				lens[i] <= 100);
		if (lens[i] <= 100)
			add_packet(test, &gso, lens[i]);
	}
	KUNIT_EXPECT_EQ(test, gso.num_pkts, 4U);
	ndev->features &= ~either;
	KUNIT_EXPECT_FALSE(test, mxe_gso_has_room(&gso, ndev, 1));
	ndev->features |= NETIF_F_GSO;
	KUNIT_EXPECT_TRUE(test, mxe_gso_has_room(&gso, ndev, 1));
	ndev->features ^= either;
	KUNIT_EXPECT_TRUE(test, mxe_gso_has_room(&gso, ndev, 1));
	mxe_gso_enabled = false;
	KUNIT_EXPECT_FALSE(test, mxe_gso_has_room(&gso, ndev, 1));
	mxe_gso_enabled = true;

	skb = mxe_gso_take(&gso);
	KUNIT_EXPECT_EQ(test, skb->len, 28U + 100 + 100 + 60 + 100);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_size, 100);
	KUNIT_EXPECT_NULL(test, mxe_gso_take(&gso));
	kfree_skb(skb);
}

/*
 * A batch has at most MXE_GSO_PKTS packets, and at most the length that fits
 * into an IP packet.
 */
static void gso_is_full(struct kunit *test)
{
	static const struct {
		unsigned int len, pkts;
		unsigned int room;	/* after these packets */
	} rows[] = {
		{ 100, MXE_GSO_PKTS, 0 },
		{ 8000, 8, IP_MAX_MTU - (28 + 8 * 8000) },
	};
	struct net_device *ndev = kt_of(test)->ndev;
	struct mxe_gso gso = {};
	unsigned int i, n;

	ndev->features |= NETIF_F_GSO_FRAGLIST;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (n = 0; n < rows[i].pkts; n++) {
			KUNIT_EXPECT_TRUE(test, mxe_gso_has_room(&gso, ndev, rows[i].len));
			add_packet(test, &gso, rows[i].len);
		}
		if (rows[i].room)
			KUNIT_EXPECT_TRUE(test, mxe_gso_has_room(&gso, ndev, rows[i].room));
		KUNIT_EXPECT_FALSE(test, mxe_gso_has_room(&gso, ndev, rows[i].room + 1));
		kfree_skb(mxe_gso_take(&gso));
	}
}

static struct kunit_case gso_cases[] = {
	KUNIT_CASE(gso_split),
	KUNIT_CASE(gso_segmented),
	KUNIT_CASE(gso_ends),
	KUNIT_CASE(gso_is_full),
	{}
};

static struct kunit_suite gso_suite = {
	.name = "mxe_gso",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = gso_cases,
};

kunit_test_suite(gso_suite);
