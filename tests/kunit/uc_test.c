// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that messages over UC arrive completely, and that incomplete ones are
 * dropped without a completion.
 */
#include <kunit/test.h>

#include "harness.h"
#include "memory/mr.h"
#include "wire/pkt.h"

#define RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

static struct ib_mr *uc_begin(struct kt *kt)
{
	kt_create_qp_of(kt, IB_QPT_UC);
	kt_connect(kt, &kt_default_conn);
	return kt_reg(kt, kt->pd, RIGHTS);
}

static void uc_packet(struct kt *kt, u8 rc_opcode, u32 psn, u32 len)
{
	struct test_pkt out =
		kt_pkt(kt, mxe_opcode_of(MXE_TRANSPORT_UC, rc_opcode), psn);

	out.payload_len = len;
	kt_inject(kt, &out);
}

static void uc_message(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = uc_begin(kt);
	struct ib_wc wc;

	kt_post_recv(kt, 1, mr, 0, 1000);
	uc_packet(kt, KT_SEND_FIRST, KT_RQ_PSN, KT_MTU);
	uc_packet(kt, KT_SEND_MIDDLE, KT_RQ_PSN + 1, KT_MTU);
	kt_expect_no_wc(kt, kt->recv_cq);
	uc_packet(kt, KT_SEND_LAST, KT_RQ_PSN + 2, 10);
	wc = kt_poll(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1ULL);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 522U);
	KUNIT_EXPECT_EQ(test, kt->mem[0], 1);
	KUNIT_EXPECT_EQ(test, kt->mem[257], 2);
	KUNIT_EXPECT_EQ(test, kt->mem[521], 10);
	kt_expect_nothing(kt);
}

struct lost_row {
	const char *desc;
	u8 opcode[3];
	u32 psn[3];
};

/* Packets after which no message is complete. */
static const struct lost_row lost_rows[] = {
	{ "the first", { KT_SEND_MIDDLE, KT_SEND_LAST, KT_SEND_LAST },
	  { 1, 2, 3 } },
	{ "one in the middle", { KT_SEND_FIRST, KT_SEND_LAST, KT_SEND_LAST },
	  { 0, 2, 3 } },
	{ "the last", { KT_SEND_FIRST, KT_SEND_MIDDLE, KT_SEND_FIRST },
	  { 0, 1, 3 } },
	{ "one of another operation",
	  { KT_SEND_FIRST, KT_WRITE_LAST, KT_SEND_LAST },
	  { 0, 1, 2 } },
	{ "one twice", { KT_SEND_FIRST, KT_SEND_FIRST, KT_SEND_MIDDLE },
	  { 0, 0, 1 } },
};

KT_ARRAY_PARAM(lost, lost_rows);

/* The next message uses the receive request of the lost one. */
static void uc_lost(struct kunit *test)
{
	const struct lost_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = uc_begin(kt);
	int i;

	kt_post_recv(kt, 1, mr, 0, 1000);
	for (i = 0; i < 3; i++)
		uc_packet(kt, row->opcode[i], KT_RQ_PSN + row->psn[i],
			  row->opcode[i] == KT_SEND_LAST ||
			  row->opcode[i] == KT_WRITE_LAST ? 8 : KT_MTU);
	kt_expect_no_wc(kt, kt->recv_cq);
	uc_packet(kt, KT_SEND_ONLY, KT_RQ_PSN + 9, 7);
	kt_expect_wc(kt, kt->recv_cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
	kt_expect_nothing(kt);
}

/* Errors that RC answers with a NAK are dropped and counted. */
static void uc_refused(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = uc_begin(kt);
	struct test_pkt out = kt_pkt(kt, IB_OPCODE_UC_RDMA_WRITE_ONLY,
					KT_RQ_PSN);

	out.va = kt_va(mr, 0);
	out.rkey = mr->rkey ^ 1;
	out.dma_len = 8;
	out.payload_len = 8;
	kt_inject(kt, &out);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_uc_message), 1ULL);
	KUNIT_EXPECT_EQ(test, kt->mem[0], 0);
	/*
	 * A message without a receive request, and one longer than the buffer.
	 */
	uc_packet(kt, KT_SEND_ONLY, KT_RQ_PSN + 1, 8);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_uc_message), 2ULL);
	kt_post_recv(kt, 1, mr, 0, 4);
	uc_packet(kt, KT_SEND_ONLY, KT_RQ_PSN + 2, 8);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_uc_message), 3ULL);
	kt_expect_no_wc(kt, kt->recv_cq);

	out.psn = KT_RQ_PSN + 3;
	out.rkey = mr->rkey;
	kt_inject(kt, &out);
	KUNIT_EXPECT_EQ(test, kt->mem[7], 8);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
	kt_expect_nothing(kt);
}

static void uc_other_transport(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct test_pkt out;

	uc_begin(kt);
	out = kt_pkt(kt, KT_SEND_ONLY, KT_RQ_PSN);
	kt_inject(kt, &out);
	out.opcode = BTH_XRC | BTH_SEND_ONLY;
	kt_inject(kt, &out);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_transport), 2ULL);
	kt_expect_nothing(kt);
}

static void uc_sends(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = uc_begin(kt);
	struct ib_sge sge = {
		.addr = kt_va(mr, 0), .length = 300, .lkey = mr->lkey,
	};
	struct ib_send_wr wr = {
		.wr_id = 9,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct test_pkt pkt;

	KUNIT_ASSERT_EQ(test, ib_post_send(kt->qp->ibqp, &wr, NULL), 0);
	/* UC has no acknowledgments, so a request completes when it is sent. */
	kt_settle(kt);
	kt_expect_wc(kt, kt->send_cq, 9, IB_WC_SUCCESS);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, IB_OPCODE_UC_SEND_FIRST);
	KUNIT_EXPECT_EQ(test, pkt.psn, KT_SQ_PSN);
	KUNIT_EXPECT_FALSE(test, pkt.ack_req);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, IB_OPCODE_UC_SEND_LAST);
	KUNIT_EXPECT_EQ(test, pkt.psn, KT_SQ_PSN + 1);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 44U);
	KUNIT_EXPECT_FALSE(test, pkt.ack_req);
	kt_expect_nothing(kt);
}

static struct kunit_case uc_cases[] = {
	KUNIT_CASE(uc_message),
	KUNIT_CASE_PARAM(uc_lost, lost_gen_params),
	KUNIT_CASE(uc_refused),
	KUNIT_CASE(uc_other_transport),
	KUNIT_CASE(uc_sends),
	{}
};

static struct kunit_suite uc_suite = {
	.name = "mxe_uc",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = uc_cases,
};

kunit_test_suite(uc_suite);
