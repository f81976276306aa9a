// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a process that writes to its ring of tag operations without the
 * library affects only its own SRQ: wrong fields, indices, counts, handles and
 * buffers, and random ones while messages arrive. After each of them, another
 * SRQ of the device must match exactly.
 *
 * t_hostile_tags [STEPS [SEED]]: number of random steps, and their seed.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/tm_types.h>
#include "hostile.h"
#include "random.h"
#include "tap.h"
#include "tm.h"

enum {
	TAGS = 64,
	OPS = 64,		/* entries of the ring */
	RECVS = 64,
	LEN = 256,
	DEPTH = 64,
	SIZE = 64 << 10,
	RECV_AT = SIZE / 2,	/* in the buffer of end b */
	STEPS = 400,
	SGES = 4,		/* of a tag */
};

/* A pair whose end b has a tag-matching SRQ, and the ring of its operations. */
struct target {
	struct vt_pair p;
	struct ibv_cq_ex *cq;
	struct ibv_srq *srq;
	uint32_t srqn;
	struct mxe_ring_hdr *ring;
	size_t stride;
	uint32_t producer;
};

struct done {
	uint64_t wr_id;
	int status;
	unsigned int flags;
};

static struct vt_dev *a, *b;
static int doorbell_fd;
static struct target good;	/* only the library writes to its ring */
static uint64_t seed = 1;

/* ---- targets ------------------------------------------------------------- */

static bool poll_one(struct target *t, struct done *d)
{
	struct ibv_poll_cq_attr attr = { 0 };

	if (ibv_start_poll(t->cq, &attr))
		return false;
	*d = (struct done){
		.wr_id = t->cq->wr_id,
		.status = t->cq->status,
		.flags = t->cq->status ? 0 : ibv_wc_read_wc_flags(t->cq),
	};
	ibv_end_poll(t->cq);
	return true;
}

static struct done next(struct target *t)
{
	uint64_t end = vt_now_ms() + VT_MS;
	struct done d;

	while (!poll_one(t, &d))
		if (vt_now_ms() > end)
			vt_bail("no completion");
	return d;
}

static int post_op(struct target *t, struct ibv_ops_wr *wr)
{
	struct ibv_ops_wr *bad;

	return ibv_post_srq_ops(t->srq, wr, &bad);
}

/* Finds the ring by the wr_ids of two operations that do nothing. */
static void find_ring(struct target *t)
{
	static uint64_t mark = 0x7461677300000000;
	struct hostile_rings rings = { .num = 0 };
	uint64_t *first, *second;

	for (int i = 0; i < 2; i++) {
		struct ibv_ops_wr wr = { .wr_id = mark + i, .opcode = IBV_WR_TAG_SYNC };

		if (post_op(t, &wr))
			vt_bail("ibv_post_srq_ops");
	}
	hostile_add_ring(&rings, mark, OPS);
	t->ring = rings.queue[0].hdr;
	t->producer = t->ring->producer;
	for (first = (uint64_t *)(t->ring + 1); *first != mark; first++)
		;
	for (second = first; *second != mark + 1; second++)
		;
	t->stride = (size_t)((char *)second - (char *)first);
	mark += 2;
}

static bool post_recv(struct target *t, uint64_t slot)
{
	struct ibv_sge sge = vt_sge(&t->p.b, RECV_AT + slot * LEN, LEN);
	struct ibv_recv_wr *bad, wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 };

	return !ibv_post_srq_recv(t->srq, &wr, &bad);
}

static void target_open(struct target *t)
{
	struct vt_conf conf = vt_defaults();

	memset(t, 0, sizeof(*t));
	t->cq = tm_cq(b);
	t->srq = tm_srq(b, t->cq, RECVS, TAGS, OPS - MXE_TM_MAX_UNRUNG);
	if (!t->srq)
		vt_bail("ibv_create_srq_ex");
	conf.srq_b = t->srq;
	conf.size = SIZE;
	conf.depth = DEPTH;
	vt_pair_open(&t->p, a, b, &conf);
	for (uint64_t i = 0; i < RECVS; i++)
		if (!post_recv(t, i))
			vt_bail("ibv_post_srq_recv");
	find_ring(t);
}

