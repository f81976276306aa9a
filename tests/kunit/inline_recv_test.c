// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the completion of a short message contains the data exactly if
 * the library can deliver them, and that the data are in the buffer otherwise.
 * The test provides the ring of the CQ, everything else is the real module.
 */
#include <kunit/test.h>

#include "harness.h"
#include "memory/mr.h"
#include "memory/pin.h"
#include "queues/srq.h"
#include "rc/inline_recv.h"
#include "tm/tm.h"

#define CQES	16

struct inl {
	struct {
		struct mxe_ring_hdr hdr;
		struct mxe_cqe entry[CQES];
	} ring;
	struct mxe_cq *cq;
	struct mxe_pin pin;
	struct ib_mr *mr;
	u32 psn;
};

/* Makes the CQ and the region those of a process. */
static struct inl *inl_begin(struct kt *kt)
{
	struct inl *t = kunit_kzalloc(kt->test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(kt->test, t);
	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	KUNIT_EXPECT_EQ(kt->test, mxe_inline_recv_init(kt->qp), 0);
	t->cq = to_mcq(kt->recv_cq);
	t->cq->is_user = true;
	t->cq->mm = (void *)t;
	t->cq->entries = CQES;
	t->cq->ring = (struct mxe_ring) {
		.hdr = &t->ring.hdr,
		.entries_base = t->ring.entry,
		.entries = CQES,
		.stride = sizeof(t->ring.entry[0]),
	};
	t->mr = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	t->pin.key.start = t->mr->iova;
	t->pin.key.mm = t->cq->mm;
	to_mmr(t->mr)->pin = &t->pin;
	t->psn = KT_RQ_PSN;
	return t;
}

/* The region does not own the pin. */
static void inl_end(struct kt *kt, struct inl *t)
{
	kt_settle(kt);
	to_mmr(t->mr)->pin = NULL;
}

static void inl_send(struct kt *kt, struct inl *t, u32 len)
{
	struct test_pkt out = kt_pkt(kt, KT_SEND_ONLY, t->psn++);

	out.payload_len = len;
	kt_inject(kt, &out);
}

static struct mxe_cqe inl_poll(struct kt *kt, struct inl *t)
{
	u32 index = t->ring.hdr.consumer;

	KUNIT_EXPECT_NE(kt->test, t->ring.hdr.producer, index);
	t->ring.hdr.consumer++;
	return t->ring.entry[index % CQES];
}

static void inl_expect_data(struct kt *kt, const u8 *data, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		KUNIT_EXPECT_EQ(kt->test, data[i], i + 1);
}

static void inl_lengths(struct kunit *test)
{
	static const u32 lens[] = { 1, 7, 8, 15, MXE_CQE_INLINE_SIZE };
	struct kt *kt = kt_of(test);
	struct inl *t = inl_begin(kt);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		struct mxe_cqe cqe;

		kt_post_recv(kt, i, t->mr, 64 * i, 64);
		inl_send(kt, t, lens[i]);
		kt_expect_ack(kt, t->psn - 1, KT_ACK, i + 1);
		cqe = inl_poll(kt, t);
		KUNIT_EXPECT_EQ(test, cqe.wr_id, i);
		KUNIT_EXPECT_EQ(test, cqe.status, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, cqe.opcode, MXE_WC_RECV);
		KUNIT_EXPECT_EQ(test, cqe.flags, MXE_CQE_INLINE);
		KUNIT_EXPECT_EQ(test, cqe.byte_len, lens[i]);
		KUNIT_EXPECT_EQ(test, cqe.recv_addr, kt_va(t->mr, 64 * i));
		inl_expect_data(kt, cqe.inline_data, lens[i]);
		/* The buffer belongs to the library. */
		KUNIT_EXPECT_EQ(test, kt->mem[64 * i], 0);
	}
	inl_end(kt, t);
}

/* Receives @len bytes, which must be in the buffer, not in the completion. */
static void inl_expect_plain(struct kt *kt, struct inl *t, const char *why, u32 len)
{
	struct mxe_cqe cqe;

	memset(kt->mem, 0, 64);
	inl_send(kt, t, len);
	cqe = inl_poll(kt, t);
	KUNIT_EXPECT_EQ_MSG(kt->test, cqe.status, IB_WC_SUCCESS, "%s", why);
	KUNIT_EXPECT_EQ_MSG(kt->test, cqe.flags, 0, "%s", why);
	KUNIT_EXPECT_EQ_MSG(kt->test, cqe.byte_len, len, "%s", why);
	inl_expect_data(kt, kt->mem, len);
	kt_drop_sent(kt);
}

