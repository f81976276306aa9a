// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the responder executes and answers the requests of a peer, which
 * the test builds, according to IBTA 9.7.4, 9.7.5 and 9.9.3.
 */
#include <linux/kernel.h>

#include "harness.h"
#include "memory/mr.h"
#include "wire/psn.h"

#define RNR_NAK		(MXE_AETH_RNR_NAK | 7)

static struct ib_mr *connect(struct kt *kt, const struct kt_conn *conn)
{
	kt_create_qp(kt);
	kt_connect(kt, conn);
	return kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
}

static u64 *word(struct kt *kt, unsigned int i)
{
	return (u64 *)kt->mem + i;
}

static struct test_pkt atomic(struct kt *kt, struct ib_mr *mr, u32 psn,
			      u8 opcode, unsigned int i)
{
	struct test_pkt out = kt_pkt(kt, opcode, psn);

	out.va = kt_va(mr, i * sizeof(u64));
	out.rkey = mr->rkey;
	return out;
}

static struct test_pkt fetch_add(struct kt *kt, struct ib_mr *mr, u32 psn,
				 unsigned int i, u64 add)
{
	struct test_pkt out = atomic(kt, mr, psn, KT_FADD, i);

	out.atomic.swap_add = add;
	return out;
}

/* Middle and Last packets have no RETH and ignore its values. */
static struct test_pkt rdma(struct kt *kt, struct ib_mr *mr, u32 psn,
			    u8 opcode, u64 offset, u32 dma_len,
			    u32 payload_len)
{
	struct test_pkt out = kt_pkt(kt, opcode, psn);

	out.va = kt_va(mr, offset);
	out.rkey = mr->rkey;
	out.dma_len = dma_len;
	out.payload_len = payload_len;
	return out;
}

static struct test_pkt send(struct kt *kt, u32 psn, u8 opcode,
			    u32 payload_len)
{
	struct test_pkt out = kt_pkt(kt, opcode, psn);

	out.payload_len = payload_len;
	return out;
}

/* Injects a WRITE of 4 bytes that no check reads, and requests an ACK. */
static void inject_write(struct kt *kt, struct ib_mr *mr, u32 psn)
{
	struct test_pkt out = rdma(kt, mr, psn, KT_WRITE_ONLY,
				      KT_SIZE - 4, 4, 4);

	kt_inject(kt, &out);
}

/* ---- atomics: executed once --------------------------------------------- */

struct atomic_row {
	const char *desc;
	u8 opcode;
	u64 swap_add, compare, swap_mask, compare_mask;
	u64 old, new;
	bool masked;
};

static const struct atomic_row atomic_rows[] = {
	{ "CmpSwap succeeds", KT_CSWAP, 7, 5, .old = 5, .new = 7 },
	{ "CmpSwap fails", KT_CSWAP, 7, 5, .old = 6, .new = 6 },
	{ "FetchAdd", KT_FADD, 1, .old = ~0ULL, .new = 0 },
	{ "masked CmpSwap succeeds", KT_MCSWAP,
	  0x2a0000, 0, 0xffff0000, 0xffff0000,
	  0x1111222200003333ULL, 0x11112222002a3333ULL, true },
	{ "masked CmpSwap fails", KT_MCSWAP,
	  0x510000, 0, 0xffff0000, 0xffff0000,
	  0x11112222002a3333ULL, 0x11112222002a3333ULL, true },
	{ "masked CmpSwap that is a standard one", KT_MCSWAP,
	  7, 5, ~0ULL, ~0ULL, 5, 7, true },
	{ "masked FetchAdd", KT_MFADD,
	  0x0001000100010001ULL, 0, 0, 0x8000800080008000ULL,
	  0x000200010000ffffULL, 0x0003000200010000ULL, true },
	{ "masked FetchAdd that is a standard one", KT_MFADD,
	  1, .old = 0xffff, .new = 0x10000, .masked = true },
};

KT_ARRAY_PARAM(atomic, atomic_rows);

static struct test_pkt atomic_of_row(struct kt *kt, struct ib_mr *mr,
				     const struct atomic_row *row)
{
	struct test_pkt out = atomic(kt, mr, KT_RQ_PSN, row->opcode, 1);

	out.atomic.swap_add = row->swap_add;
	out.atomic.compare = row->compare;
	out.atomic.swap_mask = row->swap_mask;
	out.atomic.compare_mask = row->compare_mask;
	return out;
}

static void respond_atomic(struct kunit *test)
{
	const struct atomic_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = atomic_of_row(kt, mr, row);

	*word(kt, 1) = row->old;
	kt_inject(kt, &out);
	kt_expect_atomic_ack(kt, KT_RQ_PSN, row->old, 1);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, *word(kt, 1), row->new);
	KUNIT_EXPECT_EQ(test, *word(kt, 2), 0ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_atomics_executed), 1ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_masked_atomics_executed),
			(u64)row->masked);
}

/* A duplicate is answered with the stored result, and not executed. */
static void respond_atomic_duplicate(struct kunit *test)
{
	const struct atomic_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = atomic_of_row(kt, mr, row);
	const u8 *bytes;
	u8 first[64];
	size_t len;
	int i;

	*word(kt, 1) = row->old;
	kt_inject(kt, &out);
	kt_sent(kt);
	bytes = kt_sent_bytes(kt, &len);
	KUNIT_ASSERT_LE(test, len, sizeof(first));
	memcpy(first, bytes, len);

	for (i = 0; i < 3; i++) {
		/*
		 * The answer does not depend on the present value of the word.
		 */
		*word(kt, 1) = i ? row->old + i : row->new;
		kt_inject(kt, &out);
		kt_expect_atomic_ack(kt, KT_RQ_PSN, row->old, 1);
		bytes = kt_sent_bytes(kt, &len);
		KUNIT_EXPECT_EQ(test, memcmp(bytes, first, len), 0);
		KUNIT_EXPECT_EQ(test, *word(kt, 1), i ? row->old + i : row->new);
	}
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_atomics_executed), 1ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_duplicate_requests), 3ULL);
	/* The expected PSN has not changed. */
	inject_write(kt, mr, KT_RQ_PSN + 1);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_ACK, 2);
}

struct mismatch_row {
	const char *desc;
	size_t offset, size;	/* in the packet, from BTH */
	u8 opcode;		/* instead, unless 0 */
};

static const struct mismatch_row mismatch_rows[] = {
	{ "another address", 12, 8 },
	{ "another key", 20, 4 },
	{ "another swap value", 28, 8 },
	{ "another compare value", 36, 8 },
	{ "another swap mask", 44, 8 },
	{ "another compare mask", 52, 8 },
	{ "another operation", .opcode = KT_CSWAP },
	{ "READ instead", .opcode = KT_READ_REQ },
};

KT_ARRAY_PARAM(mismatch, mismatch_rows);

