// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of emulated masked atomics on extended completion queues, and of
 * completions with time stamps.
 */
#include <errno.h>
#include <string.h>

#include "tap.h"
#include "cq_ex.h"
#include "emu_cq.h"
#include "fake_emu.h"

#define FA IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD
#define TIMED EXP_CQ_TIMED_FLAGS

/* ---- libibverbs, as far as objects.c needs it --------------------------- */

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe,
			     void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	struct fake_cq *cq = new_cq();

	(void)channel;
	(void)comp_vector;
	cq->cq.context = context;
	cq->cq.cqe = cqe;
	cq->cq.cq_context = cq_context;
	return &cq->cq;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	(void)pd;
	(void)attr;
	return NULL;
}

/*
 * ---- requests --------------------------------------------------------------
 */

static void start(void)
{
	fake_reset();
	exp_cq_ex_hook(emu_ctx);
}

/* Adds 1 to the low half of a word. */
static int post(struct fake_qp *qp, uint64_t wr_id, bool signaled, int word,
		uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)&fake.buf[word], 8, LKEY };
	struct ibv_exp_send_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = wr_id;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.exp_opcode = FA;
	wr.exp_send_flags = IBV_EXP_SEND_EXT_ATOMIC_INLINE |
			    (signaled ? IBV_EXP_SEND_SIGNALED : 0);
	wr.ext_op.masked_atomics.log_arg_sz = 3;
	wr.ext_op.masked_atomics.remote_addr = (uintptr_t)&fake.mem[word];
	wr.ext_op.masked_atomics.rkey = rkey;
	wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add.add_val = 1;
	wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add
		.field_boundary = 1ull << 31;
	return ibv_exp_post_send(&qp->qp, &wr, &bad);
}

static void must_post(struct fake_qp *qp, uint64_t wr_id, bool signaled)
{
	int err = post(qp, wr_id, signaled, 0, RKEY);

	if (err)
		bail_out("ibv_exp_post_send: %s", strerror(err));
}

/*
 * Runs and polls until there is a completion. Returns true if it is being
 * polled.
 */
static bool poll_next(struct fake_cq *cq, struct fake_qp *qp)
{
	struct ibv_poll_cq_attr attr = { };
	int i, ret;

	for (i = 0; i < 100; i++) {
		ret = ibv_start_poll(&cq->ex, &attr);
		if (!ret)
			return true;
		if (ret != ENOENT)
			bail_out("ibv_start_poll: %s", strerror(ret));
		run(qp);
	}
	return false;
}

/*
 * ---- tests -----------------------------------------------------------------
 */

