// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the buffers of sent packets do not overlap, that their pages are
 * reused, and that a received buffer is reused in the state of a new one, for
 * its response or later.
 */
#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/gfp.h>
#include <linux/if_vlan.h>
#include <linux/mm.h>
#include <linux/skbuff.h>

#include "skb.h"

/* More buffers than fit into the chunks at a time. */
#define MANY	200
#define LONG	4300
#define BURST	64

static void free_all(struct sk_buff **skbs)
{
	int i;

	for (i = 0; i < MANY; i++)
		consume_skb(skbs[i]);
}

static void buffers_are_apart(struct kunit *test)
{
	/* The last is too long for a chunk. */
	static const size_t sizes[] = { 60, LONG, 1023, 1500, 703, 9000, 40000 };
	struct sk_buff **skbs = kunit_kcalloc(test, MANY, sizeof(*skbs),
					      GFP_KERNEL);
	int i, missing = 0, wrong = 0;

	KUNIT_ASSERT_NOT_NULL(test, skbs);
	local_bh_disable();
	for (i = 0; i < MANY; i++) {
		size_t size = sizes[i % ARRAY_SIZE(sizes)];

		skbs[i] = mxe_skb_alloc(size);
		if (!skbs[i] || skb_tailroom(skbs[i]) < size)
			missing++;
		else
			memset(skb_put(skbs[i], size), i, size);
	}
	for (i = 0; i < MANY; i++)
		if (skbs[i] && memchr_inv(skbs[i]->data, i, skbs[i]->len))
			wrong++;
	free_all(skbs);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, missing, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Allocates a burst of buffers, records the page of each, and frees them. */
static int use_burst(struct page **pages)
{
	struct sk_buff *skbs[BURST];
	int i, missing = 0;

	for (i = 0; i < BURST; i++) {
		skbs[i] = mxe_skb_alloc(LONG);
		pages[i] = skbs[i] ? virt_to_head_page(skbs[i]->head) : NULL;
		missing += !skbs[i];
	}
	for (i = 0; i < BURST; i++)
		consume_skb(skbs[i]);
	return missing;
}

static bool is_one_of(const struct page *page, struct page *const *pages, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (pages[i] == page)
			return true;
	return false;
}

/*
 * After two bursts, buffers no longer come from the page allocator, which would
 * clear them. Pages that had been returned to it could belong to something else
 * by then.
 */
static void buffers_come_again(struct kunit *test)
{
	const unsigned int order = get_order(32768);
	struct page **pages = kunit_kcalloc(test, 4 * BURST, sizeof(*pages),
					    GFP_KERNEL);
	struct page *others[32];
	int i, missing = 0, fresh = 0;

	KUNIT_ASSERT_NOT_NULL(test, pages);
	local_bh_disable();
	for (i = 0; i < 2; i++)
		missing += use_burst(pages + i * BURST);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		others[i] = alloc_pages(GFP_ATOMIC, order);
	for (i = 2; i < 4; i++)
		missing += use_burst(pages + i * BURST);
	local_bh_enable();
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i])
			__free_pages(others[i], order);
	for (i = 2 * BURST; i < 4 * BURST; i++)
		fresh += !is_one_of(pages[i], pages, 2 * BURST);
	KUNIT_EXPECT_EQ(test, missing, 0);
	KUNIT_EXPECT_EQ(test, fresh, 0);
}

static struct sk_buff *received(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, NET_SKB_PAD);
	skb_put_zero(skb, 100);
	return skb;
}

/*
 * A reused buffer keeps no receive state: neither the list pointers, which the
 * UDP layer leaves in the packets of a GSO batch, nor any state that the netdev
 * set.
 */
static void skb_reused(struct kunit *test)
{
	struct sk_buff *skb = received(test), *old = skb, *fresh;
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	const bool head_frag = skb->head_frag;

	skb->next = skb;
	skb->prev = skb;
	__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), 5);
	__skb_set_sw_hash(skb, 0x1234, true);
	skb_record_rx_queue(skb, 2);
	skb->tstamp = 1;
	skb->mark = 2;
	skb->priority = 3;
	skb->pkt_type = PACKET_OTHERHOST;
	skb->encapsulation = 1;
	shinfo->tx_flags = SKBTX_HW_TSTAMP;
	shinfo->gso_size = 100;
	shinfo->hwtstamps.hwtstamp = 1;
	skb_metadata_set(skb, 4);
	local_bh_disable();
	skb = mxe_skb_reuse(&old, 200);
	fresh = alloc_skb(200, GFP_ATOMIC);
	local_bh_enable();
	KUNIT_ASSERT_NULL(test, old);
	KUNIT_ASSERT_NOT_NULL(test, fresh);
	KUNIT_EXPECT_PTR_EQ(test, skb->data, skb->head);
	KUNIT_EXPECT_GE(test, skb_tailroom(skb), 200);
	KUNIT_EXPECT_EQ(test, (int)skb->head_frag, (int)head_frag);
	/*
	 * Equal to a new buffer of the same memory, except for the CPU that
	 * allocated it.
	 */
	fresh->head_frag = skb->head_frag;
	fresh->alloc_cpu = skb->alloc_cpu;
	KUNIT_EXPECT_EQ(test, memcmp(skb, fresh, offsetof(struct sk_buff, tail)),
			0);
	KUNIT_EXPECT_EQ(test, memcmp(skb_shinfo(skb), skb_shinfo(fresh),
				     offsetof(struct skb_shared_info, dataref)), 0);
	consume_skb(skb);
	consume_skb(fresh);
}