static void respond_atomic_duplicate_mismatch(struct kunit *test)
{
	const struct mismatch_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = atomic(kt, mr, KT_RQ_PSN,
					KT_MCSWAP, 1);
	size_t len;
	u8 *bth;

	out.atomic.compare_mask = 0xf0;
	out.atomic.swap_add = 0xff;
	out.atomic.swap_mask = 0x0f;
	kt_inject(kt, &out);
	kt_expect_atomic_ack(kt, KT_RQ_PSN, 0, 1);
	KUNIT_EXPECT_EQ(test, *word(kt, 1), 0x0fULL);

	if (row->opcode)
		out.opcode = row->opcode;
	bth = kt_build(kt, &out, &len);
	/* The changed value is valid: aligned and inside the region. */
	if (row->size)
		bth[row->offset + row->size - 1] ^= 8;
	kt_inject_bth(kt, bth, len, KT_GOOD);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, *word(kt, 1), 0x0fULL);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_duplicate_mismatch),
			1ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_atomics_executed), 1ULL);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
}

/* The responder stores max_dest_rd_atomic answers. */
static void respond_atomic_store_depth(struct kunit *test)
{
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	struct test_pkt out;
	struct ib_mr *mr;
	int i;

	conn.max_dest_rd_atomic = 2;
	mr = connect(kt, &conn);
	for (i = 0; i < 3; i++) {
		out = fetch_add(kt, mr, KT_RQ_PSN + i, 0, 1);
		kt_inject(kt, &out);
		kt_expect_atomic_ack(kt, KT_RQ_PSN + i, i, i + 1);
	}
	for (i = 0; i < 3; i++) {
		out = fetch_add(kt, mr, KT_RQ_PSN + i, 0, 1);
		kt_inject(kt, &out);
		if (i)
			kt_expect_atomic_ack(kt, KT_RQ_PSN + i, i, i + 1);
		else
			kt_expect_nothing(kt);
	}
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 3ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_duplicate_unknown),
			1ULL);
}

/*
 * When the PSN has wrapped, the store may hold two requests with the same PSN.
 * The newest one counts.
 */
static void respond_atomic_store_psn_reuse(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = fetch_add(kt, mr, KT_RQ_PSN, 0, 1);

	kt_inject(kt, &out);
	kt_expect_atomic_ack(kt, KT_RQ_PSN, 0, 1);
	/* As if 2^24 - 1 packets of WRITEs had arrived. */
	mxe_qp_recv_begin(kt->qp);
	kt->qp->resp.epsn = KT_RQ_PSN;
	mxe_qp_recv_end(kt->qp);
	kt_inject(kt, &out);
	kt_expect_atomic_ack(kt, KT_RQ_PSN, 1, 2);
	/*
	 * The operands are equal, so only the result shows which one is
	 * answered.
	 */
	kt_inject(kt, &out);
	kt_expect_atomic_ack(kt, KT_RQ_PSN, 1, 2);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 2ULL);
}

/* ---- READ --------------------------------------------------------------- */

/*
 * Expects the responses to a READ of len bytes at offset, from psn on, with the
 * present content of the memory.
 */
static void expect_read(struct kt *kt, u32 psn, u64 offset, u32 len, u32 msn)
{
	struct kunit *test = kt->test;
	u32 n = max(DIV_ROUND_UP(len, KT_MTU), 1U), i;

	for (i = 0; i < n; i++) {
		u32 part = min_t(u32, len - i * KT_MTU, KT_MTU);
		struct test_pkt pkt = kt_sent(kt);
		u8 opcode = n == 1 ? IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY :
			    i == 0 ? IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST :
			    i == n - 1 ? IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST :
					 IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE;

		KUNIT_ASSERT_EQ(test, pkt.opcode, opcode);
		KUNIT_ASSERT_EQ(test, pkt.psn, (psn + i) & MXE_PSN_MASK);
		KUNIT_ASSERT_EQ(test, pkt.payload_len, part);
		KUNIT_ASSERT_EQ(test, memcmp(pkt.payload,
					     kt->mem + offset + i * KT_MTU, part), 0);
		if (pkt.flags & MXE_OP_AETH) {
			KUNIT_EXPECT_EQ(test, pkt.syndrome, KT_ACK);
			KUNIT_EXPECT_EQ(test, pkt.msn, msn);
		}
	}
	kt_expect_nothing(kt);
}

static void fill_memory(struct kt *kt, u8 seed)
{
	size_t i;

	for (i = 0; i < KT_SIZE; i++)
		kt->mem[i] = seed + i * 13 + (i >> 8);
}

static const u32 read_lengths[] = { 0, 1, 3, 255, 256, 257, 512, 4 * 256 + 9 };

static void respond_read(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	u32 psn = KT_RQ_PSN;
	int i;

	fill_memory(kt, 1);
	for (i = 0; i < ARRAY_SIZE(read_lengths); i++) {
		u32 len = read_lengths[i];
		struct test_pkt out =
			rdma(kt, mr, psn, KT_READ_REQ,
			     PAGE_SIZE - 100, len, 0);

		kt_inject(kt, &out);
		expect_read(kt, psn, PAGE_SIZE - 100, len, i + 1);
		psn += max(DIV_ROUND_UP(len, KT_MTU), 1U);
	}
	/* A READ takes as many sequence numbers as it has responses. */
	inject_write(kt, mr, psn);
	kt_expect_ack(kt, psn, KT_ACK, i + 1);
}

/*
 * A repeated READ reads the memory again, completely or from the lost packet
 * on.
 */
static void respond_read_duplicate(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	const u32 len = 4 * KT_MTU + 9;
	struct test_pkt out = rdma(kt, mr, KT_RQ_PSN,
				      KT_READ_REQ, 8, len, 0);
	u32 i;

	fill_memory(kt, 1);
	kt_inject(kt, &out);
	expect_read(kt, KT_RQ_PSN, 8, len, 1);
	fill_memory(kt, 2);
	kt_inject(kt, &out);
	expect_read(kt, KT_RQ_PSN, 8, len, 1);
	for (i = 1; i < 5; i++) {
		out = rdma(kt, mr, KT_RQ_PSN + i, KT_READ_REQ,
			   8 + i * KT_MTU, len - i * KT_MTU, 0);
		kt_inject(kt, &out);
		expect_read(kt, KT_RQ_PSN + i, 8 + i * KT_MTU, len - i * KT_MTU, 1);
	}
	inject_write(kt, mr, KT_RQ_PSN + 5);
	kt_expect_ack(kt, KT_RQ_PSN + 5, KT_ACK, 2);
}

