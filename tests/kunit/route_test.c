// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the routes that QPs keep. */
#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <net/net_namespace.h>
#include <net/route.h>

#include "ip/route.h"
#include "mxe.h"
#include "netns.h"

struct route_ctx {
	struct mxe_netns mnet;
	struct mxe_dev dev;
	struct mxe_av av;
	struct mxe_route kept;
};

/* Gets the route of a packet, and returns it without the reference. */
static struct dst_entry *get(struct route_ctx *ctx)
{
	struct dst_entry *dst;

	local_bh_disable();
	dst = mxe_route_get(&ctx->dev, &ctx->av, &ctx->kept);
	if (!IS_ERR(dst))
		dst_release(dst);
	local_bh_enable();
	return dst;
}

/* A kept route is used while it is valid, and not if it is not. */
static void route_is_kept_while_valid(struct kunit *test)
{
	struct rtable *rt = rt_dst_alloc(init_net.loopback_dev, RTCF_LOCAL,
					 RTN_LOCAL, false);
	struct route_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct dst_entry *next;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, rt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ctx);
	ctx->mnet.net = &init_net;
	ctx->dev.mnet = &ctx->mnet;
	ctx->av = (struct mxe_av) {
		.valid = true,
		.is_ipv4 = true,
		.v4.daddr = htonl(INADDR_LOOPBACK),
	};
	dst_hold(&rt->dst);
	ctx->kept.dst = &rt->dst;
	KUNIT_EXPECT_PTR_EQ(test, get(ctx), &rt->dst);
	KUNIT_EXPECT_PTR_EQ(test, get(ctx), &rt->dst);

	rt->dst.obsolete = DST_OBSOLETE_DEAD;
	next = get(ctx);
	KUNIT_EXPECT_PTR_NE(test, next, &rt->dst);
	/* Without a route, the lookup fails each time. */
	if (!IS_ERR(next)) {
		KUNIT_EXPECT_PTR_EQ(test, ctx->kept.dst, next);
		KUNIT_EXPECT_PTR_EQ(test, get(ctx), next);
	}
	mxe_route_forget(&ctx->kept);
	KUNIT_EXPECT_NULL(test, ctx->kept.dst);
	dst_release(&rt->dst);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(route_is_kept_while_valid),
	{}
};

static struct kunit_suite suite = {
	.name = "mxe_route",
	.test_cases = cases,
};

kunit_test_suite(suite);
