// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the list of tags of an SRQ matches as a naive matcher does, that
 * the responder completes messages as ConnectX does, and that a rendezvous
 * reads the data and sends the FIN beside the requests of the process.  The
 * test provides the rings of the process, everything else is the real module.
 */
#include <kunit/test.h>
#include <linux/jhash.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "harness.h"
#include "memory/mr.h"
#include "queues/srq.h"
#include "queues/wqe.h"
#include "rc/send.h"
#include "tm/rndv.h"
#include "tm/tm.h"
#include "tm/tm_recv.h"

#define OPS	64
#define CQES	256
#define TAGS	32
#define WQES	8
#define TAG	0x1122334455667788ULL
#define PRIV	0x99aabbccU

struct tm_rings {
	struct {
		struct mxe_ring_hdr hdr;
		struct {
			struct mxe_tm_wqe op;
			struct mxe_sge sge[MXE_TM_MAX_SGE];
		} entry[OPS];
	} ops;
	struct {
		struct mxe_ring_hdr hdr;
		struct mxe_cqe entry[CQES];
	} cq;
	struct {
		struct mxe_ring_hdr hdr;
		struct {
			struct mxe_send_wqe wqe;
			struct mxe_sge sge;
		} entry[WQES];
	} req;
	struct mxe_srq *srq;
	struct ib_mr *mr;
	struct mxe_recv_wr *wr;
};

#define TM_RING(ring) ((struct mxe_ring) {			\
	.hdr = &(ring).hdr,					\
	.entries_base = (ring).entry,				\
	.entries = ARRAY_SIZE((ring).entry),			\
	.stride = sizeof((ring).entry[0]),			\
})

/* Makes an SRQ one for tag matching, and its CQ that of a process. */
static struct tm_rings *tm_begin_tags(struct kt *kt, u32 max_tags)
{
	struct tm_rings *t = kunit_kzalloc(kt->test, sizeof(*t), GFP_KERNEL);
	struct mxe_cq *cq = to_mcq(kt->recv_cq);

	KUNIT_ASSERT_NOT_NULL(kt->test, t);
	kt_create_srq(kt, 16);
	t->srq = to_msrq(kt->srq);
	KUNIT_ASSERT_EQ(kt->test, mxe_tm_create(t->srq, max_tags, NULL), 0);
	t->srq->tm->ops = TM_RING(t->ops);
	t->srq->ibsrq.ext.cq = kt->recv_cq;
	cq->is_user = true;
	cq->ring = TM_RING(t->cq);
	cq->entries = CQES;
	t->wr = kunit_kzalloc(kt->test, mxe_rq_wr_size(MXE_TM_MAX_SGE), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(kt->test, t->wr);
	t->mr = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	return t;
}

static struct tm_rings *tm_begin_srq(struct kt *kt)
{
	return tm_begin_tags(kt, TAGS);
}

static struct tm_rings *tm_begin(struct kt *kt)
{
	struct tm_rings *t = tm_begin_srq(kt);

	kt_create_qp(kt);
	kt->qp->is_user = true;
	kt->qp->req.opcodes = mxe_wqe_user_opcodes(kt->qp);
	kt->qp->req.ring = TM_RING(t->req);
	kt->qp->req.entries = WQES;
	kt_connect(kt, &kt_default_conn);
	return t;
}

/* ---- operations and completions ---------------------------------------- */

/* Posts an operation without a doorbell. */
static void tm_put(struct tm_rings *t, const struct mxe_tm_wqe *op, u32 len)
{
	u32 index = t->ops.hdr.producer;

	t->ops.entry[index % OPS].op = *op;
	t->ops.entry[index % OPS].sge[0] = (struct mxe_sge) {
		.addr = kt_va(t->mr, 0), .length = len, .lkey = t->mr->lkey,
	};
	t->ops.hdr.producer = index + 1;
}

static void tm_op(struct tm_rings *t, const struct mxe_tm_wqe *op, u32 len)
{
	tm_put(t, op, len);
	local_bh_disable();
	mxe_tm_ring(t->srq);
	local_bh_enable();
}

/* Adds a tag with a buffer at the beginning of the memory. */
static void tm_add(struct tm_rings *t, u64 recv_wr_id, u64 tag, u64 mask, u32 len)
{
	tm_op(t, &(struct mxe_tm_wqe) {
		.opcode = MXE_TM_ADD,
		.recv_wr_id = recv_wr_id,
		.handle = recv_wr_id,
		.tag = tag,
		.mask = mask,
		.num_sge = 1,
	}, len);
}

static void tm_expect_no_cqe(struct kt *kt, struct tm_rings *t)
{
	KUNIT_EXPECT_EQ(kt->test, t->cq.hdr.producer, t->cq.hdr.consumer);
}

static struct mxe_cqe tm_poll(struct kt *kt, struct tm_rings *t)
{
	u32 index = t->cq.hdr.consumer;

	KUNIT_ASSERT_NE(kt->test, t->cq.hdr.producer, index);
	t->cq.hdr.consumer++;
	return t->cq.entry[index % CQES];
}

static void tm_expect_cqe(struct kt *kt, struct tm_rings *t, u16 opcode, u64 wr_id,
			  u32 status, u16 flags)
{
	struct mxe_cqe cqe = tm_poll(kt, t);

	KUNIT_EXPECT_EQ(kt->test, cqe.wr_id, wr_id);
	KUNIT_EXPECT_EQ(kt->test, cqe.status, status);
	KUNIT_EXPECT_EQ(kt->test, cqe.flags, flags);
	if (!status)
		KUNIT_EXPECT_EQ(kt->test, cqe.opcode, opcode);
	if (flags & MXE_CQE_TM_INFO) {
		KUNIT_EXPECT_EQ(kt->test, cqe.tm_tag, TAG);
		KUNIT_EXPECT_EQ(kt->test, cqe.tm_priv, PRIV);
	}
}

#define TM_MATCHED	(MXE_CQE_TM_INFO | MXE_CQE_TM_MATCH)

static void tm_post_recv(struct kt *kt, struct tm_rings *t, u64 wr_id)
{
	struct ib_sge sge = {
		.addr = kt_va(t->mr, 4096), .length = 512, .lkey = t->mr->lkey,
	};
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };

