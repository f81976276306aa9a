// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the send queue survives any values that its process writes into
 * the shared ring. The test provides the ring, everything else is the real
 * module.
 */
#include <linux/slab.h>

#include "harness.h"
#include "queues/wqe.h"
#include "rc/send.h"

#define ENTRIES	KT_RING_ENTRIES

static void put_write(struct kt_ring *area, u32 index)
{
	area->entry[index % ENTRIES].wqe = (struct mxe_send_wqe) {
		.wr_id = index,
		.opcode = IB_WR_RDMA_WRITE,
		.flags = MXE_SEND_SIGNALED | MXE_SEND_INLINE,
		.inline_len = sizeof(area->entry[0].data),
		.remote_addr = KT_REMOTE_VA,
		.rkey = KT_REMOTE_KEY,
	};
}

static void ring_in_order(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct kt_ring *area = kt_ring_enter(kt);
	u32 i;

	for (i = 0; i < ENTRIES; i++)
		put_write(area, i);
	area->hdr.producer = ENTRIES;
	mxe_send_doorbell(kt->qp);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), (unsigned int)ENTRIES);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
	kt_ring_leave(kt);
}

/*
 * The kernel copies no more requests at once than it has room for, and takes
 * the others from the ring as these complete.
 */
static void ring_few_copies(struct kunit *test)
{
	enum { COPIES = 4 };
	struct kt *kt = kt_of(test);
	struct kt_ring *area = kt_ring_enter(kt);
	struct test_pkt ack;
	u32 i, psn = 0;

	kt->qp->req.wr_mask = COPIES - 1;
	for (i = 0; i < ENTRIES; i++)
		put_write(area, i);
	area->hdr.producer = ENTRIES;
	mxe_send_doorbell(kt->qp);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), (unsigned int)COPIES);
	for (i = 0; i < COPIES; i++) {
		struct test_pkt pkt = kt_sent(kt);

		psn = pkt.psn;
		KUNIT_EXPECT_EQ(test, pkt.ack_req, i == 0 || i == COPIES - 1);
	}

	ack = kt_pkt(kt, IB_OPCODE_RC_ACKNOWLEDGE, psn);
	ack.syndrome = KT_ACK;
	kt_inject(kt, &ack);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), (unsigned int)(ENTRIES - COPIES));
	ack = kt_pkt(kt, IB_OPCODE_RC_ACKNOWLEDGE, psn + ENTRIES - COPIES);
	ack.syndrome = KT_ACK;
	kt_inject(kt, &ack);
	for (i = 0; i < ENTRIES; i++)
		kt_expect_wc(kt, kt->send_cq, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
	kt_ring_leave(kt);
}

struct producer_row {
	u32 second;
	const char *desc;
};

/* Follow a first value of 5, while none of these requests is complete. */
static const struct producer_row producer_rows[] = {
	{ 4, "back by one" },
	{ 0, "back to the beginning" },
	{ U32_MAX, "back beyond the beginning" },
	{ ENTRIES + 1, "one too far" },
	{ 0x80000005, "far away" },
};

KT_ARRAY_PARAM(producer, producer_rows);

/*
 * A bad producer index moves the QP to ERR before any WQE is read, because the
 * copies of requests in flight must not be overwritten.
 */
static void ring_bad_producer(struct kunit *test)
{
	const struct producer_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct kt_ring *area = kt_ring_enter(kt);
	u32 i;

	for (i = 0; i < ENTRIES; i++)
		put_write(area, i);
	area->hdr.producer = 5;
	mxe_send_doorbell(kt->qp);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 5U);

	area->hdr.producer = row->second;
	mxe_send_doorbell(kt->qp);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 5U);
	KUNIT_EXPECT_EQ(test, kt->qp->req.fetched, 5U);
	kt_settle(kt);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_bad_wqe), 1ULL);
	for (i = 0; i < 5; i++)
		kt_expect_wc(kt, kt->send_cq, i, IB_WC_WR_FLUSH_ERR);
	kt_ring_leave(kt);
}

static void put_atomic(struct kt *kt, struct kt_ring *area,
		       enum ib_wr_opcode opcode, u8 log_size)
{
	struct ib_mr *mr = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	struct mxe_sge *sge = (struct mxe_sge *)area->entry[0].data;

	area->entry[0].wqe = (struct mxe_send_wqe) {
		.wr_id = 17,
		.opcode = opcode,
		.flags = MXE_SEND_SIGNALED,
		.num_sge = 1,
		.log_arg_sz = log_size,
		.remote_addr = KT_REMOTE_VA,
		.rkey = KT_REMOTE_KEY,
	};
	sge->addr = kt_va(mr, 0);
	sge->length = 64;
	sge->lkey = mr->lkey;
	area->hdr.producer = 1;
	mxe_send_doorbell(kt->qp);
}

