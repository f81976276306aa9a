// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that a DC target (dct.c) opens a session only with a token, and not
 * again after it was reset, and that the initiators it remembers and the
 * sessions of its device are limited.  Beyond the limits nothing changes, and
 * initiators are asked to wait.  A scan ends although another one forgets
 * initiators.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/timekeeping.h>

#include "dc/dc.h"
#include "dc/dct.h"
#include "harness.h"
#include "resource.h"

#define DCT_KEY	0x1122334455667788ULL

static void dct_create(struct kt *kt)
{
	kt_create_srq(kt, 4);
	kt_create_qp(kt);
	KUNIT_ASSERT_EQ(kt->test, kt_modify(kt, IB_QPS_INIT, &kt_default_conn), 0);
	KUNIT_ASSERT_EQ(kt->test, kt_modify(kt, IB_QPS_RTR, &kt_default_conn), 0);
	/* The QP frees the target. */
	KUNIT_ASSERT_EQ(kt->test, mxe_dct_create(kt->qp, DCT_KEY), 0);
	mxe_dct_update(kt->qp);
}

/* Returns true if a request of the peer is executed. */
static bool dct_request(struct kt *kt, bool connect, u32 session, u64 token)
{
	const struct mxe_dc_hdr hdr = {
		.connect = connect,
		.qpn = KT_PEER_QPN,
		.session = session,
		.token = token,
		.key = DCT_KEY,
		.mtu = IB_MTU_256,
		.life = 1000,
	};
	const u8 bth[sizeof(struct mxe_bth)] = {};
	struct sk_buff *skb = kt_skb(kt, bth, sizeof(bth), KT_GOOD);
	bool accepted;

	local_bh_disable();
	rcu_read_lock();
	accepted = mxe_dct_find(kt->qp, &hdr, skb);
	rcu_read_unlock();
	local_bh_enable();
	kfree_skb(skb);
	return accepted;
}

/* Returns true if a request of the peer to open a session is accepted. */
static bool dct_connect(struct kt *kt, u32 session, u64 token)
{
	return dct_request(kt, true, session, token);
}

static struct mxe_dc_hdr dct_answer(struct kt *kt)
{
	struct test_pkt pkt = kt_sent(kt);
	struct mxe_dc_hdr hdr = {};

	KUNIT_EXPECT_TRUE(kt->test, mxe_dc_parse(&pkt.pkt, &hdr));
	kt_expect_nothing(kt);
	return hdr;
}

/* Returns the token of the peer for a session. */
static u64 dct_token(struct kt *kt, u32 session)
{
	struct mxe_dc_hdr hdr;

	KUNIT_EXPECT_FALSE(kt->test, dct_connect(kt, session, 0));
	hdr = dct_answer(kt);
	KUNIT_EXPECT_EQ(kt->test, hdr.code, MXE_DC_CHALLENGE);
	KUNIT_EXPECT_NE(kt->test, hdr.token, 0ULL);
	return hdr.token;
}

static void dct_expect_info(struct kt *kt, u32 num_open, u32 num_known)
{
	struct mxe_dct_info info;

	mxe_dct_query(kt->qp, &info);
	KUNIT_EXPECT_EQ(kt->test, info.num_open, num_open);
	KUNIT_EXPECT_EQ(kt->test, info.num_known, num_known);
}

static void dct_expect_busy(struct kt *kt)
{
	KUNIT_EXPECT_EQ(kt->test, dct_answer(kt).code, MXE_DC_BUSY);
	KUNIT_EXPECT_EQ(kt->test, kt_counter(kt, MXE_CNT_dc_busy), 1ULL);
	KUNIT_EXPECT_EQ_MSG(kt->test, kt_counter(kt, MXE_CNT_refused_verbs), 0ULL,
			    "a packet is no verb");
}

/* Adds initiators that do not exist. */
static void dct_pretend_peers(struct kt *kt, int add)
{
	struct mxe_dct *dct = to_mdct(kt->qp);

	spin_lock_bh(&dct->lock);
	dct->num_peers += add;
	spin_unlock_bh(&dct->lock);
}

static void dct_asks_for_token(struct kunit *test)
{
	static const u64 wrong[] = { BIT_ULL(0), BIT_ULL(31), BIT_ULL(32), BIT_ULL(63) };
	struct kt *kt = kt_of(test);
	u64 token;
	int i;

	dct_create(kt);
	token = dct_token(kt, 1);
	KUNIT_EXPECT_NE_MSG(test, token >> 32, 0ULL, "tokens have 64 bits");
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		KUNIT_EXPECT_FALSE(test, dct_connect(kt, 1, token ^ wrong[i]));
		KUNIT_EXPECT_EQ(test, dct_answer(kt).code, MXE_DC_CHALLENGE);
	}
	KUNIT_EXPECT_FALSE_MSG(test, dct_connect(kt, 2, token), "of another session");
	KUNIT_EXPECT_EQ(test, dct_answer(kt).code, MXE_DC_CHALLENGE);
	dct_expect_info(kt, 0, 0);

	KUNIT_EXPECT_TRUE(test, dct_connect(kt, 1, token));
	dct_expect_info(kt, 1, 1);
	kt_expect_nothing(kt);
}

/* The answer is not longer than the shortest request. */
static void dct_answers_no_session(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct mxe_dc_hdr hdr;
	struct test_pkt pkt;

	dct_create(kt);
	KUNIT_EXPECT_FALSE(test, dct_request(kt, false, 1, 0));
	pkt = kt_sent(kt);
	KUNIT_EXPECT_TRUE(test, mxe_dc_parse(&pkt.pkt, &hdr));
	KUNIT_EXPECT_EQ(test, hdr.code, MXE_DC_NO_SESSION);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 0U);
	kt_expect_nothing(kt);
}