/* A READ that requests more or other data is not a duplicate. */
static void respond_read_duplicate_mismatch(struct kunit *test)
{
	static const struct {
		u32 psn, dma_len;
		s64 va;
		u32 rkey;
	} rows[] = {
		{ 0, 4 * KT_MTU + 1, 0, 0 },
		{ 0, 4 * KT_MTU, 8, 0 },
		{ 0, 4 * KT_MTU, 0, 1 },
		{ 1, 4 * KT_MTU, KT_MTU, 0 },
		{ 1, 3 * KT_MTU, 0, 0 },
		{ 3, KT_MTU + 1, 3 * KT_MTU, 0 },
	};
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = rdma(kt, mr, KT_RQ_PSN,
				      KT_READ_REQ, 0,
				      4 * KT_MTU, 0);
	int i;

	kt_inject(kt, &out);
	kt_drop_sent(kt);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		out = rdma(kt, mr, KT_RQ_PSN + rows[i].psn,
			   KT_READ_REQ, rows[i].va,
			   rows[i].dma_len, 0);
		out.rkey ^= rows[i].rkey;
		kt_inject(kt, &out);
		KUNIT_EXPECT_EQ_MSG(test, kt_num_sent(kt), 0U, "row %d", i);
	}
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_duplicate_mismatch),
			(u64)ARRAY_SIZE(rows));
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
}

/*
 * Describes a READ of num_pkts responses, more than fit into a slice, and keeps
 * the work item from sending the rest before kt_settle().
 */
static struct test_pkt long_read(struct kt *kt, struct ib_mr *mr, u32 num_pkts)
{
	static_assert(2 * MXE_SLICE * KT_MTU <= KT_SIZE);
	KUNIT_ASSERT_LE(kt->test, num_pkts, 2U * MXE_SLICE);
	kt_hold_work();
	return rdma(kt, mr, KT_RQ_PSN, KT_READ_REQ, 0, num_pkts * KT_MTU, 0);
}

/* Requests after a READ longer than a slice wait until it is answered. */
static void respond_long_read_in_order(struct kunit *test)
{
	const u32 n = 2 * MXE_SLICE - 3;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = long_read(kt, mr, n);
	struct test_pkt pkt;
	u32 i;

	kt_inject(kt, &out);
	KUNIT_EXPECT_LT(test, kt_num_sent(kt), n);
	for (i = 0; i < 3; i++) {
		out = fetch_add(kt, mr, KT_RQ_PSN + n + i, 0, 1);
		kt_inject(kt, &out);
	}
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 0ULL);
	kt_settle(kt);

	for (i = 0; i < n; i++) {
		pkt = kt_sent(kt);
		KUNIT_ASSERT_TRUE(test, pkt.flags & MXE_OP_READ);
		KUNIT_ASSERT_EQ(test, pkt.psn, (KT_RQ_PSN + i) & MXE_PSN_MASK);
	}
	for (i = 0; i < 3; i++) {
		pkt = kt_sent(kt);
		KUNIT_EXPECT_EQ(test, pkt.opcode,
				IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE);
		KUNIT_EXPECT_EQ(test, pkt.psn, KT_RQ_PSN + n + i);
		KUNIT_EXPECT_EQ(test, pkt.atomic_orig, (u64)i);
	}
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 3ULL);
}

/*
 * A repeated READ replaces the one in progress and the requests that wait, so
 * these take no room.
 */
static void respond_long_read_again(struct kunit *test)
{
	const u32 n = 2 * MXE_SLICE - 3, again = 5, later = 3;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = long_read(kt, mr, n);
	u32 round, i;

	for (round = 0; round < 8; round++) {
		kt_inject(kt, &out);
		for (i = 0; i < later; i++) {
			struct test_pkt add =
				fetch_add(kt, mr, KT_RQ_PSN + n + i, 0, 1);

			kt_inject(kt, &add);
		}
		out = rdma(kt, mr, KT_RQ_PSN + again, KT_READ_REQ,
			   again * KT_MTU, (n - again) * KT_MTU, 0);
	}
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_busy), 0ULL);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 0ULL);

	kt_drop_sent(kt);
	kt_settle(kt);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), n - again + later);
	KUNIT_EXPECT_EQ(test, kt_sent(kt).psn, KT_RQ_PSN + again);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), (u64)later);
}

/*
 * A repeated request behind a READ acknowledges the READ, so the rest of it is
 * not sent.
 */
static void respond_long_read_passed(struct kunit *test)
{
	const u32 n = 2 * MXE_SLICE - 3, later = 3;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = long_read(kt, mr, n);
	u32 round, i;

	kt_inject(kt, &out);
	kt_drop_sent(kt);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < later; i++) {
			out = fetch_add(kt, mr, KT_RQ_PSN + n + i, 0, 1);
			kt_inject(kt, &out);
		}
	}
	kt_settle(kt);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), later);
	for (i = 0; i < later; i++)
		KUNIT_EXPECT_EQ(test, kt_sent(kt).psn, KT_RQ_PSN + n + i);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), (u64)later);
}

/*
 * The number of waiting requests is bounded. The rest is dropped, and the peer
 * sends it again.
 */
static void respond_long_read_bounds_others(struct kunit *test)
{
	const u32 n = 2 * MXE_SLICE, too_many = 3;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = long_read(kt, mr, n);
	u32 i;

	kt_inject(kt, &out);
	for (i = 0; i < MXE_MAX_DEFERRED_PKTS + too_many; i++)
		inject_write(kt, mr, KT_RQ_PSN + n + i);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_busy), (u64)too_many);
	KUNIT_EXPECT_GT(test, atomic_long_read(&kt->dev->deferred), 0L);
	kt_settle(kt);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), n + MXE_MAX_DEFERRED_PKTS);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&kt->dev->deferred), 0L);

	for (i = 0; i < too_many; i++)
		inject_write(kt, mr, KT_RQ_PSN + n + MXE_MAX_DEFERRED_PKTS + i);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt),
			n + MXE_MAX_DEFERRED_PKTS + too_many);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
}

/*
 * The responder stores no more answers than the peer may have outstanding
 * requests.
 */
static void respond_long_read_bounds_atomics(struct kunit *test)
{
	const u32 n = 2 * MXE_SLICE, too_many = 3;
	const u32 more = kt_default_conn.max_dest_rd_atomic - 1;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = long_read(kt, mr, n);
	u32 i;

	kt_inject(kt, &out);
	for (i = 0; i < more + too_many; i++) {
		out = fetch_add(kt, mr, KT_RQ_PSN + n + i, 0, 1);
		kt_inject(kt, &out);
	}
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_busy), (u64)too_many);
	kt_settle(kt);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), (u64)more);

	for (; i > more; i--) {
		out = fetch_add(kt, mr, KT_RQ_PSN + n + *word(kt, 0), 0, 1);
		kt_inject(kt, &out);
	}
	KUNIT_EXPECT_EQ(test, *word(kt, 0), (u64)more + too_many);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
}

/* The memory of requests that wait is bounded for the device as well. */
static void respond_deferred_of_device(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = long_read(kt, mr, 2 * MXE_SLICE);
	u32 i;

	kt_inject(kt, &out);
	atomic_long_add(MXE_MAX_DEFERRED, &kt->dev->deferred);
	/* Some packets of each queue pair may always wait. */
	for (i = 0; i < MXE_MIN_DEFERRED_PKTS + 1; i++)
		inject_write(kt, mr, KT_RQ_PSN + 2 * MXE_SLICE + i);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_busy), 1ULL);
	atomic_long_sub(MXE_MAX_DEFERRED, &kt->dev->deferred);
	inject_write(kt, mr, KT_RQ_PSN + 2 * MXE_SLICE + MXE_MIN_DEFERRED_PKTS);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_busy), 1ULL);
	kt_settle(kt);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt),
			2U * MXE_SLICE + MXE_MIN_DEFERRED_PKTS + 1);
}

