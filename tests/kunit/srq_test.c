// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that QPs take receive requests from an SRQ, which can run empty and
 * raises its events.
 */
#include <kunit/test.h>

#include "harness.h"
#include "memory/mr.h"
#include "queues/srq.h"

static struct ib_mr *srq_begin(struct kt *kt)
{
	kt_create_srq(kt, 4);
	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	return kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
}

static int srq_post(struct kt *kt, struct ib_mr *mr, u64 wr_id)
{
	struct ib_sge sge = {
		.addr = kt_va(mr, wr_id * 16), .length = 16, .lkey = mr->lkey,
	};
	const struct ib_recv_wr *bad;
	struct ib_recv_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
	};

	return ib_post_srq_recv(kt->srq, &wr, &bad);
}

static void srq_send(struct kt *kt, u32 psn)
{
	struct test_pkt out = kt_pkt(kt, KT_SEND_ONLY, psn);

	out.payload_len = 16;
	kt_inject(kt, &out);
}

static void srq_takes(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = srq_begin(kt);
	struct ib_recv_wr wr = {};
	u64 i;

	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, srq_post(kt, mr, i), 0);
	KUNIT_EXPECT_EQ(test, srq_post(kt, mr, 4), -ENOMEM);
	/* The QP has no receive queue of its own. */
	KUNIT_EXPECT_EQ(test, ib_post_recv(kt->qp->ibqp, &wr, NULL), -EINVAL);
	for (i = 0; i < 4; i++) {
		srq_send(kt, KT_RQ_PSN + i);
		kt_expect_ack(kt, KT_RQ_PSN + i, KT_ACK, i + 1);
		kt_expect_wc(kt, kt->recv_cq, i, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, kt->mem[i * 16], 1);
	}

	/*
	 * The SRQ is empty, so the QP sends an RNR NAK until a request is
	 * posted.
	 */
	srq_send(kt, KT_RQ_PSN + 4);
	kt_expect_ack(kt, KT_RQ_PSN + 4, MXE_AETH_RNR_NAK | 7, 4);
	KUNIT_EXPECT_EQ(test, srq_post(kt, mr, 5), 0);
	srq_send(kt, KT_RQ_PSN + 4);
	kt_expect_ack(kt, KT_RQ_PSN + 4, KT_ACK, 5);
	kt_expect_wc(kt, kt->recv_cq, 5, IB_WC_SUCCESS);
}

static void srq_limit(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = srq_begin(kt);
	struct ib_srq_attr attr = { .srq_limit = 2 };
	u64 i;

	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, srq_post(kt, mr, i), 0);
	KUNIT_EXPECT_EQ(test, ib_modify_srq(kt->srq, &attr, IB_SRQ_LIMIT), 0);
	srq_send(kt, KT_RQ_PSN);
	srq_send(kt, KT_RQ_PSN + 1);
	KUNIT_EXPECT_FALSE(test, test_bit(IB_EVENT_SRQ_LIMIT_REACHED,
					  &kt->events));
	srq_send(kt, KT_RQ_PSN + 2);
	KUNIT_EXPECT_TRUE(test, test_and_clear_bit(IB_EVENT_SRQ_LIMIT_REACHED,
						   &kt->events));
	/* The event is raised once, until the limit is armed again. */
	srq_send(kt, KT_RQ_PSN + 3);
	KUNIT_EXPECT_FALSE(test, test_bit(IB_EVENT_SRQ_LIMIT_REACHED,
					  &kt->events));
	KUNIT_EXPECT_EQ(test, ib_query_srq(kt->srq, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.srq_limit, 0U);
	attr.srq_limit = 5;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(kt->srq, &attr, IB_SRQ_LIMIT),
			-EINVAL);
}

/* In ERR the QP takes no requests. The remaining ones are for other QPs. */
static void srq_last(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = srq_begin(kt);

	KUNIT_EXPECT_EQ(test, srq_post(kt, mr, 1), 0);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_ERR, &kt_default_conn), 0);
	kt_settle(kt);
	KUNIT_EXPECT_TRUE(test, test_and_clear_bit(IB_EVENT_QP_LAST_WQE_REACHED,
						   &kt->events));
	kt_expect_no_wc(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, mxe_rq_filled(&to_msrq(kt->srq)->q), 1U);
	/* The event is raised once. */
	mxe_qp_kick(kt->qp);
	kt_settle(kt);
	KUNIT_EXPECT_FALSE(test, test_bit(IB_EVENT_QP_LAST_WQE_REACHED,
					  &kt->events));
}

/* The request of a message that has begun is flushed. */
static void srq_flush_current(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = srq_begin(kt);
	struct test_pkt out = kt_pkt(kt, KT_SEND_FIRST, KT_RQ_PSN);
	struct ib_sge sge = {
		.addr = kt_va(mr, 0), .length = 1000, .lkey = mr->lkey,
	};
	struct ib_recv_wr wr = { .wr_id = 7, .sg_list = &sge, .num_sge = 1 };

	KUNIT_EXPECT_EQ(test, ib_post_srq_recv(kt->srq, &wr, NULL), 0);
	out.payload_len = KT_MTU;
	kt_inject(kt, &out);
	kt_expect_no_wc(kt, kt->recv_cq);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_ERR, &kt_default_conn), 0);
	kt_settle(kt);
	kt_expect_wc(kt, kt->recv_cq, 7, IB_WC_WR_FLUSH_ERR);
	kt_drop_sent(kt);
}

/* The keys in its requests must be of the PD of the SRQ, not of the QP. */
static void srq_own_domain(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.srq_type = IB_SRQT_BASIC,
	};
	struct ib_mr *mr, *other;

	kt->srq = ib_create_srq(kt->other_pd, &init);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kt->srq);
	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	mr = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	other = kt_reg(kt, kt->other_pd, IB_ACCESS_LOCAL_WRITE);
	KUNIT_EXPECT_EQ(test, srq_post(kt, other, 1), 0);
	KUNIT_EXPECT_EQ(test, srq_post(kt, mr, 2), 0);
	srq_send(kt, KT_RQ_PSN);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	kt_expect_wc(kt, kt->recv_cq, 1, IB_WC_SUCCESS);
	srq_send(kt, KT_RQ_PSN + 1);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_NAK_OP, 1);
	kt_settle(kt);
	kt_expect_wc(kt, kt->recv_cq, 2, IB_WC_LOC_PROT_ERR);
}

/* The producer index is invalid, which only a process can cause. */
static void srq_error(struct kunit *test)
{
	struct kt *kt = kt_of(test);

	srq_begin(kt);
	to_msrq(kt->srq)->q.posted = 5;
	srq_send(kt, KT_RQ_PSN);
	kt_expect_ack(kt, KT_RQ_PSN, KT_NAK_OP, 0);
	kt_settle(kt);
	KUNIT_EXPECT_TRUE(test, test_bit(IB_EVENT_SRQ_ERR, &kt->events));
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_ERR);
	kt_expect_no_wc(kt, kt->recv_cq);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(srq_takes),
	KUNIT_CASE(srq_limit),
	KUNIT_CASE(srq_last),
	KUNIT_CASE(srq_flush_current),
	KUNIT_CASE(srq_own_domain),
	KUNIT_CASE(srq_error),
	{}
};

static struct kunit_suite srq_suite = {
	.name = "mxe_srq",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = srq_cases,
};

kunit_test_suite(srq_suite);