static void test_one(void)
{
	struct fake_cq *cq;
	struct fake_qp *qp;
	uint64_t now;

	start();
	cq = new_cq_ex(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	qp = new_qp(cq, 0);
	fake.mem[0] = 0x5ffffffff;	/* the guess is wrong, so it takes several tries */
	must_post(qp, 1, true);
	ok(poll_next(cq, qp), "one: a completion");
	ok(fake.clock > 1, "one: the device had hidden ones");
	is_u64(cq->ex.wr_id, 1, "one: wr_id");
	is_int(cq->ex.status, IBV_WC_SUCCESS, "one: status");
	is_int(ibv_wc_read_opcode(&cq->ex), IBV_EXP_WC_MASKED_FETCH_ADD,
	       "one: opcode");
	is_int(ibv_wc_read_byte_len(&cq->ex), 8, "one: length, which was not requested");
	is_u64(ibv_wc_read_qp_num(&cq->ex), qp->qp.qp_num, "one: queue pair");
	is_u64(ibv_wc_read_completion_ts(&cq->ex), fake.clock,
	       "one: the time of the last try");
	is_int(ibv_next_poll(&cq->ex), ENOENT, "one: no second one");
	ibv_end_poll(&cq->ex);
	is_u64(fake.mem[0], 0x500000000, "one: done");
	is_u64(fake.buf[0], 0x5ffffffff, "one: result");

	now = fake.clock;
	must_post(qp, 2, false);
	must_post(qp, 3, true);
	ok(poll_next(cq, qp), "unsignaled: a completion");
	is_u64(cq->ex.wr_id, 3, "unsignaled: of the other one");
	ok(ibv_wc_read_completion_ts(&cq->ex) > now, "unsignaled: later");
	ibv_end_poll(&cq->ex);
	is_u64(fake.mem[0], 0x500000002, "unsignaled: done");
	drop_qp(qp);
	drop_cq(cq);
}

/* Each way of polling continues where the other one stopped. */
static void test_mixed(void)
{
	struct ibv_wc recv = {
		.wr_id = 77, .opcode = IBV_WC_RECV, .byte_len = 5,
		.wc_flags = IBV_WC_WITH_IMM, .imm_data = 0x1234,
		.src_qp = 9, .slid = 3, .sl = 2, .dlid_path_bits = 1,
	};
	struct ibv_poll_cq_attr attr = { .comp_mask = 1 };
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc;

	start();
	cq = new_cq_ex(TIMED |
		       IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
	qp = new_qp(cq, 0);
	is_int(ibv_start_poll(&cq->ex, &attr), EINVAL, "unknown attributes");
	attr.comp_mask = 0;
	is_int(ibv_start_poll(&cq->ex, &attr), ENOENT, "empty");
	is_int(ibv_start_poll(&cq->ex, &attr), ENOENT, "still empty");

	recv.qp_num = qp->qp.qp_num;
	add_wc(cq, &recv);
	must_post(qp, 1, true);
	ok(poll_next(cq, qp), "receive: first");
	ok(cq->ex.wr_id == 77 && ibv_wc_read_opcode(&cq->ex) == IBV_WC_RECV &&
	   ibv_wc_read_byte_len(&cq->ex) == 5 &&
	   ibv_wc_read_wc_flags(&cq->ex) == IBV_WC_WITH_IMM &&
	   ibv_wc_read_imm_data(&cq->ex) == 0x1234 &&
	   ibv_wc_read_src_qp(&cq->ex) == 9 &&
	   ibv_wc_read_slid(&cq->ex) == 3 && ibv_wc_read_sl(&cq->ex) == 2 &&
	   ibv_wc_read_dlid_path_bits(&cq->ex) == 1, "receive: unchanged");
	is_u64(ibv_wc_read_completion_ts(&cq->ex), 1, "receive: its time");
	is_u64(ibv_wc_read_completion_wallclock_ns(&cq->ex), 1000001,
	       "receive: its time by the other clock");
	ibv_end_poll(&cq->ex);

	is_int(run_all(cq, qp, NULL, &wc, 1), 1, "then by ibv_poll_cq()");
	is_u64(wc.wr_id, 1, "the atomic");
	is_int((int)wc.opcode, IBV_EXP_WC_MASKED_FETCH_ADD, "its opcode");

	/* Several in one go. */
	must_post(qp, 2, true);
	must_post(qp, 3, true);
	while (run(qp) || ibv_poll_cq(&cq->cq, 0, &wc))
		;
	emu_cq_tick();
	while (run(qp))
		emu_cq_tick();
	ok(poll_next(cq, qp) && cq->ex.wr_id == 2, "two: the first");
	if (ibv_next_poll(&cq->ex)) {
		ibv_end_poll(&cq->ex);
		ok(poll_next(cq, qp), "two: once more");
	}
	is_u64(cq->ex.wr_id, 3, "two: the second");
	ibv_end_poll(&cq->ex);
	drop_qp(qp);
	drop_cq(cq);
}

static void test_errors(void)
{
	struct fake_cq *cq;
	struct fake_qp *qp;
	int i;

	start();
	cq = new_cq_ex(TIMED);
	qp = new_qp(cq, 0);
	is_int(post(qp, 1, false, 0, RKEY + 1), 0, "wrong key: posted");
	must_post(qp, 2, false);
	must_post(qp, 3, true);
	for (i = 1; i <= 3; i++) {
		ok(poll_next(cq, qp), "error: completion %d", i);
		is_u64(cq->ex.wr_id, i, "error: in order");
		is_int(cq->ex.status, i == 1 ? IBV_WC_REM_ACCESS_ERR :
		       IBV_WC_WR_FLUSH_ERR, "error: status");
		is_u64(ibv_wc_read_qp_num(&cq->ex), qp->qp.qp_num,
		       "error: queue pair");
		ibv_end_poll(&cq->ex);
	}
	ok(!poll_next(cq, qp), "error: no more");
	drop_qp(qp);
	drop_cq(cq);
}

/* ibv_exp_create_cq() and ibv_exp_poll_cq(). */
static void test_timed(void)
{
	struct ibv_exp_cq_init_attr attr = {
		.comp_mask = IBV_EXP_CQ_INIT_ATTR_FLAGS,
		.flags = IBV_EXP_CQ_TIMESTAMP,
	};
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_exp_wc wc;
	int i, n = 0;

	start();
	cq = (struct fake_cq *)ibv_exp_create_cq(emu_ctx, 64, &attr, NULL, 0,
						 &attr);
	ok(cq && cq->cq.cq_context == &attr, "timed: created");
	qp = new_qp(cq, 0);
	must_post(qp, 1, true);
	for (i = 0; i < 100 && !n; i++) {
		n = ibv_exp_poll_cq(&cq->cq, 1, &wc, sizeof(wc));
		run(qp);
	}
	is_int(n, 1, "timed: polled");
	is_u64(wc.wr_id, 1, "timed: wr_id");
	is_int(wc.exp_opcode, IBV_EXP_WC_MASKED_FETCH_ADD, "timed: opcode");
	is_u64(wc.exp_wc_flags, IBV_EXP_WC_WITH_TIMESTAMP, "timed: flag");
	is_u64(wc.timestamp, fake.clock, "timed: stamp");
	is_int(ibv_exp_poll_cq(&cq->cq, 1, &wc, sizeof(wc)), 0, "timed: empty");
	drop_qp(qp);
	drop_cq(cq);

	cq = (struct fake_cq *)ibv_exp_create_cq(emu_ctx, 64, NULL, NULL, 0,
						 &(struct ibv_exp_cq_init_attr)
						 { .comp_mask = 0 });
	qp = new_qp(cq, 0);
	must_post(qp, 1, true);
	for (i = 0, n = 0; i < 100 && !n; i++) {
		n = ibv_exp_poll_cq(&cq->cq, 1, &wc, sizeof(wc));
		run(qp);
	}
	ok(n == 1 && !wc.exp_wc_flags && !wc.timestamp,
	   "without the flag there is none");
	drop_qp(qp);
	drop_cq(cq);

	errno = 0;
	fake.create_cq_errno = EOPNOTSUPP;
	ok(!ibv_exp_create_cq(emu_ctx, 64, NULL, NULL, 0, &attr) &&
	   errno == ENOSYS, "a device without clock");
	fake.create_cq_errno = ENOMEM;
	ok(!ibv_exp_create_cq(emu_ctx, 64, NULL, NULL, 0, &attr) &&
	   errno == ENOMEM, "another error");
	ok(!ibv_exp_create_cq(emu_ctx, -1, NULL, NULL, 0, &attr) &&
	   errno == EINVAL, "a negative size");
}

static int fail_destroy(struct ibv_cq *cq)
{
	(void)cq;
	return EBUSY;
}

/*
 * The library knows its extended CQs. Those of a device without atomics are
 * polled by the device.
 */
static void test_known(void)
{
	struct fake_cq *cq, *plain;
	uint64_t flags;

	start();
	cq = new_cq_ex(IBV_WC_EX_WITH_SL);
	plain = new_cq();
	ok(exp_cq_ex_of(&cq->cq, &flags) == &cq->ex, "known");
	is_u64(flags, IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_QP_NUM |
	       IBV_WC_EX_WITH_BYTE_LEN, "the fields that it returns");
	ok(!exp_cq_ex_of(&plain->cq, &flags), "a plain one is not");
	is_int(exp_destroy_cq(&cq->cq, fail_destroy), EBUSY, "not destroyed");
	ok(exp_cq_ex_of(&cq->cq, &flags) == &cq->ex, "still known");
	is_int(exp_destroy_cq(&cq->cq, ibv_destroy_cq), 0, "destroyed");
	ok(!exp_cq_ex_of(&cq->cq, &flags), "forgotten");
	drop_cq(plain);

	start();
	fake.atomic_cap = IBV_ATOMIC_NONE;
	cq = new_cq_ex(TIMED);
	ok(exp_cq_ex_of(&cq->cq, &flags) && !emu_cq_lock(&cq->cq),
	   "without atomics: known, and not locked by the library");
	drop_cq(cq);
}

int main(void)
{
	plan(0);
	test_one();
	test_mixed();
	test_errors();
	test_timed();
	test_known();
	return done_testing();
}
