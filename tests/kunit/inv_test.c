// SPDX-License-Identifier: GPL-2.0
/*
 * Proves which keys a SEND with invalidate may invalidate, in both directions,
 * which results the receiver and the peer get, also while a request uses the
 * region, and that a LOCAL_INV of an invalid region succeeds.
 */
#include <kunit/test.h>

#include "harness.h"
#include "memory/mr.h"
#include "memory/rkey.h"
#include "queues/cq.h"
#include "wire/psn.h"

#define RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ)

static struct test_pkt send_inv(struct kt *kt, u32 psn, u32 key)
{
	struct test_pkt out =
		kt_pkt(kt, IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE, psn);

	out.payload_len = 8;
	out.inv_rkey = key;
	return out;
}

static bool is_valid(struct kt *kt, u32 key)
{
	struct mxe_mr *mr = mxe_mr_get(kt->dev, key, NULL);

	if (mr)
		mxe_mr_put(mr);
	return mr;
}

static void inv_remote(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *buf, *mr;
	struct test_pkt out;
	struct ib_wc wc;

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	buf = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	mr = kt_reg(kt, kt->pd, RIGHTS);
	kt_post_recv(kt, 5, buf, 0, 8);
	out = send_inv(kt, KT_RQ_PSN, mr->rkey);
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	wc = kt_poll(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)wc.opcode, (int)IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, (int)IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, wc.ex.invalidate_rkey, mr->rkey);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 8U);
	KUNIT_EXPECT_FALSE(test, is_valid(kt, mr->rkey));
	KUNIT_EXPECT_TRUE(test, is_valid(kt, buf->rkey));

	/* A duplicate of the request does not invalidate the region again. */
	KUNIT_ASSERT_EQ(test, kt_fast_reg(mr, kt->pd, mr->rkey, RIGHTS), 0);
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	KUNIT_EXPECT_TRUE(test, is_valid(kt, mr->rkey));
	kt_expect_no_wc(kt, kt->recv_cq);
}

struct refuse_row {
	const char *desc;
	bool other_pd;
	int access;
	u32 key_xor;
};

static const struct refuse_row refuse_rows[] = {
	{ "another protection domain", true, RIGHTS },
	{ "a region that no peer may use", false, IB_ACCESS_LOCAL_WRITE },
	{ "an old key", false, RIGHTS, 1 },
	{ "no such region", false, RIGHTS, 0x5a5a5a00 },
};

KT_ARRAY_PARAM(refuse, refuse_rows);

/*
 * The responder sends a NAK, so that the requester need not wait for its
 * retries (see Documentation/wire-format.rst), and completes the receive
 * request in error.
 */
static void inv_remote_refused(struct kunit *test)
{
	const struct refuse_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct test_pkt out;
	struct ib_mr *buf, *mr;
	struct ib_pd *pd = row->other_pd ? kt->other_pd : kt->pd;

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	buf = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	mr = kt_reg(kt, pd, row->access);
	kt_post_recv(kt, 5, buf, 0, 8);
	out = send_inv(kt, KT_RQ_PSN, mr->rkey ^ row->key_xor);
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN, KT_NAK_ACC, 0);
	kt_settle(kt);
	kt_expect_wc(kt, kt->recv_cq, 5, IB_WC_LOC_ACCESS_ERR);
	kt_expect_no_wc(kt, kt->recv_cq);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_sent_nak_remote_access), 1ULL);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, test_bit(IB_EVENT_QP_ACCESS_ERR, &kt->events));
	KUNIT_EXPECT_TRUE(test, is_valid(kt, mr->rkey));
}

