// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that masked atomics of 1 to 32 bytes work: the arithmetic, compared
 * with a bit-serial reference, the wire format, the responder and the
 * completer.
 */
#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/prandom.h>

#include "harness.h"
#include "memory/atomic.h"
#include "memory/mr.h"

#define W		MXE_ATOMIC_WORDS
#define MCAS		MXE_ATOMIC_MASKED_CMP_SWAP
#define MFA		MXE_ATOMIC_MASKED_FETCH_ADD

static const u8 log_sizes[] = { 0, 1, 2, 3, 4, 5 };

static void size_desc(const u8 *log_size, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u bytes", 1 << *log_size);
}

KUNIT_ARRAY_PARAM(size, log_sizes, size_desc);

/* ---- reference ---------------------------------------------------------- */

static unsigned int bit_of(const u64 *words, unsigned int bit)
{
	return words[bit / 64] >> bit % 64 & 1;
}

static void put_bit(u64 *words, unsigned int bit, unsigned int value)
{
	words[bit / 64] &= ~BIT_ULL(bit % 64);
	words[bit / 64] |= (u64)value << bit % 64;
}

/* RFC 7306, 5.1 and 5.2, a bit at a time. */
static void reference(u64 *value, const struct mxe_atomic_args *a)
{
	unsigned int bits = 8 << a->log_size, bit, carry = 0;

	if (a->op == MCAS) {
		for (bit = 0; bit < bits; bit++)
			if (bit_of(a->compare_mask_words, bit) &&
			    bit_of(a->compare_words, bit) != bit_of(value, bit))
				return;
		for (bit = 0; bit < bits; bit++)
			if (bit_of(a->swap_mask_words, bit))
				put_bit(value, bit,
					bit_of(a->swap_add_words, bit));
		return;
	}
	for (bit = 0; bit < bits; bit++) {
		unsigned int sum = bit_of(value, bit) +
				   bit_of(a->swap_add_words, bit) + carry;

		put_bit(value, bit, sum & 1);
		carry = bit_of(a->compare_mask_words, bit) ? 0 : sum >> 1;
	}
}

/* An operand of up to 8 bytes is a number in the byte order of the CPU. */
static void load(u64 *value, const void *p, u8 log_size)
{
	memset(value, 0, MXE_ATOMIC_MAX_SIZE);
	if (log_size == 0)
		*value = *(const u8 *)p;
	else if (log_size == 1)
		*value = *(const u16 *)p;
	else if (log_size == 2)
		*value = *(const u32 *)p;
	else
		memcpy(value, p, 1 << log_size);
}

static void store(void *p, const u64 *value, u8 log_size)
{
	if (log_size == 0)
		*(u8 *)p = *value;
	else if (log_size == 1)
		*(u16 *)p = *value;
	else if (log_size == 2)
		*(u32 *)p = *value;
	else
		memcpy(p, value, 1 << log_size);
}

static void random_words(struct rnd_state *rnd, u64 *words, u8 log_size)
{
	unsigned int i;

	memset(words, 0, MXE_ATOMIC_MAX_SIZE);
	for (i = 0; i < (log_size > 3 ? 1U << (log_size - 3) : 1); i++) {
		prandom_bytes_state(rnd, &words[i], sizeof(*words));
		/*
		 * Long carries and equal values are rare among random numbers.
		 */
		switch (prandom_u32_state(rnd) % 4) {
		case 0:
			words[i] = ~0ULL;
			break;
		case 1:
			words[i] = 0;
			break;
		case 2:
			words[i] = BIT_ULL(words[i] % 64);
			break;
		}
	}
	if (log_size < 3)
		words[0] &= BIT_ULL(8 << log_size) - 1;
}

