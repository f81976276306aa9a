// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that programs of the experimental verbs can use the dynamically
 * connected (DC) transport, with the verbs.h of ibv-exp-env: capabilities,
 * targets, initiators, every operation, keys and errors. Written as programs
 * for OFED were. The devices are $MXE_A and $MXE_B, which may be the same.
 */
#include <infiniband/verbs.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "exp_wc.h"
#include "random.h"
#include "tap.h"
#include "ud.h"
#include "vt.h"

enum {
	BUF_SIZE = 1 << 14,
	HALF = BUF_SIZE / 2,
	DEPTH = 64,
	ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
};

#define KEY 0xfedcba9876543210ull

struct target {
	struct vt_dev *dev;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_exp_dct *dct;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct ibv_ah *ah;	/* for the initiator */
};

struct initiator {
	struct vt_dev *dev;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
};

/* ---- objects ------------------------------------------------------------- */

static struct ibv_exp_dct_init_attr dct_attr(const struct target *t)
{
	return (struct ibv_exp_dct_init_attr) {
		.pd = t->dev->pd,
		.cq = t->cq,
		.srq = t->srq,
		.dc_key = KEY,
		.port = 1,
		.access_flags = ACCESS,
		.min_rnr_timer = 2,
		.tclass = 8,
		.flow_label = 5,
		.mtu = IBV_MTU_1024,
		.gid_index = (uint8_t)t->dev->gid4_index,
		.hop_limit = 1,
		.inline_size = 64,
	};
}

/* Everything but the DCT. */
static void target_prepare(struct target *t, struct vt_dev *dev, struct vt_dev *from)
{
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = DEPTH, .max_sge = 1 },
	};

	*t = (struct target) { .dev = dev };
	t->buf = aligned_alloc(4096, BUF_SIZE);
	memset(t->buf, 0, BUF_SIZE);
	t->mr = ibv_reg_mr(dev->pd, t->buf, BUF_SIZE, ACCESS);
	t->cq = ibv_create_cq(dev->ctx, DEPTH, NULL, NULL, 0);
	t->srq = ibv_create_srq(dev->pd, &srq_attr);
	t->ah = ud_ah(from, dev, false);
	if (!t->mr || !t->cq || !t->srq)
		vt_bail("objects of a target");
}

static void target_open(struct target *t, struct vt_dev *dev, struct vt_dev *from)
{
	struct ibv_exp_dct_init_attr attr;

	target_prepare(t, dev, from);
	attr = dct_attr(t);
	t->dct = ibv_exp_create_dct(dev->ctx, &attr);
	if (!t->dct)
		vt_bail("ibv_exp_create_dct");
}

static void target_close(struct target *t)
{
	if (t->dct && ibv_exp_destroy_dct(t->dct))
		vt_bail("ibv_exp_destroy_dct");
	if (ibv_destroy_ah(t->ah) || ibv_destroy_srq(t->srq) ||
	    ibv_destroy_cq(t->cq) || ibv_dereg_mr(t->mr))
		vt_bail("objects of a target");
	free(t->buf);
}

static void target_recv(struct target *t, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)t->buf + HALF, HALF, t->mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
	};

	if (ibv_post_srq_recv(t->srq, &wr, &bad))
		vt_bail("ibv_post_srq_recv");
}

/* Returns what the move to RTR returns. Without av it has no address vector. */
static int try_rts(struct ibv_qp *qp, const struct ibv_ah_attr *av)
{
	struct ibv_exp_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .dct_key = KEY,
	};
	uint64_t mask = IBV_EXP_QP_STATE | IBV_EXP_QP_PATH_MTU;
	int ret;

	if (ibv_exp_modify_qp(qp, &attr, IBV_EXP_QP_STATE |
			      IBV_EXP_QP_PKEY_INDEX | IBV_EXP_QP_PORT |
			      IBV_EXP_QP_DC_KEY))
		vt_bail("INIT of an initiator");
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	if (av) {
		attr.ah_attr = *av;
		mask |= IBV_EXP_QP_AV;
	}
	ret = ibv_exp_modify_qp(qp, &attr, mask);
	if (ret)
		return ret;
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 16;
	if (ibv_exp_modify_qp(qp, &attr, IBV_EXP_QP_STATE | IBV_EXP_QP_TIMEOUT |
			      IBV_EXP_QP_RETRY_CNT | IBV_EXP_QP_RNR_RETRY |
			      IBV_EXP_QP_MAX_QP_RD_ATOMIC))
		vt_bail("RTS of an initiator");
	return 0;
}