/* A buffer that cannot be reused stays unchanged, and a new one is returned. */
static void expect_other(struct kunit *test, struct sk_buff *old, size_t size)
{
	struct sk_buff *const was = old;
	struct sk_buff *skb;

	local_bh_disable();
	skb = mxe_skb_reuse(&old, size);
	KUNIT_EXPECT_PTR_EQ(test, old, was);
	KUNIT_EXPECT_EQ(test, was->len, 100U);
	KUNIT_EXPECT_NOT_NULL(test, skb);
	KUNIT_EXPECT_PTR_NE(test, skb, was);
	KUNIT_EXPECT_GE(test, (size_t)skb_tailroom(skb), size);
	consume_skb(skb);
	local_bh_enable();
}

static void skb_not_reused(struct kunit *test)
{
	struct sk_buff *skb = received(test), *clone;

	expect_other(test, skb, skb_end_offset(skb) + 1);
	skb_get(skb);
	expect_other(test, skb, 200);
	consume_skb(skb);
	clone = skb_clone(skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, clone);
	expect_other(test, skb, 200);
	expect_other(test, clone, 200);
	consume_skb(clone);
	/* A fast clone would share an allocation with the sk_buff. */
	skb->fclone = SKB_FCLONE_ORIG;
	expect_other(test, skb, 200);
	skb->fclone = SKB_FCLONE_UNAVAILABLE;
	skb->pfmemalloc = 1;
	expect_other(test, skb, 200);
	skb->pfmemalloc = 0;
	skb->data_len = 1;
	expect_other(test, skb, 200);
	skb->data_len = 0;

	/* With all of this undone, the buffer is reused. */
	local_bh_disable();
	clone = skb;
	skb = mxe_skb_reuse(&clone, 200);
	local_bh_enable();
	KUNIT_EXPECT_NULL(test, clone);
	consume_skb(skb);
}

/* Takes all spare buffers of this CPU.  Context: BHs disabled. */
static void drain_spares(void)
{
	int i;

	for (i = 0; i < MANY; i++)
		kfree_skb(mxe_skb_alloc(1));
}

/*
 * Consumes a packet and allocates another. With @kept, that is the same memory
 * in the state of a new buffer.
 */
static void expect_spare(struct kunit *test, struct sk_buff *skb, size_t size,
			 bool kept, const char *what)
{
	const u8 *head = skb->head;

	mxe_skb_consume(skb);
	skb = mxe_skb_alloc(size);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ_MSG(test, skb->head == head, kept, "%s", what);
	KUNIT_EXPECT_PTR_EQ(test, skb->data, skb->head);
	KUNIT_EXPECT_NULL(test, skb->next);
	KUNIT_EXPECT_EQ(test, skb->len, 0U);
	KUNIT_EXPECT_EQ(test, skb->mark, 0U);
	KUNIT_EXPECT_EQ(test, skb->truesize, (unsigned int)SKB_TRUESIZE(skb_end_offset(skb)));
	KUNIT_EXPECT_GE(test, (size_t)skb_tailroom(skb), size);
	kfree_skb(skb);
	drain_spares();
}

static struct sk_buff *sent(struct kunit *test, size_t size)
{
	struct sk_buff *skb = mxe_skb_alloc(size);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put(skb, 100);
	skb->mark = 1;
	skb->truesize += 100;
	return skb;
}

static void skb_kept(struct kunit *test)
{
	struct sk_buff *skb, *other;

	local_bh_disable();
	drain_spares();
	expect_spare(test, sent(test, 200), 200, true, "a short packet");
	expect_spare(test, sent(test, 200), 500, false, "a packet that is too short");
	expect_spare(test, sent(test, LONG), 200, false, "a long packet");
	skb = alloc_skb(200, GFP_ATOMIC);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	expect_spare(test, skb, 200, false, "a packet of the slab allocator");
	skb = sent(test, 200);
	skb->pp_recycle = 1;
	expect_spare(test, skb, 200, false, "a packet of a page pool");
	skb = skb_get(sent(test, 200));
	expect_spare(test, skb, 200, false, "a shared packet");
	kfree_skb(skb);
	skb = sent(test, 200);
	other = skb_clone(skb, GFP_ATOMIC);
	KUNIT_ASSERT_NOT_NULL(test, other);
	expect_spare(test, skb, 200, false, "a cloned packet");
	kfree_skb(other);
	local_bh_enable();
}

/* At most 16 packets are kept, of 20, which come from one or two chunks. */
static void skb_kept_limit(struct kunit *test)
{
	const u8 *heads[20];
	struct sk_buff *skbs[20];
	int i, j, kept = 0;

	local_bh_disable();
	drain_spares();
	for (i = 0; i < 20; i++) {
		skbs[i] = sent(test, 200);
		heads[i] = skbs[i]->head;
	}
	for (i = 0; i < 20; i++)
		mxe_skb_consume(skbs[i]);
	for (i = 0; i < 20; i++)
		skbs[i] = sent(test, 200);
	for (i = 0; i < 20; i++)
		for (j = 0; j < 20; j++)
			kept += skbs[i]->head == heads[j];
	for (i = 0; i < 20; i++)
		kfree_skb(skbs[i]);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, kept, 16);
}

static struct kunit_case buffer_cases[] = {
	KUNIT_CASE(skb_reused),
	KUNIT_CASE(skb_not_reused),
	KUNIT_CASE(skb_kept),
	KUNIT_CASE(skb_kept_limit),
	KUNIT_CASE(buffers_are_apart),
	KUNIT_CASE(buffers_come_again),
	{}
};

static struct kunit_suite buffer_suite = {
	.name = "mxe_skb",
	.test_cases = buffer_cases,
};

kunit_test_suite(buffer_suite);