static void inv_sent(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_sge sge = { .length = 300 };
	struct ib_send_wr wr = {
		.wr_id = 9,
		.opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = 0xfeedface,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ib_mr *mr;
	struct test_pkt pkt;
	struct ib_wc wc;

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	mr = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	sge.addr = kt_va(mr, 0);
	sge.lkey = mr->lkey;
	KUNIT_ASSERT_EQ(test, ib_post_send(kt->qp->ibqp, &wr, NULL), 0);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, KT_SEND_FIRST);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode,
			IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, pkt.inv_rkey, 0xfeedfaceU);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 44U);
	kt_expect_nothing(kt);

	{
		struct test_pkt ack = kt_pkt(kt, IB_OPCODE_RC_ACKNOWLEDGE,
						KT_SQ_PSN + 1);

		kt_inject(kt, &ack);
	}
	wc = kt_poll(kt, kt->send_cq);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 9ULL);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)wc.opcode, (int)IB_WC_SEND);
}

static void post(struct kt *kt, struct ib_send_wr *wr)
{
	KUNIT_ASSERT_EQ(kt->test, ib_post_send(kt->qp->ibqp, wr, NULL), 0);
}

/*
 * The peer invalidates the region of a SEND that it has not acknowledged, as a
 * target of iSER does with the region of immediate data.  An ACK completes the
 * SEND.  A retransmission reads memory again, so it fails, and nothing is sent.
 */
static void inv_unacked(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_sge sge = { .length = 8 };
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct test_pkt pkt;
	struct ib_mr *buf, *mr;
	u32 i;

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	buf = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	mr = kt_reg(kt, kt->pd, RIGHTS);
	for (i = 0; i < 2; i++) {
		if (i)
			KUNIT_ASSERT_EQ(test, kt_fast_reg(mr, kt->pd, mr->rkey,
							  RIGHTS), 0);
		sge.addr = kt_va(mr, 0);
		sge.lkey = mr->lkey;
		wr.wr_id = i;
		post(kt, &wr);
		pkt = kt_sent(kt);
		KUNIT_EXPECT_EQ(test, pkt.opcode, KT_SEND_ONLY);

		kt_post_recv(kt, 5, buf, 0, 8);
		pkt = send_inv(kt, KT_RQ_PSN + i, mr->rkey);
		kt_inject(kt, &pkt);
		kt_expect_ack(kt, KT_RQ_PSN + i, KT_ACK, i + 1);
		kt_expect_wc(kt, kt->recv_cq, 5, IB_WC_SUCCESS);
		KUNIT_ASSERT_FALSE(test, is_valid(kt, mr->rkey));

		pkt = kt_pkt(kt, IB_OPCODE_RC_ACKNOWLEDGE, KT_SQ_PSN + i);
		if (i)
			pkt.syndrome = KT_NAK_SEQ;
		kt_inject(kt, &pkt);
		kt_settle(kt);
		kt_expect_wc(kt, kt->send_cq, i,
			     i ? IB_WC_LOC_PROT_ERR : IB_WC_SUCCESS);
		kt_expect_nothing(kt);
	}
}

/* Neither the owner nor the peer needs to know whether a region is valid. */
static void inv_invalid(struct kunit *test)
{
	struct ib_send_wr inv = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct kt *kt = kt_of(test);
	struct ib_mr *buf, *mr;
	struct test_pkt out;
	unsigned int i;

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	buf = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	mr = ib_alloc_mr(kt->pd, IB_MR_TYPE_MEM_REG, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	inv.ex.invalidate_rkey = mr->rkey;
	/* It was never registered, then it is invalidated a second time. */
	for (i = 0; i < 2; i++) {
		inv.wr_id = i;
		post(kt, &inv);
		kt_settle(kt);
		kt_expect_wc(kt, kt->send_cq, i, IB_WC_SUCCESS);
	}
	kt_post_recv(kt, 5, buf, 0, 8);
	out = send_inv(kt, KT_RQ_PSN, mr->rkey);
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	kt_expect_wc(kt, kt->recv_cq, 5, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);

	/* Another key byte, and a region that no longer exists. */
	inv.wr_id = 2;
	inv.ex.invalidate_rkey = mr->rkey ^ 1;
	post(kt, &inv);
	kt_settle(kt);
	kt_expect_wc(kt, kt->send_cq, 2, IB_WC_MW_BIND_ERR);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RESET, &kt_default_conn), 0);
	kt_connect(kt, &kt_default_conn);
	inv.wr_id = 3;
	inv.ex.invalidate_rkey = mr->rkey;
	KUNIT_ASSERT_EQ(test, ib_dereg_mr(mr), 0);
	post(kt, &inv);
	kt_settle(kt);
	kt_expect_wc(kt, kt->send_cq, 3, IB_WC_MW_BIND_ERR);
}