static void to_rts(struct ibv_qp *qp)
{
	if (try_rts(qp, NULL))
		vt_bail("RTR of an initiator");
}

static void to_reset(struct ibv_qp *qp)
{
	struct ibv_exp_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	if (ibv_exp_modify_qp(qp, &attr, IBV_EXP_QP_STATE))
		vt_bail("RESET of an initiator");
}

static void initiator_open(struct initiator *i, struct vt_dev *dev, uint32_t flags)
{
	struct ibv_exp_qp_init_attr attr = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1,
			 .max_send_sge = 2, .max_recv_sge = 1,
			 .max_inline_data = 64 },
		.qp_type = IBV_EXP_QPT_DC_INI,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
			     IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS |
			     IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG,
		.pd = dev->pd,
		.exp_create_flags = flags,
		.max_atomic_arg = 32,
	};

	*i = (struct initiator) { .dev = dev };
	i->buf = calloc(1, BUF_SIZE);
	i->mr = ibv_reg_mr(dev->pd, i->buf, BUF_SIZE, ACCESS);
	i->cq = ibv_create_cq(dev->ctx, DEPTH, NULL, NULL, 0);
	/* OFED did not need a recv_cq. */
	attr.send_cq = i->cq;
	i->qp = ibv_exp_create_qp(dev->ctx, &attr);
	if (!i->mr || !i->qp)
		vt_bail("ibv_exp_create_qp");
	to_rts(i->qp);
}

static void initiator_close(struct initiator *i)
{
	if (ibv_destroy_qp(i->qp) || ibv_destroy_cq(i->cq) ||
	    ibv_dereg_mr(i->mr))
		vt_bail("objects of an initiator");
	free(i->buf);
}

/* ---- requests ------------------------------------------------------------ */

/* A request to the target, with data at an offset of the initiator's buffer. */
static struct ibv_exp_send_wr wr_to(const struct initiator *i,
				    const struct target *t, int opcode,
				    struct ibv_sge *sge, size_t offset,
				    uint32_t len)
{
	struct ibv_exp_send_wr wr;

	*sge = (struct ibv_sge) { (uintptr_t)i->buf + offset, len, i->mr->lkey };
	memset(&wr, 0, sizeof(wr));
	wr.sg_list = sge;
	wr.num_sge = 1;
	wr.exp_opcode = (enum ibv_exp_wr_opcode)opcode;
	wr.exp_send_flags = IBV_EXP_SEND_SIGNALED;
	wr.dc.ah = t->ah;
	wr.dc.dct_number = t->dct->dct_num;
	wr.dc.dct_access_key = KEY;
	/* Those of atomics are at the same place, or are set by the caller. */
	wr.wr.rdma.remote_addr = (uintptr_t)t->buf;
	wr.wr.rdma.rkey = t->mr->rkey;
	return wr;
}

static struct ibv_exp_send_wr masked_to(const struct initiator *i,
					const struct target *t, int opcode,
					struct ibv_sge *sge, uint32_t log)
{
	struct ibv_exp_send_wr wr = wr_to(i, t, opcode, sge, 0, 1u << log);

	wr.exp_send_flags |= IBV_EXP_SEND_EXT_ATOMIC_INLINE;
	wr.ext_op.masked_atomics.log_arg_sz = log;
	wr.ext_op.masked_atomics.remote_addr = (uintptr_t)t->buf;
	wr.ext_op.masked_atomics.rkey = t->mr->rkey;
	return wr;
}