/* ---- sequence ----------------------------------------------------------- */

static void respond_psn_gap(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt ahead = fetch_add(kt, mr, KT_RQ_PSN + 2, 0, 1);

	inject_write(kt, mr, KT_RQ_PSN);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	/* KT_RQ_PSN + 1 is lost. One NAK with this PSN is sent. */
	kt_inject(kt, &ahead);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_NAK_SEQ, 1);
	kt_inject(kt, &ahead);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_out_of_sequence), 2ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_sent_nak_sequence), 1ULL);
	/* A duplicate of an earlier request does not permit another NAK. */
	inject_write(kt, mr, KT_RQ_PSN);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	kt_inject(kt, &ahead);
	kt_expect_nothing(kt);
	/* The missing request does. */
	inject_write(kt, mr, KT_RQ_PSN + 1);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_ACK, 2);
	kt_inject(kt, &ahead);
	kt_expect_atomic_ack(kt, KT_RQ_PSN + 2, 0, 3);
	ahead = fetch_add(kt, mr, KT_RQ_PSN + 4, 0, 1);
	kt_inject(kt, &ahead);
	kt_expect_ack(kt, KT_RQ_PSN + 3, KT_NAK_SEQ, 3);
}

/*
 * A PSN less than half of the range ahead is a gap, the next one a duplicate.
 */
static void respond_psn_half_range(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);

	inject_write(kt, mr, KT_RQ_PSN + 0x7fffff);
	kt_expect_ack(kt, KT_RQ_PSN, KT_NAK_SEQ, 0);
	inject_write(kt, mr, KT_RQ_PSN + 0x800000);
	kt_expect_ack(kt, KT_RQ_PSN - 1, KT_ACK, 0);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_duplicate_requests), 1ULL);
}

static void respond_psn_wrap(struct kunit *test)
{
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	struct test_pkt out;
	struct ib_mr *mr;
	u32 i;

	conn.rq_psn = 0xfffffe;
	mr = connect(kt, &conn);
	fill_memory(kt, 1);
	*word(kt, 0) = 0;
	inject_write(kt, mr, 0xfffffe);
	kt_expect_ack(kt, 0xfffffe, KT_ACK, 1);
	/* A READ over the end: 0xffffff, 0, 1. */
	out = rdma(kt, mr, 0xffffff, KT_READ_REQ, 8, 600, 0);
	kt_inject(kt, &out);
	expect_read(kt, 0xffffff, 8, 600, 2);
	for (i = 0; i < 2; i++) {
		out = fetch_add(kt, mr, 2, 0, 1);
		kt_inject(kt, &out);
		kt_expect_atomic_ack(kt, 2, 0, 3);
	}
	/* The end of the READ is requested again, after the PSN has wrapped. */
	out = rdma(kt, mr, 1, KT_READ_REQ, 8 + 512, 88, 0);
	kt_inject(kt, &out);
	expect_read(kt, 1, 8 + 512, 88, 2);
	inject_write(kt, mr, 0xfffffe);
	kt_expect_ack(kt, 2, KT_ACK, 3);
	inject_write(kt, mr, 4);
	kt_expect_ack(kt, 3, KT_NAK_SEQ, 3);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 1ULL);
}

/*
 * A duplicate WRITE is not executed. If it requests an ACK, the ACK has the PSN
 * of the last executed request.
 */
static void respond_duplicate_write(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = rdma(kt, mr, KT_RQ_PSN,
				      KT_WRITE_ONLY, 0, 8, 8);

	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	inject_write(kt, mr, KT_RQ_PSN + 1);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_ACK, 2);
	*word(kt, 0) = 0;
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_ACK, 2);
	out.ack_req = false;
	kt_inject(kt, &out);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 0ULL);
}

/* ---- refused requests --------------------------------------------------- */

/* A bad request, after up to two good packets. */
struct nak_row {
	const char *desc;
	u8 num_before;
	u8 before[2];		/* opcodes of packets of a message, one MTU */
	u8 opcode;
	s64 va;			/* from the beginning of the region */
	u32 payload_len;
	u32 dma_len;
	u32 rkey_xor;
	int mr_access;		/* all rights if 0 */
	int drop_access;	/* from the queue pair */
	bool other_pd;
	u8 log_size;		/* of a masked atomic, 3 if 0 */
	size_t spoil_offset;	/* of a byte from BTH, if not 0 */
	u8 spoil;
	u8 syndrome;
	enum ib_event_type event;
};

#define NO_RA	(KT_ALL_RIGHTS & ~IB_ACCESS_REMOTE_ATOMIC)
#define NO_RW	(KT_ALL_RIGHTS & ~IB_ACCESS_REMOTE_WRITE)
#define NO_RR	(KT_ALL_RIGHTS & ~IB_ACCESS_REMOTE_READ)

#define ROW_ACC	.syndrome = KT_NAK_ACC, .event = IB_EVENT_QP_ACCESS_ERR
#define ROW_INV	.syndrome = KT_NAK_INV, .event = IB_EVENT_QP_REQ_ERR

/* A WRITE First announces 3 MTU + 4 bytes unless dma_len is set. */
#define ANNOUNCED	(3 * KT_MTU + 4)