static struct mxe_atomic_args random_args(struct rnd_state *rnd, u8 log_size,
					  const u64 *old)
{
	struct mxe_atomic_args a = {
		.op = prandom_u32_state(rnd) & 1 ? MCAS : MFA,
		.log_size = log_size,
	};

	random_words(rnd, a.swap_add_words, log_size);
	random_words(rnd, a.compare_mask_words, log_size);
	if (a.op == MFA)
		return a;
	random_words(rnd, a.swap_mask_words, log_size);
	random_words(rnd, a.compare_words, log_size);
	/* Most comparisons should succeed. */
	if (prandom_u32_state(rnd) % 4)
		memcpy(a.compare_words, old, sizeof(a.compare_words));
	return a;
}

/* ---- arithmetic ---------------------------------------------------------- */

static void sizes_exec_random(struct kunit *test)
{
	const u8 log_size = *(const u8 *)test->param_value;
	const unsigned int size = 1 << log_size;
	struct rnd_state rnd;
	int i;

	mxe_atomic_use_locks();
	prandom_seed_state(&rnd, 0x73697a65 + log_size);
	for (i = 0; i < 20000; i++) {
		u8 mem[3 * MXE_ATOMIC_MAX_SIZE] __aligned(MXE_ATOMIC_MAX_SIZE);
		u8 want[sizeof(mem)];
		u64 old[W], new[W], orig[W], back[W];
		struct mxe_atomic_args a;
		/*
		 * Any aligned address works, and the bytes next to it do not
		 * change.
		 */
		u32 align = mxe_atomic_align(size), places = (sizeof(mem) - size) / align + 1;
		u32 at = align * (prandom_u32_state(&rnd) % places);

		random_words(&rnd, old, log_size);
		a = random_args(&rnd, log_size, old);
		memset(mem, 0xa5, sizeof(mem));
		store(mem + at, old, log_size);
		memcpy(want, mem, sizeof(mem));
		load(old, mem + at, log_size);
		memcpy(new, old, sizeof(new));
		reference(new, &a);
		store(want + at, new, log_size);

		/* Words beyond the operand keep their value. */
		memset(orig, 0xee, sizeof(orig));
		memset(back, 0xee, sizeof(back));
		memcpy(back, old, max_t(size_t, size, sizeof(u64)));
		mxe_atomic_exec(mem + at, &a, orig);
		KUNIT_ASSERT_EQ_MSG(test, memcmp(mem, want, sizeof(mem)), 0,
				    "round %d, op %d", i, a.op);
		KUNIT_ASSERT_EQ_MSG(test, memcmp(orig, back, sizeof(orig)), 0,
				    "round %d, op %d", i, a.op);
		if (i % 1000 == 0)
			cond_resched();
	}
}

/* A carry propagates through all words up to a boundary. */
static void sizes_exec_carry(struct kunit *test)
{
	u64 mem[W] __aligned(MXE_ATOMIC_MAX_SIZE) = { ~0, ~0, ~0, 4 };
	struct mxe_atomic_args a = { MFA, .swap_add = 1, .log_size = 5 };
	u64 orig[W];

	mxe_atomic_use_locks();
	mxe_atomic_exec(mem, &a, orig);
	KUNIT_EXPECT_EQ(test, mem[0] | mem[1] | mem[2], 0ULL);
	KUNIT_EXPECT_EQ(test, mem[3], 5ULL);
	KUNIT_EXPECT_EQ(test, orig[0] & orig[1] & orig[2], ~0ULL);
	memset(mem, 0xff, 16);
	a.log_size = 4;
	mxe_atomic_exec(mem, &a, orig);
	KUNIT_EXPECT_EQ(test, mem[0] | mem[1] | mem[2], 0ULL);
	KUNIT_EXPECT_EQ(test, mem[3], 5ULL);
	memset(mem, 0xff, 32);
	a.log_size = 5;
	a.compare_mask_words[1] = BIT_ULL(63);
	mxe_atomic_exec(mem, &a, orig);
	KUNIT_EXPECT_EQ(test, mem[0] | mem[1], 0ULL);
	KUNIT_EXPECT_EQ(test, mem[2] & mem[3], ~0ULL);
}