static void target_close(struct target *t)
{
	vt_pair_close(&t->p);
	if (ibv_destroy_srq(t->srq) || ibv_destroy_cq(ibv_cq_ex_to_cq(t->cq)))
		vt_bail("ibv_destroy_srq");
}

/* ---- operations without the library -------------------------------------- */

/*
 * Finds the number of the SRQ, which the library does not expose, by ringing
 * for all numbers until an operation completes. The kernel assigns them in
 * order.
 */
static void find_number(struct target *t)
{
	static uint32_t last;
	struct mxe_doorbell db = { last, MXE_DOORBELL_TM };
	struct done d;

	do {
		db.qp_num++;
		if (db.qp_num - last > 100000)
			vt_bail("the number of the SRQ");
		if (write(doorbell_fd, &db, sizeof(db)) < 0 && errno != ENOENT)
			vt_bail("the doorbell");
	} while (!poll_one(t, &d));
	last = db.qp_num;
	t->srqn = last;
}

/* Writes an operation, and its SGEs if there are any, at the producer index. */
static void put(struct target *t, const struct mxe_tm_wqe *op,
		const struct mxe_sge *sge, size_t num_sge)
{
	char *at = (char *)(t->ring + 1) + (t->producer % OPS) * t->stride;

	memcpy(at, op, sizeof(*op));
	if (num_sge)
		memcpy(at + sizeof(*op), sge, num_sge * sizeof(*sge));
	__atomic_store_n(&t->ring->producer, ++t->producer, __ATOMIC_RELEASE);
}

/* Opens an SRQ whose ring the library does not use any more. */
static void attacked_open(struct target *t)
{
	struct mxe_tm_wqe sync = { .opcode = MXE_TM_SYNC, .flags = MXE_TM_OP_SIGNALED };

	target_open(t);
	put(t, &sync, NULL, 0);
	find_number(t);
}

static void ring(struct target *t)
{
	struct mxe_doorbell db = { t->srqn, MXE_DOORBELL_TM };

	if (write(doorbell_fd, &db, sizeof(db)) != sizeof(db))
		vt_bail("the doorbell");
}

/* Executes an operation, which must complete, and returns its status. */
static int exec(struct target *t, struct mxe_tm_wqe op)
{
	static uint64_t wr_id = 1000;
	struct mxe_sge sge = { vt_addr(&t->p.b, 0), LEN, t->p.b.mr->lkey };
	struct done d;

	op.wr_id = ++wr_id;
	put(t, &op, &sge, 1);
	ring(t);
	if (!poll_one(t, &d) || d.wr_id != wr_id)
		return -1;
	return d.status;
}

static int add(struct target *t, uint64_t tag, uint32_t handle)
{
	return exec(t, (struct mxe_tm_wqe){
		.recv_wr_id = tag, .tag = tag, .mask = UINT64_MAX,
		.handle = handle, .opcode = MXE_TM_ADD,
		.flags = MXE_TM_OP_SIGNALED, .num_sge = 1,
	});
}

static int del(struct target *t, uint32_t handle)
{
	return exec(t, (struct mxe_tm_wqe){
		.handle = handle, .opcode = MXE_TM_DEL,
		.flags = MXE_TM_OP_SIGNALED,
	});
}

/* Sends @len bytes of data to a tag. Does not wait. */
static void send_tag(struct target *t, uint64_t tag, uint32_t len)
{
	struct ibv_tmh *tmh = (void *)t->p.a.buf;
	struct ibv_sge sge = vt_sge(&t->p.a, 0, (uint32_t)sizeof(*tmh) + len);
	struct vt_wr wr = {
		.op = VT_SEND, .sge = &sge, .num_sge = 1, .flags = IBV_SEND_SIGNALED,
	};

	*tmh = (struct ibv_tmh){ .opcode = IBV_TMH_EAGER, .tag = htobe64(tag) };
	memset(tmh + 1, (int)tag, len);
	if (vt_post(&t->p.a, &wr))
		vt_bail("vt_post");
}