static const struct nak_row nak_rows[] = {
	{ "atomic, unknown key", .opcode = KT_FADD, .rkey_xor = 0x100, ROW_ACC },
	{ "atomic, old key", .opcode = KT_FADD, .rkey_xor = 1, ROW_ACC },
	{ "atomic, foreign domain", .opcode = KT_FADD, .other_pd = true, ROW_ACC },
	{ "atomic, right of the region", .opcode = KT_FADD, .mr_access = NO_RA,
	  ROW_ACC },
	{ "atomic, right of the queue pair", .opcode = KT_FADD,
	  .drop_access = IB_ACCESS_REMOTE_ATOMIC, ROW_INV },
	{ "atomic, outside", .opcode = KT_FADD, .va = KT_SIZE, ROW_ACC },
	{ "atomic, before", .opcode = KT_FADD, .va = -8, ROW_ACC },
	{ "atomic, misaligned by 1", .opcode = KT_FADD, .va = 1, ROW_INV },
	{ "atomic, misaligned by 4", .opcode = KT_CSWAP, .va = 4, ROW_INV },
	{ "masked, misaligned by 4", .opcode = KT_MCSWAP, .va = 4, ROW_INV },
	{ "masked, unknown key", .opcode = KT_MFADD, .rkey_xor = 0x100, ROW_ACC },
	{ "masked, right of the region", .opcode = KT_MCSWAP, .mr_access = NO_RA,
	  ROW_ACC },
	{ "masked, right of the queue pair", .opcode = KT_MFADD,
	  .drop_access = IB_ACCESS_REMOTE_ATOMIC, ROW_INV },
	{ "masked, version 2", .opcode = KT_MFADD, .spoil_offset = 24,
	  .spoil = 1 ^ 2, ROW_INV },
	{ "masked, version 0", .opcode = KT_MCSWAP, .spoil_offset = 24, .spoil = 1,
	  ROW_INV },
	{ "masked, 2 bytes, a wider operand", .opcode = KT_MCSWAP,
	  .log_size = 1, .spoil_offset = 33, .spoil = 1, ROW_INV },
	{ "masked, 2 bytes, misaligned by 1", .opcode = KT_MFADD, .log_size = 1,
	  .va = 1, ROW_INV },
	{ "masked, 4 bytes, a wider operand", .opcode = KT_MCSWAP,
	  .log_size = 2, .spoil_offset = 31, .spoil = 1, ROW_INV },
	{ "masked, 4 bytes, misaligned by 2", .opcode = KT_MFADD, .log_size = 2,
	  .va = 2, ROW_INV },
	{ "masked, 4 bytes, outside", .opcode = KT_MFADD, .log_size = 2,
	  .va = KT_SIZE, ROW_ACC },
	{ "masked, 16 bytes, misaligned by 4", .opcode = KT_MFADD, .log_size = 4,
	  .va = 4, ROW_INV },
	{ "masked, 16 bytes, before", .opcode = KT_MFADD, .log_size = 4,
	  .va = -16, ROW_ACC },
	{ "masked, 16 bytes, FetchAdd with compare", .opcode = KT_MFADD,
	  .log_size = 4, .spoil_offset = 44, .spoil = 1, ROW_INV },
	{ "masked, 32 bytes, misaligned by 8", .opcode = KT_MCSWAP,
	  .log_size = 5, .va = 8, ROW_INV },
	{ "masked, 32 bytes, outside", .opcode = KT_MCSWAP, .log_size = 5,
	  .va = KT_SIZE, ROW_ACC },
	{ "masked, 32 bytes, right of the region", .opcode = KT_MCSWAP,
	  .log_size = 5, .mr_access = NO_RA, ROW_ACC },
	{ "masked, log_arg_sz 6", .opcode = KT_MFADD, .spoil_offset = 25,
	  .spoil = 3 ^ 6, ROW_INV },
	{ "masked, reserved bit", .opcode = KT_MCSWAP, .spoil_offset = 27,
	  .spoil = 1, ROW_INV },
	{ "masked FetchAdd with compare", .opcode = KT_MFADD, .spoil_offset = 43,
	  .spoil = 1, ROW_INV },
	{ "masked FetchAdd with swap mask", .opcode = KT_MFADD,
	  .spoil_offset = 44, .spoil = 0x80, ROW_INV },

	{ "READ, unknown key", .opcode = KT_READ_REQ, .dma_len = 8,
	  .rkey_xor = 0x100, ROW_ACC },
	{ "READ, foreign domain", .opcode = KT_READ_REQ, .dma_len = 8,
	  .other_pd = true, ROW_ACC },
	{ "READ, right of the region", .opcode = KT_READ_REQ, .dma_len = 8,
	  .mr_access = NO_RR, ROW_ACC },
	{ "READ, right of the queue pair", .opcode = KT_READ_REQ, .dma_len = 8,
	  .drop_access = IB_ACCESS_REMOTE_READ, ROW_INV },
	{ "READ, one byte outside", .opcode = KT_READ_REQ, .va = 1,
	  .dma_len = KT_SIZE, ROW_ACC },
	{ "READ, longer than a message", .opcode = KT_READ_REQ,
	  .dma_len = MXE_MAX_MSG_SIZE + 1, ROW_INV },

	{ "WRITE, unknown key", .opcode = KT_WRITE_ONLY, .dma_len = 8,
	  .payload_len = 8, .rkey_xor = 0x100, ROW_ACC },
	{ "WRITE, foreign domain", .opcode = KT_WRITE_ONLY, .dma_len = 8,
	  .payload_len = 8, .other_pd = true, ROW_ACC },
	{ "WRITE, right of the region", .opcode = KT_WRITE_ONLY, .dma_len = 8,
	  .payload_len = 8, .mr_access = NO_RW, ROW_ACC },
	{ "WRITE, right of the queue pair", .opcode = KT_WRITE_ONLY, .dma_len = 8,
	  .payload_len = 8, .drop_access = IB_ACCESS_REMOTE_WRITE, ROW_INV },
	{ "WRITE, end outside, seen in the first packet", .opcode = KT_WRITE_FIRST,
	  .va = KT_SIZE - KT_MTU, .dma_len = KT_MTU + 1, .payload_len = KT_MTU,
	  ROW_ACC },
	{ "WRITE Only, more than announced", .opcode = KT_WRITE_ONLY,
	  .dma_len = 7, .payload_len = 8, ROW_INV },
	{ "WRITE Only, less than announced", .opcode = KT_WRITE_ONLY,
	  .dma_len = 9, .payload_len = 8, ROW_INV },
	{ "WRITE Only, longer than the MTU", .opcode = KT_WRITE_ONLY,
	  .dma_len = KT_MTU + 4, .payload_len = KT_MTU + 4, ROW_INV },
	{ "WRITE First, shorter than the MTU", .opcode = KT_WRITE_FIRST,
	  .dma_len = ANNOUNCED, .payload_len = KT_MTU - 4, ROW_INV },
	{ "WRITE First, longer than the MTU", .opcode = KT_WRITE_FIRST,
	  .dma_len = ANNOUNCED, .payload_len = KT_MTU + 4, ROW_INV },
	{ "WRITE First, more than announced", .opcode = KT_WRITE_FIRST,
	  .dma_len = KT_MTU - 1, .payload_len = KT_MTU, ROW_INV },
	{ "WRITE Last, less than announced", 2, { KT_WRITE_FIRST, KT_WRITE_MIDDLE },
	  KT_WRITE_LAST, .payload_len = KT_MTU, ROW_INV },
	{ "WRITE Last, empty", 2, { KT_WRITE_FIRST, KT_WRITE_MIDDLE }, KT_WRITE_LAST,
	  .payload_len = 0, ROW_INV },
	{ "WRITE Middle, shorter than the MTU", 1, { KT_WRITE_FIRST }, KT_WRITE_MIDDLE,
	  .payload_len = KT_MTU - 4, ROW_INV },

	{ "SEND Middle without First", .opcode = KT_SEND_MIDDLE,
	  .payload_len = KT_MTU, ROW_INV },
	{ "SEND Last without First", .opcode = KT_SEND_LAST, .payload_len = 4,
	  ROW_INV },
	{ "WRITE Middle without First", .opcode = KT_WRITE_MIDDLE,
	  .payload_len = KT_MTU, ROW_INV },
	{ "WRITE Last without First", .opcode = KT_WRITE_LAST, .payload_len = 4,
	  ROW_INV },
	{ "SEND First in a SEND", 1, { KT_SEND_FIRST }, KT_SEND_FIRST,
	  .payload_len = KT_MTU, ROW_INV },
	{ "SEND Only in a SEND", 2, { KT_SEND_FIRST, KT_SEND_MIDDLE }, KT_SEND_ONLY,
	  .payload_len = 4, ROW_INV },
	{ "WRITE Middle in a SEND", 1, { KT_SEND_FIRST }, KT_WRITE_MIDDLE,
	  .payload_len = KT_MTU, ROW_INV },
	{ "WRITE Last in a SEND", 1, { KT_SEND_FIRST }, KT_WRITE_LAST,
	  .payload_len = 4, ROW_INV },
	{ "SEND Last in a WRITE", 1, { KT_WRITE_FIRST }, KT_SEND_LAST,
	  .payload_len = 4, ROW_INV },
	{ "WRITE First in a WRITE", 1, { KT_WRITE_FIRST }, KT_WRITE_FIRST,
	  .dma_len = ANNOUNCED, .payload_len = KT_MTU, ROW_INV },
	{ "atomic in a WRITE", 1, { KT_WRITE_FIRST }, KT_FADD, ROW_INV },
	{ "masked atomic in a SEND", 2, { KT_SEND_FIRST, KT_SEND_MIDDLE }, KT_MFADD,
	  ROW_INV },
	{ "READ in a SEND", 1, { KT_SEND_FIRST }, KT_READ_REQ, .dma_len = 4, ROW_INV },
	{ "SEND First, shorter than the MTU", .opcode = KT_SEND_FIRST,
	  .payload_len = KT_MTU - 4, ROW_INV },
	{ "SEND Only, longer than the MTU", .opcode = KT_SEND_ONLY,
	  .payload_len = KT_MTU + 4, ROW_INV },
	{ "SEND Last, empty", 1, { KT_SEND_FIRST }, KT_SEND_LAST, ROW_INV },
};

