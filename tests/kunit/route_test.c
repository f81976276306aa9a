// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the route caches of QPs. */
#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <net/net_namespace.h>
#include <net/route.h>

#include "route.h"

/* Returns the cached route, without a reference. */
static struct dst_entry *cached(struct dst_cache *cache)
{
	struct dst_entry *dst;

	local_bh_disable();
	dst = dst_cache_get(cache);
	local_bh_enable();
	dst_release(dst);
	return dst;
}

static void keep(struct dst_cache *cache, struct dst_entry *dst)
{
	local_bh_disable();
	dst_cache_set_ip4(cache, dst, htonl(INADDR_LOOPBACK));
	local_bh_enable();
}

/*
 * The cache keeps routes already in the jiffy in which it is made or reset, if
 * the test is fast enough to see that, and a reset removes the route.
 */
static void route_cache_is_used_at_once(struct kunit *test)
{
	struct rtable *rt[2];
	struct dst_cache cache;
	int i;

	for (i = 0; i < 2; i++)
		rt[i] = rt_dst_alloc(init_net.loopback_dev, RTCF_LOCAL, RTN_LOCAL, false);
	if (rt[0] && rt[1] && !mxe_route_cache_init(&cache, GFP_KERNEL)) {
		KUNIT_EXPECT_NULL(test, cached(&cache));
		keep(&cache, &rt[0]->dst);
		KUNIT_EXPECT_PTR_EQ(test, cached(&cache), &rt[0]->dst);
		mxe_route_cache_reset(&cache);
		KUNIT_EXPECT_NULL(test, cached(&cache));
		keep(&cache, &rt[1]->dst);
		KUNIT_EXPECT_PTR_EQ(test, cached(&cache), &rt[1]->dst);
		dst_cache_destroy(&cache);
	} else {
		KUNIT_FAIL(test, "no memory");
	}
	for (i = 0; i < 2; i++)
		if (rt[i])
			dst_release(&rt[i]->dst);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(route_cache_is_used_at_once),
	{}
};

static struct kunit_suite suite = {
	.name = "mxe_route",
	.test_cases = cases,
};

kunit_test_suite(suite);