	KUNIT_EXPECT_EQ(kt->test, ib_post_srq_recv(kt->srq, &wr, NULL), 0);
}

/* ---- the model --------------------------------------------------------- */

struct model_tag {
	u64 tag, mask, recv_wr_id;
	u32 handle;
	bool enabled;
};

/* In the order of posting. */
struct model {
	struct model_tag tags[TAGS];
	unsigned int num;
	u32 unexpected, reported;
	u32 next;
	struct rnd_state random;
};

static u32 model_random(struct model *m, u32 below)
{
	return prandom_u32_state(&m->random) % below;
}

static void model_remove(struct model *m, unsigned int i)
{
	memmove(&m->tags[i], &m->tags[i + 1], (--m->num - i) * sizeof(m->tags[0]));
}

static void model_enable(struct model *m)
{
	unsigned int i;

	if (m->reported == m->unexpected)
		for (i = 0; i < m->num; i++)
			m->tags[i].enabled = true;
}

static const u64 model_masks[] = { ~0ULL, 0xff, 0xf0, 0, 0x0f };

static void model_add(struct kt *kt, struct tm_rings *t, struct model *m)
{
	u64 mask = model_masks[model_random(m, ARRAY_SIZE(model_masks))];
	struct mxe_tm_wqe op = {
		.wr_id = m->next,
		.recv_wr_id = m->next,
		.handle = m->next,
		.tag = 0x11 * model_random(m, 4) & mask,
		.mask = mask,
		.opcode = MXE_TM_ADD,
		.flags = MXE_TM_OP_SIGNALED,
	};
	bool full = m->num == TAGS;

	/* Rarely a tag with bits outside of its mask, which never matches. */
	if (!model_random(m, 16))
		op.tag |= 0x100;
	if (!full)
		m->tags[m->num++] = (struct model_tag) {
			op.tag, mask, m->next, m->next, false,
		};
	m->next++;
	if (model_random(m, 2)) {
		op.flags |= MXE_TM_OP_SYNC;
		op.unexpected_cnt = m->unexpected - model_random(m, 2);
		if (!full)
			m->reported = op.unexpected_cnt;
	}
	if (!full)
		model_enable(m);
	tm_op(t, &op, 0);
	tm_expect_cqe(kt, t, MXE_WC_TM_ADD, op.wr_id, full ? IB_WC_LOC_QP_OP_ERR : 0,
		      m->reported == m->unexpected ? 0 : MXE_CQE_TM_SYNC_REQ);
}

static void model_del(struct kt *kt, struct tm_rings *t, struct model *m)
{
	unsigned int i = model_random(m, TAGS);
	struct mxe_tm_wqe op = {
		.wr_id = 7,
		.handle = i < m->num ? m->tags[i].handle : m->next,
		.opcode = MXE_TM_DEL,
		.flags = MXE_TM_OP_SIGNALED,
	};
	bool found = i < m->num;

	if (found)
		model_remove(m, i);
	model_enable(m);
	tm_op(t, &op, 0);
	tm_expect_cqe(kt, t, MXE_WC_TM_DEL, 7, found ? 0 : MXE_WC_TM_ERR,
		      m->reported == m->unexpected ? 0 : MXE_CQE_TM_SYNC_REQ);
}

static void model_sync(struct kt *kt, struct tm_rings *t, struct model *m)
{
	m->reported = m->unexpected - model_random(m, 2);
	model_enable(m);
	tm_op(t, &(struct mxe_tm_wqe) {
		.wr_id = 8,
		.opcode = MXE_TM_SYNC,
		.flags = MXE_TM_OP_SIGNALED,
		.unexpected_cnt = m->reported,
	}, 0);
	tm_expect_cqe(kt, t, MXE_WC_TM_SYNC, 8, 0,
		      m->reported == m->unexpected ? 0 : MXE_CQE_TM_SYNC_REQ);
}

static void model_message(struct kt *kt, struct tm_rings *t, struct model *m)
{
	u64 tag = 0x11 * model_random(m, 4);
	struct mxe_tm_msg msg = {
		.kind = MXE_TM_EAGER, .hdr.tmh.tag = cpu_to_be64(tag),
	};
	struct mxe_recv_wr *wr = t->wr;
	unsigned long pending = 0;
	bool has_recv = model_random(m, 4);
	unsigned int i;
	int err;

	if (has_recv)
		tm_post_recv(kt, t, 1000000);
	local_bh_disable();
	err = mxe_tm_take(t->srq, &msg, wr, &pending);
	local_bh_enable();
	for (i = 0; i < m->num; i++)
		if ((tag & m->tags[i].mask) == m->tags[i].tag)
			break;
	if (i < m->num && m->tags[i].enabled) {
		KUNIT_EXPECT_EQ(kt->test, err, 0);
		KUNIT_EXPECT_EQ(kt->test, (int)msg.kind, (int)MXE_TM_EAGER);
		KUNIT_EXPECT_EQ(kt->test, wr->wr_id, m->tags[i].recv_wr_id);
		model_remove(m, i);
		/* Take back the buffer that the message did not need. */
		t->srq->q.consumed = t->srq->q.posted;
	} else if (!has_recv) {
		/* The message is not counted, because it will come again. */
		KUNIT_EXPECT_EQ(kt->test, err, -EAGAIN);
	} else {
		KUNIT_EXPECT_EQ(kt->test, err, 0);
		KUNIT_EXPECT_EQ(kt->test, (int)msg.kind, (int)MXE_TM_UNEXPECTED);
		KUNIT_EXPECT_EQ(kt->test, wr->wr_id, 1000000ULL);
		m->unexpected++;
	}
}