/*
 * A consumer that posts an unsignaled LOCAL_INV (ib_srp) maps the region for
 * its next use at once, while the LOCAL_INV still waits for earlier requests.
 */
static void inv_mapped_at_once(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct mxe_rights rights;
	struct ib_send_wr send = { .opcode = IB_WR_SEND };
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };
	struct ib_reg_wr reg = {
		.wr = { .wr_id = 3, .opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED },
		.access = RIGHTS,
	};
	struct test_pkt ack;
	struct ib_mr *mr;
	u32 old;
	u64 va;
	u8 byte;

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	rights = (struct mxe_rights) { kt->dev, kt->pd, kt->qp->qpn };
	mr = kt_reg(kt, kt->pd, RIGHTS);
	old = mr->rkey;
	va = kt_va(mr, 0);
	kt->mem[0] = 1;
	kt->mem[5 * PAGE_SIZE] = 2;

	post(kt, &send);
	inv.ex.invalidate_rkey = old;
	post(kt, &inv);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(mr, kt->sg + 5, 1, NULL, PAGE_SIZE), 1);
	ib_update_fast_reg_key(mr, ib_inc_rkey(old));
	reg.mr = mr;
	reg.key = mr->rkey;
	post(kt, &reg.wr);

	/* The SEND is not acknowledged, so nothing has changed for the peer. */
	KUNIT_EXPECT_EQ(test, mxe_rkey_copy(&rights, old, IB_ACCESS_REMOTE_READ,
					    va, &byte, 1, MXE_FROM_MEMORY), 0);
	KUNIT_EXPECT_EQ(test, byte, 1);
	KUNIT_EXPECT_FALSE(test, is_valid(kt, mr->rkey));
	kt_expect_no_wc(kt, kt->send_cq);

	ack = kt_pkt(kt, IB_OPCODE_RC_ACKNOWLEDGE, KT_SQ_PSN);
	kt_inject(kt, &ack);
	kt_expect_wc(kt, kt->send_cq, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, is_valid(kt, old));
	KUNIT_EXPECT_EQ(test, mxe_rkey_copy(&rights, mr->rkey,
					    IB_ACCESS_REMOTE_READ, kt_va(mr, 0),
					    &byte, 1, MXE_FROM_MEMORY), 0);
	KUNIT_EXPECT_EQ(test, byte, 2);
	KUNIT_EXPECT_EQ(test, mxe_rkey_check(&rights, mr->rkey,
					     IB_ACCESS_REMOTE_READ, kt_va(mr, 0),
					     PAGE_SIZE + 1), -EFAULT);
	kt_drop_sent(kt);
}

/*
 * The slot of a LOCAL_INV belongs to the consumer again before its completion
 * is added to the CQ, and the consumer may already have posted the next request
 * into it. The requester must not read the slot after that.
 *
 * Here the next request appears in the slot at the earliest moment: the
 * completion itself is written there. Its wr_id becomes the opcode, flags and
 * number of SGEs of the request, which is then a SEND.
 */