static void expect_refused(struct kt *kt)
{
	KUNIT_EXPECT_EQ(kt->test, kt_num_sent(kt), 0U);
	kt_settle(kt);
	KUNIT_EXPECT_EQ(kt->test, (int)kt_state(kt), (int)IB_QPS_ERR);
	KUNIT_EXPECT_EQ(kt->test, kt_counter(kt, MXE_CNT_bad_wqe), 1ULL);
	kt_expect_wc(kt, kt->send_cq, 17, IB_WC_LOC_QP_OP_ERR);
}

struct log_size_row {
	u8 log_size;
	bool good;
};

/* Valid and invalid sizes on a QP with masked atomics of 4 and 8 bytes. */
static const struct log_size_row log_size_rows[] = {
	{ 0, false }, { 1, false }, { 2, true }, { 3, true }, { 4, false },
	{ 5, false }, { 7, false }, { 8, false }, { 32, false }, { 255, false },
};

static void log_size_desc(const struct log_size_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "log_arg_sz %u", row->log_size);
}

KUNIT_ARRAY_PARAM(log_size, log_size_rows, log_size_desc);

static void ring_log_size(struct kunit *test)
{
	const struct log_size_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct kt_ring *area = kt_ring_enter(kt);

	put_atomic(kt, area, IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, row->log_size);
	if (row->good)
		KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 1U);
	else
		expect_refused(kt);
	kt_ring_leave(kt);
}

/*
 * The device returns all results in big-endian. This QP did not request that.
 */
static void ring_reply_be(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct kt_ring *area = kt_ring_enter(kt);

	kt->qp->dev->reply_be = true;
	kt->qp->req.opcodes = mxe_wqe_user_opcodes(kt->qp);
	put_atomic(kt, area, IB_WR_ATOMIC_FETCH_AND_ADD, 0);
	expect_refused(kt);
	kt_ring_leave(kt);
}

struct reserved_row {
	struct mxe_send_wqe wqe;
	bool good;
	const char *desc;
};

static const struct reserved_row reserved_rows[] = {
	{ { .opcode = MXE_WR_FLUSH, .flush.length = 8 }, true, "FLUSH" },
	{ { .opcode = MXE_WR_FLUSH, .flush.reserved1 = 1 }, false,
	  "FLUSH, reserved1" },
	{ { .opcode = MXE_WR_FLUSH, .flush.reserved[0] = 1 }, false,
	  "FLUSH, reserved[0]" },
	{ { .opcode = MXE_WR_FLUSH, .flush.reserved[2] = 1 }, false,
	  "FLUSH, reserved[2]" },
	{ { .opcode = MXE_WR_ATOMIC_WRITE, .atomic_write.data = 1 }, true,
	  "ATOMIC WRITE" },
	{ { .opcode = MXE_WR_ATOMIC_WRITE, .atomic_write.reserved[0] = 1 },
	  false, "ATOMIC WRITE, reserved[0]" },
	{ { .opcode = MXE_WR_ATOMIC_WRITE, .atomic_write.reserved[2] = 1 },
	  false, "ATOMIC WRITE, reserved[2]" },
	{ { .opcode = MXE_WR_FLUSH, .reserved1 = 1 }, false, "reserved1" },
};

KT_ARRAY_PARAM(reserved, reserved_rows);

static void ring_reserved(struct kunit *test)
{
	const struct reserved_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct kt_ring *area = kt_ring_enter(kt);

	area->entry[0].wqe = row->wqe;
	area->entry[0].wqe.wr_id = 17;
	area->entry[0].wqe.flags = MXE_SEND_SIGNALED;
	area->entry[0].wqe.remote_addr = KT_REMOTE_VA;
	area->entry[0].wqe.rkey = KT_REMOTE_KEY;
	area->hdr.producer = 1;
	mxe_send_doorbell(kt->qp);
	if (row->good)
		KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 1U);
	else
		expect_refused(kt);
	kt_ring_leave(kt);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring_in_order),
	KUNIT_CASE(ring_few_copies),
	KUNIT_CASE_PARAM(ring_bad_producer, producer_gen_params),
	KUNIT_CASE_PARAM(ring_log_size, log_size_gen_params),
	KUNIT_CASE(ring_reply_be),
	KUNIT_CASE_PARAM(ring_reserved, reserved_gen_params),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "mxe_ring",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = ring_cases,
};

kunit_test_suites(&ring_suite);