KT_ARRAY_PARAM(nak, nak_rows);

static void inject_before(struct kt *kt, struct ib_mr *mr,
			  const struct nak_row *row)
{
	u32 i;

	for (i = 0; i < row->num_before; i++) {
		struct test_pkt out = rdma(kt, mr, KT_RQ_PSN + i,
					      row->before[i], 0, ANNOUNCED, KT_MTU);

		out.ack_req = false;
		kt_inject(kt, &out);
	}
}

static void respond_nak(struct kunit *test)
{
	const struct nak_row *row = test->param_value;
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr, *good;
	struct test_pkt out;
	u32 n = row->num_before;
	size_t len;
	u8 *bth;

	conn.access &= ~row->drop_access;
	good = connect(kt, &conn);
	mr = kt_reg(kt, row->other_pd ? kt->other_pd : kt->pd,
		    row->mr_access ?: KT_ALL_RIGHTS);
	kt_post_recv(kt, 1, good, PAGE_SIZE, PAGE_SIZE);

	inject_before(kt, good, row);
	kt_expect_nothing(kt);
	fill_memory(kt, 3);
	out = rdma(kt, mr, KT_RQ_PSN + n, row->opcode, row->va, row->dma_len,
		   row->payload_len);
	out.rkey ^= row->rkey_xor;
	if (row->log_size)
		out.atomic.log_size = row->log_size;
	bth = kt_build(kt, &out, &len);
	bth[row->spoil_offset] ^= row->spoil;
	kt_inject_bth(kt, bth, len, KT_GOOD);
	/* The work answers the first wide atomic. */
	kt_settle(kt);

	kt_expect_ack(kt, KT_RQ_PSN + n, row->syndrome, 0);
	kt_settle(kt);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, kt->events & BIT(row->event));
	KUNIT_EXPECT_EQ(test, kt_counter(kt, row->syndrome == KT_NAK_ACC ?
					 MXE_CNT_sent_nak_remote_access :
					 MXE_CNT_sent_nak_invalid_request), 1ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_atomics_executed), 0ULL);
	kt_expect_wc(kt, kt->recv_cq, 1, IB_WC_WR_FLUSH_ERR);
	/* The QP is in ERR and answers nothing. */
	inject_write(kt, good, KT_RQ_PSN + n);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_state), 1ULL);
}

/* A responder depth of 0 allows no READ and no atomic. */
static void respond_no_depth(struct kunit *test)
{
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	struct test_pkt out;
	struct ib_mr *mr;

	conn.max_dest_rd_atomic = 0;
	mr = connect(kt, &conn);
	out = fetch_add(kt, mr, KT_RQ_PSN, 0, 1);
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN, KT_NAK_INV, 0);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 0ULL);
}

/* ---- WRITE -------------------------------------------------------------- */

static const u32 write_lengths[] = { 0, 1, 255, 256, 257, 512, 3 * 256 + 5 };

/* WRITEs in packets of one MTU. Byte n of the payload of a packet is n + 1. */
static void respond_write(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	u32 psn = KT_RQ_PSN, i, at, b;

	for (i = 0; i < ARRAY_SIZE(write_lengths); i++) {
		u32 len = write_lengths[i];

		memset(kt->mem, 0xaa, KT_SIZE);
		at = 0;
		do {
			u32 part = min_t(u32, len - at, KT_MTU);
			bool first = !at, last = at + part == len;
			u8 opcode = first ? (last ? KT_WRITE_ONLY : KT_WRITE_FIRST) :
					    (last ? KT_WRITE_LAST : KT_WRITE_MIDDLE);
			struct test_pkt out = rdma(kt, mr, psn, opcode,
						      PAGE_SIZE - 300, len, part);

			out.ack_req = last;
			kt_inject(kt, &out);
			for (b = 0; b < part; b++)
				KUNIT_ASSERT_EQ(test, kt->mem[PAGE_SIZE - 300 + at + b],
						(u8)(b + 1));
			at += part;
			psn++;
		} while (at < len);
		kt_expect_ack(kt, psn - 1, KT_ACK, i + 1);
		KUNIT_EXPECT_EQ(test, kt->mem[PAGE_SIZE - 301], 0xaa);
		KUNIT_EXPECT_EQ(test, kt->mem[PAGE_SIZE - 300 + len], 0xaa);
	}
	kt_expect_no_wc(kt, kt->recv_cq);
}

/* No byte is written, so no key is needed (IBTA 9.7.4.1.6). */
static void respond_zero_length_without_key(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = rdma(kt, mr, KT_RQ_PSN, KT_WRITE_ONLY, 0, 0, 0);

	out.rkey = 0;
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	out = rdma(kt, mr, KT_RQ_PSN + 1, KT_READ_REQ, 0, 0, 0);
	out.rkey = 0;
	kt_inject(kt, &out);
	expect_read(kt, KT_RQ_PSN + 1, 0, 0, 2);
}