static u32 model_num_masks(const struct model *m)
{
	u32 n = 0, i, j;

	for (i = 0; i < m->num; i++) {
		for (j = 0; j < i && m->tags[j].mask != m->tags[i].mask; j++)
			;
		n += i == j;
	}
	return n;
}

static void tm_model(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin_srq(kt);
	struct model m = {};
	unsigned int i;

	prandom_seed_state(&m.random, 24);
	for (i = 0; i < 20000; i++) {
		switch (model_random(&m, 8)) {
		case 0:
		case 1:
		case 2:
			model_add(kt, t, &m);
			break;
		case 3:
			model_del(kt, t, &m);
			break;
		case 4:
			model_sync(kt, t, &m);
			break;
		default:
			model_message(kt, t, &m);
			break;
		}
		KUNIT_ASSERT_EQ(test, t->srq->tm->unexpected, m.unexpected);
		KUNIT_ASSERT_EQ(test, m.next - t->ops.hdr.tags_freed, m.num);
		KUNIT_ASSERT_EQ(test, t->srq->tm->num_masks, model_num_masks(&m));
	}
	tm_expect_no_cqe(kt, t);
}

/* ---- operations of a hostile process ----------------------------------- */

struct bad_op_row {
	struct mxe_tm_wqe op;
	const char *desc;
};

static const struct bad_op_row bad_op_rows[] = {
	{ { .opcode = 3 }, "unknown opcode" },
	{ { .opcode = 255 }, "greatest opcode" },
	{ { .flags = 4 }, "unknown flag" },
	{ { .num_sge = MXE_TM_MAX_SGE + 1 }, "too many SGEs" },
	{ { .opcode = MXE_TM_DEL, .num_sge = 1 }, "SGE in a DEL" },
	{ { .reserved[4] = 1 }, "reserved byte" },
};

KT_ARRAY_PARAM(bad_op, bad_op_rows);

/* A bad operation completes in error, even if it is not signalled. */
static void tm_bad_op(struct kunit *test)
{
	const struct bad_op_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin_srq(kt);

	tm_op(t, &row->op, 0);
	tm_expect_cqe(kt, t, 0, 0, IB_WC_LOC_QP_OP_ERR, 0);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_bad_wqe), 1ULL);
	KUNIT_EXPECT_EQ(test, t->ops.hdr.tags_freed, row->op.opcode ? 0U : 1U);
	tm_add(t, 1, 2, 3, 4);
	tm_expect_no_cqe(kt, t);
}

static void tm_bad_index(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin_srq(kt);

	t->ops.hdr.producer = OPS;
	tm_add(t, 1, 2, 3, 4);
	KUNIT_EXPECT_TRUE(test, test_and_clear_bit(IB_EVENT_SRQ_ERR, &kt->events));
	/* The ring is not used any more, and the event is raised once. */
	t->ops.hdr.producer = 0;
	tm_add(t, 1, 2, 3, 4);
	KUNIT_EXPECT_FALSE(test, test_bit(IB_EVENT_SRQ_ERR, &kt->events));
	KUNIT_EXPECT_EQ(test, t->ops.hdr.consumer, 0U);
}

/* A doorbell executes a bounded number of operations at a time. */
static void tm_slice(struct kunit *test)
{
	const u32 slice = MXE_TM_SLICE / MXE_TM_OP_COST;
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin_srq(kt);

	t->ops.hdr.producer = slice + 1;
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, mxe_tm_ring(t->srq));
	KUNIT_EXPECT_EQ(test, t->ops.hdr.consumer, slice);
	KUNIT_EXPECT_FALSE(test, mxe_tm_ring(t->srq));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, t->ops.hdr.consumer, slice + 1);
}

/* Operations that look at every tag take more of a slice. */
static void tm_slice_steps(struct kunit *test)
{
	const u32 cost = MXE_TM_OP_COST + MXE_TM_MAX_TAGS / MXE_TM_STEPS_PER_UNIT;
	const u32 slice = DIV_ROUND_UP(MXE_TM_SLICE, cost);
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin_tags(kt, MXE_TM_MAX_TAGS);
	u32 i, first;

	for (i = 0; i < MXE_TM_MAX_TAGS; i++)
		tm_op(t, &(struct mxe_tm_wqe) {
			.opcode = MXE_TM_ADD, .handle = i * MXE_TM_MAX_TAGS,
		}, 0);
	first = t->ops.hdr.consumer;
	KUNIT_ASSERT_EQ(test, first, t->ops.hdr.producer);
	for (i = 0; i < 2 * slice; i++)
		t->ops.entry[(first + i) % OPS].op = (struct mxe_tm_wqe) {
			.opcode = MXE_TM_DEL, .handle = MXE_TM_MAX_TAGS * MXE_TM_MAX_TAGS,
		};
	t->ops.hdr.producer = first + 2 * slice;
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, mxe_tm_ring(t->srq));
	KUNIT_EXPECT_EQ(test, t->ops.hdr.consumer, first + slice);
	KUNIT_EXPECT_FALSE(test, mxe_tm_ring(t->srq));
	local_bh_enable();
}