/* Posts a request and waits for it. Returns the status, or -errno. */
static int run(struct initiator *i, struct ibv_exp_send_wr *wr)
{
	struct ibv_exp_send_wr *bad;
	int ret = ibv_exp_post_send(i->qp, wr, &bad);

	return ret ? -ret : (int)exp_wc_poll(i->cq).status;
}

static uint64_t word(const uint8_t *buf)
{
	uint64_t value;

	memcpy(&value, buf, sizeof(value));
	return value;
}

/* ---- tests --------------------------------------------------------------- */

static void test_caps(struct vt_dev *dev)
{
	struct ibv_exp_device_attr attr = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS |
			     IBV_EXP_DEVICE_DC_RD_REQ |
			     IBV_EXP_DEVICE_DC_RD_RES |
			     IBV_EXP_DEVICE_ATTR_MAX_DCT,
	};

	is_int(ibv_exp_query_device(dev->ctx, &attr), 0, "capabilities");
	ok(attr.exp_device_cap_flags & IBV_EXP_DEVICE_DC_TRANSPORT,
	   "DC_TRANSPORT");
	ok(attr.max_dct > 0 && attr.max_dc_req_rd_atom == 16 &&
	   attr.max_dc_res_rd_atom == 16, "its limits");
}

static void test_target(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_exp_dct_init_attr init;
	struct ibv_exp_dct_attr got = { };
	struct ibv_exp_dct *dct;
	struct target t;

	target_prepare(&t, b, a);
	init = dct_attr(&t);
	init.srq = NULL;
	ok(!ibv_exp_create_dct(b->ctx, &init) && errno == EINVAL, "no SRQ");
	init = dct_attr(&t);
	init.gid_index = 200;
	ok(!ibv_exp_create_dct(b->ctx, &init) && errno == EINVAL, "no such GID");
	init = dct_attr(&t);
	init.mtu = 0;
	ok(!ibv_exp_create_dct(b->ctx, &init) && errno == EINVAL, "no path MTU");
	init = dct_attr(&t);
	init.create_flags = 2;
	ok(!ibv_exp_create_dct(b->ctx, &init) && errno == EINVAL,
	   "an unknown flag");

	init = dct_attr(&t);
	t.dct = ibv_exp_create_dct(b->ctx, &init);
	dct = ibv_exp_create_dct(b->ctx, &init);
	if (!t.dct || !dct)
		vt_bail("ibv_exp_create_dct");
	ok(t.dct->dct_num && t.dct->dct_num != dct->dct_num &&
	   t.dct->pd == b->pd && t.dct->srq == t.srq && t.dct->cq == t.cq &&
	   t.dct->context == b->ctx, "targets have numbers, valid at once");
	is_int(ibv_exp_query_dct(t.dct, &got), 0, "ibv_exp_query_dct()");
	ok(got.dc_key == KEY && got.port == 1 && got.access_flags == ACCESS &&
	   got.min_rnr_timer == 2 && got.tclass == 8 && got.flow_label == 5 &&
	   got.mtu == IBV_MTU_1024 && got.hop_limit == 1 &&
	   got.gid_index == b->gid4_index && got.srq == t.srq &&
	   got.cq == t.cq && got.pd == b->pd &&
	   got.state == IBV_EXP_DCT_STATE_ACTIVE, "... returns its attributes");
	is_int(got.key_violations, 0, "... and no key violations");
	ok(ibv_destroy_srq(t.srq) == EBUSY, "its SRQ is in use");
	is_int(ibv_exp_destroy_dct(dct), 0, "ibv_exp_destroy_dct()");
	target_close(&t);
}