/* Returns true if a message with this tag is received into the buffer of it. */
static bool matches(struct target *t, uint64_t tag)
{
	uint8_t want[LEN];
	struct ibv_wc wc;
	struct done d;

	memset(t->p.b.buf, 0, LEN);
	send_tag(t, tag, LEN);
	d = next(t);
	memset(want, (int)tag, LEN);
	return vt_poll(t->p.a.cq, &wc, VT_MS) && !wc.status && !d.status &&
	       d.wr_id == tag &&
	       d.flags == (IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID) &&
	       !memcmp(t->p.b.buf, want, LEN);
}

/* Returns true if the SRQ that is not attacked still matches. */
static bool works(void)
{
	static uint64_t tag;
	struct ibv_sge sge = vt_sge(&good.p.b, 0, LEN);
	struct ibv_ops_wr wr = {
		.opcode = IBV_WR_TAG_ADD,
		.tm.add = {
			.recv_wr_id = tag + 1, .sg_list = &sge, .num_sge = 1,
			.tag = tag + 1, .mask = UINT64_MAX,
		},
	};

	return !post_op(&good, &wr) && matches(&good, ++tag);
}

/* ---- wrong operations ---------------------------------------------------- */

static void test_fields(void)
{
	static const struct {
		const char *name;
		struct mxe_tm_wqe op;
	} wrong[] = {
		{ "an unknown opcode", { .opcode = MXE_TM_SYNC + 1 } },
		{ "the highest opcode", { .opcode = 255, .flags = MXE_TM_OP_SYNC } },
		{ "an unknown flag", { .opcode = MXE_TM_ADD, .flags = 4 } },
		{ "all flags", { .opcode = MXE_TM_DEL, .flags = 255 } },
		{ "5 SGEs", { .opcode = MXE_TM_ADD, .num_sge = SGES + 1 } },
		{ "255 SGEs", { .opcode = MXE_TM_ADD, .num_sge = 255 } },
		{ "a DEL with an SGE", { .opcode = MXE_TM_DEL, .num_sge = 1 } },
		{ "a SYNC with an SGE", { .opcode = MXE_TM_SYNC, .num_sge = 1 } },
		{ "a reserved byte", { .opcode = MXE_TM_ADD, .reserved = { [4] = 1 } } },
	};
	const int n = (int)ARRAY_SIZE(wrong);
	long before = vt_dev_counter(b, "bad_wqe");
	struct target t;

	attacked_open(&t);
	for (int i = 0; i < n; i++) {
		uint32_t freed = t.ring->tags_freed;

		is_int(exec(&t, wrong[i].op), IBV_WC_LOC_QP_OP_ERR, "%s", wrong[i].name);
		is_int(t.ring->tags_freed - freed, wrong[i].op.opcode == MXE_TM_ADD,
		       "... frees what an ADD would have taken");
	}
	is_int(vt_dev_counter(b, "bad_wqe") - before, n, "all are counted");
	is_int(add(&t, 7, 7), IBV_WC_SUCCESS, "a right operation after them");
	ok(matches(&t, 7), "... has its effect");
	ok(works(), "another SRQ works");
	target_close(&t);
}