/*
 * A process that knows the seed gives all tags of one mask the bucket of a
 * message, and uses as many other masks.  The search looks at each tag once.
 */
static void tm_steps(struct kunit *test)
{
	const u32 half = MXE_TM_MAX_TAGS / 2;
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin_tags(kt, MXE_TM_MAX_TAGS);
	struct mxe_tm_msg msg = { .kind = MXE_TM_EAGER };
	u32 seed = t->srq->tm->seed, bucket = jhash_2words(0, 0, seed);
	unsigned long pending = 0;
	u32 tag, i;

	for (tag = 1, i = 0; i < half; tag++)
		if (!((jhash_2words(tag, 0, seed) ^ bucket) % MXE_TM_MAX_TAGS))
			tm_add(t, i++, tag, U64_MAX, 0);
	for (i = 0; i < half; i++)
		tm_add(t, half + i, 1, BIT_ULL(63) | 1 | i << 1, 0);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, mxe_tm_take(t->srq, &msg, t->wr, &pending), -EAGAIN);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, t->srq->tm->num_masks, half + 1);
	i = msg.cost - (half + 1) / MXE_TM_MASKS_PER_UNIT;
	KUNIT_EXPECT_LE(test, i, 2 * half / MXE_TM_STEPS_PER_UNIT);
	KUNIT_EXPECT_GE(test, i, half / MXE_TM_STEPS_PER_UNIT);
}

static int tm_take(struct tm_rings *t, u64 tag, struct mxe_tm_msg *msg)
{
	unsigned long pending = 0;
	int err;

	*msg = (struct mxe_tm_msg) { .kind = MXE_TM_EAGER };
	msg->hdr.tmh.tag = cpu_to_be64(tag);
	local_bh_disable();
	err = mxe_tm_take(t->srq, msg, t->wr, &pending);
	local_bh_enable();
	return err;
}

/* A message executes up to MXE_TM_MAX_UNRUNG operations without a doorbell. */
static void tm_unrung(struct kunit *test)
{
	const u32 max = MXE_TM_MAX_UNRUNG;
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin_srq(kt);
	struct mxe_tm_msg msg;
	u32 i;

	for (i = 0; i <= max; i++)
		tm_put(t, &(struct mxe_tm_wqe) {
			.opcode = MXE_TM_ADD, .recv_wr_id = i, .handle = i,
			.tag = i, .mask = U64_MAX,
		}, 0);
	KUNIT_EXPECT_EQ(test, mxe_tm_cost(t->srq->tm), max * MXE_TM_OP_COST);
	KUNIT_EXPECT_EQ(test, tm_take(t, max, &msg), -EAGAIN);
	KUNIT_EXPECT_EQ(test, msg.cost, max * MXE_TM_OP_COST);
	KUNIT_EXPECT_EQ(test, t->ops.hdr.consumer, max);
	KUNIT_EXPECT_EQ(test, tm_take(t, max, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.cost, MXE_TM_OP_COST);
	KUNIT_EXPECT_EQ(test, t->wr->wr_id, (u64)max);
	KUNIT_EXPECT_EQ(test, tm_take(t, 0, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.cost, 0U);
	KUNIT_EXPECT_EQ(test, t->wr->wr_id, 0ULL);
	KUNIT_EXPECT_EQ(test, t->ops.hdr.tags_freed, 2U);
}

/* ---- messages ---------------------------------------------------------- */

static void tm_message(struct kt *kt, u8 opcode, u32 psn, u8 tm_opcode, u32 len,
		       u32 rndv_len)
{
	struct test_pkt out = kt_pkt(kt, opcode, psn);
	struct mxe_rndv_hdr hdr = {
		.tmh = {
			.opcode = tm_opcode,
			.app_ctx = cpu_to_be32(PRIV),
			.tag = cpu_to_be64(TAG),
		},
		.rvh = {
			.va = cpu_to_be64(KT_REMOTE_VA),
			.rkey = cpu_to_be32(KT_REMOTE_KEY),
			.len = cpu_to_be32(rndv_len),
		},
	};
	size_t total;
	u8 *buf;

	out.payload_len = len;
	buf = kt_build(kt, &out, &total);
	memcpy(buf + mxe_opcodes[opcode].hdr_len, &hdr,
	       min_t(size_t, len, tm_opcode == MXE_TMH_RNDV ? sizeof(hdr) :
							      sizeof(hdr.tmh)));
	kt_inject_bth(kt, buf, total, KT_GOOD);
	kunit_kfree(kt->test, buf);
}

static void tm_eager(struct kt *kt, u32 psn, u32 len)
{
	tm_message(kt, KT_SEND_ONLY, psn, MXE_TMH_EAGER, len, 0);
}

/* A message finds the completion and the errors of operations, too. */
static void tm_unrung_bad(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_put(t, &(struct mxe_tm_wqe) {
		.opcode = MXE_TM_ADD, .recv_wr_id = 5, .handle = 5, .wr_id = 4,
		.tag = TAG, .mask = KT_ONES, .num_sge = 1, .flags = MXE_TM_OP_SIGNALED,
	}, 100);
	tm_eager(kt, KT_RQ_PSN, 16 + 100);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	tm_expect_cqe(kt, t, MXE_WC_TM_ADD, 4, 0, 0);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, TM_MATCHED | MXE_CQE_TM_DATA_VALID);
	t->ops.hdr.producer += OPS + 1;
	tm_post_recv(kt, t, 7);
	tm_eager(kt, KT_RQ_PSN + 1, 16 + 100);
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_ACK, 2);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 7, 0, 0);
	KUNIT_EXPECT_TRUE(test, test_and_clear_bit(IB_EVENT_SRQ_ERR, &kt->events));
}