static void inv_slot_given_back(struct kunit *test)
{
	const u64 next = IB_WR_SEND;
	struct ib_send_wr inv = {
		.wr_id = next,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct kt *kt = kt_of(test);
	struct mxe_cq *cq = to_mcq(kt->send_cq);
	struct mxe_send_wr *slot;
	struct ib_wc *entries;

	BUILD_BUG_ON(offsetof(struct mxe_send_wr, opcode) % sizeof(u64));
	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	inv.ex.invalidate_rkey = kt_reg(kt, kt->pd, RIGHTS)->rkey;
	slot = mxe_sq_wr(&kt->qp->req, kt->qp->req.posted);
	KUNIT_ASSERT_LE(test, offsetof(struct mxe_send_wr, opcode) +
			      sizeof(*cq->wc), kt->qp->req.wr_size);
	KUNIT_ASSERT_EQ(test, cq->producer, 0U);

	entries = cq->wc;
	cq->wc = (struct ib_wc *)&slot->opcode;
	post(kt, &inv);
	entries[0] = cq->wc[0];
	cq->wc = entries;

	KUNIT_EXPECT_EQ(test, (int)slot->opcode, (int)next);
	kt_settle(kt);
	kt_expect_nothing(kt);
	kt_expect_wc(kt, kt->send_cq, next, IB_WC_SUCCESS);
	kt_expect_no_wc(kt, kt->send_cq);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_local_access_errors), 0ULL);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
}

/*
 * An invalidation waits for accesses in progress without holding a lock. New
 * accesses to the region are refused.
 */
static void inv_waits_local(struct kunit *test)
{
	struct ib_send_wr inv = {
		.wr_id = 4,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct kt *kt = kt_of(test);
	struct mxe_mr *access;
	struct ib_mr *mr;

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	mr = kt_reg(kt, kt->pd, RIGHTS);
	access = mxe_mr_get(kt->dev, mr->rkey, NULL);
	KUNIT_ASSERT_NOT_NULL(test, access);

	inv.ex.invalidate_rkey = mr->rkey;
	post(kt, &inv);
	kt_settle(kt);
	kt_expect_no_wc(kt, kt->send_cq);
	KUNIT_EXPECT_FALSE(test, is_valid(kt, mr->rkey));

	mxe_mr_put(access);
	kt_settle(kt);
	kt_expect_wc(kt, kt->send_cq, 4, IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, kt_fast_reg(mr, kt->pd, mr->rkey, RIGHTS), 0);
}

static void inv_waits_remote(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *buf, *mr;
	struct mxe_mr *access;
	struct test_pkt out;

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	buf = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	mr = kt_reg(kt, kt->pd, RIGHTS);
	kt_post_recv(kt, 5, buf, 0, 8);
	kt_post_recv(kt, 6, buf, 8, 8);
	access = mxe_mr_get(kt->dev, mr->rkey, NULL);
	KUNIT_ASSERT_NOT_NULL(test, access);

	out = send_inv(kt, KT_RQ_PSN, mr->rkey);
	kt_inject(kt, &out);
	/* The next request has to wait until the first one is executed. */
	out = kt_pkt(kt, KT_SEND_ONLY, KT_RQ_PSN + 1);
	out.payload_len = 8;
	kt_inject(kt, &out);
	kt_settle(kt);
	kt_expect_nothing(kt);
	kt_expect_no_wc(kt, kt->recv_cq);

	mxe_mr_put(access);
	kt_settle(kt);
	kt_expect_wc(kt, kt->recv_cq, 5, IB_WC_SUCCESS);
	kt_expect_wc(kt, kt->recv_cq, 6, IB_WC_SUCCESS);
	kt_expect_no_wc(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 2U);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
}

static struct kunit_case inv_cases[] = {
	KUNIT_CASE(inv_slot_given_back),
	KUNIT_CASE(inv_waits_local),
	KUNIT_CASE(inv_waits_remote),
	KUNIT_CASE(inv_remote),
	KUNIT_CASE_PARAM(inv_remote_refused, refuse_gen_params),
	KUNIT_CASE(inv_invalid),
	KUNIT_CASE(inv_sent),
	KUNIT_CASE(inv_unacked),
	KUNIT_CASE(inv_mapped_at_once),
	{}
};

static struct kunit_suite inv_suite = {
	.name = "mxe_invalidate",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = inv_cases,
};

kunit_test_suite(inv_suite);
