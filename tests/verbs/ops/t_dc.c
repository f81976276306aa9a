// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that dynamically connected (DC) QPs work: every operation, the change
 * of targets, several initiators at a target, keys, errors and idle sessions.
 *
 * With the argument "stress" it only checks that each request is executed once
 * while an initiator goes from target to target, for t_dc_netem.sh.  With
 * "sessions" it only opens and closes sessions, for t_tracing.sh.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rdma/mxe-abi.h>
#include "cgroup.h"
#include "random.h"
#include "raw.h"
#include "tap.h"
#include "ud.h"
#include "vt.h"

enum {
	BUF_SIZE = 1 << 16,
	HALF = BUF_SIZE / 2,
	SRQ_WR = 64,
	DEPTH = 64,
	ACCESS_FLUSH_GLOBAL = 1 << 8,
	SEND_OPS = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
		   IBV_QP_EX_WITH_SEND_WITH_INV |
#ifdef HAVE_ATOMIC_WRITE
		   IBV_QP_EX_WITH_ATOMIC_WRITE |
#endif
		   IBV_QP_EX_WITH_RDMA_WRITE |
		   IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
		   IBV_QP_EX_WITH_RDMA_READ |
		   IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		   IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
};

struct target {
	struct vt_dev *dev;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	uint64_t key;
	/* Address of the target's host, for the initiator. */
	struct ibv_ah *ah;
};

struct initiator {
	struct vt_dev *dev;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct mxedv_qp_ex *mqp;
	struct ibv_mr *mr;
	uint8_t *buf;
};

static uint8_t retry_cnt = 7;
static uint8_t timeout = 14;
static uint8_t rnr_timer = 1;

/* ---- objects ----------------------------------------------------------- */

static struct ibv_qp *create(struct vt_dev *dev, struct ibv_cq *cq,
			     struct ibv_srq *srq, uint32_t dc_type, uint64_t key)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 2,
			 .max_inline_data = 64 },
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     (srq ? 0 : IBV_QP_INIT_ATTR_SEND_OPS_FLAGS),
		.pd = dev->pd,
		.send_ops_flags = srq ? 0 : SEND_OPS,
	};
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_DC |
			     (srq ? 0 : MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG),
		.max_atomic_arg = 32,
		.dc_type = dc_type,
		.dct_access_key = key,
	};

	return mxedv_create_qp(dev->ctx, &attr, &mxe_attr);
}

static int to_init(struct ibv_qp *qp, bool is_target)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = VT_ACCESS_ALL,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT |
			     (is_target ? IBV_QP_ACCESS_FLAGS : 0));
}

static int to_rtr(struct ibv_qp *qp, bool is_target)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.min_rnr_timer = rnr_timer,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU |
			     (is_target ? IBV_QP_MIN_RNR_TIMER : 0));
}

static int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = timeout,
		.retry_cnt = retry_cnt,
		.rnr_retry = 7,
		.max_rd_atomic = 8,
		.sq_psn = 0xfffff0,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN);
}

static int to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	return vt_to_state(&(struct vt_end){ .qp = qp }, state);
}

static void target_open(struct target *t, struct vt_dev *dev,
			struct vt_dev *from, uint64_t key, bool ipv6)
{
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = SRQ_WR, .max_sge = 1 },
	};

	*t = (struct target){ .dev = dev, .key = key };
	t->buf = aligned_alloc(4096, BUF_SIZE);
	t->cq = ibv_create_cq(dev->ctx, 4 * SRQ_WR, NULL, NULL, 0);
	t->srq = ibv_create_srq(dev->pd, &srq_attr);
	if (!t->buf || !t->cq || !t->srq)
		vt_bail("objects of a target");
	memset(t->buf, 0, BUF_SIZE);
	t->mr = ibv_reg_mr(dev->pd, t->buf, BUF_SIZE, VT_ACCESS_ALL);
	t->qp = create(dev, t->cq, t->srq, MXEDV_DCTYPE_DCT, key);
	if (!t->mr || !t->qp || to_init(t->qp, true) || to_rtr(t->qp, true))
		vt_bail("a target");
	t->ah = ud_ah(from, dev, ipv6);
}

static void target_close(struct target *t)
{
	if (t->qp)
		ibv_destroy_qp(t->qp);
	ibv_destroy_ah(t->ah);
	ibv_destroy_srq(t->srq);
	ibv_destroy_cq(t->cq);
	ibv_dereg_mr(t->mr);
	free(t->buf);
}

static void target_recv(struct target *t, uint64_t wr_id, size_t offset, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)t->buf + offset, len, t->mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	if (ibv_post_srq_recv(t->srq, &wr, &bad))
		vt_bail("ibv_post_srq_recv");
}

static void initiator_open(struct initiator *i, struct vt_dev *dev)
{
	*i = (struct initiator){ .dev = dev };
	i->buf = calloc(1, BUF_SIZE);
	i->cq = ibv_create_cq(dev->ctx, 2 * DEPTH, NULL, NULL, 0);
	if (!i->buf || !i->cq)
		vt_bail("objects of an initiator");
	i->mr = ibv_reg_mr(dev->pd, i->buf, BUF_SIZE, VT_ACCESS_ALL);
	i->qp = create(dev, i->cq, NULL, MXEDV_DCTYPE_DCI, 0);
	if (!i->mr || !i->qp || to_init(i->qp, false) || to_rtr(i->qp, false) ||
	    to_rts(i->qp))
		vt_bail("an initiator");
	i->qpx = ibv_qp_to_qp_ex(i->qp);
	i->mqp = mxedv_qp_ex_from_ibv_qp_ex(i->qpx);
}