/*
 * The loopback path has matched a message and then failed.  The requester was
 * connected again, and sends another message.
 */
static void tm_other_message(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);
	struct mxe_rndv_hdr hdr = {
		.tmh = { .opcode = MXE_TMH_EAGER, .tag = cpu_to_be64(TAG) },
	};
	struct mxe_tm_data data = { .hdr = &hdr, .len = 116, .is_last = true };

	/* Room for what a length below that of the header would wrap to. */
	tm_add(t, 5, TAG, KT_ONES, U32_MAX);
	mxe_qp_recv_begin(kt->qp);
	KUNIT_EXPECT_EQ(test, mxe_tm_recv_start(kt->qp, &data), 0);
	mxe_qp_recv_end(kt->qp);
	KUNIT_EXPECT_EQ(test, data.skip, 16U);
	KUNIT_EXPECT_EQ(test, data.len, 100U);
	tm_eager(kt, KT_RQ_PSN, 15);
	kt_expect_ack(kt, KT_RQ_PSN, KT_NAK_INV, 0);
}

static void tm_eager_match(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_add(t, 5, TAG, KT_ONES, 100);
	tm_eager(kt, KT_RQ_PSN, 16 + 100);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, TM_MATCHED | MXE_CQE_TM_DATA_VALID);
	KUNIT_EXPECT_EQ(test, t->cq.entry[0].byte_len, 100U);
	KUNIT_EXPECT_EQ(test, t->cq.entry[0].qp_num, kt->qp->qpn);
	/* The header is not part of the data, whose first byte is 17. */
	KUNIT_EXPECT_EQ(test, kt->mem[0], 17);
	KUNIT_EXPECT_EQ(test, kt->mem[99], 116);

	/* A duplicate is acknowledged, and matches nothing. */
	tm_add(t, 6, TAG, KT_ONES, 100);
	tm_eager(kt, KT_RQ_PSN, 16 + 100);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	tm_expect_no_cqe(kt, t);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_tm_matched), 1ULL);
}

static void tm_eager_packets(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_add(t, 5, TAG & 0xff, 0xff, 1000);
	tm_message(kt, KT_SEND_FIRST, KT_RQ_PSN, MXE_TMH_EAGER, KT_MTU, 0);
	/* The match is reported before the data have arrived. */
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, TM_MATCHED);
	tm_expect_no_cqe(kt, t);
	tm_message(kt, KT_SEND_MIDDLE, KT_RQ_PSN + 1, 0, KT_MTU, 0);
	tm_expect_no_cqe(kt, t);
	kt_drop_sent(kt);
	tm_message(kt, KT_SEND_LAST, KT_RQ_PSN + 2, 0, 20, 0);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, MXE_CQE_TM_DATA_VALID);
	KUNIT_EXPECT_EQ(test, t->cq.entry[1].byte_len, 2 * KT_MTU - 16U + 20);
	KUNIT_EXPECT_EQ(test, kt->mem[KT_MTU - 17], 0);
	KUNIT_EXPECT_EQ(test, kt->mem[2 * KT_MTU - 16 + 19], 20);
	kt_drop_sent(kt);
}

static void tm_eager_too_long(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_add(t, 5, TAG, KT_ONES, 99);
	tm_eager(kt, KT_RQ_PSN, 16 + 100);
	kt_expect_ack(kt, KT_RQ_PSN, KT_NAK_INV, 0);
	tm_expect_cqe(kt, t, 0, 5, IB_WC_LOC_LEN_ERR, 0);
	kt_settle(kt);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_ERR);
}

struct untagged_row {
	u8 opcode;
	u32 len;
	bool unexpected;
	const char *desc;
};

static const struct untagged_row untagged_rows[] = {
	{ MXE_TMH_EAGER, 50, true, "no match" },
	{ MXE_TMH_EAGER, 15, false, "shorter than a TMH" },
	{ MXE_TMH_EAGER, 0, false, "empty" },
	{ MXE_TMH_NO_TAG, 50, false, "NO_TAG" },
	{ MXE_TMH_FIN, 32, false, "FIN" },
	{ 4, 50, false, "unknown" },
	{ MXE_TMH_RNDV, 32, true, "rendezvous" },
	{ MXE_TMH_RNDV, 64, true, "rendezvous with data" },
};

KT_ARRAY_PARAM(untagged, untagged_rows);

/* Without a match, a buffer of the SRQ gets the message with its header. */
static void tm_untagged(struct kunit *test)
{
	const struct untagged_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_add(t, 5, TAG + 1, KT_ONES, 100);
	tm_message(kt, KT_SEND_ONLY, KT_RQ_PSN, row->opcode, row->len, 10);
	/* Not counted before there is a buffer. */
	kt_expect_ack(kt, KT_RQ_PSN, MXE_AETH_RNR_NAK | 7, 0);
	KUNIT_EXPECT_EQ(test, t->srq->tm->unexpected, 0U);
	tm_post_recv(kt, t, 6);
	tm_message(kt, KT_SEND_ONLY, KT_RQ_PSN, row->opcode, row->len, 10);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	tm_expect_cqe(kt, t, row->unexpected ? MXE_WC_TM_RECV : MXE_WC_TM_NO_TAG, 6,
		      0, 0);
	KUNIT_EXPECT_EQ(test, t->cq.entry[0].byte_len, row->len);
	KUNIT_EXPECT_EQ(test, t->srq->tm->unexpected, (u32)row->unexpected);
	if (row->len)
		KUNIT_EXPECT_EQ(test, kt->mem[4096], row->opcode);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_tm_unexpected),
			(u64)row->unexpected);
}