static void test_list(void)
{
	int wrong = 0;
	struct target t;

	attacked_open(&t);
	for (uint32_t i = 0; i < TAGS; i++)
		wrong += add(&t, i + 1, 5) != IBV_WC_SUCCESS;
	is_int(wrong, 0, "a full list, all tags with the same handle");
	is_int(add(&t, 100, 100), IBV_WC_LOC_QP_OP_ERR, "one tag more");
	is_int(del(&t, 100), IBV_WC_TM_ERR, "... is not in the list");
	is_int(del(&t, UINT32_MAX), IBV_WC_TM_ERR, "a handle that was never used");
	ok(matches(&t, TAGS / 2), "a tag of the list matches");
	for (uint32_t i = 0; i < TAGS - 1; i++)
		wrong += del(&t, 5) != IBV_WC_SUCCESS;
	is_int(wrong, 0, "each DEL of the handle removes one");
	is_int(del(&t, 5), IBV_WC_TM_ERR, "... until all are removed");
	is_int(t.ring->tags_freed, TAGS + 1, "all are counted as freed");

	t.ring->tags_freed = 0x12345678;
	t.ring->consumer = t.producer + 1000;
	t.ring->flags = UINT32_MAX;
	is_int(add(&t, 9, 9), IBV_WC_SUCCESS, "the kernel's part of the header is overwritten");
	ok(t.ring->tags_freed == TAGS + 1 && t.ring->consumer == t.producer,
	   "... which the kernel never reads");
	ok(matches(&t, 9), "... and the tag matches");
	ok(works(), "another SRQ works");
	target_close(&t);
}

static void test_counts(void)
{
	static const uint32_t counts[] = { 1, 0x7fffffff, 0x80000000, UINT32_MAX };
	struct mxe_tm_wqe sync = { .opcode = MXE_TM_SYNC, .flags = MXE_TM_OP_SIGNALED };
	struct target t;
	struct done d;

	attacked_open(&t);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		sync.unexpected_cnt = counts[i];
		put(&t, &sync, NULL, 0);
		ring(&t);
		d = next(&t);
		ok(!d.status && d.flags & IBV_WC_TM_SYNC_REQ,
		   "%#x unexpected messages are reported, there was none", counts[i]);
	}
	is_int(add(&t, 3, 3), IBV_WC_SUCCESS, "a tag is posted meanwhile");
	sync.unexpected_cnt = 0;
	put(&t, &sync, NULL, 0);
	ring(&t);
	d = next(&t);
	ok(!d.status && !(d.flags & IBV_WC_TM_SYNC_REQ), "the right number");
	ok(matches(&t, 3), "... and the tag matches");
	ok(works(), "another SRQ works");
	target_close(&t);
}

/* ---- wrong indices ------------------------------------------------------- */

static void test_indices(void)
{
	/* Relative to the consumer index: too many, half a turn, one before. */
	static const uint32_t ahead[] = { OPS + 1, 0x80000000, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(ahead); i++) {
		struct target t;
		uint32_t consumer;

		attacked_open(&t);
		is_int(add(&t, 11, 11), IBV_WC_SUCCESS, "a tag");
		vt_drain_async(b);
		consumer = t.ring->consumer;
		__atomic_store_n(&t.ring->producer, consumer + ahead[i], __ATOMIC_RELEASE);
		ring(&t);
		is_int(vt_async(b, VT_MS), IBV_EVENT_SRQ_ERR, "%#x operations", ahead[i]);
		is_int(t.ring->consumer, consumer, "... and none is executed");
		ring(&t);
		is_int(vt_async(b, 0), -1, "... raise the event once");
		t.producer = consumer;
		is_int(add(&t, 12, 12), -1, "later operations are not executed");
		ok(matches(&t, 11), "the tag that was posted before matches");
		ok(works(), "another SRQ works");
		target_close(&t);
	}
}

/* ---- wrong buffers ------------------------------------------------------- */

static void buffer_row(const char *name, const struct mxe_sge *sge, size_t num,
		       struct target *t)
{
	struct mxe_tm_wqe op = {
		.recv_wr_id = 21, .tag = 21, .mask = UINT64_MAX,
		.num_sge = (uint8_t)num,
	};
	uint8_t before[SIZE], sender[SIZE / 2];
	struct ibv_wc wc;
	struct done d;