/* ---- contention ---------------------------------------------------------- */

#define ROUNDS	20000

struct contender {
	struct task_struct *task;
	struct completion done;
	void *mem;
	u8 log_size;
	int torn;
};

/* The smallest sizes have bytes of their own, within a wide operand. */
static int contend_small(void *data)
{
	struct contender *c = data;
	struct mxe_atomic_args a = { MFA, .swap_add = 1, .log_size = c->log_size };
	u64 orig[W];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		mxe_atomic_exec(c->mem, &a, orig);
		c->torn += orig[0] != (c->log_size ? (u16)i : (u8)i);
		if (i % 64 == 0)
			cond_resched();
	}
	complete(&c->done);
	return 0;
}

/* Each other size adds to a field of its own, in every word of its operand. */
static int contend(void *data)
{
	struct contender *c = data;
	unsigned int shift = 16 * (c->log_size - 2), i, n;
	struct mxe_atomic_args a = { MFA, .log_size = c->log_size };
	u64 orig[W];

	n = mxe_atomic_words(&a);
	for (i = 0; i < n; i++) {
		a.swap_add_words[i] = 1ULL << shift;
		a.compare_mask_words[i] = 0x8000800080008000ULL;
	}
	if (c->log_size == 2)
		a.compare_mask = 0x80008000;
	for (i = 0; i < ROUNDS; i++) {
		unsigned int j;

		mxe_atomic_exec(c->mem, &a, orig);
		for (j = 0; j < n; j++)
			c->torn += (orig[j] >> shift & 0xffff) != (u16)i;
		if (i % 64 == 0)
			cond_resched();
	}
	complete(&c->done);
	return 0;
}

static void sizes_exec_contended(struct kunit *test)
{
	u64 *mem = kunit_kzalloc(test, 2 * MXE_ATOMIC_MAX_SIZE, GFP_KERNEL);
	struct contender c[ARRAY_SIZE(log_sizes)] = {};
	int i;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	mem = PTR_ALIGN(mem, MXE_ATOMIC_MAX_SIZE);
	mxe_atomic_use_locks();
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		init_completion(&c[i].done);
		c[i].log_size = log_sizes[i];
		/* Byte 0, and bytes 2 and 3, of the third word. */
		c[i].mem = log_sizes[i] < 2 ? (u8 *)(mem + 2) + 2 * log_sizes[i] :
					      (u8 *)mem;
		c[i].task = kthread_run(log_sizes[i] < 2 ? contend_small : contend,
					&c[i], "mxe_sizes/%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(c[i].task));
	}
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		wait_for_completion(&c[i].done);
		KUNIT_EXPECT_EQ(test, c[i].torn, 0);
	}
	for (i = 0; i < 4; i++) {
		/* The smaller operands end at bytes 4, 8 and 16. */
		u64 want = (u16)ROUNDS * (i == 0 ? 0x0001000100010001ULL :
					  i == 1 ? 0x0001000100000000ULL :
						   0x0001000000000000ULL);

		if (i == 2)
			want |= (u8)ROUNDS | (u64)(u16)ROUNDS << 16;
		KUNIT_EXPECT_EQ(test, mem[i], want);
	}
}

/* ---- packets ------------------------------------------------------------- */