static void respond_write_with_imm(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = rdma(kt, mr, KT_RQ_PSN, KT_WRITE_FIRST, 0, KT_MTU + 8,
				      KT_MTU);
	struct ib_wc wc;

	kt_post_recv(kt, 77, mr, PAGE_SIZE, 16);
	out.ack_req = false;
	kt_inject(kt, &out);
	kt_expect_no_wc(kt, kt->recv_cq);
	out = rdma(kt, mr, KT_RQ_PSN + 1,
		   IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE, 0, 0, 8);
	out.imm = cpu_to_be32(0xfeedbeef);
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_ACK, 1);
	wc = kt_poll(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 77ULL);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)wc.opcode, (int)IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_EQ(test, wc.byte_len, (u32)KT_MTU + 8);
	KUNIT_EXPECT_TRUE(test, wc.wc_flags & IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0xfeedbeefU);
	/* The buffer of the receive request is not written. */
	KUNIT_EXPECT_EQ(test, kt->mem[PAGE_SIZE], 0);
}

/* ---- SEND and the receive queue ----------------------------------------- */

static void respond_send(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out;
	struct ib_wc wc;
	u32 i;

	kt_post_recv(kt, 1, mr, 0, KT_MTU + 5);
	kt_post_recv(kt, 2, mr, PAGE_SIZE, 100);
	out = send(kt, KT_RQ_PSN, KT_SEND_FIRST, KT_MTU);
	out.ack_req = false;
	kt_inject(kt, &out);
	kt_expect_no_wc(kt, kt->recv_cq);
	/* The message fills the buffer to its last byte. */
	out = send(kt, KT_RQ_PSN + 1, KT_SEND_LAST, 5);
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_ACK, 1);
	wc = kt_poll(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1ULL);
	KUNIT_EXPECT_EQ(test, (int)wc.opcode, (int)IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, wc.byte_len, (u32)KT_MTU + 5);
	KUNIT_EXPECT_FALSE(test, wc.wc_flags & IB_WC_WITH_IMM);
	for (i = 0; i < KT_MTU + 5; i++)
		KUNIT_ASSERT_EQ(test, kt->mem[i], (u8)(i % KT_MTU + 1));
	KUNIT_EXPECT_EQ(test, kt->mem[KT_MTU + 5], 0);

	out = send(kt, KT_RQ_PSN + 2, IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE, 0);
	out.imm = cpu_to_be32(0x01020304);
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN + 2, KT_ACK, 2);
	wc = kt_poll(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 2ULL);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 0U);
	KUNIT_EXPECT_TRUE(test, wc.wc_flags & IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0x01020304U);
}

/*
 * A SEND without a receive request is answered with an RNR NAK. The packets
 * after it are dropped until it is sent again.
 */
static void respond_rnr(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = send(kt, KT_RQ_PSN, KT_SEND_ONLY, 8);
	int i;

	for (i = 0; i < 2; i++) {
		kt_inject(kt, &out);
		kt_expect_ack(kt, KT_RQ_PSN, RNR_NAK, 0);
		inject_write(kt, mr, KT_RQ_PSN + 1);
		kt_expect_nothing(kt);
	}
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_sent_rnr_nak), 2ULL);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);

	kt_post_recv(kt, 5, mr, 0, 8);
	kt_inject(kt, &out);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	kt_expect_wc(kt, kt->recv_cq, 5, IB_WC_SUCCESS);
	inject_write(kt, mr, KT_RQ_PSN + 1);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_ACK, 2);
}

/*
 * Only the last packet of a WRITE with immediate needs a receive request, and
 * only that packet is repeated.
 */
static void respond_rnr_write_with_imm(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt first = rdma(kt, mr, KT_RQ_PSN, KT_WRITE_FIRST, 0,
					KT_MTU + 8, KT_MTU);
	struct test_pkt last =
		rdma(kt, mr, KT_RQ_PSN + 1,
		     IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE, 0, 0, 8);
	struct ib_wc wc;

	first.ack_req = false;
	kt_inject(kt, &first);
	kt_inject(kt, &last);
	kt_expect_ack(kt, KT_RQ_PSN + 1, RNR_NAK, 0);
	KUNIT_EXPECT_EQ(test, kt->mem[KT_MTU], 0);
	kt_post_recv(kt, 5, mr, PAGE_SIZE, 0);
	kt_inject(kt, &last);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_ACK, 1);
	wc = kt_poll(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, wc.byte_len, (u32)KT_MTU + 8);
	KUNIT_EXPECT_EQ(test, kt->mem[KT_MTU], 1);
}

struct recv_error_row {
	const char *desc;
	u32 recv_len;
	u32 lkey_xor;
	bool read_only;
	bool other_pd;
	bool first;		/* a message of two packets, the second fails */
	u8 syndrome;
	enum ib_wc_status status;
	enum ib_event_type event;
};

static const struct recv_error_row recv_error_rows[] = {
	{ "too long", 7, .syndrome = KT_NAK_INV, .status = IB_WC_LOC_LEN_ERR,
	  .event = IB_EVENT_QP_REQ_ERR },
	{ "too long in the second packet", KT_MTU + 7, .first = true,
	  .syndrome = KT_NAK_INV, .status = IB_WC_LOC_LEN_ERR,
	  .event = IB_EVENT_QP_REQ_ERR },
	{ "no bytes wanted", 0, .syndrome = KT_NAK_INV,
	  .status = IB_WC_LOC_LEN_ERR, .event = IB_EVENT_QP_REQ_ERR },
	{ "bad key", 8, .lkey_xor = 0x100, .syndrome = KT_NAK_OP,
	  .status = IB_WC_LOC_PROT_ERR, .event = IB_EVENT_QP_FATAL },
	{ "no right to write", 8, .read_only = true, .syndrome = KT_NAK_OP,
	  .status = IB_WC_LOC_PROT_ERR, .event = IB_EVENT_QP_FATAL },
	{ "foreign domain", 8, .other_pd = true, .syndrome = KT_NAK_OP,
	  .status = IB_WC_LOC_PROT_ERR, .event = IB_EVENT_QP_FATAL },
};

KT_ARRAY_PARAM(recv_error, recv_error_rows);

static void respond_recv_error(struct kunit *test)
{
	const struct recv_error_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *good = connect(kt, &kt_default_conn);
	struct ib_mr *mr = kt_reg(kt, row->other_pd ? kt->other_pd : kt->pd,
				  row->read_only ? IB_ACCESS_REMOTE_READ :
						   KT_ALL_RIGHTS);
	struct ib_sge sge = {
		.addr = kt_va(mr, 0),
		.length = row->recv_len,
		.lkey = mr->lkey ^ row->lkey_xor,
	};
	struct ib_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };
	struct test_pkt out;
	u32 psn = KT_RQ_PSN;

	KUNIT_ASSERT_EQ(test, ib_post_recv(kt->qp->ibqp, &wr, NULL), 0);
	kt_post_recv(kt, 2, good, 0, 8);
	if (row->first) {
		out = send(kt, psn++, KT_SEND_FIRST, KT_MTU);
		out.ack_req = false;
		kt_inject(kt, &out);
	}
	out = send(kt, psn, row->first ? KT_SEND_LAST : KT_SEND_ONLY, 8);
	kt_inject(kt, &out);
	kt_expect_ack(kt, psn, row->syndrome, 0);
	kt_settle(kt);
	/* The one with the error first, then those that are flushed. */
	kt_expect_wc(kt, kt->recv_cq, 1, row->status);
	kt_expect_wc(kt, kt->recv_cq, 2, IB_WC_WR_FLUSH_ERR);
	kt_expect_no_wc(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, kt->events & BIT(row->event));
	if (!row->first)
		KUNIT_EXPECT_EQ(test, *word(kt, 0), 0ULL);
}