static void test_send(struct initiator *i, struct target *t)
{
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_sge sge;
	struct ibv_exp_wc wc;

	memset(i->buf, 0x5a, 3000);
	target_recv(t, 5);
	wr = wr_to(i, t, IBV_EXP_WR_SEND_WITH_IMM, &sge, 0, 3000);
	wr.ex.imm_data = 0x12345678;
	is_int(run(i, &wr), IBV_WC_SUCCESS, "SEND with immediate data");
	wc = exp_wc_poll(t->cq);
	ok(!wc.status && wc.wr_id == 5 && wc.exp_opcode == IBV_EXP_WC_RECV &&
	   wc.byte_len == 3000 && wc.imm_data == 0x12345678 &&
	   wc.exp_wc_flags & IBV_EXP_WC_WITH_IMM &&
	   wc.qp_num == t->dct->dct_num && wc.src_qp == i->qp->qp_num &&
	   !memcmp(t->buf + HALF, i->buf, 3000), "... arrives");

	target_recv(t, 6);
	wr = wr_to(i, t, IBV_EXP_WR_SEND, &sge, 0, 60);
	wr.exp_send_flags |= IBV_EXP_SEND_INLINE;
	sge.lkey = 0;
	is_int(ibv_exp_post_send(i->qp, &wr, &bad), 0, "SEND, inline");
	memset(i->buf, 0, 60);
	is_int(exp_wc_poll(i->cq).status, IBV_WC_SUCCESS, "... completes");
	wc = exp_wc_poll(t->cq);
	ok(wc.wr_id == 6 && wc.byte_len == 60 && t->buf[HALF] == 0x5a,
	   "... arrives");
}

static void test_rdma(struct initiator *i, struct target *t)
{
	struct ibv_exp_send_wr wr;
	struct ibv_exp_wc wc;
	struct ibv_sge sge;

	vt_fill_random(i->buf, 3000);
	wr = wr_to(i, t, IBV_EXP_WR_RDMA_WRITE, &sge, 0, 3000);
	is_int(run(i, &wr), IBV_WC_SUCCESS, "WRITE");
	ok(!memcmp(t->buf, i->buf, 3000), "... has written");

	target_recv(t, 7);
	wr = wr_to(i, t, IBV_EXP_WR_RDMA_WRITE_WITH_IMM, &sge, 1, 100);
	wr.ex.imm_data = 9;
	is_int(run(i, &wr), IBV_WC_SUCCESS, "WRITE with immediate data");
	wc = exp_wc_poll(t->cq);
	ok(wc.wr_id == 7 && wc.exp_opcode == IBV_EXP_WC_RECV_RDMA_WITH_IMM &&
	   wc.imm_data == 9 && !memcmp(t->buf, i->buf + 1, 100),
	   "... has written, and is announced");

	vt_fill_random(t->buf, 3000);
	wr = wr_to(i, t, IBV_EXP_WR_RDMA_READ, &sge, 0, 3000);
	is_int(run(i, &wr), IBV_WC_SUCCESS, "READ");
	ok(!memcmp(t->buf, i->buf, 3000), "... has read");
}

static void test_plain_atomics(struct initiator *i, struct target *t)
{
	struct ibv_exp_send_wr wr;
	uint64_t value = 41;
	struct ibv_sge sge;

	memcpy(t->buf, &value, 8);
	wr = wr_to(i, t, IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, &sge, 0, 8);
	wr.wr.atomic.rkey = t->mr->rkey;
	wr.wr.atomic.compare_add = 1;
	is_int(run(i, &wr), IBV_WC_SUCCESS, "FETCH_AND_ADD");
	ok(word(t->buf) == 42 && word(i->buf) == 41, "... has added");
	wr.exp_opcode = IBV_EXP_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 42;
	wr.wr.atomic.swap = 7;
	is_int(run(i, &wr), IBV_WC_SUCCESS, "CMP_AND_SWP");
	ok(word(t->buf) == 7 && word(i->buf) == 42, "... has swapped");
}

/* The operands of more than 8 bytes are arrays, the others values. */
static uint64_t operand(const uint64_t *words, uint32_t log)
{
	return log > 3 ? (uintptr_t)words : words[0];
}