static void dct_limits_initiators(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	u64 token;

	dct_create(kt);
	token = dct_token(kt, 1);
	dct_pretend_peers(kt, MXE_DCT_MAX_PEERS);
	KUNIT_EXPECT_FALSE(test, dct_connect(kt, 1, token));
	dct_expect_busy(kt);
	dct_expect_info(kt, 0, MXE_DCT_MAX_PEERS);

	/* There is room for one. */
	dct_pretend_peers(kt, -1);
	KUNIT_EXPECT_TRUE(test, dct_connect(kt, 1, token));
	dct_expect_info(kt, 1, MXE_DCT_MAX_PEERS);
	/* An initiator that is known needs no room. */
	KUNIT_EXPECT_TRUE(test, dct_connect(kt, 2, 0));
	dct_expect_info(kt, 1, MXE_DCT_MAX_PEERS);
	dct_pretend_peers(kt, 1 - MXE_DCT_MAX_PEERS);
}

static void dct_limits_sessions(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	atomic_t *sessions = &kt->dev->resources[MXE_RESOURCE_DC_SESSION];
	u64 token;

	dct_create(kt);
	token = dct_token(kt, 1);
	atomic_add(MXE_MAX_DC_SESSIONS, sessions);
	KUNIT_EXPECT_FALSE(test, dct_connect(kt, 1, token));
	dct_expect_busy(kt);
	dct_expect_info(kt, 0, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(sessions), MXE_MAX_DC_SESSIONS);

	atomic_dec(sessions);
	KUNIT_EXPECT_TRUE(test, dct_connect(kt, 1, token));
	dct_expect_info(kt, 1, 1);
	atomic_sub(MXE_MAX_DC_SESSIONS - 1, sessions);
}

/* A demand for a token tells for how long no other target had the number. */
static void dct_tells_age(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct mxe_netns *mnet = kt->dev->mnet;
	u64 before = ktime_get_boottime_ns(), age;

	dct_create(kt);
	KUNIT_EXPECT_FALSE(test, dct_connect(kt, 1, 0));
	age = dct_answer(kt).age;
	KUNIT_EXPECT_LE(test, age, ktime_get_boottime_ns() - mnet->created);
	KUNIT_EXPECT_GE(test, age, before - mnet->created);
}

/* ... which is not known once the numbers have wrapped. */
static void dct_tells_age_after_wrap(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct mxe_netns *mnet = kt->dev->mnet;
	u64 before = ktime_get_boottime_ns(), age;
	bool reuses = mnet->reuses_qpns;

	mnet->next_qpn = MXE_BTH_QPN_MASK;
	dct_create(kt);
	KUNIT_EXPECT_TRUE(test, mnet->reuses_qpns);
	mnet->reuses_qpns = reuses;
	msleep(20);
	/* The age does not change with the state. */
	mxe_dct_update(kt->qp);
	KUNIT_EXPECT_FALSE(test, dct_connect(kt, 1, 0));
	age = dct_answer(kt).age;
	KUNIT_EXPECT_LE(test, age, ktime_get_boottime_ns() - before);
	KUNIT_EXPECT_GE(test, age, 20 * (u64)NSEC_PER_MSEC);
}

/* A target that was reset refuses the sessions that it has accepted before. */
static void dct_remembers_after_reset(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct mxe_dc_hdr answer;

	dct_create(kt);
	KUNIT_EXPECT_TRUE(test, dct_connect(kt, 5, dct_token(kt, 5)));
	kt->qp->state = IB_QPS_RESET;
	mxe_dct_update(kt->qp);
	dct_expect_info(kt, 0, 1);
	KUNIT_EXPECT_FALSE(test, dct_connect(kt, 5, 0));
	kt_expect_nothing(kt);
	kt->qp->state = IB_QPS_RTR;
	mxe_dct_update(kt->qp);
	KUNIT_EXPECT_FALSE(test, dct_connect(kt, 5, 0));
	answer = dct_answer(kt);
	KUNIT_EXPECT_EQ(test, answer.code, MXE_DC_STALE);
	KUNIT_EXPECT_EQ(test, answer.token, 5ULL);
	KUNIT_EXPECT_TRUE(test, dct_connect(kt, 6, 0));
	dct_expect_info(kt, 1, 1);
}

/* Another scan may forget peers while one runs.  These peers are in no list. */
static void dct_scan_ends(struct kunit *test)
{
	struct kt *kt = kt_of(test);

	dct_create(kt);
	dct_pretend_peers(kt, 1);
	KUNIT_EXPECT_EQ(test, kt_modify(kt, IB_QPS_RESET, &kt_default_conn), 0);
	dct_expect_info(kt, 0, 1);
	dct_pretend_peers(kt, -1);
}

static struct kunit_case dct_cases[] = {
	KUNIT_CASE(dct_asks_for_token),
	KUNIT_CASE(dct_answers_no_session),
	KUNIT_CASE(dct_tells_age),
	KUNIT_CASE(dct_tells_age_after_wrap),
	KUNIT_CASE(dct_remembers_after_reset),
	KUNIT_CASE(dct_limits_initiators),
	KUNIT_CASE(dct_limits_sessions),
	KUNIT_CASE(dct_scan_ends),
	{}
};

static struct kunit_suite dct_suite = {
	.name = "mxe_dct",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = dct_cases,
};

kunit_test_suite(dct_suite);
