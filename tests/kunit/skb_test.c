// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the buffers of sent packets do not overlap, and that their pages
 * are reused.
 */
#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/skbuff.h>

#include "fast/skb.h"

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

static struct kunit_case buffer_cases[] = {
	KUNIT_CASE(buffers_are_apart),
	KUNIT_CASE(buffers_come_again),
	{}
};

static struct kunit_suite buffer_suite = {
	.name = "mxe_skb",
	.test_cases = buffer_cases,
};

kunit_test_suite(buffer_suite);
