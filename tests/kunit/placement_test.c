// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that FLUSH and ATOMIC WRITE (memory placement, IBTA annex A19) work as
 * requests of a peer and as work requests.
 */
#include <kunit/test.h>

#include "harness.h"
#include "memory/mr.h"
#include "wire/psn.h"

#define RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
		 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_FLUSH_GLOBAL)

/* The payload of 8 bytes that kt_inject() generates. */
static const u8 data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static struct ib_mr *begin(struct kt *kt, int qp_access)
{
	struct kt_conn conn = kt_default_conn;

	conn.access = qp_access;
	kt_create_qp(kt);
	kt_connect(kt, &conn);
	return kt_reg(kt, kt->pd, RIGHTS);
}

static struct test_pkt request(struct kt *kt, struct ib_mr *mr, u8 opcode)
{
	struct test_pkt out = kt_pkt(kt, opcode, KT_RQ_PSN);

	out.va = kt_va(mr, 16);
	out.rkey = mr->rkey;
	out.dma_len = 8;
	if (opcode == MXE_OPCODE_RC_ATOMIC_WRITE)
		out.payload_len = 8;
	else
		out.flush_type = IB_FLUSH_GLOBAL;
	return out;
}

static void expect_response(struct kt *kt, u32 psn, u32 msn)
{
	struct test_pkt pkt = kt_sent(kt);

	KUNIT_EXPECT_EQ(kt->test, pkt.opcode,
			IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY);
	KUNIT_EXPECT_EQ(kt->test, pkt.payload_len, 0U);
	KUNIT_EXPECT_EQ(kt->test, pkt.psn, psn);
	KUNIT_EXPECT_EQ(kt->test, pkt.msn, msn);
	KUNIT_EXPECT_EQ(kt->test, pkt.syndrome, KT_ACK);
	kt_expect_nothing(kt);
}

static void placement_write(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = begin(kt, RIGHTS);
	struct test_pkt out = request(kt, mr, MXE_OPCODE_RC_ATOMIC_WRITE);

	kt_inject(kt, &out);
	expect_response(kt, KT_RQ_PSN, 1);
	KUNIT_EXPECT_EQ(test, memcmp(kt->mem + 16, data, 8), 0);
	KUNIT_EXPECT_EQ(test, kt->mem[15] | kt->mem[24], 0);

	/* A duplicate is answered, but not stored again. */
	kt->mem[16] = 0xee;
	kt_inject(kt, &out);
	expect_response(kt, KT_RQ_PSN, 1);
	KUNIT_EXPECT_EQ(test, kt->mem[16], 0xee);
	/* A duplicate with another address is dropped. */
	out.va += 8;
	kt_inject(kt, &out);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_duplicate_mismatch),
			1ULL);
	out.psn = KT_RQ_PSN + 1;
	kt_inject(kt, &out);
	expect_response(kt, KT_RQ_PSN + 1, 2);
	KUNIT_EXPECT_EQ(test, memcmp(kt->mem + 24, data, 8), 0);
}

static void placement_flush(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = begin(kt, RIGHTS);
	struct test_pkt out = request(kt, mr, MXE_OPCODE_RC_FLUSH);

	kt_inject(kt, &out);
	expect_response(kt, KT_RQ_PSN, 1);
	kt_inject(kt, &out);
	expect_response(kt, KT_RQ_PSN, 1);
	/* A FLUSH of the whole region ignores the address and the length. */
	out.flush_level = IB_FLUSH_MR;
	kt_inject(kt, &out);
	kt_expect_nothing(kt);
	out.psn = KT_RQ_PSN + 1;
	out.va = 0;
	out.dma_len = ~0U;
	kt_inject(kt, &out);
	expect_response(kt, KT_RQ_PSN + 1, 2);
}

struct refused_row {
	const char *desc;
	u8 opcode, syndrome;
	int not_granted;	/* to the queue pair */
	int va, len, rkey, data;	/* added to the correct value */
	u8 type, level;		/* exclusive-ored */
};

static const struct refused_row refused_rows[] = {
	{ "ATOMIC WRITE without the right", BTH_ATOMIC_WRITE, KT_NAK_INV,
	  IB_ACCESS_REMOTE_WRITE },
	{ "ATOMIC WRITE that is not aligned", BTH_ATOMIC_WRITE, KT_NAK_INV, .va = 4 },
	{ "ATOMIC WRITE of another length", BTH_ATOMIC_WRITE, KT_NAK_INV, .len = 8 },
	{ "ATOMIC WRITE with more data", BTH_ATOMIC_WRITE, KT_NAK_INV, .data = 4 },
	{ "ATOMIC WRITE with less data", BTH_ATOMIC_WRITE, KT_NAK_INV, .data = -4 },
	{ "ATOMIC WRITE after the region", BTH_ATOMIC_WRITE, KT_NAK_ACC, .va = KT_SIZE },
	{ "ATOMIC WRITE with another key", BTH_ATOMIC_WRITE, KT_NAK_ACC, .rkey = 1 },
	{ "FLUSH without the right", BTH_FLUSH, KT_NAK_INV, IB_ACCESS_FLUSH_GLOBAL },
	{ "FLUSH beyond the region", BTH_FLUSH, KT_NAK_ACC, .len = KT_SIZE },
	{ "FLUSH with another key", BTH_FLUSH, KT_NAK_ACC, .rkey = 1 },
	{ "FLUSH of a region with another key", BTH_FLUSH, KT_NAK_ACC, .rkey = 1,
	  .level = 1 },
	{ "FLUSH to persistence", BTH_FLUSH, KT_NAK_ACC, .type = 3 },
	{ "FLUSH to both", BTH_FLUSH, KT_NAK_ACC, .type = 2 },
	{ "FLUSH to nothing", BTH_FLUSH, KT_NAK_INV, .type = 1 },
	{ "FLUSH of an unknown level", BTH_FLUSH, KT_NAK_INV, .level = 2 },
};