/* The operands have the byte order of Documentation/wire-format.rst. */
static void sizes_wire(struct kunit *test)
{
	const u8 log_size = *(const u8 *)test->param_value;
	unsigned int n = max(8, 1 << log_size), pad = n - (1 << log_size);
	u8 packet[12 + 16 + 4 * 32 + MXE_ICRC_SIZE] = {
		KT_MCSWAP
	};
	u8 built[sizeof(packet)];
	size_t len = 12 + 16 + 4 * n + MXE_ICRC_SIZE;
	struct test_pkt out = {};
	struct test_pkt pkt = {};
	unsigned int i, j;

	packet[24] = 1;
	packet[25] = log_size;
	for (i = 0; i < 4; i++)
		for (j = pad; j < n; j++)
			packet[28 + i * n + j] = 0x40 * i + j;
	KUNIT_ASSERT_EQ(test, (int)test_pkt_read(&pkt, packet, len),
			(int)MXE_PKT_OK);
	KUNIT_ASSERT_EQ(test, (int)pkt.atomic.op, (int)MCAS);
	KUNIT_EXPECT_EQ(test, pkt.atomic.log_size, log_size);
	for (i = 0; i < 8 * n; i++) {
		/* The last byte is the least significant one. */
		u8 byte = n - 1 - i / 8;
		const u64 *words[] = {
			pkt.atomic.swap_add_words, pkt.atomic.compare_words,
			pkt.atomic.swap_mask_words,
			pkt.atomic.compare_mask_words,
		};

		for (j = 0; j < 4; j++)
			KUNIT_ASSERT_EQ(test, bit_of(words[j], i),
					byte < pad ? 0U :
					(0x40 * j + byte) >> i % 8 & 1);
	}

	/* A number that is larger than its size. */
	for (i = 0; i < 4 && pad; i++) {
		struct test_pkt wider = {};

		packet[28 + i * n + pad - 1] = 1;
		KUNIT_ASSERT_EQ(test, (int)test_pkt_read(&wider, packet, len),
				(int)MXE_PKT_OK);
		KUNIT_EXPECT_EQ(test, (int)wider.atomic.op,
				(int)MXE_ATOMIC_UNSUPPORTED);
		packet[28 + i * n + pad - 1] = 0;
	}

	out.opcode = KT_MCSWAP;
	out.atomic = pkt.atomic;
	KUNIT_ASSERT_EQ(test, test_pkt_len(&out) + MXE_ICRC_SIZE, len);
	test_pkt_build(&out, built);
	KUNIT_EXPECT_EQ(test, memcmp(built + 24, packet + 24,
				     len - 24 - MXE_ICRC_SIZE), 0);
}

static void sizes_wire_ack(struct kunit *test)
{
	const u8 log_size = *(const u8 *)test->param_value;
	struct test_pkt out = {
		.opcode = IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
		.atomic_orig_words = { 1, 2, 3, 4 },
		.atomic.log_size = log_size,
	};
	unsigned int n = mxe_atomic_words(&out.atomic), i;
	u8 buf[12 + 4 + 32 + MXE_ICRC_SIZE];
	struct test_pkt pkt = {};

	KUNIT_ASSERT_EQ(test, test_pkt_len(&out), 12 + 4 + 8 * (size_t)n);
	test_pkt_build(&out, buf);
	/* The original value is one big-endian number. */
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, get_unaligned_be64(buf + 16 + 8 * i),
				(u64)n - i);
	KUNIT_ASSERT_EQ(test, (int)test_pkt_read(&pkt, buf, 16 + 8 * n +
						 MXE_ICRC_SIZE),
			(int)MXE_PKT_OK);
	KUNIT_EXPECT_EQ(test, pkt.atomic_num_words, n);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, pkt.atomic_orig_words[i], i + 1ULL);
	/* 24 bytes are not a valid size. */
	KUNIT_EXPECT_EQ(test, (int)test_pkt_read(&pkt, buf, 16 + 24 +
						 MXE_ICRC_SIZE),
			(int)MXE_PKT_LENGTH);
}

/* ---- responder ----------------------------------------------------------- */

static struct ib_mr *connect(struct kt *kt)
{
	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	return kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
}