	memcpy(before, t->p.b.buf, SIZE);
	memcpy(sender, t->p.a.buf + SIZE / 2, SIZE / 2);
	put(t, &op, sge, num);
	ring(t);
	send_tag(t, 21, 128);
	d = next(t);
	is_int(d.status, IBV_WC_LOC_PROT_ERR, "%s", name);
	ok(d.wr_id == 21 && vt_poll(t->p.a.cq, &wc, VT_MS) && wc.status == IBV_WC_REM_OP_ERR,
	   "... the sender gets an error, too");
	ok(!memcmp(before, t->p.b.buf, SIZE - 64) &&
	   !memcmp(sender, t->p.a.buf + SIZE / 2, SIZE / 2), "... and no memory has changed");
	ok(works(), "another SRQ works");
	target_close(t);
}

static void test_buffers(void)
{
	struct mxe_sge sge[SGES];
	struct target t;

	attacked_open(&t);
	sge[0] = (struct mxe_sge){ vt_addr(&t.p.b, 0), LEN, ~t.p.b.mr->lkey };
	buffer_row("a key that does not exist", sge, 1, &t);

	attacked_open(&t);
	sge[0] = (struct mxe_sge){ ~0ULL - 8, LEN, t.p.b.mr->lkey };
	buffer_row("an address that wraps around", sge, 1, &t);

	attacked_open(&t);
	for (int i = 0; i < SGES; i++)
		sge[i] = (struct mxe_sge){ vt_addr(&t.p.b, SIZE - 64), UINT32_MAX, t.p.b.mr->lkey };
	buffer_row("16 GiB, only 64 bytes of them in the region", sge, SGES, &t);

	attacked_open(&t);
	sge[0] = (struct mxe_sge){ vt_addr(&t.p.a, SIZE / 2), LEN, t.p.a.mr->lkey };
	buffer_row("a region of another device", sge, 1, &t);
}

/* ---- random operations while messages arrive ----------------------------- */

static struct target random_target;
static atomic_int scribbling;

/* Changes entries while the kernel may read them. */
static void *scribble(void *arg)
{
	uint64_t state = (uintptr_t)arg, x;
	size_t len = OPS * random_target.stride;

	while (scribbling) {
		x = random_next(&state);
		__atomic_store_n((uint8_t *)(random_target.ring + 1) + (x >> 16) % len,
				 (uint8_t)(x & 1 ? x >> 1 & 7 : x >> 8), __ATOMIC_RELAXED);
		if (!(x >> 50 & 63))
			sched_yield();
	}
	return NULL;
}

static uint32_t one_of(uint32_t n)
{
	return (uint32_t)random_next(&seed) % n;
}

/* Values that are likely to collide with those of other operations. */
static uint64_t some_value(void)
{
	return one_of(8) ? one_of(8) : random_next(&seed);
}

static void random_op(struct target *t)
{
	struct mxe_sge sge[SGES];
	struct mxe_tm_wqe op = {
		.wr_id = some_value(),
		.recv_wr_id = some_value(),
		.tag = some_value(),
		.mask = one_of(2) ? UINT64_MAX : some_value(),
		.handle = (uint32_t)some_value(),
		.unexpected_cnt = (uint32_t)some_value(),
		.opcode = (uint8_t)(one_of(8) ? one_of(3) : some_value()),
		.flags = (uint8_t)(one_of(8) ? one_of(4) : some_value()),
	};

	if (op.opcode == MXE_TM_ADD)
		op.num_sge = (uint8_t)(one_of(16) ? one_of(SGES + 1) : some_value());
	for (int i = 0; i < SGES; i++)
		sge[i] = (struct mxe_sge){
			.addr = vt_addr(&t->p.b, one_of(32) ? one_of(SIZE - LEN) :
							      (size_t)random_next(&seed)),
			.length = one_of(16) ? LEN : (uint32_t)random_next(&seed),
			.lkey = one_of(32) ? t->p.b.mr->lkey : (uint32_t)random_next(&seed),
		};
	if (!one_of(32))
		op.reserved[one_of(5)] = 1;
	put(t, &op, sge, SGES);
}