static void initiator_close(struct initiator *i)
{
	ibv_destroy_qp(i->qp);
	ibv_destroy_cq(i->cq);
	ibv_dereg_mr(i->mr);
	free(i->buf);
}

/* After an error. */
static void initiator_reset(struct initiator *i)
{
	if (to_state(i->qp, IBV_QPS_RESET) || to_init(i->qp, false) ||
	    to_rtr(i->qp, false) || to_rts(i->qp))
		vt_bail("reset of an initiator");
}

/* ---- requests ---------------------------------------------------------- */

static void begin(struct initiator *i, uint64_t wr_id)
{
	ibv_wr_start(i->qpx);
	i->qpx->wr_id = wr_id;
	i->qpx->wr_flags = IBV_SEND_SIGNALED;
}

/* Names the target and the local data, which begin at offset 0. */
static int end(struct initiator *i, struct target *t, uint32_t len)
{
	mxedv_wr_set_dc_addr(i->mqp, t->ah, t->qp->qp_num, t->key);
	ibv_wr_set_sge(i->qpx, i->mr->lkey, (uintptr_t)i->buf, len);
	return ibv_wr_complete(i->qpx);
}

static enum ibv_wc_status wait_for(struct ibv_cq *cq, uint64_t wr_id)
{
	struct ibv_wc wc;

	if (!vt_poll(cq, &wc, VT_MS))
		vt_bail("no completion of request %d", (int)wr_id);
	if (wc.wr_id != wr_id)
		vt_bail("completion of request %d instead of %d", (int)wc.wr_id,
			(int)wr_id);
	return wc.status;
}

static uint64_t addr(const struct target *t, size_t offset)
{
	return (uintptr_t)t->buf + offset;
}

static int post_fadd(struct initiator *i, struct target *t, uint64_t wr_id,
		     size_t offset)
{
	begin(i, wr_id);
	ibv_wr_atomic_fetch_add(i->qpx, t->mr->rkey, addr(t, offset), 1);
	return end(i, t, 8);
}

static enum ibv_wc_status fadd(struct initiator *i, struct target *t)
{
	if (post_fadd(i, t, 1, 0))
		return IBV_WC_GENERAL_ERR;
	return wait_for(i->cq, 1);
}

static uint64_t word(const uint8_t *buf)
{
	uint64_t value;

	memcpy(&value, buf, sizeof(value));
	return value;
}

/* ---- operations -------------------------------------------------------- */

static void fill(uint8_t *buf, size_t len, unsigned int seed)
{
	size_t n;

	for (n = 0; n < len; n++)
		buf[n] = (uint8_t)(n * 7 + (n >> 8) + seed);
}