static void test_masked(struct initiator *i, struct target *t, uint32_t log)
{
	static const uint64_t ones[4] = { ~0ULL, ~0ULL, ~0ULL, ~0ULL };
	static const uint64_t zero[4];
	const uint64_t low[4] = { 0xff, 0xff, 0xff, 0xff };
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_exp_cmp_swap *cs =
		&wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;
	struct ibv_exp_fetch_add *fa =
		&wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;
	uint32_t size = 1u << log;
	struct ibv_exp_wc wc;
	struct ibv_sge sge;

	memset(t->buf, 0x11, 64);
	wr = masked_to(i, t, IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP, &sge, log);
	cs->compare_val = operand(zero, log);
	cs->compare_mask = operand(zero, log);
	cs->swap_val = operand(ones, log);
	cs->swap_mask = operand(low, log);
	is_int(ibv_exp_post_send(i->qp, &wr, &bad), 0,
	       "masked CMP_AND_SWP of %u bytes", size);
	wc = exp_wc_poll(i->cq);
	ok(!wc.status && wc.exp_opcode == IBV_EXP_WC_MASKED_COMP_SWAP,
	   "... completes with the opcode of OFED");
	ok((word(t->buf) & 0xffff) == 0x11ff && i->buf[size - 1] == 0x11,
	   "... has swapped the mask");

	wr = masked_to(i, t, IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD, &sge, log);
	fa->add_val = operand(low, log);
	fa->field_boundary = operand(low, log);
	is_int(ibv_exp_post_send(i->qp, &wr, &bad), 0,
	       "masked FETCH_AND_ADD of %u bytes", size);
	wc = exp_wc_poll(i->cq);
	ok(!wc.status && wc.exp_opcode == IBV_EXP_WC_MASKED_FETCH_ADD,
	   "... completes with the opcode of OFED");
	ok(!t->buf[0] && t->buf[1] == 0x11 && t->buf[size] == 0x11,
	   "... has added in fields");
}

enum { TARGETS = 3, CHAIN = 30 };

/* One call posts requests for several targets, plain and masked atomics. */
static void test_chain(struct initiator *i, struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_exp_send_wr wr[CHAIN], *bad;
	uint64_t want[TARGETS] = { 0 };
	struct ibv_sge sge[CHAIN];
	struct target t[TARGETS];
	int n, good = 0;

	for (n = 0; n < TARGETS; n++)
		target_open(&t[n], n == 1 ? a : b, a);
	for (n = 0; n < CHAIN; n++) {
		struct target *to = &t[n / 2 % TARGETS];

		if (n % 2) {
			wr[n] = masked_to(i, to, IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
					  &sge[n], 3);
			wr[n].ext_op.masked_atomics.wr_data.inline_data.op.fetch_add.add_val = 100;
			want[n / 2 % TARGETS] += 100;
		} else {
			wr[n] = wr_to(i, to, IBV_EXP_WR_ATOMIC_FETCH_AND_ADD,
				      &sge[n], 0, 8);
			wr[n].wr.atomic.rkey = to->mr->rkey;
			wr[n].wr.atomic.compare_add = 1;
			want[n / 2 % TARGETS]++;
		}
		wr[n].wr_id = (uint64_t)n;
		wr[n].next = n + 1 < CHAIN ? &wr[n + 1] : NULL;
	}
	is_int(ibv_exp_post_send(i->qp, wr, &bad), 0,
	       "one call for %d targets", TARGETS);
	for (n = 0; n < CHAIN; n++) {
		struct ibv_exp_wc wc = exp_wc_poll(i->cq);

		good += !wc.status && wc.wr_id == (uint64_t)n;
	}
	is_int(good, CHAIN, "... all requests complete in order");
	for (n = 0; n < TARGETS; n++) {
		is_u64(word(t[n].buf), want[n], "... target %d", n);
		target_close(&t[n]);
	}
}