/* The message stays in the buffer until another one uses the same part. */
static void random_message(struct target *t)
{
	size_t at = one_of(DEPTH) * LEN;
	struct ibv_tmh *tmh = (void *)(t->p.a.buf + at);
	struct ibv_rvh *rvh = (void *)(tmh + 1);
	struct ibv_sge sge = vt_sge(&t->p.a, at, one_of(4) ? 32 : one_of(LEN));
	struct vt_wr wr = {
		.op = VT_SEND, .sge = &sge, .num_sge = 1, .flags = IBV_SEND_SIGNALED,
	};

	*tmh = (struct ibv_tmh){
		.opcode = (uint8_t)(one_of(8) ? one_of(4) : some_value()),
		.tag = htobe64(some_value()),
	};
	*rvh = (struct ibv_rvh){
		.va = htobe64(vt_addr(&t->p.a, one_of(SIZE))),
		.rkey = htobe32(one_of(16) ? t->p.a.mr->rkey : (uint32_t)random_next(&seed)),
		.len = htobe32(one_of(8) ? one_of(LEN) : (uint32_t)random_next(&seed)),
	};
	/* The queue may be full. */
	vt_post(&t->p.a, &wr);
}

/* Takes completions without checking them. Returns their number. */
static unsigned int drain(struct target *t)
{
	struct ibv_wc wc[16];
	unsigned int n = 0;
	struct done d;

	while (ibv_poll_cq(t->p.a.cq, 16, wc) > 0)
		;
	for (; n < 256 && poll_one(t, &d); n++)
		post_recv(t, d.wr_id % RECVS);
	return n;
}

static bool is_dead(struct target *t)
{
	return vt_state(&t->p.a) != IBV_QPS_RTS || vt_state(&t->p.b) != IBV_QPS_RTS;
}

static void test_random(unsigned int steps)
{
	struct target *t = &random_target;
	unsigned int wrong = 0, targets = 0, completions = 0;
	uint64_t first = seed;
	bool open = false;
	pthread_t thread;

	for (unsigned int i = 0; i < steps; i++) {
		if (!open) {
			attacked_open(t);
			scribbling = 1;
			if (pthread_create(&thread, NULL, scribble, (void *)(uintptr_t)(i + 1)))
				vt_bail("pthread_create");
			targets++;
			open = true;
		}
		for (uint32_t n = one_of(8); n; n--)
			random_op(t);
		if (!one_of(64))
			__atomic_store_n(&t->ring->producer, (uint32_t)random_next(&seed),
					 __ATOMIC_RELEASE);
		if (!one_of(64))
			vt_to_state(&t->p.b, IBV_QPS_ERR);
		ring(t);
		random_message(t);
		if (one_of(2))
			ring(t);
		completions += drain(t);
		wrong += !works();
		if (!is_dead(t) && one_of(32))
			continue;
		scribbling = 0;
		pthread_join(thread, NULL);
		target_close(t);
		open = false;
	}
	if (open) {
		scribbling = 0;
		pthread_join(thread, NULL);
		target_close(t);
	}
	diag("seed %llu: %u SRQs, %u completions", (unsigned long long)first, targets,
	     completions);
	is_int(wrong, 0, "%u random steps: another SRQ works after each", steps);
	ok(completions, "... and the operations have effects");
}

int main(int argc, char **argv)
{
	unsigned int steps = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 0) : STEPS;

	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	plan(0);
	/* First, because vt_doorbell_fd() is that of the first device. */
	b = vt_open(vt_name_b());
	a = vt_open(vt_name_a());
	doorbell_fd = vt_doorbell_fd();
	target_open(&good);
	ok(works(), "an SRQ works");
	test_fields();
	test_list();
	test_counts();
	test_indices();
	test_buffers();
	test_random(steps);
	target_close(&good);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