KT_ARRAY_PARAM(refused, refused_rows);

static void placement_refused(struct kunit *test)
{
	const struct refused_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = begin(kt, RIGHTS & ~row->not_granted);
	struct test_pkt out = request(kt, mr, row->opcode);

	out.va += row->va;
	out.dma_len += row->len;
	out.rkey += row->rkey;
	out.payload_len += row->data;
	out.flush_type ^= row->type;
	out.flush_level ^= row->level;
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN, row->syndrome, 0);
	KUNIT_EXPECT_FALSE(test, !!memchr_inv(kt->mem, 0, KT_SIZE));
}

/* A region that allows writing does not thereby allow FLUSH. */
static void placement_flush_of_other_memory(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct test_pkt out;
	struct ib_mr *mr;

	begin(kt, RIGHTS);
	mr = kt_reg(kt, kt->pd, RIGHTS & ~IB_ACCESS_FLUSH_GLOBAL);
	out = request(kt, mr, MXE_OPCODE_RC_FLUSH);
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN, KT_NAK_ACC, 0);
}

static void inject_response(struct kt *kt, u32 psn, u32 len)
{
	struct test_pkt out =
		kt_pkt(kt, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, psn);

	out.syndrome = KT_ACK;
	out.payload_len = len;
	kt_inject(kt, &out);
}

static void placement_posted_write(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = begin(kt, RIGHTS);
	struct test_pkt pkt;
	struct ib_wc wc;

	memcpy(kt->mem, data, 8);
	kt_post_write(kt, IB_WR_ATOMIC_WRITE, 1, mr, 8);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, MXE_OPCODE_RC_ATOMIC_WRITE);
	KUNIT_EXPECT_EQ(test, pkt.psn, KT_SQ_PSN);
	KUNIT_EXPECT_EQ(test, pkt.va, KT_REMOTE_VA);
	KUNIT_EXPECT_EQ(test, pkt.rkey, KT_REMOTE_KEY);
	KUNIT_EXPECT_EQ(test, pkt.dma_len, 8U);
	KUNIT_EXPECT_EQ(test, memcmp(pkt.payload, data, 8), 0);
	kt_expect_no_wc(kt, kt->send_cq);
	inject_response(kt, KT_SQ_PSN, 0);
	wc = kt_poll(kt, kt->send_cq);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)wc.opcode, (int)IB_WC_ATOMIC_WRITE);

	/* A response with data does not match an ATOMIC WRITE. */
	kt_post_write(kt, IB_WR_ATOMIC_WRITE, 2, mr, 8);
	inject_response(kt, KT_SQ_PSN + 1, 8);
	kt_expect_wc(kt, kt->send_cq, 2, IB_WC_BAD_RESP_ERR);
}

/* An ATOMIC WRITE has exactly 8 bytes. */
static void placement_posted_length(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = begin(kt, RIGHTS);

	kt_post_write(kt, IB_WR_ATOMIC_WRITE, 1, mr, 16);
	kt_settle(kt);
	kt_expect_wc(kt, kt->send_cq, 1, IB_WC_LOC_LEN_ERR);
	kt_expect_nothing(kt);
}

/*
 * Kernel consumers cannot post a FLUSH. The test writes one into the ring as a
 * process would, while the QP is in SQD.
 */
static void placement_posted_flush(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = begin(kt, RIGHTS);
	struct mxe_send_wr *wr = mxe_sq_wr(&kt->qp->req, 0);
	struct test_pkt pkt;
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_SQD, &kt_default_conn), 0);
	kt_post_write(kt, IB_WR_ATOMIC_WRITE, 1, mr, 8);
	wr->opcode = IB_WR_FLUSH;
	wr->num_sge = 0;
	wr->length = 0;
	wr->flush.length = 1 << 20;
	wr->flush.type = IB_FLUSH_GLOBAL;
	wr->flush.level = IB_FLUSH_MR;
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RTS, &kt_default_conn), 0);
	kt_settle(kt);

	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, MXE_OPCODE_RC_FLUSH);
	KUNIT_EXPECT_EQ(test, pkt.dma_len, 1U << 20);
	KUNIT_EXPECT_EQ(test, pkt.va, KT_REMOTE_VA);
	KUNIT_EXPECT_EQ(test, pkt.rkey, KT_REMOTE_KEY);
	KUNIT_EXPECT_EQ(test, (int)pkt.flush_type, (int)IB_FLUSH_GLOBAL);
	KUNIT_EXPECT_EQ(test, (int)pkt.flush_level, (int)IB_FLUSH_MR);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 0U);
	inject_response(kt, KT_SQ_PSN, 0);
	wc = kt_poll(kt, kt->send_cq);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)wc.opcode, (int)IB_WC_FLUSH);
	kt_post_write(kt, IB_WR_ATOMIC_WRITE, 2, mr, 8);
	KUNIT_EXPECT_EQ(test, kt_sent(kt).psn, KT_SQ_PSN + 1);
}

static struct kunit_case placement_cases[] = {
	KUNIT_CASE(placement_write),
	KUNIT_CASE(placement_flush),
	KUNIT_CASE_PARAM(placement_refused, refused_gen_params),
	KUNIT_CASE(placement_flush_of_other_memory),
	KUNIT_CASE(placement_posted_write),
	KUNIT_CASE(placement_posted_length),
	KUNIT_CASE(placement_posted_flush),
	{}
};

static struct kunit_suite placement_suite = {
	.name = "mxe_placement",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = placement_cases,
};

kunit_test_suite(placement_suite);