static void expect_answer(struct kt *kt, u32 psn, const u64 *old, u8 log_size)
{
	struct test_pkt pkt = kt_sent(kt);
	unsigned int i;

	KUNIT_ASSERT_EQ(kt->test, pkt.opcode, IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE);
	KUNIT_EXPECT_EQ(kt->test, pkt.psn, psn);
	KUNIT_ASSERT_EQ(kt->test, pkt.atomic_num_words,
			log_size > 3 ? 1U << (log_size - 3) : 1U);
	for (i = 0; i < pkt.atomic_num_words; i++)
		KUNIT_EXPECT_EQ(kt->test, pkt.atomic_orig_words[i], old[i]);
	kt_expect_nothing(kt);
}

/*
 * An atomic is executed once. A duplicate is answered with the whole old value.
 */
static void sizes_respond(struct kunit *test)
{
	const u8 log_size = *(const u8 *)test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	struct test_pkt out = kt_pkt(kt, KT_MFADD,
					KT_RQ_PSN);
	u64 old[W], new[W], other[W] = { 1, 2, 3, 4 };
	struct rnd_state rnd;
	u8 *at = kt->mem + PAGE_SIZE - (1 << log_size);

	prandom_seed_state(&rnd, log_size);
	random_words(&rnd, old, log_size);
	do {
		out.atomic = random_args(&rnd, log_size, old);
	} while (out.atomic.op != MFA || !out.atomic.swap_add);
	out.va = kt_va(mr, at - kt->mem);
	out.rkey = mr->rkey;
	memcpy(new, old, sizeof(new));
	reference(new, &out.atomic);

	memcpy(at, old, 1 << log_size);
	kt_inject(kt, &out);
	kt_settle(kt);
	expect_answer(kt, KT_RQ_PSN, old, log_size);
	KUNIT_EXPECT_EQ(test, memcmp(at, new, 1 << log_size), 0);
	KUNIT_EXPECT_EQ(test, kt->mem[PAGE_SIZE], 0);

	memcpy(at, other, 1 << log_size);
	kt_inject(kt, &out);
	expect_answer(kt, KT_RQ_PSN, old, log_size);
	KUNIT_EXPECT_EQ(test, memcmp(at, other, 1 << log_size), 0);
	/* A duplicate with another operand or another size is not answered. */
	out.atomic.swap_add_words[mxe_atomic_words(&out.atomic) - 1] ^= 1;
	kt_inject(kt, &out);
	kt_expect_nothing(kt);
	out.atomic.swap_add_words[mxe_atomic_words(&out.atomic) - 1] ^= 1;
	out.atomic.log_size = log_size == 2 ? 3 : 2;
	out.atomic.swap_add &= U32_MAX;
	out.atomic.compare_mask &= U32_MAX;
	kt_inject(kt, &out);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, memcmp(at, other, 1 << log_size), 0);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_duplicate_mismatch),
			2ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_atomics_executed), 1ULL);
}

/* Requests after a wide atomic that waits for the locks wait too. */
static void sizes_respond_in_order(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	struct test_pkt out = kt_pkt(kt, KT_MFADD,
					KT_RQ_PSN);
	struct test_pkt pkt;
	int i;

	out.va = kt_va(mr, 0);
	out.rkey = mr->rkey;
	for (i = 0; i < 4; i++) {
		out.atomic = (struct mxe_atomic_args) {
			MFA, .swap_add = 1, .compare_mask = 0x8000,
			.log_size = i & 1 ? 3 : 5,
		};
		out.psn = KT_RQ_PSN + i;
		kt_inject(kt, &out);
	}
	kt_settle(kt);
	for (i = 0; i < 4; i++) {
		pkt = kt_sent(kt);
		KUNIT_EXPECT_EQ(test, pkt.psn, KT_RQ_PSN + i);
		KUNIT_EXPECT_EQ(test, pkt.atomic_num_words, i & 1 ? 1 : 4);
		KUNIT_EXPECT_EQ(test, pkt.atomic_orig, (u64)i);
	}
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, 4ULL);
}

/* ---- completer ----------------------------------------------------------- */

/*
 * Kernel consumers can only post 8 bytes, so this changes the size after the
 * request was sent.
 */