/*
 * The receive request of an incomplete message is flushed with the others, in
 * order.
 */
static void respond_flush_order(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = send(kt, KT_RQ_PSN, KT_SEND_FIRST, KT_MTU);
	int i;

	for (i = 0; i < 4; i++)
		kt_post_recv(kt, i, mr, 0, 2 * KT_MTU);
	out.ack_req = false;
	kt_inject(kt, &out);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_ERR, &kt_default_conn), 0);
	kt_settle(kt);
	for (i = 0; i < 4; i++)
		kt_expect_wc(kt, kt->recv_cq, i, IB_WC_WR_FLUSH_ERR);
	kt_expect_no_wc(kt, kt->recv_cq);
	/* Requests that are posted now are flushed too. */
	kt_post_recv(kt, 9, mr, 0, KT_MTU);
	kt_settle(kt);
	kt_expect_wc(kt, kt->recv_cq, 9, IB_WC_WR_FLUSH_ERR);
}

/* ---- dropped packets ---------------------------------------------------- */

struct drop_row {
	const char *desc;
	enum kt_spoil spoil;
	u16 pkey_xor;
	u32 qpn_xor;
	u8 opcode_xor;
	u8 flags_xor;
	int cut;		/* bytes off the end */
	enum mxe_counter counter;
};

static const struct drop_row drop_rows[] = {
	{ "bad ICRC", KT_BAD_ICRC, .counter = MXE_CNT_drop_icrc },
	{ "another source", KT_BAD_SOURCE, .counter = MXE_CNT_drop_address },
	{ "another partition", .pkey_xor = 0x100,
	  .counter = MXE_CNT_drop_pkey },
	{ "no such queue pair", .qpn_xor = 0x800000,
	  .counter = MXE_CNT_drop_qpn },
	{ "unknown opcode", .opcode_xor = 0x80,
	  .counter = MXE_CNT_drop_opcode },
	{ "unknown version", .flags_xor = 1,
	  .counter = MXE_CNT_drop_version },
	{ "no room for its headers", .cut = 1,
	  .counter = MXE_CNT_drop_short },
	{ "nothing but the BTH", .cut = 28, .counter = MXE_CNT_drop_short },
	{ "empty", .cut = 40, .counter = MXE_CNT_drop_short },
	{ "too long", .cut = -4, .counter = MXE_CNT_drop_length },
};

KT_ARRAY_PARAM(drop, drop_rows);

static void respond_drop(struct kunit *test)
{
	const struct drop_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out = fetch_add(kt, mr, KT_RQ_PSN, 0, 1);
	u8 buf[64] = {};
	size_t len;
	u8 *bth;

	out.pkey ^= row->pkey_xor;
	out.qpn ^= row->qpn_xor;
	bth = kt_build(kt, &out, &len);
	bth[0] ^= row->opcode_xor;
	bth[1] ^= row->flags_xor;
	memcpy(buf, bth, len);
	/* The ICRC covers the remaining bytes, if there are enough for one. */
	if (row->cut == 40)
		kt_inject_bth(kt, buf, sizeof(struct mxe_bth), KT_GOOD);
	else
		kt_inject_bth(kt, buf, len - row->cut, row->spoil);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, row->counter), 1ULL);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);

	/* It has no effect on later packets. */
	out = fetch_add(kt, mr, KT_RQ_PSN, 0, 1);
	kt_inject(kt, &out);
	kt_expect_atomic_ack(kt, KT_RQ_PSN, 0, 1);
}

/* INIT drops packets. RTR accepts them and reports the first one. */
static void respond_states(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct test_pkt out;
	struct ib_mr *mr;

	kt_create_qp(kt);
	mr = kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
	out = fetch_add(kt, mr, KT_RQ_PSN, 0, 1);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_INIT, &kt_default_conn), 0);
	kt_inject(kt, &out);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, *word(kt, 0), 0ULL);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RTR, &kt_default_conn), 0);
	KUNIT_EXPECT_FALSE(test, kt->events & BIT(IB_EVENT_COMM_EST));
	kt_inject(kt, &out);
	kt_expect_atomic_ack(kt, KT_RQ_PSN, 0, 1);
	KUNIT_EXPECT_TRUE(test, kt->events & BIT(IB_EVENT_COMM_EST));
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RTS, &kt_default_conn), 0);
	/* The send queue drains, while the responder continues. */
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_SQD, &kt_default_conn), 0);
	out = fetch_add(kt, mr, KT_RQ_PSN + 1, 0, 1);
	kt_inject(kt, &out);
	kt_expect_atomic_ack(kt, KT_RQ_PSN + 1, 1, 2);
}

static struct kunit_case respond_cases[] = {
	KUNIT_CASE_PARAM(respond_atomic, atomic_gen_params),
	KUNIT_CASE_PARAM(respond_atomic_duplicate, atomic_gen_params),
	KUNIT_CASE_PARAM(respond_atomic_duplicate_mismatch, mismatch_gen_params),
	KUNIT_CASE(respond_atomic_store_depth),
	KUNIT_CASE(respond_atomic_store_psn_reuse),
	KUNIT_CASE(respond_read),
	KUNIT_CASE(respond_read_duplicate),
	KUNIT_CASE(respond_read_duplicate_mismatch),
	KUNIT_CASE(respond_long_read_in_order),
	KUNIT_CASE(respond_long_read_again),
	KUNIT_CASE(respond_long_read_passed),
	KUNIT_CASE(respond_long_read_bounds_others),
	KUNIT_CASE(respond_long_read_bounds_atomics),
	KUNIT_CASE(respond_deferred_of_device),
	KUNIT_CASE(respond_psn_gap),
	KUNIT_CASE(respond_psn_half_range),
	KUNIT_CASE(respond_psn_wrap),
	KUNIT_CASE(respond_duplicate_write),
	KUNIT_CASE_PARAM(respond_nak, nak_gen_params),
	KUNIT_CASE(respond_no_depth),
	KUNIT_CASE(respond_write),
	KUNIT_CASE(respond_zero_length_without_key),
	KUNIT_CASE(respond_write_with_imm),
	KUNIT_CASE(respond_send),
	KUNIT_CASE(respond_rnr),
	KUNIT_CASE(respond_rnr_write_with_imm),
	KUNIT_CASE_PARAM(respond_recv_error, recv_error_gen_params),
	KUNIT_CASE(respond_flush_order),
	KUNIT_CASE_PARAM(respond_drop, drop_gen_params),
	KUNIT_CASE(respond_states),
	{}
};

static struct kunit_suite respond_suite = {
	.name = "mxe_respond",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = respond_cases,
};

kunit_test_suite(respond_suite);