static void test_send(struct initiator *i, struct target *t, uint32_t len)
{
	struct ibv_wc wc;

	fill(i->buf, len, len);
	target_recv(t, 5, HALF, HALF);
	begin(i, 1);
	ibv_wr_send_imm(i->qpx, 0x12345678);
	is_int(end(i, t, len), 0, "SEND with immediate data, %u bytes", len);
	is_int(wait_for(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	if (!vt_poll(t->cq, &wc, VT_MS))
		vt_bail("no receive completion");
	ok(wc.status == IBV_WC_SUCCESS && wc.wr_id == 5 && wc.byte_len == len &&
	   wc.opcode == IBV_WC_RECV && wc.wc_flags & IBV_WC_WITH_IMM &&
	   wc.imm_data == 0x12345678 && wc.qp_num == t->qp->qp_num &&
	   wc.src_qp == i->qp->qp_num &&
	   !memcmp(t->buf + HALF, i->buf, len),
	   "... and is received by the SRQ of the target");
}

static void test_write(struct initiator *i, struct target *t, uint32_t len)
{
	struct ibv_wc wc;

	fill(i->buf, len, len + 1);
	memset(t->buf + HALF, 0, HALF);
	begin(i, 1);
	ibv_wr_rdma_write(i->qpx, t->mr->rkey, addr(t, HALF));
	is_int(end(i, t, len), 0, "WRITE, %u bytes", len);
	is_int(wait_for(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	ok(!memcmp(t->buf + HALF, i->buf, len), "... and has written");

	target_recv(t, 6, 0, 0);
	begin(i, 1);
	ibv_wr_rdma_write_imm(i->qpx, t->mr->rkey, addr(t, HALF), 7);
	is_int(end(i, t, len), 0, "WRITE with immediate data, %u bytes", len);
	is_int(wait_for(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	ok(vt_poll(t->cq, &wc, VT_MS) && !wc.status && wc.wr_id == 6 &&
	   wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.imm_data == 7,
	   "... and is announced");
}

static void test_read(struct initiator *i, struct target *t, uint32_t len)
{
	fill(t->buf + HALF, len, len + 2);
	memset(i->buf, 0, len);
	begin(i, 1);
	ibv_wr_rdma_read(i->qpx, t->mr->rkey, addr(t, HALF));
	is_int(end(i, t, len), 0, "READ, %u bytes", len);
	is_int(wait_for(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	ok(!memcmp(t->buf + HALF, i->buf, len), "... and has read");
}

static void test_atomics(struct initiator *i, struct target *t)
{
	static const uint64_t ones[4] = { ~0ULL, ~0ULL, ~0ULL, ~0ULL };
	static const uint64_t zero[4];
	const uint64_t low[4] = { 0xff, 0xff, 0xff, 0xff };
	uint64_t value = 41;
	uint32_t log, low_byte;

	memcpy(t->buf, &value, 8);
	is_int(fadd(i, t), IBV_WC_SUCCESS, "fetch-and-add");
	ok(word(t->buf) == 42 && word(i->buf) == 41, "... has added");

	begin(i, 1);
	ibv_wr_atomic_cmp_swp(i->qpx, t->mr->rkey, addr(t, 0), 42, 7);
	is_int(end(i, t, 8), 0, "compare-and-swap");
	is_int(wait_for(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	ok(word(t->buf) == 7 && word(i->buf) == 42, "... has swapped");

	for (log = 0; log <= 5; log++) {
		uint32_t size = 1U << log;

		memset(t->buf, 0x11, BUF_SIZE / 2);
		begin(i, 1);
		mxedv_wr_ext_masked_atomic_cmp_swp(i->mqp, t->mr->rkey, addr(t, 0),
						   log, zero, zero, ones, low);
		is_int(end(i, t, size), 0, "masked compare-and-swap, %u bytes", size);
		is_int(wait_for(i->cq, 1), IBV_WC_SUCCESS, "... completes");
		ok((word(t->buf) & 0xffff) == 0x11ff && i->buf[0] == 0x11 &&
		   i->buf[size - 1] == 0x11, "... has swapped the mask");

		begin(i, 1);
		mxedv_wr_ext_masked_atomic_fetch_add(i->mqp, t->mr->rkey, addr(t, 0),
						     log, low, low);
		is_int(end(i, t, size), 0, "masked fetch-and-add, %u bytes", size);
		is_int(wait_for(i->cq, 1), IBV_WC_SUCCESS, "... completes");
		/* Results of other sizes than 8 bytes are big-endian. */
		low_byte = log == 3 ? 0 : log < 3 ? size - 1 : 7;
		ok(i->buf[low_byte] == 0xff && !t->buf[0] && t->buf[1] == 0x11 &&
		   t->buf[size] == 0x11, "... has added in fields");
	}
}

static void test_atomic_write(struct initiator *i, struct target *t)
{
#ifdef HAVE_ATOMIC_WRITE
	const uint64_t value = 0x0123456789abcdef;

	memset(t->buf, 0, 24);
	begin(i, 1);
	ibv_wr_atomic_write(i->qpx, t->mr->rkey, addr(t, 8), &value);
	mxedv_wr_set_dc_addr(i->mqp, t->ah, t->qp->qp_num, t->key);
	is_int(ibv_wr_complete(i->qpx), 0, "ATOMIC WRITE");
	is_int(wait_for(i->cq, 1), IBV_WC_SUCCESS, "... completes");
	ok(word(t->buf + 8) == value && !word(t->buf) && !word(t->buf + 16),
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
	struct initiator i;
	struct target t;
	bool granted;
	long before;

	initiator_open(&i, a);
	rnr_timer = 0;
	target_open(&t, b, a, 1, false);
	ibv_dereg_mr(t.mr);
	t.mr = ibv_reg_mr(b->pd, t.buf, BUF_SIZE,
			  VT_ACCESS_ALL | ACCESS_FLUSH_GLOBAL);
	granted = t.mr;
	if (!granted)
		t.mr = ibv_reg_mr(b->pd, t.buf, BUF_SIZE, VT_ACCESS_ALL);
	/* The test grants what the kernel can: a target that has the flag. */
	if (granted) {
		struct ibv_qp_attr attr = {
			.qp_state = IBV_QPS_INIT,
			.port_num = 1,
			.qp_access_flags = VT_ACCESS_ALL | ACCESS_FLUSH_GLOBAL,
		};

		if (to_state(t.qp, IBV_QPS_RESET) ||
		    ibv_modify_qp(t.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ||
		    to_rtr(t.qp, true))
			vt_bail("a target with FLUSH");
	}
	rnr_timer = 1;
	before = vt_dev_counter(a, "rcvd_rnr_nak");
	begin(&i, 1);
	ibv_wr_send(i.qpx);
	is_int(end(&i, &t, 8), 0, "a SEND that waits for its receive request");
	vt_dev_wait_counted(a, "rcvd_rnr_nak", before);
	begin(&i, id);
	ibv_wr_rdma_write(i.qpx, t.mr->rkey, addr(&t, 0));
	mxedv_wr_set_dc_addr(i.mqp, t.ah, t.qp->qp_num, t.key);
	is_int(ibv_wr_complete(i.qpx), 0, "FLUSH");
	wqe = vt_find_wqe(id);
	wqe->opcode = MXE_WR_FLUSH;
	wqe->num_sge = 0;
	wqe->flush.length = 4096;
	wqe->flush.type = 1;	/* global visibility */
	wqe->flush.level = 0;	/* a range */
	target_recv(&t, 2, HALF, 8);
	is_int(wait_for(i.cq, 1), IBV_WC_SUCCESS, "... the SEND completes");
	if (granted)
		is_int(wait_for(i.cq, id), IBV_WC_SUCCESS, "... and the FLUSH");
	else
		is_int(wait_for(i.cq, id), IBV_WC_REM_INV_REQ_ERR,
		       "... and the FLUSH is refused: this kernel cannot grant it");
	target_close(&t);
	initiator_close(&i);
}

static void test_operations(struct vt_dev *a, struct vt_dev *b, bool ipv6)
{
	static const uint32_t sizes[] = { 0, 1, 1024, 1025, 20001 };
	struct initiator i;
	struct target t;
	size_t n;

	diag("operations over IPv%d", ipv6 ? 6 : 4);
	initiator_open(&i, a);
	target_open(&t, b, a, 0x123456789abcdef0, ipv6);
	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		test_send(&i, &t, sizes[n]);
		test_write(&i, &t, sizes[n]);
		test_read(&i, &t, sizes[n]);
	}
	test_atomics(&i, &t);
	test_atomic_write(&i, &t);
	target_close(&t);
	initiator_close(&i);
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
	struct target t[TARGETS];
	int posted = 0, done = 0;
	bool failed = false;
	struct initiator i;
	int n;

	initiator_open(&i, a);
	for (n = 0; n < TARGETS; n++)
		target_open(&t[n], n == 1 ? a : b, a, (uint64_t)n, n == 2);
	while (done < rounds && !failed) {
		/* Runs of one, two and three requests for the same target. */
		while (posted < rounds && posted - done < 16) {
			n = posted / (1 + posted / 7 % 3) % TARGETS;
			if (post_fadd(&i, &t[n], (uint64_t)posted, 8))
				vt_bail("ibv_wr_complete");
			expected[n]++;
			posted++;
		}
		failed = wait_for(i.cq, (uint64_t)done) != IBV_WC_SUCCESS;
		done++;
	}
	is_int(done, rounds, "an initiator goes round %d targets", TARGETS);
	for (n = 0; n < TARGETS; n++)
		ok(word(t[n].buf + 8) == expected[n],
		   "target %d: %d requests, each executed once", n, (int)expected[n]);
	for (n = 0; n < TARGETS; n++)
		target_close(&t[n]);
	initiator_close(&i);
}

static void test_many_initiators(struct vt_dev *a, struct vt_dev *b)
{
	enum { MANY = 20, EACH = 10 };
	struct initiator i[MANY];
	struct target t;
	int n, k, bad = 0;

	target_open(&t, b, a, 1, false);
	for (n = 0; n < MANY; n++)
		initiator_open(&i[n], n % 5 ? a : b);
	/* Those on b need an address of their own PD. */
	for (k = 0; k < EACH; k++)
		for (n = 0; n < MANY; n++) {
			struct target from_b = t;

			if (i[n].dev == b) {
				from_b.ah = ud_ah(b, b, false);
				bad += fadd(&i[n], &from_b) != IBV_WC_SUCCESS;
				ibv_destroy_ah(from_b.ah);
			} else {
				bad += fadd(&i[n], &t) != IBV_WC_SUCCESS;
			}
		}
	is_int(bad, 0, "%d initiators at a target", MANY);
	ok(word(t.buf) == MANY * EACH, "... each request is executed once");
	for (n = 0; n < MANY; n++)
		initiator_close(&i[n]);
	target_close(&t);
}

/* ---- memory of sessions ------------------------------------------------- */

enum { CHARGED_SESSIONS = 200, CHARGED_BYTES = 2048 };

/*
 * Packets open sessions. Their memory is charged to the process that created
 * the target.
 */
static void test_charged(struct vt_dev *a, struct vt_dev *b)
{
	static struct initiator i[CHARGED_SESSIONS];
	struct target t;
	long before;
	int bad = 0;

	if (cgroup_open()) {
		skip(1, "the kernel has no memory control groups");
		return;
	}
	if (mkdir(GROUP, 0755))
		vt_bail(GROUP);
	cgroup_write(GROUP "/cgroup.procs", "0");
	target_open(&t, b, a, 7, false);
	cgroup_write(CGROUP "/cgroup.procs", "0");
	before = cgroup_value(GROUP "/memory.current");
	for (int n = 0; n < CHARGED_SESSIONS; n++) {
		initiator_open(&i[n], a);
		bad += fadd(&i[n], &t) != IBV_WC_SUCCESS;
	}
	is_int(bad, 0, "%d initiators with a session", CHARGED_SESSIONS);
	before = cgroup_value(GROUP "/memory.current") - before;
	diag("a session costs %ld bytes", before / CHARGED_SESSIONS);
	ok(before >= (long)CHARGED_SESSIONS * CHARGED_BYTES,
	   "... their sessions are charged to the group of the target");
	for (int n = 0; n < CHARGED_SESSIONS; n++)
		initiator_close(&i[n]);
	target_close(&t);
	rmdir(GROUP);
	cgroup_close();
}

/* Returns true if the rdma tool shows this of a QP. */
static bool resource_of(const struct vt_dev *dev, const struct ibv_qp *qp,
			const char *what)
{
	char command[128], line[1024];
	bool found = false;
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "rdma -dd resource show qp link %s/1 lqpn %u",
		 ibv_get_device_name(dev->ctx->device), qp->qp_num);
	pipe = popen(command, "r");
	if (!pipe)
		vt_bail("popen");
	while (fgets(line, sizeof(line), pipe))
		found |= !!strstr(line, what);
	pclose(pipe);
	return found;
}

static bool resource_has(const struct target *t, const char *what)
{
	return resource_of(t->dev, t->qp, what);
}

/* Waits for less time than a session lives after its last packet. */
static bool soon_has(const struct target *t, const char *what)
{
	uint64_t end = vt_now_ms() + 1000;

	while (!resource_has(t, what))
		if (vt_now_ms() > end)
			return false;
	return true;
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
	ok(!create(dev, cq, NULL, MXEDV_DCTYPE_DCT, 1) && errno == EINVAL,
	   "no target without an SRQ");
	ok(!create(dev, cq, srq, MXEDV_DCTYPE_DCI, 0) && errno == EINVAL,
	   "no initiator with an SRQ");
	ok(!create(dev, cq, NULL, MXEDV_DCTYPE_DCI, 1) && errno == EINVAL,
	   "no initiator with a key");
	ok(!create(dev, cq, srq, 0, 0) && errno == EINVAL, "no unknown type");
	qp = create(dev, cq, srq, MXEDV_DCTYPE_DCT, 1);
	ok(qp && qp->qp_num, "a target has a number at once");
	ok(to_rtr(qp, true), "no target skips INIT");
	is_int(to_init(qp, true), 0, "INIT");
	ok(to_rtr(qp, false), "no RTR without an RNR timer");
	is_int(to_rtr(qp, true), 0, "RTR");
	ok(to_rts(qp), "a target has no RTS");
	is_int(to_state(qp, IBV_QPS_ERR), 0, "ERR");
	is_int(to_state(qp, IBV_QPS_RESET), 0, "RESET");
	is_int(ibv_destroy_srq(srq), EBUSY, "the target uses the SRQ");
	is_int(ibv_destroy_qp(qp), 0, "the target is destroyed");
	is_int(ibv_destroy_srq(srq), 0, "... and the SRQ");
	is_int(ibv_destroy_cq(cq), 0, "... and the CQ");
}

static void test_posting(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct initiator i;
	struct target t;

	initiator_open(&i, a);
	target_open(&t, b, a, 1, false);
	ok(ibv_post_send(i.qp, &wr, &bad), "no ibv_post_send() at an initiator");
	begin(&i, 1);
	ibv_wr_rdma_write(i.qpx, t.mr->rkey, addr(&t, 0));
	ibv_wr_set_sge(i.qpx, i.mr->lkey, (uintptr_t)i.buf, 8);
	is_int(ibv_wr_complete(i.qpx), EINVAL, "no request without a target");
	begin(&i, 1);
	ibv_wr_rdma_write(i.qpx, t.mr->rkey, addr(&t, 0));
	mxedv_wr_set_dc_addr(i.mqp, t.ah, t.qp->qp_num, t.key);
	mxedv_wr_set_dc_addr(i.mqp, t.ah, t.qp->qp_num, t.key);
	ibv_wr_rdma_write(i.qpx, t.mr->rkey, addr(&t, 0));
	is_int(ibv_wr_complete(i.qpx), EINVAL, "... nor a second one");
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "the initiator still works");
	target_close(&t);
	initiator_close(&i);
}

static void test_errors(struct vt_dev *a, struct vt_dev *b)
{
	struct initiator i, other;
	struct target t, wrong;
	long before;

	initiator_open(&i, a);
	initiator_open(&other, a);
	target_open(&t, b, a, 1, false);
	is_int(fadd(&other, &t), IBV_WC_SUCCESS, "a request of another initiator");

	before = vt_dev_counter(b, "dc_key_violations");
	wrong = t;
	wrong.key = 2;
	is_int(fadd(&i, &wrong), IBV_WC_REM_ACCESS_ERR, "a wrong key");
	ok(vt_dev_counter(b, "dc_key_violations") > before, "... is counted");
	ok(resource_has(&t, "drv_dct_key_violations 1 "), "... also for the target");
	initiator_reset(&i);
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "... and the right one after a reset");

	begin(&i, 1);
	ibv_wr_rdma_write(i.qpx, t.mr->rkey ^ 0xff, addr(&t, 0));
	is_int(end(&i, &t, 8), 0, "an invalid rkey");
	is_int(wait_for(i.cq, 1), IBV_WC_REM_ACCESS_ERR, "... is refused");
	is_int(fadd(&other, &t), IBV_WC_SUCCESS,
	       "... another initiator is not affected");
	initiator_reset(&i);
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "... and works after a reset");

	/* A receive request is posted while the initiator waits. */
	before = vt_dev_counter(a, "rcvd_rnr_nak");
	begin(&i, 1);
	ibv_wr_send(i.qpx);
	is_int(end(&i, &t, 8), 0, "a SEND without a receive request");
	vt_dev_wait_counted(a, "rcvd_rnr_nak", before);
	target_recv(&t, 9, HALF, HALF);
	is_int(wait_for(i.cq, 1), IBV_WC_SUCCESS, "... waits for one");
	is_int(wait_for(t.cq, 9), IBV_WC_SUCCESS, "... and is received");

	ibv_destroy_qp(t.qp);
	t.qp = NULL;
	retry_cnt = 1;
	timeout = 8;
	initiator_reset(&i);
	wrong = t;
	wrong.qp = i.qp;	/* a number that is not a target's */
	is_int(fadd(&i, &wrong), IBV_WC_RETRY_EXC_ERR, "not a target");
	retry_cnt = 7;
	timeout = 14;
	target_close(&t);
	initiator_close(&other);
	initiator_close(&i);
}

/* A request that the responder of one initiator fails. */
static void refused(struct initiator *i, struct initiator *other, struct target *t,
		    enum ibv_wc_status sent, enum ibv_wc_status received,
		    const char *what)
{
	is_int(wait_for(i->cq, 1), sent, "%s", what);
	if (received)
		is_int(wait_for(t->cq, 7), received, "... and its receive request");
	is_int(fadd(other, t), IBV_WC_SUCCESS, "... does not affect others");
	initiator_reset(i);
	is_int(fadd(i, t), IBV_WC_SUCCESS, "... nor the initiator after a reset");
}

/* Errors of memory and receive requests end one session. */
static void test_responder_errors(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_recv_wr *bad, wr = { .wr_id = 7, .num_sge = 1 };
	struct ibv_sge sge;
	struct initiator i, other;
	struct target t;

	initiator_open(&i, a);
	initiator_open(&other, a);
	target_open(&t, b, a, 1, false);

	/* Nothing that a process can register at a target can be invalidated. */
	target_recv(&t, 7, HALF, HALF);
	begin(&i, 1);
	ibv_wr_send_inv(i.qpx, t.mr->rkey);
	is_int(end(&i, &t, 8), 0, "SEND with invalidate");
	refused(&i, &other, &t, IBV_WC_REM_ACCESS_ERR, IBV_WC_LOC_ACCESS_ERR,
		"... of a region is refused");

	target_recv(&t, 7, HALF, 16);
	begin(&i, 1);
	ibv_wr_send(i.qpx);
	is_int(end(&i, &t, 3000), 0, "a SEND");
	refused(&i, &other, &t, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR,
		"... that is longer than the receive request");

	sge = (struct ibv_sge){ (uintptr_t)t.buf, 64, t.mr->lkey ^ 0xff00 };
	wr.sg_list = &sge;
	if (ibv_post_srq_recv(t.srq, &wr, &bad))
		vt_bail("ibv_post_srq_recv");
	begin(&i, 1);
	ibv_wr_send(i.qpx);
	is_int(end(&i, &t, 8), 0, "a SEND");
	refused(&i, &other, &t, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR,
		"... to a receive request with an invalid key");

	begin(&i, 1);
	ibv_wr_rdma_read(i.qpx, t.mr->rkey, addr(&t, BUF_SIZE - 8));
	is_int(end(&i, &t, 16), 0, "a READ");
	refused(&i, &other, &t, IBV_WC_REM_ACCESS_ERR, 0, "... beyond the region");
	target_close(&t);
	initiator_close(&other);
	initiator_close(&i);
}

/* ---- sessions ---------------------------------------------------------- */

static void test_sessions(struct vt_dev *a, struct vt_dev *b)
{
	struct target t, u;
	struct initiator i;
	char what[32];
	long before;

	initiator_open(&i, a);
	target_open(&t, b, a, 1, false);
	target_open(&u, b, a, 2, false);

	before = vt_dev_counter(b, "dc_challenges");
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "the first request");
	ok(vt_dev_counter(b, "dc_challenges") > before,
	   "... of an unknown initiator needs a token");
	ok(resource_has(&t, "drv_dct_sessions 1 ") &&
	   resource_has(&u, "drv_dct_sessions 0 "),
	   "the resources show which target has a session");
	snprintf(what, sizeof(what), "drv_dci_target %u ", t.qp->qp_num);
	ok(resource_of(a, i.qp, what) && resource_of(a, i.qp, "drv_dci_session 1 "),
	   "... and the target of an initiator");
	before = vt_dev_counter(a, "dc_connects");
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "the next one");
	is_int(vt_dev_counter(a, "dc_connects"), before, "... needs no connect");
	is_int(fadd(&i, &u), IBV_WC_SUCCESS, "another target");
	is_int(vt_dev_counter(a, "dc_connects"), before + 1, "... does");
	before = vt_dev_counter(b, "dc_challenges");
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "a known target");
	is_int(vt_dev_counter(b, "dc_challenges"), before, "... needs no token");

	/* With this timeout, the lifetime of a session is only the slack. */
	before = vt_dev_counter(b, "dc_expired");
	timeout = 1;
	initiator_reset(&i);
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	vt_dev_wait_counted(b, "dc_expired", before);
	ok(vt_dev_counter(b, "dc_expired") > before, "... ends when it is idle");
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "... and another one begins");
	timeout = 14;
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	ok(resource_has(&t, "drv_dct_sessions 1 "), "... is open");
	initiator_reset(&i);
	ok(soon_has(&t, "drv_dct_sessions 0 "), "... until the initiator is reset");
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	initiator_close(&i);
	ok(soon_has(&t, "drv_dct_sessions 0 "), "... ends when the initiator is destroyed");
	initiator_open(&i, a);
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	/* The target still has an open session. */
	ok(word(t.buf) == 8 && word(u.buf) == 1, "each request was executed once");
	is_int(ibv_destroy_qp(t.qp), 0, "a target with a session is destroyed");
	t.qp = NULL;
	target_close(&u);
	target_close(&t);
	initiator_close(&i);
}

/* ---- states of a target --------------------------------------------------- */

/*
 * A session does not outlive a reset of the target, after which other access
 * flags may apply.
 */
static void test_target_reset(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct initiator i;
	struct target t;

	initiator_open(&i, a);
	target_open(&t, b, a, 1, false);
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	if (to_state(t.qp, IBV_QPS_RESET) ||
	    ibv_modify_qp(t.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ||
	    to_rtr(t.qp, true))
		vt_bail("reset of a target");
	ok(resource_has(&t, "drv_dct_sessions 0 "),
	   "... is closed when the target is reset");
	is_int(fadd(&i, &t), IBV_WC_RETRY_EXC_ERR, "... so its next request fails");
	initiator_reset(&i);
	is_int(fadd(&i, &t), IBV_WC_REM_INV_REQ_ERR,
	       "a new session has the new access flags");
	ok(word(t.buf) == 1, "only the first request was executed");

	initiator_reset(&i);
	is_int(to_state(t.qp, IBV_QPS_ERR), 0, "the target is moved to ERR");
	ok(resource_has(&t, "drv_dct_sessions 0 "), "... which closes its sessions");
	target_close(&t);
	initiator_close(&i);
}

/* ---- hostile packets ----------------------------------------------------- */

enum {
	DC_SEND_ONLY = 0xe4,
	DC_CONTROL = 0xfe,
	DCETH = 24,
	DCCETH = 16,
	FORGED = 100,
};

static uint64_t seed = 1;

/* A SEND with CONNECT from an unknown initiator. */
static struct raw forged_connect(const struct target *t, uint32_t token)
{
	struct raw r = {
		.opcode = DC_SEND_ONLY,
		.qpn = t->qp->qp_num,
		.len = DCETH + DCCETH + 4,
	};
	uint64_t key = htobe64(t->key);

	random_fill(&seed, r.body, r.len);
	r.body[0] = 1;
	r.body[1] = 1;
	r.body[2] = 0;
	r.body[4] = 0;
	token = htobe32(token);
	memcpy(r.body + 12, &token, 4);
	memcpy(r.body + DCETH, &key, 8);
	r.body[DCETH + 8] = 1;	/* path MTU 256 */
	memset(r.body + DCETH + 12, 0, 4);
	return r;
}

static void wait_counted(const struct vt_dev *dev, const char *counter, long want)
{
	uint64_t end = vt_now_ms() + VT_MS;
	long now;

	while ((now = vt_dev_counter(dev, counter)) < want && vt_now_ms() < end)
		poll(NULL, 0, 1);
	is_int(now, want, "... are counted in %s", counter);
}

static void test_forged(struct vt_dev *a, struct vt_dev *b)
{
	int fd = raw_open();
	long accepts, challenges, versions, transports, refused, violations;
	struct initiator i;
	struct target t;
	int n;

	initiator_open(&i, a);
	target_open(&t, b, a, 0x77, false);
	is_int(fadd(&i, &t), IBV_WC_SUCCESS, "a target with a session");
	accepts = vt_dev_counter(b, "dc_accepts");
	challenges = vt_dev_counter(b, "dc_challenges");
	versions = vt_dev_counter(b, "drop_version");
	transports = vt_dev_counter(b, "drop_transport");

	diag("%d connects without a token, and with a wrong one", FORGED);
	for (n = 0; n < FORGED; n++) {
		struct raw r = forged_connect(&t, n % 2 ? 0x1234567 : 0);

		raw_send(fd, a, b, &r);
	}
	wait_counted(b, "dc_challenges", challenges + FORGED);
	is_int(vt_dev_counter(b, "dc_accepts"), accepts, "... and none is accepted");

	diag("connects that ask for too long a session");
	refused = vt_dev_counter(b, "dc_refused");
	for (n = 0; n < 4; n++) {
		struct raw r = forged_connect(&t, 0);

		r.body[DCETH + 12] = n % 2 ? 0xff : 0x7f;
		raw_send(fd, a, b, &r);
	}
	wait_counted(b, "dc_refused", refused + 4);

	diag("connects with a wrong key");
	violations = vt_dev_counter(b, "dc_key_violations");
	challenges = vt_dev_counter(b, "dc_challenges");
	for (n = 0; n < 4; n++) {
		struct raw r = forged_connect(&t, 0);

		r.body[DCETH] ^= 1;
		raw_send(fd, a, b, &r);
	}
	wait_counted(b, "dc_key_violations", violations + 4);
	is_int(vt_dev_counter(b, "dc_challenges"), challenges, "... and get no token");

	diag("malformed DC headers");
	for (n = 0; n < 4; n++) {
		struct raw r = forged_connect(&t, 0);

		if (n == 0)
			r.body[0] = 2;		/* version */
		else if (n == 1)
			r.body[2] = 1;		/* a code, but not control */
		else if (n == 2)
			r.len = DCETH;		/* no DCCETH */
		else
			r.opcode = DC_CONTROL;	/* with CONNECT and data */
		raw_send(fd, a, b, &r);
	}
	wait_counted(b, "drop_version", versions + 4);

	diag("packets of RC to the target");
	for (n = 0; n < 4; n++) {
		struct raw r = { .opcode = BTH_SEND_ONLY, .qpn = t.qp->qp_num };

		raw_send(fd, a, b, &r);
	}
	wait_counted(b, "drop_transport", transports + 4);

	diag("packets of RC to an initiator");
	transports = vt_dev_counter(a, "drop_transport");
	for (n = 0; n < 4; n++) {
		struct raw r = { .opcode = BTH_SEND_ONLY, .qpn = i.qp->qp_num };

		raw_send(fd, b, a, &r);
	}
	wait_counted(a, "drop_transport", transports + 4);

	diag("random DC packets");
	for (n = 0; n < 3 * FORGED; n++) {
		struct raw r = forged_connect(&t, 0);

		r.opcode = 0xe0 | (uint8_t)(random_next(&seed) % 32);
		r.len = random_next(&seed) % 60 * 4;
		if (random_next(&seed) % 2)
			random_fill(&seed, r.body + 1, DCETH);
		raw_send(fd, a, b, &r);
		if (n % 25 == 0 && fadd(&i, &t) != IBV_WC_SUCCESS)
			break;
	}
	is_int(n, 3 * FORGED, "do not disturb the session");
	ok(word(t.buf) == 1 + 3 * FORGED / 25, "... whose requests are executed once");
	close(fd);
	target_close(&t);
	initiator_close(&i);
}

/* ---- shortcuts ------------------------------------------------------------ */

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
	struct initiator i;
	struct target t;
	int good = 0;

	initiator_open(&i, a);
	target_open(&t, b, a, 1, false);
	for (int n = 0; n < SHORTCUT_WRITES; n++) {
		begin(&i, 1);
		ibv_wr_rdma_write(i.qpx, t.mr->rkey, addr(&t, 0));
		good += !end(&i, &t, SHORTCUT_LEN) &&
			wait_for(i.cq, 1) == IBV_WC_SUCCESS;
	}
	target_close(&t);
	initiator_close(&i);
	return good;
}

/*
 * The shortcuts of the data path leave DC to the plain path.  RC on the same
 * hosts takes each of them, unless the module was built without.
 */
static void test_shortcuts(struct vt_dev *a, struct vt_dev *b)
{
	/* As in t_loop, the module has the parameter only with the shortcut. */
	bool plain = access("/sys/module/mxe/parameters/direct_loop", F_OK);
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
		if (plain)
			is_int(rc[n], 0, "%s: this module has no shortcut",
			       shortcuts[n]);
		else
			ok(rc[n] > 0, "%s: %ld on RC", shortcuts[n], rc[n]);
		is_int(dc[n], 0, "... and none on DC");
	}
}

/* ---- races --------------------------------------------------------------- */

struct racer {
	pthread_t thread;
	struct vt_dev *dev;
	const struct target *target;
};

static atomic_bool stop_race;
static atomic_uint race_dctn;	/* number of the target, which may be gone */
static atomic_uint race_done, race_failed;

/*
 * Posts several requests at once, so that some are in flight when the target is
 * destroyed.  After an error, resets the initiator.
 */
static void *race(void *arg)
{
	const struct racer *r = arg;
	const struct target *t = r->target;
	struct initiator i;
	struct ibv_wc wc;

	initiator_open(&i, r->dev);
	while (!stop_race) {
		bool failed = false;
		int n;

		ibv_wr_start(i.qpx);
		i.qpx->wr_flags = IBV_SEND_SIGNALED;
		for (n = 0; n < 4; n++) {
			ibv_wr_atomic_fetch_add(i.qpx, t->mr->rkey, addr(t, 0), 1);
			mxedv_wr_set_dc_addr(i.mqp, t->ah, race_dctn, t->key);
			ibv_wr_set_sge(i.qpx, i.mr->lkey, (uintptr_t)i.buf, 8);
		}
		if (ibv_wr_complete(i.qpx))
			vt_bail("ibv_wr_complete");
		for (n = 0; n < 4; n++) {
			if (!vt_poll(i.cq, &wc, VT_MS))
				vt_bail("no completion");
			failed |= !!wc.status;
			atomic_fetch_add(wc.status ? &race_failed : &race_done, 1);
		}
		if (failed)
			initiator_reset(&i);
	}
	initiator_close(&i);
	return NULL;
}

/* Waits until requests have completed since a counter had a value. */
static void race_wait(const atomic_uint *counter, unsigned int before)
{
	uint64_t end = vt_now_ms() + VT_MS;

	while (*counter == before && vt_now_ms() < end)
		usleep(100);
}

static void test_race(struct vt_dev *a, struct vt_dev *b)
{
	enum { RACERS = 3, DESTROYED = 12 };
	struct racer racers[RACERS];
	struct target t;
	int n;

	/* Initiators give up soon. */
	retry_cnt = 1;
	timeout = 8;
	target_open(&t, b, a, 1, false);
	race_dctn = t.qp->qp_num;
	for (n = 0; n < RACERS; n++) {
		racers[n] = (struct racer){ .dev = a, .target = &t };
		if (pthread_create(&racers[n].thread, NULL, race, &racers[n]))
			vt_bail("pthread_create");
	}
	for (n = 0; n < DESTROYED; n++) {
		struct ibv_qp *old = t.qp;
		unsigned int failed;

		race_wait(&race_done, race_done);
		failed = race_failed;
		if (n % 2) {
			ibv_destroy_qp(old);
			race_wait(&race_failed, failed);
		}
		t.qp = create(b, t.cq, t.srq, MXEDV_DCTYPE_DCT, 1);
		if (!t.qp || to_init(t.qp, true) || to_rtr(t.qp, true))
			vt_bail("another target");
		race_dctn = t.qp->qp_num;
		if (!(n % 2))
			ibv_destroy_qp(old);
	}
	stop_race = true;
	for (n = 0; n < RACERS; n++)
		pthread_join(racers[n].thread, NULL);
	retry_cnt = 7;
	timeout = 14;
	ok(race_done && race_failed, "%u requests while %d targets are destroyed, and %u fail",
	   race_done, DESTROYED, race_failed);
	ok(word(t.buf) >= race_done, "... and the others were executed");
	target_close(&t);
}

int main(int argc, char **argv)
{
	struct vt_dev *a = vt_open(vt_name_a());
	struct vt_dev *b = vt_open(vt_name_b());

	plan(0);
	if (argc > 1 && !strcmp(argv[1], "stress")) {
		test_round_robin(a, b, 10 * ROUNDS);
	} else if (argc > 1 && !strcmp(argv[1], "sessions")) {
		test_sessions(a, b);
	} else {
		test_creation(a);
		test_posting(a, b);
		test_operations(a, b, false);
		test_operations(a, b, true);
		test_flush(a, b);
		test_round_robin(a, b, ROUNDS);
		test_many_initiators(a, b);
		test_charged(a, b);
		test_errors(a, b);
		test_responder_errors(a, b);
		test_sessions(a, b);
		test_target_reset(a, b);
		test_forged(a, b);
		test_shortcuts(a, b);
		test_race(a, b);
	}
	vt_close(b);
	vt_close(a);
	return done_testing();
}