static void inl_exceptions(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct inl *t = inl_begin(kt);
	struct ib_sge sge[2];
	struct ib_recv_wr wr = { .sg_list = sge, .num_sge = 2 };

	kt_post_recv(kt, 0, t->mr, 0, 64);
	inl_expect_plain(kt, t, "too long", MXE_CQE_INLINE_SIZE + 1);
	kt_post_recv(kt, 0, t->mr, 0, 64);
	inl_expect_plain(kt, t, "no data", 0);

	sge[0] = (struct ib_sge) { kt_va(t->mr, 0), 5, t->mr->lkey };
	sge[1] = (struct ib_sge) { kt_va(t->mr, 5), 59, t->mr->lkey };
	KUNIT_EXPECT_EQ(test, ib_post_recv(kt->qp->ibqp, &wr, NULL), 0);
	inl_expect_plain(kt, t, "more than the first SGE", 6);

	t->cq->timestamps = true;
	kt_post_recv(kt, 0, t->mr, 0, 64);
	inl_expect_plain(kt, t, "timestamps", 8);
	t->cq->timestamps = false;

	t->pin.key.start++;
	kt_post_recv(kt, 0, t->mr, 0, 64);
	inl_expect_plain(kt, t, "an iova that is no address", 8);
	t->pin.key.start--;

	t->pin.key.mm = NULL;
	kt_post_recv(kt, 0, t->mr, 0, 64);
	inl_expect_plain(kt, t, "memory of another process", 8);
	t->pin.key.mm = t->cq->mm;

	to_mmr(t->mr)->pin = NULL;
	kt_post_recv(kt, 0, t->mr, 0, 64);
	inl_expect_plain(kt, t, "memory that is no process's", 8);
	inl_end(kt, t);
}

/* The completion of immediate data must not have those of an earlier SEND. */
static void inl_imm(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct inl *t = inl_begin(kt);
	struct test_pkt out;
	struct mxe_cqe cqe;

	kt_post_recv(kt, 1, t->mr, 0, 64);
	kt_post_recv(kt, 2, t->mr, 64, 64);
	inl_send(kt, t, 8);
	cqe = inl_poll(kt, t);
	KUNIT_EXPECT_EQ(test, cqe.flags, MXE_CQE_INLINE);
	out = kt_pkt(kt, IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, t->psn++);
	out.va = kt_va(t->mr, 128);
	out.rkey = t->mr->rkey;
	out.dma_len = 8;
	out.payload_len = 8;
	kt_inject(kt, &out);
	cqe = inl_poll(kt, t);
	KUNIT_EXPECT_EQ(test, cqe.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, cqe.flags, MXE_CQE_WITH_IMM);
	inl_expect_data(kt, kt->mem + 128, 8);
	inl_end(kt, t);
}

/* Errors are those of a QP without inline receive. */
static void inl_errors(struct kunit *test)
{
	static const struct {
		u32 len, buf_len, lkey;
		enum ib_wc_status status;
		u8 syndrome;
	} rows[] = {
		{ 8, 64, 0x5a5a00, IB_WC_LOC_PROT_ERR, KT_NAK_OP },
		{ 8, 7, 0, IB_WC_LOC_LEN_ERR, KT_NAK_INV },
	};
	struct kt *kt = kt_of(test);
	struct inl *t = inl_begin(kt);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ib_sge sge = {
			kt_va(t->mr, 0), rows[i].buf_len, rows[i].lkey ^ t->mr->lkey,
		};
		struct ib_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
		struct mxe_cqe cqe;

		KUNIT_EXPECT_EQ(test, ib_post_recv(kt->qp->ibqp, &wr, NULL), 0);
		inl_send(kt, t, rows[i].len);
		kt_expect_ack(kt, t->psn - 1, rows[i].syndrome, 0);
		cqe = inl_poll(kt, t);
		KUNIT_EXPECT_EQ(test, cqe.status, rows[i].status);
		KUNIT_EXPECT_EQ(test, cqe.flags, 0);
		kt_settle(kt);
		KUNIT_EXPECT_EQ(test, kt_modify(kt, IB_QPS_RESET, &kt_default_conn), 0);
		kt_connect(kt, &kt_default_conn);
		t->psn = KT_RQ_PSN;
	}
	inl_end(kt, t);
}

static void inl_refused(struct kunit *test)
{
	struct kt *kt = kt_of(test);

	kt_create_srq(kt, 4);
	KUNIT_EXPECT_EQ(test, mxe_tm_create(to_msrq(kt->srq), 4, NULL), 0);
	kt_create_qp(kt);
	KUNIT_EXPECT_EQ(test, mxe_inline_recv_init(kt->qp), -EOPNOTSUPP);
	KUNIT_EXPECT_FALSE(test, mxe_inline_recv_is_on(kt->qp));
}

static void inl_refused_type(struct kunit *test)
{
	struct kt *kt = kt_of(test);

	kt_create_qp_of(kt, IB_QPT_UD);
	KUNIT_EXPECT_EQ(test, mxe_inline_recv_init(kt->qp), -EOPNOTSUPP);
	KUNIT_EXPECT_FALSE(test, mxe_inline_recv_is_on(kt->qp));
}

static struct kunit_case inline_recv_cases[] = {
	KUNIT_CASE(inl_lengths),
	KUNIT_CASE(inl_exceptions),
	KUNIT_CASE(inl_imm),
	KUNIT_CASE(inl_errors),
	KUNIT_CASE(inl_refused),
	KUNIT_CASE(inl_refused_type),
	{}
};

static struct kunit_suite inline_recv_suite = {
	.name = "mxe_inline_recv",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = inline_recv_cases,
};

kunit_test_suites(&inline_recv_suite);