static void complete_as(struct kt *kt, struct ib_mr *mr, u64 wr_id, u8 log_size,
			u8 answered)
{
	struct ib_sge sge = { kt_va(mr, 64), 32, mr->lkey };
	struct ib_atomic_wr wr = {
		.wr.wr_id = wr_id,
		.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.compare_add = 1,
		.compare_add_mask = 0x8000,
	};
	struct test_pkt out = kt_pkt(kt, IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE, 0);
	const u64 words[W] = { 0x01020304, 0x0506070801020304ULL, 3, 4 };
	struct test_pkt sent;

	KUNIT_ASSERT_EQ(kt->test, ib_post_send(kt->qp->ibqp, &wr.wr, NULL), 0);
	sent = kt_sent(kt);
	mxe_qp_send_begin(kt->qp);
	mxe_sq_wr(&kt->qp->req, kt->qp->req.tail)->atomic.log_size = log_size;
	mxe_qp_send_end(kt->qp);
	memset(kt->mem, 0xee, PAGE_SIZE);
	out.psn = sent.psn;
	out.atomic.log_size = answered;
	memcpy(out.atomic_orig_words, words, sizeof(words));
	kt_inject(kt, &out);
}

/*
 * Results of 8 bytes are stored in host byte order, the words of other results
 * in big-endian. No byte after the result is written.
 */
static void sizes_complete(struct kunit *test)
{
	static const u8 be4[] = { 1, 2, 3, 4 };
	static const u8 be16[] = { 0, 0, 0, 0, 1, 2, 3, 4,
				   5, 6, 7, 8, 1, 2, 3, 4 };
	const u8 log_size = *(const u8 *)test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	u8 *at = kt->mem + 64;
	struct ib_wc wc;

	complete_as(kt, mr, 1, log_size, log_size);
	wc = kt_poll(kt, kt->send_cq);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 1U << log_size);
	if (log_size == 3)
		KUNIT_EXPECT_EQ(test, *(u64 *)at, 0x01020304ULL);
	else if (log_size < 3)
		KUNIT_EXPECT_EQ(test, memcmp(at, be4 + 4 - (1 << log_size),
					     1 << log_size), 0);
	else
		KUNIT_EXPECT_EQ(test, memcmp(at, be16, sizeof(be16)), 0);
	if (log_size == 5)
		KUNIT_EXPECT_EQ(test, get_unaligned_be64(at + 24), 4ULL);
	KUNIT_EXPECT_EQ(test, at[-1], 0xee);
	KUNIT_EXPECT_EQ(test, at[1 << log_size], 0xee);
}

/* A response of another length is an error. */
static void sizes_complete_length(struct kunit *test)
{
	const u8 log_size = *(const u8 *)test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);

	complete_as(kt, mr, 1, log_size, log_size == 5 ? 4 : 5);
	kt_expect_wc(kt, kt->send_cq, 1, IB_WC_BAD_RESP_ERR);
	KUNIT_EXPECT_EQ(test, kt->mem[64], 0xee);
}

static struct kunit_case sizes_cases[] = {
	/* This case must be the first, while the locks are not in use. */
	KUNIT_CASE(sizes_respond_in_order),
	KUNIT_CASE_PARAM(sizes_exec_random, size_gen_params),
	KUNIT_CASE(sizes_exec_carry),
	KUNIT_CASE(sizes_exec_contended),
	KUNIT_CASE_PARAM(sizes_wire, size_gen_params),
	KUNIT_CASE_PARAM(sizes_wire_ack, size_gen_params),
	KUNIT_CASE_PARAM(sizes_respond, size_gen_params),
	KUNIT_CASE_PARAM(sizes_complete, size_gen_params),
	KUNIT_CASE_PARAM(sizes_complete_length, size_gen_params),
	{}
};

static struct kunit_suite sizes_suite = {
	.name = "mxe_sizes",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = sizes_cases,
};

kunit_test_suite(sizes_suite);