static void is_refused(struct initiator *i, struct ibv_exp_send_wr *wr,
		       const char *what)
{
	struct ibv_exp_send_wr *bad = NULL;

	ok(ibv_exp_post_send(i->qp, wr, &bad) == EINVAL && bad == wr,
	   "refused: %s", what);
}

static void test_refused(struct initiator *i, struct target *t)
{
	struct ibv_send_wr std = { .opcode = IBV_WR_RDMA_WRITE }, *std_bad;
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;

	wr = wr_to(i, t, IBV_EXP_WR_RDMA_WRITE, &sge, 0, 8);
	wr.dc.ah = NULL;
	is_refused(i, &wr, "no address handle");
	wr = wr_to(i, t, IBV_EXP_WR_NOP, &sge, 0, 0);
	wr.num_sge = 0;
	is_refused(i, &wr, "NOP");
	wr.exp_opcode = IBV_EXP_WR_LOCAL_INV;
	is_refused(i, &wr, "LOCAL_INV");
	ok(ibv_post_send(i->qp, &std, &std_bad), "refused: ibv_post_send()");
	wr = wr_to(i, t, IBV_EXP_WR_RDMA_WRITE, &sge, 0, 8);
	is_int(run(i, &wr), IBV_WC_SUCCESS, "... and the initiator still works");
}

/* After an error the program resets the initiator. */
static void test_errors(struct initiator *i, struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;
	struct target t;

	target_open(&t, b, a);
	wr = wr_to(i, &t, IBV_EXP_WR_RDMA_WRITE, &sge, 0, 8);
	wr.dc.dct_access_key ^= 1;
	is_int(run(i, &wr), IBV_WC_REM_ACCESS_ERR, "a wrong key");
	wr.dc.dct_access_key ^= 1;
	is_int(run(i, &wr), IBV_WC_WR_FLUSH_ERR, "... and the initiator is in error");
	to_reset(i->qp);
	to_rts(i->qp);
	is_int(run(i, &wr), IBV_WC_SUCCESS, "... until it was reset");

	wr.wr.rdma.rkey ^= 0xff00;
	is_int(run(i, &wr), IBV_WC_REM_ACCESS_ERR, "a wrong remote key");
	wr.wr.rdma.rkey ^= 0xff00;
	to_reset(i->qp);
	to_rts(i->qp);
	is_int(ibv_exp_destroy_dct(t.dct), 0, "the target is destroyed");
	t.dct = NULL;
	is_int(run(i, &wr), IBV_WC_RETRY_EXC_ERR, "... and not reached any more");
	to_reset(i->qp);
	to_rts(i->qp);
	target_close(&t);
}