/*
 * A tag that was posted after an unexpected message may match it, so it must
 * not match a later one before the program has handled the first.
 */
static void tm_phase(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);
	u32 i;

	for (i = 0; i < 3; i++)
		tm_post_recv(kt, t, 100 + i);
	tm_eager(kt, KT_RQ_PSN, 20);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 100, 0, 0);
	tm_add(t, 5, TAG, KT_ONES, 100);
	tm_eager(kt, KT_RQ_PSN + 1, 20);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 101, 0, 0);
	/* The count is not right yet. */
	tm_op(t, &(struct mxe_tm_wqe) {
		.wr_id = 1, .opcode = MXE_TM_SYNC, .flags = MXE_TM_OP_SIGNALED,
		.unexpected_cnt = 1,
	}, 0);
	tm_expect_cqe(kt, t, MXE_WC_TM_SYNC, 1, 0, MXE_CQE_TM_SYNC_REQ);
	tm_eager(kt, KT_RQ_PSN + 2, 20);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 102, 0, 0);
	tm_op(t, &(struct mxe_tm_wqe) {
		.wr_id = 1, .opcode = MXE_TM_SYNC, .flags = MXE_TM_OP_SIGNALED,
		.unexpected_cnt = 3,
	}, 0);
	tm_expect_cqe(kt, t, MXE_WC_TM_SYNC, 1, 0, 0);
	tm_eager(kt, KT_RQ_PSN + 3, 20);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, TM_MATCHED | MXE_CQE_TM_DATA_VALID);
	kt_drop_sent(kt);
}

/* The program never sees that a message was unexpected whose end is missing. */
static void tm_lost(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_post_recv(kt, t, 6);
	tm_message(kt, KT_SEND_FIRST, KT_RQ_PSN, MXE_TMH_EAGER, KT_MTU, 0);
	KUNIT_EXPECT_EQ(test, t->srq->tm->unexpected, 1U);
	tm_add(t, 5, TAG, KT_ONES, 100);
	KUNIT_EXPECT_EQ(test, t->srq->tm->enabled, 0ULL);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_ERR, &kt_default_conn), 0);
	kt_settle(kt);
	tm_expect_cqe(kt, t, 0, 6, IB_WC_WR_FLUSH_ERR, 0);
	KUNIT_EXPECT_EQ(test, t->srq->tm->unexpected, 0U);
	KUNIT_EXPECT_EQ(test, t->srq->tm->enabled, 1ULL);
	kt_drop_sent(kt);
}

/* The same without a completion. */
static void tm_lost_reset(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_post_recv(kt, t, 6);
	tm_message(kt, KT_SEND_FIRST, KT_RQ_PSN, MXE_TMH_EAGER, KT_MTU, 0);
	KUNIT_EXPECT_EQ(test, t->srq->tm->unexpected, 1U);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RESET, &kt_default_conn), 0);
	KUNIT_EXPECT_EQ(test, t->srq->tm->unexpected, 0U);
	tm_expect_no_cqe(kt, t);
	kt_drop_sent(kt);
}

/* ---- rendezvous -------------------------------------------------------- */

static void tm_rndv(struct kt *kt, u32 psn, u32 len)
{
	tm_message(kt, KT_SEND_ONLY, psn, MXE_TMH_RNDV, 40, len);
	kt_settle(kt);
}

/* Expects the READ of a rendezvous, at the end of the packets sent. */
static void tm_expect_read(struct kt *kt, u32 psn, u32 len)
{
	struct test_pkt pkt = kt_sent(kt);

	KUNIT_EXPECT_EQ(kt->test, pkt.opcode, KT_READ_REQ);
	KUNIT_EXPECT_EQ(kt->test, pkt.psn, psn);
	KUNIT_EXPECT_EQ(kt->test, pkt.va, KT_REMOTE_VA);
	KUNIT_EXPECT_EQ(kt->test, pkt.rkey, KT_REMOTE_KEY);
	KUNIT_EXPECT_EQ(kt->test, pkt.dma_len, len);
}

static void tm_answer(struct kt *kt, u8 opcode, u32 psn, u8 syndrome, u32 len)
{
	struct test_pkt out = kt_pkt(kt, opcode, psn);

	out.syndrome = syndrome;
	out.payload_len = len;
	kt_inject(kt, &out);
}

static void tm_expect_fin(struct kt *kt, u32 psn)
{
	struct test_pkt pkt = kt_sent(kt);
	const struct mxe_rndv_hdr *hdr = (const void *)pkt.payload;

	KUNIT_EXPECT_EQ(kt->test, pkt.opcode, KT_SEND_ONLY);
	KUNIT_EXPECT_EQ(kt->test, pkt.psn, psn);
	KUNIT_ASSERT_EQ(kt->test, pkt.payload_len, (u32)sizeof(*hdr));
	KUNIT_EXPECT_EQ(kt->test, hdr->tmh.opcode, MXE_TMH_FIN);
	KUNIT_EXPECT_EQ(kt->test, be64_to_cpu(hdr->tmh.tag), TAG);
	KUNIT_EXPECT_EQ(kt->test, be32_to_cpu(hdr->tmh.app_ctx), PRIV);
	KUNIT_EXPECT_EQ(kt->test, be64_to_cpu(hdr->rvh.va), KT_REMOTE_VA);
}

