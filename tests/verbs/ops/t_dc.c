// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that dynamically connected (DC) QPs work: every operation, the change
 * of targets, several initiators at a target, keys and errors, and that the
 * shortcuts of the data path leave them to the plain path.
 *
 * With the argument "stress" it only checks that each request is executed once
 * while an initiator goes from target to target, for t_dc_netem.sh.  With "mtu
 * CODE" it only checks that the path MTU of an initiator, which asks for 4096
 * bytes, becomes that code, and that its longest packets arrive, for
 * t_dc_mtu.sh.  With code 0 it must be refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/mxe-abi.h>
#include "dc.h"
#include "tap.h"

/* ---- operations -------------------------------------------------------- */

static void fill(uint8_t *buf, size_t len, unsigned int seed)
{
	size_t n;

	for (n = 0; n < len; n++)
		buf[n] = (uint8_t)(n * 7 + (n >> 8) + seed);
}

static void test_send(struct dc_initiator *i, struct dc_target *t, uint32_t len)
{
	struct ibv_wc wc;

	fill(i->buf, len, len);
	dc_target_recv(t, 5, DC_HALF, DC_HALF);
	dc_begin(i, 1);
	ibv_wr_send_imm(i->qpx, 0x12345678);
	is_int(dc_end(i, t, len), 0, "SEND with immediate data, %u bytes", len);
	is_int(dc_wait(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	if (!vt_poll(t->cq, &wc, VT_MS))
		vt_bail("no receive completion");
	ok(wc.status == IBV_WC_SUCCESS && wc.wr_id == 5 && wc.byte_len == len &&
	   wc.opcode == IBV_WC_RECV && wc.wc_flags & IBV_WC_WITH_IMM &&
	   wc.imm_data == 0x12345678 && wc.qp_num == t->qp->qp_num &&
	   wc.src_qp == i->qp->qp_num &&
	   !memcmp(t->buf + DC_HALF, i->buf, len),
	   "... and is received by the SRQ of the target");
}

static void test_write(struct dc_initiator *i, struct dc_target *t, uint32_t len)
{
	struct ibv_wc wc;

	fill(i->buf, len, len + 1);
	memset(t->buf + DC_HALF, 0, DC_HALF);
	dc_begin(i, 1);
	ibv_wr_rdma_write(i->qpx, t->mr->rkey, dc_addr(t, DC_HALF));
	is_int(dc_end(i, t, len), 0, "WRITE, %u bytes", len);
	is_int(dc_wait(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	ok(!memcmp(t->buf + DC_HALF, i->buf, len), "... and has written");

	dc_target_recv(t, 6, 0, 0);
	dc_begin(i, 1);
	ibv_wr_rdma_write_imm(i->qpx, t->mr->rkey, dc_addr(t, DC_HALF), 7);
	is_int(dc_end(i, t, len), 0, "WRITE with immediate data, %u bytes", len);
	is_int(dc_wait(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	ok(vt_poll(t->cq, &wc, VT_MS) && !wc.status && wc.wr_id == 6 &&
	   wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.imm_data == 7,
	   "... and is announced");
}

static void test_read(struct dc_initiator *i, struct dc_target *t, uint32_t len)
{
	fill(t->buf + DC_HALF, len, len + 2);
	memset(i->buf, 0, len);
	dc_begin(i, 1);
	ibv_wr_rdma_read(i->qpx, t->mr->rkey, dc_addr(t, DC_HALF));
	is_int(dc_end(i, t, len), 0, "READ, %u bytes", len);
	is_int(dc_wait(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	ok(!memcmp(t->buf + DC_HALF, i->buf, len), "... and has read");
}

static void test_atomics(struct dc_initiator *i, struct dc_target *t)
{
	static const uint64_t ones[4] = { ~0ULL, ~0ULL, ~0ULL, ~0ULL };
	static const uint64_t zero[4];
	const uint64_t low[4] = { 0xff, 0xff, 0xff, 0xff };
	uint64_t value = 41;
	uint32_t log, low_byte;

	memcpy(t->buf, &value, 8);
	is_int(dc_fadd(i, t), IBV_WC_SUCCESS, "fetch-and-add");
	ok(dc_word(t->buf) == 42 && dc_word(i->buf) == 41, "... has added");

	dc_begin(i, 1);
	ibv_wr_atomic_cmp_swp(i->qpx, t->mr->rkey, dc_addr(t, 0), 42, 7);
	is_int(dc_end(i, t, 8), 0, "compare-and-swap");
	is_int(dc_wait(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	ok(dc_word(t->buf) == 7 && dc_word(i->buf) == 42, "... has swapped");

	for (log = 0; log <= 5; log++) {
		uint32_t size = 1U << log;

		memset(t->buf, 0x11, DC_BUF_SIZE / 2);
		dc_begin(i, 1);
		mxedv_wr_ext_masked_atomic_cmp_swp(i->mqp, t->mr->rkey, dc_addr(t, 0),
						   log, zero, zero, ones, low);
		is_int(dc_end(i, t, size), 0, "masked compare-and-swap, %u bytes", size);
		is_int(dc_wait(i->cq, 1), IBV_WC_SUCCESS, "... completes");
		ok((dc_word(t->buf) & 0xffff) == 0x11ff && i->buf[0] == 0x11 &&
		   i->buf[size - 1] == 0x11, "... has swapped the mask");

		dc_begin(i, 1);
		mxedv_wr_ext_masked_atomic_fetch_add(i->mqp, t->mr->rkey, dc_addr(t, 0),
						     log, low, low);
		is_int(dc_end(i, t, size), 0, "masked fetch-and-add, %u bytes", size);
		is_int(dc_wait(i->cq, 1), IBV_WC_SUCCESS, "... completes");
		/* Results of other sizes than 8 bytes are big-endian. */
		low_byte = log == 3 ? 0 : log < 3 ? size - 1 : 7;
		ok(i->buf[low_byte] == 0xff && !t->buf[0] && t->buf[1] == 0x11 &&
		   t->buf[size] == 0x11, "... has added in fields");
	}
}

static void test_atomic_write(struct dc_initiator *i, struct dc_target *t)
{
#ifdef HAVE_ATOMIC_WRITE
	const uint64_t value = 0x0123456789abcdef;

	memset(t->buf, 0, 24);
	dc_begin(i, 1);
	ibv_wr_atomic_write(i->qpx, t->mr->rkey, dc_addr(t, 8), &value);
	mxedv_wr_set_dc_addr(i->mqp, t->ah, t->qp->qp_num, t->key);
	is_int(ibv_wr_complete(i->qpx), 0, "ATOMIC WRITE");
	is_int(dc_wait(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	ok(dc_word(t->buf + 8) == value && !dc_word(t->buf) && !dc_word(t->buf + 16),
	   "... has written its word");
#else
	skip(1, "this libibverbs has no ibv_wr_atomic_write()");
#endif
}

/*
 * Not every libibverbs has ibv_wr_flush(), so this turns a WRITE in the ring
 * into a FLUSH.  The kernel does not read it before a SEND is received, which
 * it tries 655 ms later.
 */
static void test_flush(struct vt_dev *a, struct vt_dev *b)
{
	const uint64_t id = 0x466c757368dc0001;
	struct mxe_send_wqe *wqe;
	struct dc_initiator i;
	struct dc_target t;
	bool granted;
	long before;

	dc_initiator_open(&i, a);
	dc_rnr_timer = 0;
	dc_target_open(&t, b, a, 1, false);
	ibv_dereg_mr(t.mr);
	t.mr = ibv_reg_mr(b->pd, t.buf, DC_BUF_SIZE,
			  VT_ACCESS_ALL | DC_ACCESS_FLUSH_GLOBAL);
	granted = t.mr;
	if (!granted)
		t.mr = ibv_reg_mr(b->pd, t.buf, DC_BUF_SIZE, VT_ACCESS_ALL);
	/* The test grants what the kernel can: a target that has the flag. */
	if (granted) {
		struct ibv_qp_attr attr = {
			.qp_state = IBV_QPS_INIT,
			.port_num = 1,
			.qp_access_flags = VT_ACCESS_ALL | DC_ACCESS_FLUSH_GLOBAL,
		};

		if (dc_to_state(t.qp, IBV_QPS_RESET) ||
		    ibv_modify_qp(t.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ||
		    dc_to_rtr(t.qp, true))
			vt_bail("a target with FLUSH");
	}
	dc_rnr_timer = 1;
	before = vt_dev_counter(a, "rcvd_rnr_nak");
	dc_begin(&i, 1);
	ibv_wr_send(i.qpx);
	is_int(dc_end(&i, &t, 8), 0, "a SEND that waits for its receive request");
	vt_dev_wait_counted(a, "rcvd_rnr_nak", before);
	dc_begin(&i, id);
	ibv_wr_rdma_write(i.qpx, t.mr->rkey, dc_addr(&t, 0));
	mxedv_wr_set_dc_addr(i.mqp, t.ah, t.qp->qp_num, t.key);
	is_int(ibv_wr_complete(i.qpx), 0, "FLUSH");
	wqe = vt_find_wqe(id);
	wqe->opcode = MXE_WR_FLUSH;
	wqe->num_sge = 0;
	wqe->flush.length = 4096;
	wqe->flush.type = 1;	/* global visibility */
	wqe->flush.level = 0;	/* a range */
	dc_target_recv(&t, 2, DC_HALF, 8);
	is_int(dc_wait(i.cq, 1), IBV_WC_SUCCESS, "... the SEND completes");
	if (granted)
		is_int(dc_wait(i.cq, id), IBV_WC_SUCCESS, "... and the FLUSH");
	else
		is_int(dc_wait(i.cq, id), IBV_WC_REM_INV_REQ_ERR,
		       "... and the FLUSH is refused: this kernel cannot grant it");
	dc_target_close(&t);
	dc_initiator_close(&i);
}

static void test_operations(struct vt_dev *a, struct vt_dev *b, bool ipv6)
{
	static const uint32_t sizes[] = { 0, 1, 1024, 1025, 20001 };
	struct dc_initiator i;
	struct dc_target t;
	size_t n;

	diag("operations over IPv%d", ipv6 ? 6 : 4);
	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 0x123456789abcdef0, ipv6);
	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		test_send(&i, &t, sizes[n]);
		test_write(&i, &t, sizes[n]);
		test_read(&i, &t, sizes[n]);
	}
	test_atomics(&i, &t);
	test_atomic_write(&i, &t);
	dc_target_close(&t);
	dc_initiator_close(&i);
}

/* ---- path MTU ------------------------------------------------------------ */

/* The first packet to a target has the longest headers. */
static void test_longest(struct vt_dev *a, struct vt_dev *b, bool ipv6, enum ibv_mtu mtu)
{
	const uint32_t len = 128U << mtu;
	struct ibv_qp_init_attr init;
	struct dc_initiator i;
	struct ibv_qp_attr attr;
	struct dc_target t;

	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 1, ipv6);
	is_int(ibv_query_qp(i.qp, &attr, IBV_QP_PATH_MTU, &init) ?: (int)attr.path_mtu,
	       (int)mtu, "IPv%d: the code of the path MTU", ipv6 ? 6 : 4);
	fill(i.buf, len, 1);
	dc_target_recv(&t, 6, 0, 0);
	dc_begin(&i, 1);
	ibv_wr_rdma_write_imm(i.qpx, t.mr->rkey, dc_addr(&t, DC_HALF), 7);
	is_int(dc_end(&i, &t, len), 0, "a WRITE with immediate data, %u bytes", len);
	is_int(dc_wait(i.cq, 1), IBV_WC_SUCCESS, "... is the first request");
	ok(!memcmp(t.buf + DC_HALF, i.buf, len), "... and has written");
	dc_target_close(&t);
	dc_initiator_close(&i);
}

static void test_path_mtu(struct vt_dev *a, struct vt_dev *b, enum ibv_mtu mtu)
{
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	if (mtu) {
		dc_path_mtu = IBV_MTU_4096;
		test_longest(a, b, false, mtu);
		test_longest(a, b, true, mtu);
		return;
	}
	dc_path_mtu = IBV_MTU_256;
	cq = ibv_create_cq(a->ctx, 1, NULL, NULL, 0);
	qp = dc_create(a, cq, NULL, MXEDV_DCTYPE_DCI, 0);
	if (!qp || dc_to_init(qp, false))
		vt_bail("an initiator");
	is_int(dc_to_rtr(qp, false), EINVAL, "a netdev whose MTU is too small is refused");
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
}

/* ---- targets ----------------------------------------------------------- */

enum { TARGETS = 3, ROUNDS = 60 };

/*
 * Posts requests for changing targets without waiting.  Each adds 1 to a word,
 * so the words tell how often the requests were executed.
 */
static void test_round_robin(struct vt_dev *a, struct vt_dev *b, int rounds)
{
	uint64_t expected[TARGETS] = { 0 };
	struct dc_target t[TARGETS];
	int posted = 0, done = 0;
	bool failed = false;
	struct dc_initiator i;
	int n;

	dc_initiator_open(&i, a);
	for (n = 0; n < TARGETS; n++)
		dc_target_open(&t[n], n == 1 ? a : b, a, (uint64_t)n, n == 2);
	while (done < rounds && !failed) {
		/* Runs of one, two and three requests for the same target. */
		while (posted < rounds && posted - done < 16) {
			n = posted / (1 + posted / 7 % 3) % TARGETS;
			if (dc_post_fadd(&i, &t[n], (uint64_t)posted, 8))
				vt_bail("ibv_wr_complete");
			expected[n]++;
			posted++;
		}
		failed = dc_wait(i.cq, (uint64_t)done) != IBV_WC_SUCCESS;
		done++;
	}
	is_int(done, rounds, "an initiator goes round %d targets", TARGETS);
	for (n = 0; n < TARGETS; n++)
		ok(dc_word(t[n].buf + 8) == expected[n],
		   "target %d: %d requests, each executed once", n, (int)expected[n]);
	for (n = 0; n < TARGETS; n++)
		dc_target_close(&t[n]);
	dc_initiator_close(&i);
}

/* Adds a WRITE from i->buf to a batch. */
static void batch_write(struct dc_initiator *i, struct dc_target *t, uint64_t wr_id, uint32_t len)
{
	i->qpx->wr_id = wr_id;
	i->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(i->qpx, t->mr->rkey, dc_addr(t, 0));
	mxedv_wr_set_dc_addr(i->mqp, t->ah, t->qp->qp_num, t->key);
	ibv_wr_set_sge(i->qpx, i->mr->lkey, (uintptr_t)i->buf, len);
}

/*
 * The last packet for a target asks for an acknowledgement, although a request
 * for another target is posted in the same batch.  Otherwise the initiator
 * would wait for its timeout.
 */
static void test_batches(struct vt_dev *a, struct vt_dev *b)
{
	enum { BATCHES = 20 };
	static const uint32_t sizes[] = { 8, 1025, 2500 };
	struct dc_target t[2];
	struct dc_initiator i;
	long timeouts;
	int bad = 0;

	dc_initiator_open(&i, a);
	dc_target_open(&t[0], b, a, 1, false);
	dc_target_open(&t[1], b, a, 2, true);
	timeouts = vt_dev_counter(a, "retransmit_timeouts");
	for (int n = 0; n < BATCHES; n++) {
		ibv_wr_start(i.qpx);
		for (uint64_t k = 0; k < 3; k++)
			batch_write(&i, &t[k % 2], k, sizes[(n + k) % ARRAY_SIZE(sizes)]);
		if (ibv_wr_complete(i.qpx))
			vt_bail("ibv_wr_complete");
		for (uint64_t k = 0; k < 3; k++)
			bad += dc_wait(i.cq, k) != IBV_WC_SUCCESS;
	}
	is_int(bad, 0, "%d batches, each for two targets", BATCHES);
	is_int(vt_dev_counter(a, "retransmit_timeouts") - timeouts, 0,
	       "... do not wait for a timeout");
	dc_target_close(&t[1]);
	dc_target_close(&t[0]);
	dc_initiator_close(&i);
}

static void test_many_initiators(struct vt_dev *a, struct vt_dev *b)
{
	enum { MANY = 20, EACH = 10 };
	struct dc_initiator i[MANY];
	struct dc_target t;
	int n, k, bad = 0;

	dc_target_open(&t, b, a, 1, false);
	for (n = 0; n < MANY; n++)
		dc_initiator_open(&i[n], n % 5 ? a : b);
	/* Those on b need an address of their own PD. */
	for (k = 0; k < EACH; k++)
		for (n = 0; n < MANY; n++) {
			struct dc_target from_b = t;

			if (i[n].dev == b) {
				from_b.ah = ud_ah(b, b, false);
				bad += dc_fadd(&i[n], &from_b) != IBV_WC_SUCCESS;
				ibv_destroy_ah(from_b.ah);
			} else {
				bad += dc_fadd(&i[n], &t) != IBV_WC_SUCCESS;
			}
		}
	is_int(bad, 0, "%d initiators at a target", MANY);
	ok(dc_word(t.buf) == MANY * EACH, "... each request is executed once");
	for (n = 0; n < MANY; n++)
		dc_initiator_close(&i[n]);
	dc_target_close(&t);
}

/* ---- refusals and errors ------------------------------------------------ */

static void test_creation(struct vt_dev *dev)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 16, NULL, NULL, 0);
	struct ibv_srq *srq = ibv_create_srq(dev->pd, &srq_attr);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_DRIVER,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp;

	ok(!ibv_create_qp(dev->pd, &init) && errno,
	   "no QP of the driver's type without mxedv");
	ok(!dc_create(dev, cq, NULL, MXEDV_DCTYPE_DCT, 1) && errno == EINVAL,
	   "no target without an SRQ");
	ok(!dc_create(dev, cq, srq, MXEDV_DCTYPE_DCI, 0) && errno == EINVAL,
	   "no initiator with an SRQ");
	ok(!dc_create(dev, cq, NULL, MXEDV_DCTYPE_DCI, 1) && errno == EINVAL,
	   "no initiator with a key");
	ok(!dc_create(dev, cq, srq, 0, 0) && errno == EINVAL, "no unknown type");
	qp = dc_create(dev, cq, srq, MXEDV_DCTYPE_DCT, 1);
	ok(qp && qp->qp_num, "a target has a number at once");
	ok(dc_to_rtr(qp, true), "no target skips INIT");
	is_int(dc_to_init(qp, true), 0, "INIT");
	ok(dc_to_rtr(qp, false), "no RTR without an RNR timer");
	is_int(dc_to_rtr(qp, true), 0, "RTR");
	ok(dc_to_rts(qp), "a target has no RTS");
	is_int(dc_to_state(qp, IBV_QPS_ERR), 0, "ERR");
	is_int(dc_to_state(qp, IBV_QPS_RESET), 0, "RESET");
	is_int(ibv_destroy_srq(srq), EBUSY, "the target uses the SRQ");
	is_int(ibv_destroy_qp(qp), 0, "the target is destroyed");
	is_int(ibv_destroy_srq(srq), 0, "... and the SRQ");
	is_int(ibv_destroy_cq(cq), 0, "... and the CQ");
}

static void test_posting(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct dc_initiator i;
	struct dc_target t;

	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 1, false);
	ok(ibv_post_send(i.qp, &wr, &bad), "no ibv_post_send() at an initiator");
	dc_begin(&i, 1);
	ibv_wr_rdma_write(i.qpx, t.mr->rkey, dc_addr(&t, 0));
	ibv_wr_set_sge(i.qpx, i.mr->lkey, (uintptr_t)i.buf, 8);
	is_int(ibv_wr_complete(i.qpx), EINVAL, "no request without a target");
	dc_begin(&i, 1);
	ibv_wr_rdma_write(i.qpx, t.mr->rkey, dc_addr(&t, 0));
	mxedv_wr_set_dc_addr(i.mqp, t.ah, t.qp->qp_num, t.key);
	mxedv_wr_set_dc_addr(i.mqp, t.ah, t.qp->qp_num, t.key);
	ibv_wr_rdma_write(i.qpx, t.mr->rkey, dc_addr(&t, 0));
	is_int(ibv_wr_complete(i.qpx), EINVAL, "... nor a second one");
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "the initiator still works");
	dc_target_close(&t);
	dc_initiator_close(&i);
}

/* Posts a SEND that waits for a receive request, and a fetch-and-add. */
static void post_waiting(struct dc_initiator *i, struct dc_target *first,
			 struct dc_target *next)
{
	long before = vt_dev_counter(i->dev, "rcvd_rnr_nak");

	dc_begin(i, 1);
	ibv_wr_send(i->qpx);
	if (dc_end(i, first, 8))
		vt_bail("a SEND");
	vt_dev_wait_counted(i->dev, "rcvd_rnr_nak", before);
	if (dc_post_fadd(i, next, 2, 0))
		vt_bail("a fetch-and-add");
}

/* In SQD, requests that have begun complete, and no other begins. */
static void test_drain(struct vt_dev *a, struct vt_dev *b)
{
	struct dc_target t[2];
	struct dc_initiator i;
	struct ibv_wc wc;

	dc_initiator_open(&i, a);
	dc_target_open(&t[0], b, a, 1, false);
	dc_target_open(&t[1], b, a, 2, false);
	post_waiting(&i, &t[0], &t[1]);
	is_int(dc_to_state(i.qp, IBV_QPS_SQD), 0, "an initiator in SQD");
	dc_target_recv(&t[0], 9, DC_HALF, DC_HALF);
	is_int(dc_wait(i.cq, 1), IBV_WC_SUCCESS, "... completes what has begun");
	ok(!vt_poll(i.cq, &wc, 200) && !dc_word(t[1].buf),
	   "... and does not begin the next request");
	is_int(dc_to_state(i.qp, IBV_QPS_RTS), 0, "... until it is in RTS again");
	is_int(dc_wait(i.cq, 2), IBV_WC_SUCCESS, "... where that completes");
	is_u64(dc_word(t[1].buf), 1, "... and is executed");
	/* The session continues with its PSNs, so this is no duplicate. */
	is_int(dc_to_state(i.qp, IBV_QPS_SQD) ?: dc_to_state(i.qp, IBV_QPS_RTS), 0,
	       "to SQD and RTS");
	is_int(dc_fadd(&i, &t[1]), IBV_WC_SUCCESS, "... another request of the session");
	is_u64(dc_word(t[1].buf), 2, "... is executed, too");
	post_waiting(&i, &t[0], &t[1]);
	is_int(dc_to_state(i.qp, IBV_QPS_SQD), 0, "in SQD again");
	is_int(dc_to_state(i.qp, IBV_QPS_ERR), 0, "... and then in ERR");
	is_int(dc_wait(i.cq, 1), IBV_WC_WR_FLUSH_ERR, "... both are flushed");
	is_int(dc_wait(i.cq, 2), IBV_WC_WR_FLUSH_ERR, "... the second, too");
	is_u64(dc_word(t[1].buf), 2, "... which is not executed");
	ok(dc_to_state(t[0].qp, IBV_QPS_SQD), "a target has no SQD");
	dc_target_close(&t[1]);
	dc_target_close(&t[0]);
	dc_initiator_close(&i);
}

static void test_errors(struct vt_dev *a, struct vt_dev *b)
{
	struct dc_initiator i, other;
	struct dc_target t, wrong;
	long before;

	dc_initiator_open(&i, a);
	dc_initiator_open(&other, a);
	dc_target_open(&t, b, a, 1, false);
	is_int(dc_fadd(&other, &t), IBV_WC_SUCCESS, "a request of another initiator");

	before = vt_dev_counter(b, "dc_key_violations");
	wrong = t;
	wrong.key = 2;
	is_int(dc_fadd(&i, &wrong), IBV_WC_REM_ACCESS_ERR, "a wrong key");
	ok(vt_dev_counter(b, "dc_key_violations") > before, "... is counted");
	ok(dc_resource_has(&t, "drv_dct_key_violations 1 "), "... also for the target");
	dc_initiator_reset(&i);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "... and the right one after a reset");

	dc_begin(&i, 1);
	ibv_wr_rdma_write(i.qpx, t.mr->rkey ^ 0xff, dc_addr(&t, 0));
	is_int(dc_end(&i, &t, 8), 0, "an invalid rkey");
	is_int(dc_wait(i.cq, 1), IBV_WC_REM_ACCESS_ERR, "... is refused");
	is_int(dc_fadd(&other, &t), IBV_WC_SUCCESS,
	       "... another initiator is not affected");
	dc_initiator_reset(&i);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "... and works after a reset");

	/* A receive request is posted while the initiator waits. */
	before = vt_dev_counter(a, "rcvd_rnr_nak");
	dc_begin(&i, 1);
	ibv_wr_send(i.qpx);
	is_int(dc_end(&i, &t, 8), 0, "a SEND without a receive request");
	vt_dev_wait_counted(a, "rcvd_rnr_nak", before);
	dc_target_recv(&t, 9, DC_HALF, DC_HALF);
	is_int(dc_wait(i.cq, 1), IBV_WC_SUCCESS, "... waits for one");
	is_int(dc_wait(t.cq, 9), IBV_WC_SUCCESS, "... and is received");

	ibv_destroy_qp(t.qp);
	t.qp = NULL;
	dc_retry_cnt = 1;
	dc_timeout = 8;
	dc_initiator_reset(&i);
	wrong = t;
	wrong.qp = i.qp;	/* a number that is not a target's */
	is_int(dc_fadd(&i, &wrong), IBV_WC_RETRY_EXC_ERR, "not a target");
	dc_retry_cnt = 7;
	dc_timeout = 14;
	dc_target_close(&t);
	dc_initiator_close(&other);
	dc_initiator_close(&i);
}

/* A request that the responder of one initiator fails. */
static void refused(struct dc_initiator *i, struct dc_initiator *other, struct dc_target *t,
		    enum ibv_wc_status sent, enum ibv_wc_status received,
		    const char *what)
{
	is_int(dc_wait(i->cq, 1), sent, "%s", what);
	if (received)
		is_int(dc_wait(t->cq, 7), received, "... and its receive request");
	is_int(dc_fadd(other, t), IBV_WC_SUCCESS, "... does not affect others");
	dc_initiator_reset(i);
	is_int(dc_fadd(i, t), IBV_WC_SUCCESS, "... nor the initiator after a reset");
}

/* Errors of memory and receive requests end one session. */
static void test_responder_errors(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_recv_wr *bad, wr = { .wr_id = 7, .num_sge = 1 };
	struct ibv_sge sge;
	struct dc_initiator i, other;
	struct dc_target t;

	dc_initiator_open(&i, a);
	dc_initiator_open(&other, a);
	dc_target_open(&t, b, a, 1, false);

	/* Nothing that a process registers at a target can be invalidated. */
	dc_target_recv(&t, 7, DC_HALF, DC_HALF);
	dc_begin(&i, 1);
	ibv_wr_send_inv(i.qpx, t.mr->rkey);
	is_int(dc_end(&i, &t, 8), 0, "SEND with invalidate");
	refused(&i, &other, &t, IBV_WC_REM_ACCESS_ERR, IBV_WC_LOC_ACCESS_ERR,
		"... of a region is refused");

	dc_target_recv(&t, 7, DC_HALF, 16);
	dc_begin(&i, 1);
	ibv_wr_send(i.qpx);
	is_int(dc_end(&i, &t, 3000), 0, "a SEND");
	refused(&i, &other, &t, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR,
		"... that is longer than the receive request");

	sge = (struct ibv_sge){ (uintptr_t)t.buf, 64, t.mr->lkey ^ 0xff00 };
	wr.sg_list = &sge;
	if (ibv_post_srq_recv(t.srq, &wr, &bad))
		vt_bail("ibv_post_srq_recv");
	dc_begin(&i, 1);
	ibv_wr_send(i.qpx);
	is_int(dc_end(&i, &t, 8), 0, "a SEND");
	refused(&i, &other, &t, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR,
		"... to a receive request with an invalid key");

	dc_begin(&i, 1);
	ibv_wr_rdma_read(i.qpx, t.mr->rkey, dc_addr(&t, DC_BUF_SIZE - 8));
	is_int(dc_end(&i, &t, 16), 0, "a READ");
	refused(&i, &other, &t, IBV_WC_REM_ACCESS_ERR, 0, "... beyond the region");
	dc_target_close(&t);
	dc_initiator_close(&other);
	dc_initiator_close(&i);
}

/* ---- shortcuts ---------------------------------------------------------- */

/* The counters of the loopback path, GSO batches and early demultiplexing. */
static const char *const shortcuts[] = {
	"loop_requests", "sent_gso_batches", "rcvd_gso_batches",
	"rcvd_early_pkts",
};

enum { SHORTCUTS = 4, SHORTCUT_WRITES = 20, SHORTCUT_LEN = 16384 };

static void count_shortcuts(const struct vt_dev *a, const struct vt_dev *b,
			    long *counts, long sign)
{
	for (size_t n = 0; n < SHORTCUTS; n++)
		counts[n] += sign * (vt_dev_counter(a, shortcuts[n]) +
				     vt_dev_counter(b, shortcuts[n]));
}

/* Writes on RC between two hosts and on one, which takes the shortcuts. */
static void write_rc(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	conf.size = SHORTCUT_LEN;
	vt_pair_open(&p, a, b, &conf);
	for (int n = 0; n < SHORTCUT_WRITES; n++) {
		struct ibv_sge sge = vt_sge(&p.a, 0, SHORTCUT_LEN);
		struct vt_wr wr = {
			.op = VT_WRITE, .sge = &sge, .num_sge = 1,
			.flags = IBV_SEND_SIGNALED,
			.raddr = vt_addr(&p.b, 0), .rkey = p.b.mr->rkey,
		};
		struct ibv_wc wc;

		if (vt_post(&p.a, &wr) || !vt_poll(p.a.cq, &wc, VT_MS) || wc.status)
			vt_bail("a WRITE on RC");
	}
	vt_pair_close(&p);
}

static int write_dc(struct vt_dev *a, struct vt_dev *b)
{
	struct dc_initiator i;
	struct dc_target t;
	int good = 0;

	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 1, false);
	for (int n = 0; n < SHORTCUT_WRITES; n++) {
		dc_begin(&i, 1);
		ibv_wr_rdma_write(i.qpx, t.mr->rkey, dc_addr(&t, 0));
		good += !dc_end(&i, &t, SHORTCUT_LEN) &&
			dc_wait(i.cq, 1) == IBV_WC_SUCCESS;
	}
	dc_target_close(&t);
	dc_initiator_close(&i);
	return good;
}

/*
 * RC and DC take each shortcut of the data path, unless the module was built
 * without.
 */
static void test_shortcuts(struct vt_dev *a, struct vt_dev *b)
{
	bool plain = !vt_has_loopback();
	/* Early demultiplexing is a hook of netfilter. */
	bool hooks = !access("/proc/net/netfilter", F_OK);
	long rc[SHORTCUTS] = { 0 }, dc[SHORTCUTS] = { 0 };
	size_t n;

	count_shortcuts(a, b, rc, -1);
	write_rc(a, b);
	write_rc(a, a);
	count_shortcuts(a, b, rc, 1);
	count_shortcuts(a, b, dc, -1);
	is_int(write_dc(a, b), SHORTCUT_WRITES, "WRITEs on DC between hosts");
	is_int(write_dc(a, a), SHORTCUT_WRITES, "WRITEs on DC on a host");
	count_shortcuts(a, b, dc, 1);
	for (n = 0; n < SHORTCUTS; n++) {
		const char *name = shortcuts[n];

		if (plain)
			is_int(rc[n], 0, "%s: this module has no shortcut", name);
		else if (!rc[n] && !hooks)
			skip(1, "a kernel without netfilter has no %s", name);
		else
			ok(rc[n] > 0, "%s: %ld on RC", name, rc[n]);
		is_int(dc[n] > 0, rc[n] > 0, "... and %ld on DC", dc[n]);
	}
}

int main(int argc, char **argv)
{
	struct vt_dev *a = vt_open(vt_name_a());
	struct vt_dev *b = vt_open(vt_name_b());

	plan(0);
	if (argc > 1 && !strcmp(argv[1], "stress")) {
		test_round_robin(a, b, 10 * ROUNDS);
	} else if (argc > 2 && !strcmp(argv[1], "mtu")) {
		test_path_mtu(a, b, (enum ibv_mtu)atoi(argv[2]));
	} else {
		test_creation(a);
		test_posting(a, b);
		test_operations(a, b, false);
		test_operations(a, b, true);
		test_flush(a, b);
		test_round_robin(a, b, ROUNDS);
		test_batches(a, b);
		test_many_initiators(a, b);
		test_drain(a, b);
		test_errors(a, b);
		test_responder_errors(a, b);
		test_shortcuts(a, b);
	}
	vt_close(b);
	vt_close(a);
	return done_testing();
}