/* Returns the type of the next event of a target, or -1 if there is none. */
static int dct_event(const struct target *t, int ms)
{
	struct pollfd pfd = { .fd = t->dev->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	bool found;

	do {
		if (poll(&pfd, 1, ms) != 1 || ibv_get_async_event(t->dev->ctx, &event))
			return -1;
		found = event.event_type != IBV_EVENT_GID_CHANGE &&
			event.event_type != IBV_EVENT_PORT_ACTIVE;
		if (found && event.element.dct != t->dct)
			vt_bail("an event without the target");
		ibv_ack_async_event(&event);
	} while (!found);
	return (int)event.event_type;
}

static void wrong_key(struct initiator *i, struct target *t)
{
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;

	wr = wr_to(i, t, IBV_EXP_WR_RDMA_WRITE, &sge, 0, 8);
	wr.dc.dct_access_key ^= 1;
	is_int(run(i, &wr), IBV_WC_REM_ACCESS_ERR, "a wrong key");
	to_reset(i->qp);
	to_rts(i->qp);
}

static void test_armed(struct initiator *i, struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_exp_arm_attr arm = { };
	struct ibv_exp_dct_attr got = { };
	struct target t;

	target_open(&t, b, a);
	vt_drain_async(b);
	wrong_key(i, &t);
	is_int(dct_event(&t, 50), -1, "... raises no event");
	is_int(ibv_exp_arm_dct(t.dct, &arm), 0, "ibv_exp_arm_dct()");
	wrong_key(i, &t);
	is_int(dct_event(&t, VT_MS), IBV_EXP_EVENT_DCT_KEY_VIOLATION,
	       "... raises DCT_KEY_VIOLATION");
	wrong_key(i, &t);
	is_int(dct_event(&t, 50), -1, "... raises it once");
	is_int(ibv_exp_query_dct(t.dct, &got), 0, "ibv_exp_query_dct()");
	is_int(got.key_violations, 3, "... counts the wrong keys");
	arm.comp_mask = 1;
	is_int(ibv_exp_arm_dct(t.dct, &arm), EINVAL, "an unknown attribute");
	/* Waits until the event is acknowledged. */
	target_close(&t);
}

/* Address vectors of programs for OFED, with each GID of the port. */
static void test_av(struct initiator *i, struct target *t)
{
	struct ibv_ah_attr av = { .is_global = 1, .sl = 1 };
	union ibv_gid gid, none = { };
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;
	int n, num = 0;

	for (n = 0; n < 16; n++) {
		if (ibv_query_gid(i->dev->ctx, 1, n, &gid) ||
		    !memcmp(&gid, &none, sizeof(gid)))
			continue;
		num++;
		av.grh.sgid_index = (uint8_t)n;
		to_reset(i->qp);
		is_int(try_rts(i->qp, &av), 0, "an AV with sgid_index %d alone", n);
		wr = wr_to(i, t, IBV_EXP_WR_RDMA_WRITE, &sge, 0, 8);
		is_int(run(i, &wr), IBV_WC_SUCCESS, "... is of use");
		av.port_num = 1;
		av.grh.dgid = gid;
		to_reset(i->qp);
		is_int(try_rts(i->qp, &av), 0, "... with the port and the GID");
		av.port_num = 0;
		av.grh.dgid = none;
	}
	ok(num > 1, "the port has several GIDs");
	av.grh.sgid_index = 200;
	to_reset(i->qp);
	is_int(try_rts(i->qp, &av), EINVAL, "an AV without a valid sgid_index");
	to_reset(i->qp);
	to_rts(i->qp);
}

static void test_key_of_rc(struct vt_dev *dev)
{
	struct ibv_exp_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	conf.exp = true;
	vt_pair_open(&p, dev, dev, &conf);
	is_int(ibv_exp_modify_qp(p.a.qp, &attr, IBV_EXP_QP_DC_KEY), EINVAL,
	       "an RC QP has no DC key");
	vt_pair_close(&p);
}

static void test_be(struct vt_dev *a, struct target *t)
{
	struct ibv_exp_send_wr wr;
	uint64_t value = 0x1122334455667788;
	struct initiator i;
	struct ibv_sge sge;

	initiator_open(&i, a, IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY);
	memcpy(t->buf, &value, 8);
	wr = masked_to(&i, t, IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD, &sge, 3);
	is_int(run(&i, &wr), IBV_WC_SUCCESS, "an initiator with big-endian results");
	ok(i.buf[0] == 0x11 && i.buf[7] == 0x88, "... gets them");
	initiator_close(&i);
}

int main(void)
{
	struct initiator i;
	struct vt_dev *a, *b;
	struct target t;
	uint32_t log;

	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	test_caps(a);
	test_target(a, b);
	initiator_open(&i, a, 0);
	target_open(&t, b, a);
	test_send(&i, &t);
	test_rdma(&i, &t);
	test_plain_atomics(&i, &t);
	for (log = 0; log <= 5; log++)
		test_masked(&i, &t, log);
	test_chain(&i, a, b);
	test_refused(&i, &t);
	test_errors(&i, a, b);
	test_armed(&i, a, b);
	test_av(&i, &t);
	test_key_of_rc(a);
	test_be(a, &t);
	initiator_close(&i);
	target_close(&t);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