static void tm_rndv_match(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_add(t, 5, TAG, KT_ONES, 1000);
	tm_rndv(kt, KT_RQ_PSN, KT_MTU + 10);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, TM_MATCHED);
	kt_sent(kt);
	tm_expect_read(kt, KT_SQ_PSN, KT_MTU + 10);
	tm_answer(kt, IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, KT_SQ_PSN, KT_ACK, KT_MTU);
	tm_expect_no_cqe(kt, t);
	kt_expect_nothing(kt);
	tm_answer(kt, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST, KT_SQ_PSN + 1, KT_ACK, 10);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, MXE_CQE_TM_DATA_VALID);
	KUNIT_EXPECT_EQ(test, t->cq.entry[1].byte_len, KT_MTU + 10U);
	KUNIT_EXPECT_EQ(test, kt->mem[0], 1);
	KUNIT_EXPECT_EQ(test, kt->mem[KT_MTU + 9], 10);
	tm_expect_fin(kt, KT_SQ_PSN + 2);
	tm_answer(kt, IB_OPCODE_RC_ACKNOWLEDGE, KT_SQ_PSN + 2, KT_ACK, 0);
	tm_expect_no_cqe(kt, t);
	KUNIT_EXPECT_EQ(test, kt->qp->rndv->finished, 1U);
	/* Nothing of it is in the ring of the process. */
	KUNIT_EXPECT_EQ(test, t->req.hdr.consumer, 0U);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_tm_rendezvous), 1ULL);
}

static void tm_post_send(struct kt *kt, struct tm_rings *t, u64 wr_id)
{
	u32 index = t->req.hdr.producer;

	t->req.entry[index % WQES].wqe = (struct mxe_send_wqe) {
		.wr_id = wr_id,
		.opcode = IB_WR_SEND,
		.flags = MXE_SEND_SIGNALED,
	};
	t->req.hdr.producer = index + 1;
	mxe_send_doorbell(kt->qp);
}

/* Requests of the process and of the kernel do not disturb each other. */
static void tm_rndv_beside(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);
	u32 psn = KT_SQ_PSN, i;

	for (i = 0; i < 3 * WQES; i++) {
		tm_post_send(kt, t, 2 * i);
		kt_sent(kt);
		tm_add(t, i, TAG, KT_ONES, 100);
		tm_rndv(kt, KT_RQ_PSN + i, 100);
		tm_expect_cqe(kt, t, MXE_WC_TM_RECV, i, 0, TM_MATCHED);
		kt_sent(kt);
		tm_expect_read(kt, psn + 1, 100);
		tm_post_send(kt, t, 2 * i + 1);
		kt_sent(kt);
		tm_answer(kt, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, psn + 1, KT_ACK, 100);
		kt_expect_wc(kt, kt->send_cq, 2 * i, IB_WC_SUCCESS);
		kt_expect_no_wc(kt, kt->send_cq);
		KUNIT_EXPECT_EQ(test, t->req.hdr.consumer, 2 * i + 1);
		tm_expect_cqe(kt, t, MXE_WC_TM_RECV, i, 0, MXE_CQE_TM_DATA_VALID);
		tm_expect_fin(kt, psn + 3);
		tm_answer(kt, IB_OPCODE_RC_ACKNOWLEDGE, psn + 3, KT_ACK, 0);
		kt_expect_wc(kt, kt->send_cq, 2 * i + 1, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, t->req.hdr.consumer, 2 * i + 2);
		psn += 4;
	}
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
}

/* The READ waits if the requests of the process take up all slots. */
static void tm_rndv_waits(struct kunit *test)
{
	enum { SLOTS = 4 };
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);
	u32 i;

	kt->qp->req.wr_mask = SLOTS - 1;
	for (i = 0; i < SLOTS; i++) {
		tm_post_send(kt, t, i);
		kt_sent(kt);
	}
	tm_add(t, 5, TAG, KT_ONES, 100);
	tm_rndv(kt, KT_RQ_PSN, 100);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, TM_MATCHED);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	kt_expect_nothing(kt);
	tm_answer(kt, IB_OPCODE_RC_ACKNOWLEDGE, KT_SQ_PSN, KT_ACK, 0);
	kt_expect_wc(kt, kt->send_cq, 0, IB_WC_SUCCESS);
	tm_expect_read(kt, KT_SQ_PSN + SLOTS, 100);
	tm_answer(kt, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, KT_SQ_PSN + SLOTS, KT_ACK, 100);
	for (i = 1; i < SLOTS; i++)
		kt_expect_wc(kt, kt->send_cq, i, IB_WC_SUCCESS);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, MXE_CQE_TM_DATA_VALID);
	kt_drop_sent(kt);
}

/* A failed READ is reported for its tag.  Rendezvous behind it are flushed. */
static void tm_rndv_error(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_add(t, 5, TAG, KT_ONES, 100);
	tm_add(t, 6, TAG, KT_ONES, 100);
	tm_rndv(kt, KT_RQ_PSN, 100);
	tm_rndv(kt, KT_RQ_PSN + 1, 100);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, TM_MATCHED);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 6, 0, TM_MATCHED);
	tm_answer(kt, IB_OPCODE_RC_ACKNOWLEDGE, KT_SQ_PSN, KT_NAK_ACC, 0);
	kt_settle(kt);
	tm_expect_cqe(kt, t, 0, 5, IB_WC_REM_ACCESS_ERR, MXE_CQE_TM_DATA_VALID);
	tm_expect_cqe(kt, t, 0, 6, IB_WC_WR_FLUSH_ERR, MXE_CQE_TM_DATA_VALID);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_ERR);
	kt_drop_sent(kt);
}

/* The buffer is too small, so the program gets the headers. */
static void tm_rndv_too_long(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_add(t, 5, TAG, KT_ONES, 100);
	tm_rndv(kt, KT_RQ_PSN, 101);
	tm_expect_cqe(kt, t, 0, 5, MXE_WC_TM_RNDV_INCOMPLETE, TM_MATCHED);
	KUNIT_EXPECT_EQ(test, t->cq.entry[0].byte_len, 32U);
	KUNIT_EXPECT_EQ(test, kt->mem[0], MXE_TMH_RNDV);
	KUNIT_EXPECT_EQ(test, kt->mem[31], 101);
	KUNIT_EXPECT_EQ(test, kt->mem[32], 0);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
}

/* A QP that cannot read leaves the rendezvous to the program. */
static void tm_rndv_no_read(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	kt->qp->attr.max_rd_atomic = 0;
	tm_add(t, 5, TAG, KT_ONES, 100);
	tm_rndv(kt, KT_RQ_PSN, 10);
	tm_expect_cqe(kt, t, 0, 5, MXE_WC_TM_RNDV_INCOMPLETE, TM_MATCHED);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
}

struct bad_rndv_row {
	u8 opcode;
	u32 len;
	const char *desc;
};

static const struct bad_rndv_row bad_rndv_rows[] = {
	{ KT_SEND_ONLY, 31, "shorter than its headers" },
	{ KT_SEND_ONLY, MXE_TM_MAX_RNDV_HDR + 1, "too long" },
	{ KT_SEND_FIRST, KT_MTU, "two packets" },
};

KT_ARRAY_PARAM(bad_rndv, bad_rndv_rows);

static void tm_bad_rndv(struct kunit *test)
{
	const struct bad_rndv_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_add(t, 5, TAG, KT_ONES, 100);
	tm_message(kt, row->opcode, KT_RQ_PSN, MXE_TMH_RNDV, row->len, 10);
	kt_expect_ack(kt, KT_RQ_PSN, KT_NAK_INV, 0);
	kt_settle(kt);
	tm_expect_no_cqe(kt, t);
	KUNIT_EXPECT_EQ(test, t->ops.hdr.tags_freed, 0U);
}

/* More rendezvous than fit wait, by receiver not ready. */
static void tm_rndv_full(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_add(t, 5, TAG, KT_ONES, 100);
	kt->qp->rndv->queued = MXE_RNDV_DEPTH;
	tm_message(kt, KT_SEND_ONLY, KT_RQ_PSN, MXE_TMH_RNDV, 32, 10);
	kt_expect_ack(kt, KT_RQ_PSN, MXE_AETH_RNR_NAK | 7, 0);
	tm_expect_no_cqe(kt, t);
	KUNIT_EXPECT_EQ(test, t->ops.hdr.tags_freed, 0U);
	kt->qp->rndv->queued = 0;
	tm_rndv(kt, KT_RQ_PSN, 10);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, TM_MATCHED);
	kt_drop_sent(kt);
}

/* A reset forgets the rendezvous, and the QP can be used again. */
static void tm_rndv_reset(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct tm_rings *t = tm_begin(kt);

	tm_add(t, 5, TAG, KT_ONES, 100);
	tm_rndv(kt, KT_RQ_PSN, 100);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 5, 0, TM_MATCHED);
	kt_drop_sent(kt);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RESET, &kt_default_conn), 0);
	kt_connect(kt, &kt_default_conn);
	kt_settle(kt);
	kt_expect_nothing(kt);
	tm_expect_no_cqe(kt, t);
	tm_post_send(kt, t, 9);
	kt_sent(kt);
	tm_answer(kt, IB_OPCODE_RC_ACKNOWLEDGE, KT_SQ_PSN, KT_ACK, 0);
	kt_expect_wc(kt, kt->send_cq, 9, IB_WC_SUCCESS);
	tm_add(t, 6, TAG, KT_ONES, 100);
	tm_rndv(kt, KT_RQ_PSN, 100);
	tm_expect_cqe(kt, t, MXE_WC_TM_RECV, 6, 0, TM_MATCHED);
	kt_sent(kt);
	tm_expect_read(kt, KT_SQ_PSN + 1, 100);
}

static struct kunit_case tm_cases[] = {
	KUNIT_CASE(tm_model),
	KUNIT_CASE_PARAM(tm_bad_op, bad_op_gen_params),
	KUNIT_CASE(tm_bad_index),
	KUNIT_CASE(tm_slice),
	KUNIT_CASE(tm_slice_steps),
	KUNIT_CASE(tm_steps),
	KUNIT_CASE(tm_unrung),
	KUNIT_CASE(tm_unrung_bad),
	KUNIT_CASE(tm_other_message),
	KUNIT_CASE(tm_eager_match),
	KUNIT_CASE(tm_eager_packets),
	KUNIT_CASE(tm_eager_too_long),
	KUNIT_CASE_PARAM(tm_untagged, untagged_gen_params),
	KUNIT_CASE(tm_phase),
	KUNIT_CASE(tm_lost),
	KUNIT_CASE(tm_lost_reset),
	KUNIT_CASE(tm_rndv_match),
	KUNIT_CASE(tm_rndv_beside),
	KUNIT_CASE(tm_rndv_waits),
	KUNIT_CASE(tm_rndv_error),
	KUNIT_CASE(tm_rndv_too_long),
	KUNIT_CASE(tm_rndv_no_read),
	KUNIT_CASE_PARAM(tm_bad_rndv, bad_rndv_gen_params),
	KUNIT_CASE(tm_rndv_full),
	KUNIT_CASE(tm_rndv_reset),
	{}
};

static struct kunit_suite tm_suite = {
	.name = "mxe_tm",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = tm_cases,
};

kunit_test_suite(tm_suite);
