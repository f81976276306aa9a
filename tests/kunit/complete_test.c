// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the requester sends the right packets for the work requests of a
 * consumer, and that the completer completes these according to the responses
 * of the peer, which the test builds (IBTA 9.7.3, 9.7.5, 9.9.2, 10.3.1).
 */
#include <linux/delay.h>
#include <linux/kernel.h>

#include "harness.h"
#include "rc/complete.h"
#include "wire/psn.h"

#define S		KT_SQ_PSN

#define RNR_NAK		(MXE_AETH_RNR_NAK | 1)	/* 10 microseconds */

/* Code 10 is 4 ms, which the device rounds up to two ticks. */
#define TIMEOUT		10

static struct ib_mr *connect(struct kt *kt, const struct kt_conn *conn)
{
	kt_create_qp(kt);
	kt_connect(kt, conn);
	return kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
}

/* ---- work requests ------------------------------------------------------ */

static void post_write_flags(struct kt *kt, u64 wr_id, struct ib_mr *mr,
			     int flags)
{
	KUNIT_ASSERT_EQ(kt->test, kt_post_rdma(kt, IB_WR_RDMA_WRITE, wr_id, mr,
					       0, 4, flags), 0);
}

static void post_write(struct kt *kt, u64 wr_id, struct ib_mr *mr)
{
	post_write_flags(kt, wr_id, mr, IB_SEND_SIGNALED);
}

static void post_read(struct kt *kt, u64 wr_id, struct ib_mr *mr, u32 len)
{
	KUNIT_ASSERT_EQ(kt->test, kt_post_rdma(kt, IB_WR_RDMA_READ, wr_id, mr,
					       0, len, IB_SEND_SIGNALED), 0);
}

/* A fetch-and-add of 1, whose result is stored at offset 0. */
static void post_atomic_lkey(struct kt *kt, u64 wr_id, struct ib_mr *mr,
			     u32 lkey)
{
	struct ib_sge sge = {
		.addr = kt_va(mr, 0),
		.length = sizeof(u64),
		.lkey = lkey,
	};
	struct ib_atomic_wr wr = {
		.wr.wr_id = wr_id,
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.remote_addr = KT_REMOTE_VA,
		.rkey = KT_REMOTE_KEY,
		.compare_add = 1,
	};

	KUNIT_ASSERT_EQ(kt->test, ib_post_send(kt->qp->ibqp, &wr.wr, NULL), 0);
}

static void post_atomic(struct kt *kt, u64 wr_id, struct ib_mr *mr)
{
	post_atomic_lkey(kt, wr_id, mr, mr->lkey);
}

/* The key is wrong, so the request fails when the requester reaches it. */
static void post_write_bad_key(struct kt *kt, u64 wr_id, struct ib_mr *mr)
{
	struct ib_sge sge = { kt_va(mr, 0), 4, mr->lkey ^ 0x100 };
	struct ib_rdma_wr wr = {
		.wr.wr_id = wr_id,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
	};

	KUNIT_ASSERT_EQ(kt->test, ib_post_send(kt->qp->ibqp, &wr.wr, NULL), 0);
}

static int post_local_inv(struct kt *kt, u64 wr_id, u32 key)
{
	struct ib_send_wr wr = {
		.wr_id = wr_id,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};

	return ib_post_send(kt->qp->ibqp, &wr, NULL);
}

/* ---- answers ------------------------------------------------------------ */

static void answer(struct kt *kt, u32 psn, u8 syndrome)
{
	struct test_pkt out = kt_pkt(kt, IB_OPCODE_RC_ACKNOWLEDGE, psn);

	out.syndrome = syndrome;
	kt_inject(kt, &out);
}

static void answer_atomic(struct kt *kt, u32 psn, u64 orig)
{
	struct test_pkt out = kt_pkt(kt, IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
					psn);

	out.atomic_orig = orig;
	kt_inject(kt, &out);
}

/* The bytes of the payload are 1, 2, 3, ... */
static void answer_read(struct kt *kt, u32 psn, u8 opcode, u32 len)
{
	struct test_pkt out = kt_pkt(kt, opcode, psn);

	out.payload_len = len;
	kt_inject(kt, &out);
}

#define READ_FIRST	IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define READ_MIDDLE	IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define READ_LAST	IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST
#define READ_ONLY	IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY

static void expect_sent(struct kt *kt, u8 opcode, u32 psn)
{
	struct test_pkt pkt = kt_sent(kt);

	KUNIT_EXPECT_EQ(kt->test, pkt.opcode, opcode);
	KUNIT_EXPECT_EQ(kt->test, pkt.psn, psn & MXE_PSN_MASK);
}

static void expect_success(struct kt *kt, u64 wr_id)
{
	kt_expect_wc(kt, kt->send_cq, wr_id, IB_WC_SUCCESS);
}

static void expect_flushed(struct kt *kt, u64 wr_id)
{
	kt_expect_wc(kt, kt->send_cq, wr_id, IB_WC_WR_FLUSH_ERR);
}

static void expect_none(struct kt *kt)
{
	kt_expect_no_wc(kt, kt->send_cq);
}

/* Expects that request wr_id failed with status and moved the QP to ERR. */
static void expect_failed(struct kt *kt, u64 wr_id, enum ib_wc_status status)
{
	kt_settle(kt);
	kt_expect_wc(kt, kt->send_cq, wr_id, status);
	KUNIT_EXPECT_EQ(kt->test, (int)kt_state(kt), (int)IB_QPS_ERR);
}

/* Waits at least ten seconds for timers to send n packets. */
static void wait_sent(struct kt *kt, unsigned int n)
{
	int i;

	for (i = 0; i < 500 && kt_num_sent(kt) < n; i++)
		msleep(20);
	KUNIT_ASSERT_GE(kt->test, kt_num_sent(kt), n);
}

static void wait_error(struct kt *kt)
{
	int i;

	for (i = 0; i < 500 && kt_state(kt) != IB_QPS_ERR; i++)
		msleep(20);
	KUNIT_ASSERT_EQ(kt->test, (int)kt_state(kt), (int)IB_QPS_ERR);
}

/* ---- runs: requests, responses of the peer, expected results ------------ */

enum action {
	END,
	/* Settings, before all other steps. */
	SET_SQ_PSN, SET_RD_ATOMIC, SET_RETRY_CNT, SET_RNR_RETRY, SET_TIMEOUT,
	SET_SIGNAL_ALL,
	/* The consumer. */
	POST_WRITE, POST_WRITE_FLAGS, POST_WRITE_BAD_KEY, POST_READ, POST_ATOMIC,
	POST_ATOMIC_BAD_KEY, POST_LOCAL_INV_BAD_KEY,
	/* The peer. */
	ANSWER, ANSWER_ATOMIC, ANSWER_READ,
	/* Time. */
	SETTLE, SLEEP, WAIT_SENT, WAIT_ERROR,
	/* Packets. */
	SENT, NUM_SENT, NOTHING_SENT, DROP_SENT,
	/* Completions and state. */
	SUCCESS, SUCCESS_OPCODE, FAILED, FLUSHED, NO_WC, STATE, SQ_TAIL,
	COUNTER, COUNTER_MIN,
};

/* PSNs are relative to that of the first packet. */
struct step {
	enum action action;
	int line;
	u64 a, b, c;
};

#define DO(action, ...) { action, __LINE__, __VA_ARGS__ }

struct run {
	const char *desc;
	struct step steps[40];
};

#define READ_LEN	(2 * KT_MTU + 88)

static const struct run runs[] = {
	/* The peer accepts max_rd_atomic outstanding READs and atomics. */
	{ "max_rd_atomic limits atomics", {
		DO(SET_RD_ATOMIC, 2),
		DO(POST_ATOMIC, 0), DO(POST_ATOMIC, 1),
		DO(POST_ATOMIC, 2), DO(POST_ATOMIC, 3),
		DO(POST_WRITE, 4),
		DO(SENT, KT_FADD, 0), DO(SENT, KT_FADD, 1), DO(NOTHING_SENT),
		DO(ANSWER_ATOMIC, 0, 0), DO(SUCCESS, 0), DO(SENT, KT_FADD, 2),
		DO(ANSWER_ATOMIC, 1, 1), DO(SUCCESS, 1), DO(SENT, KT_FADD, 3),
		/*
		 * Requests without a response are not limited, but stay in
		 * order.
		 */
		DO(SENT, KT_WRITE_ONLY, 4), DO(NOTHING_SENT), DO(NO_WC),
	} },
	{ "max_rd_atomic of 0 allows no READ", {
		DO(SET_RD_ATOMIC, 0),
		DO(POST_READ, 1, 8),
		DO(FAILED, 1, IB_WC_LOC_QP_OP_ERR), DO(NOTHING_SENT),
	} },
	{ "fence waits for an atomic", {
		DO(POST_ATOMIC, 1),
		DO(POST_WRITE_FLAGS, 2, IB_SEND_SIGNALED | IB_SEND_FENCE),
		DO(POST_WRITE, 3),
		DO(SENT, KT_FADD, 0), DO(NOTHING_SENT),
		DO(ANSWER_ATOMIC, 0, 0), DO(SUCCESS, 1),
		DO(SENT, KT_WRITE_ONLY, 1), DO(SENT, KT_WRITE_ONLY, 2),
		DO(NOTHING_SENT),
	} },

	{ "ACK completes", {
		DO(POST_WRITE, 1), DO(POST_WRITE, 2), DO(NO_WC),
		DO(ANSWER, 0, KT_ACK), DO(SUCCESS_OPCODE, 1, IB_WC_RDMA_WRITE),
		DO(NO_WC),
		DO(ANSWER, 1, KT_ACK), DO(SUCCESS, 2), DO(NO_WC),
	} },
	/*
	 * One ACK completes all requests up to its PSN, in order. Only signaled
	 * requests get a CQE.
	 */
	{ "ACK coalesced, some unsignalled", {
		DO(POST_WRITE_FLAGS, 0, 0), DO(POST_WRITE_FLAGS, 1, 0),
		DO(POST_WRITE, 2),
		DO(POST_WRITE_FLAGS, 3, 0), DO(POST_WRITE_FLAGS, 4, 0),
		DO(POST_WRITE, 5),
		DO(ANSWER, 5, KT_ACK), DO(SUCCESS, 2), DO(SUCCESS, 5), DO(NO_WC),
		DO(SQ_TAIL, 6),
	} },
	{ "ACK where the queue pair signals all", {
		DO(SET_SIGNAL_ALL),
		DO(POST_WRITE_FLAGS, 1, 0), DO(ANSWER, 0, KT_ACK), DO(SUCCESS, 1),
	} },
	/* A response acknowledges all requests before its own. */
	{ "ACK by a response", {
		DO(POST_WRITE, 1), DO(POST_ATOMIC, 2), DO(POST_WRITE, 3),
		DO(ANSWER_ATOMIC, 1, 0),
		DO(SUCCESS, 1), DO(SUCCESS, 2), DO(NO_WC),
	} },
	/* A response is dropped if no request with its PSN is outstanding. */
	{ "ACK of nothing is ignored", {
		DO(ANSWER, 0, KT_ACK), DO(ANSWER, -1, KT_NAK_ACC),
		DO(POST_WRITE, 1), DO(DROP_SENT),
		DO(ANSWER, -1, KT_ACK), DO(ANSWER, 1, KT_ACK),
		DO(ANSWER, 1, KT_NAK_ACC), DO(ANSWER, -1, KT_NAK_SEQ),
		DO(ANSWER_ATOMIC, 1, 0),
		DO(NOTHING_SENT), DO(NO_WC),
		DO(COUNTER, MXE_CNT_drop_unsolicited_response, 7),
		DO(ANSWER, 0, KT_ACK), DO(SUCCESS, 1),
		DO(ANSWER, 0, KT_ACK), DO(NO_WC),
		DO(COUNTER, MXE_CNT_drop_unsolicited_response, 8),
		DO(STATE, IB_QPS_RTS),
	} },
	{ "ACK where the PSN wraps", {
		DO(SET_SQ_PSN, 0xfffffe),
		DO(POST_WRITE, 0), DO(POST_WRITE, 1),
		DO(POST_WRITE, 2), DO(POST_WRITE, 3),
		DO(SENT, KT_WRITE_ONLY, 0), DO(SENT, KT_WRITE_ONLY, 1),
		DO(SENT, KT_WRITE_ONLY, 2), DO(SENT, KT_WRITE_ONLY, 3),
		DO(ANSWER, 1, KT_ACK), DO(SUCCESS, 0), DO(SUCCESS, 1), DO(NO_WC),
		/* PSN 0 is lost. */
		DO(ANSWER, 2, KT_NAK_SEQ),
		DO(SENT, KT_WRITE_ONLY, 2), DO(SENT, KT_WRITE_ONLY, 3),
		DO(NOTHING_SENT),
		DO(ANSWER, 1, KT_ACK), DO(NO_WC),
		DO(ANSWER, 3, KT_ACK), DO(SUCCESS, 2), DO(SUCCESS, 3),
	} },

	{ "sequence NAK goes back", {
		DO(POST_WRITE, 0), DO(POST_WRITE, 1), DO(POST_WRITE, 2),
		DO(DROP_SENT),
		/*
		 * The second request is lost. The NAK acknowledges the first
		 * one, and the third one is sent again too.
		 */
		DO(ANSWER, 1, KT_NAK_SEQ), DO(SUCCESS, 0), DO(NO_WC),
		DO(SENT, KT_WRITE_ONLY, 1), DO(SENT, KT_WRITE_ONLY, 2),
		DO(NOTHING_SENT),
		/* A second NAK for the same loss sends nothing again. */
		DO(ANSWER, 1, KT_NAK_SEQ), DO(NOTHING_SENT),
		DO(ANSWER, 2, KT_ACK), DO(SUCCESS, 1), DO(SUCCESS, 2),
		DO(COUNTER, MXE_CNT_rcvd_nak_sequence, 2),
	} },
	/* Progress resets the count of retries. */
	{ "sequence NAK counts retries", {
		DO(SET_RETRY_CNT, 1),
		DO(POST_WRITE, 0), DO(POST_WRITE, 1),
		DO(POST_WRITE, 2), DO(POST_WRITE, 3),
		DO(DROP_SENT), DO(ANSWER, 0, KT_NAK_SEQ), DO(NUM_SENT, 4),
		DO(ANSWER, 0, KT_ACK), DO(SUCCESS, 0),
		DO(DROP_SENT), DO(ANSWER, 1, KT_NAK_SEQ), DO(NUM_SENT, 3),
		DO(ANSWER, 1, KT_ACK), DO(SUCCESS, 1),
		DO(DROP_SENT), DO(ANSWER, 2, KT_NAK_SEQ), DO(NUM_SENT, 2),
		DO(ANSWER, 2, KT_ACK), DO(SUCCESS, 2),
		DO(STATE, IB_QPS_RTS), DO(NO_WC),
	} },
	{ "sequence NAK without retries", {
		DO(SET_RETRY_CNT, 0),
		DO(POST_WRITE, 1), DO(POST_WRITE, 2),
		DO(ANSWER, 0, KT_NAK_SEQ),
		DO(FAILED, 1, IB_WC_RETRY_EXC_ERR), DO(FLUSHED, 2),
		DO(COUNTER, MXE_CNT_retry_exceeded, 1),
	} },
	/* A response is lost, and the next one arrives. */
	{ "implied NAK by a response", {
		DO(POST_ATOMIC, 1), DO(POST_ATOMIC, 2), DO(DROP_SENT),
		DO(ANSWER_ATOMIC, 1, 9), DO(NO_WC),
		DO(SENT, KT_FADD, 0), DO(SENT, KT_FADD, 1), DO(NOTHING_SENT),
		/* A fatal NAK for a later request is ignored too. */
		DO(ANSWER, 1, KT_NAK_ACC), DO(NO_WC),
		DO(ANSWER_ATOMIC, 0, 8), DO(ANSWER_ATOMIC, 1, 9),
		DO(SUCCESS, 1), DO(SUCCESS, 2),
	} },
	/* A loss that several responses report causes one retransmission. */
	{ "implied NAK twice", {
		DO(POST_ATOMIC, 1), DO(POST_WRITE, 2), DO(POST_ATOMIC, 3),
		DO(DROP_SENT),
		DO(ANSWER, 1, KT_ACK),
		DO(SENT, KT_FADD, 0), DO(SENT, KT_WRITE_ONLY, 1), DO(SENT, KT_FADD, 2),
		DO(NOTHING_SENT),
		DO(ANSWER, 1, KT_ACK), DO(ANSWER_ATOMIC, 2, 9),
		DO(ANSWER, 2, KT_NAK_SEQ), DO(NOTHING_SENT), DO(NO_WC),
		DO(COUNTER, MXE_CNT_implied_nak, 4),
		/*
		 * Progress was made, so the loss of a packet starts a new count
		 * of retries.
		 */
		DO(ANSWER_ATOMIC, 0, 7), DO(SUCCESS, 1),
		DO(ANSWER_ATOMIC, 2, 9), DO(SUCCESS, 2), DO(SUCCESS, 3),
		DO(NOTHING_SENT),
	} },
	/* The peer's region was invalidated during the READ. */
	{ "NAK in the middle of a READ", {
		DO(POST_READ, 1, READ_LEN), DO(DROP_SENT),
		DO(ANSWER_READ, 0, READ_FIRST, KT_MTU),
		DO(ANSWER, 1, KT_NAK_ACC),
		DO(FAILED, 1, IB_WC_REM_ACCESS_ERR), DO(NOTHING_SENT),
	} },

	/*
	 * The error is reported in order, and earlier requests are not
	 * affected.
	 */
	{ "local error in order", {
		DO(POST_WRITE, 1), DO(POST_WRITE_BAD_KEY, 2), DO(POST_WRITE, 3),
		DO(SETTLE),
		DO(SENT, KT_WRITE_ONLY, 0), DO(NOTHING_SENT), DO(NO_WC),
		/* Meanwhile the first request may have to be sent again. */
		DO(ANSWER, 0, KT_NAK_SEQ),
		DO(SENT, KT_WRITE_ONLY, 0), DO(NOTHING_SENT), DO(NO_WC),
		DO(ANSWER, 0, KT_ACK), DO(SETTLE), DO(SUCCESS, 1),
		DO(FAILED, 2, IB_WC_LOC_PROT_ERR), DO(FLUSHED, 3), DO(NO_WC),
		DO(NOTHING_SENT),
		DO(COUNTER_MIN, MXE_CNT_local_access_errors, 1),
	} },
	/* The result cannot be stored. */
	{ "local error of a response", {
		DO(POST_ATOMIC_BAD_KEY, 1), DO(POST_ATOMIC, 2),
		DO(ANSWER_ATOMIC, 0, 1),
		DO(FAILED, 1, IB_WC_LOC_PROT_ERR), DO(FLUSHED, 2),
		DO(COUNTER, MXE_CNT_local_access_errors, 1),
	} },
	{ "local operation fails", {
		DO(POST_LOCAL_INV_BAD_KEY, 1), DO(POST_WRITE, 2),
		DO(FAILED, 1, IB_WC_MW_BIND_ERR), DO(FLUSHED, 2),
		DO(NOTHING_SENT),
	} },

	{ "timer sends again", {
		DO(SET_TIMEOUT, TIMEOUT), DO(SET_RETRY_CNT, 7),
		DO(POST_ATOMIC, 1), DO(WAIT_SENT, 3),
		DO(ANSWER_ATOMIC, 0, 5), DO(SUCCESS, 1),
		DO(SENT, KT_FADD, 0), DO(SENT, KT_FADD, 0), DO(SENT, KT_FADD, 0),
		/* Nothing is outstanding, so the timer sends nothing. */
		DO(DROP_SENT), DO(SLEEP, 100), DO(NOTHING_SENT),
		DO(COUNTER_MIN, MXE_CNT_retransmit_timeouts, 2),
	} },
	{ "timer runs out of retries", {
		DO(SET_TIMEOUT, TIMEOUT), DO(SET_RETRY_CNT, 2),
		DO(POST_WRITE_FLAGS, 1, 0), DO(POST_WRITE_FLAGS, 2, 0),
		DO(WAIT_ERROR),
		DO(FAILED, 1, IB_WC_RETRY_EXC_ERR), DO(FLUSHED, 2), DO(NO_WC),
		/* The requests are sent once, and again retry_cnt times. */
		DO(SENT, KT_WRITE_ONLY, 0), DO(SENT, KT_WRITE_ONLY, 1),
		DO(SENT, KT_WRITE_ONLY, 0), DO(SENT, KT_WRITE_ONLY, 1),
		DO(SENT, KT_WRITE_ONLY, 0), DO(SENT, KT_WRITE_ONLY, 1),
		DO(NOTHING_SENT),
		DO(COUNTER, MXE_CNT_retry_exceeded, 1),
	} },
	{ "timeout of 0 never fires", {
		DO(POST_WRITE, 1), DO(SENT, KT_WRITE_ONLY, 0),
		DO(SLEEP, 100), DO(NOTHING_SENT), DO(NO_WC),
	} },
	{ "RNR NAK sends again", {
		DO(POST_WRITE, 0), DO(POST_WRITE, 1), DO(POST_WRITE, 2),
		DO(DROP_SENT),
		DO(ANSWER, 1, RNR_NAK), DO(SUCCESS, 0), DO(NO_WC),
		/*
		 * Only the requests that were not executed are retransmitted,
		 * and not at once.
		 */
		DO(NOTHING_SENT), DO(POST_WRITE, 3), DO(NOTHING_SENT),
		DO(WAIT_SENT, 3),
		DO(SENT, KT_WRITE_ONLY, 1), DO(SENT, KT_WRITE_ONLY, 2),
		DO(SENT, KT_WRITE_ONLY, 3),
		DO(ANSWER, 3, KT_ACK),
		DO(SUCCESS, 1), DO(SUCCESS, 2), DO(SUCCESS, 3),
		DO(COUNTER, MXE_CNT_rcvd_rnr_nak, 1),
	} },
	{ "RNR NAK runs out of retries", {
		DO(SET_RNR_RETRY, 2),
		DO(POST_WRITE, 1), DO(POST_WRITE, 2),
		/* A second RNR NAK for the same packet is not counted. */
		DO(DROP_SENT), DO(ANSWER, 0, RNR_NAK), DO(ANSWER, 0, RNR_NAK),
		DO(NO_WC), DO(WAIT_SENT, 2),
		DO(DROP_SENT), DO(ANSWER, 0, RNR_NAK), DO(ANSWER, 0, RNR_NAK),
		DO(NO_WC), DO(WAIT_SENT, 2),
		DO(DROP_SENT), DO(ANSWER, 0, RNR_NAK),
		DO(FAILED, 1, IB_WC_RNR_RETRY_EXC_ERR), DO(FLUSHED, 2),
		DO(NOTHING_SENT),
		DO(COUNTER, MXE_CNT_rnr_retry_exceeded, 1),
	} },
};

KT_ARRAY_PARAM(run, runs);

/* Returns false if the step is not a setting. */
static bool set(const struct step *step, struct kt_conn *conn, bool *signal_all)
{
	switch (step->action) {
	case SET_SQ_PSN:
		conn->sq_psn = step->a;
		return true;
	case SET_RD_ATOMIC:
		conn->max_rd_atomic = step->a;
		return true;
	case SET_RETRY_CNT:
		conn->retry_cnt = step->a;
		return true;
	case SET_RNR_RETRY:
		conn->rnr_retry = step->a;
		return true;
	case SET_TIMEOUT:
		conn->timeout = step->a;
		return true;
	case SET_SIGNAL_ALL:
		*signal_all = true;
		return true;
	default:
		return false;
	}
}

/* PSNs in the step are relative to first, the PSN of the first packet. */
static void do_step(struct kt *kt, struct ib_mr *mr, u32 first,
		    const struct step *step)
{
	struct kunit *test = kt->test;
	struct ib_wc wc;

	switch (step->action) {
	case POST_WRITE:
		post_write(kt, step->a, mr);
		break;
	case POST_WRITE_FLAGS:
		post_write_flags(kt, step->a, mr, step->b);
		break;
	case POST_WRITE_BAD_KEY:
		post_write_bad_key(kt, step->a, mr);
		break;
	case POST_READ:
		post_read(kt, step->a, mr, step->b);
		break;
	case POST_ATOMIC:
		post_atomic(kt, step->a, mr);
		break;
	case POST_ATOMIC_BAD_KEY:
		post_atomic_lkey(kt, step->a, mr, mr->lkey ^ 0x100);
		break;
	case POST_LOCAL_INV_BAD_KEY:
		KUNIT_ASSERT_EQ(test, post_local_inv(kt, step->a, mr->rkey ^ 1), 0);
		break;
	case ANSWER:
		answer(kt, first + step->a, step->b);
		break;
	case ANSWER_ATOMIC:
		answer_atomic(kt, first + step->a, step->b);
		break;
	case ANSWER_READ:
		answer_read(kt, first + step->a, step->b, step->c);
		break;
	case SETTLE:
		kt_settle(kt);
		break;
	case SLEEP:
		msleep(step->a);
		break;
	case WAIT_SENT:
		wait_sent(kt, step->a);
		break;
	case WAIT_ERROR:
		wait_error(kt);
		break;
	case SENT:
		expect_sent(kt, step->a, first + step->b);
		break;
	case NUM_SENT:
		KUNIT_EXPECT_EQ(test, (u64)kt_num_sent(kt), step->a);
		break;
	case NOTHING_SENT:
		kt_expect_nothing(kt);
		break;
	case DROP_SENT:
		kt_drop_sent(kt);
		break;
	case SUCCESS:
		expect_success(kt, step->a);
		break;
	case SUCCESS_OPCODE:
		wc = kt_poll(kt, kt->send_cq);
		KUNIT_EXPECT_EQ(test, wc.wr_id, step->a);
		KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, (u64)wc.opcode, step->b);
		break;
	case FAILED:
		expect_failed(kt, step->a, step->b);
		break;
	case FLUSHED:
		expect_flushed(kt, step->a);
		break;
	case NO_WC:
		expect_none(kt);
		break;
	case STATE:
		KUNIT_EXPECT_EQ(test, (u64)kt_state(kt), step->a);
		break;
	case SQ_TAIL:
		KUNIT_EXPECT_EQ(test, (u64)kt->qp->req.tail, step->a);
		break;
	case COUNTER:
		KUNIT_EXPECT_EQ(test, kt_counter(kt, step->a), step->b);
		break;
	case COUNTER_MIN:
		KUNIT_EXPECT_GE(test, kt_counter(kt, step->a), step->b);
		break;
	/* No default, so that the compiler reports an action without a case. */
	case END:
	case SET_SQ_PSN:
	case SET_RD_ATOMIC:
	case SET_RETRY_CNT:
	case SET_RNR_RETRY:
	case SET_TIMEOUT:
	case SET_SIGNAL_ALL:
		KUNIT_FAIL(test, "line %d: a setting must precede other steps", step->line);
	}
}

static void complete_run(struct kunit *test)
{
	const struct run *run = test->param_value;
	const struct step *step = run->steps;
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	bool signal_all = false;
	struct ib_mr *mr;

	while (set(step, &conn, &signal_all))
		step++;
	if (signal_all)
		kt_create_qp_signal_all(kt);
	else
		kt_create_qp(kt);
	kt_connect(kt, &conn);
	mr = kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
	for (; step->action != END; step++) {
		do_step(kt, mr, conn.sq_psn, step);
		if (test->status == KUNIT_FAILURE) {
			kunit_err(test, "failed at line %d of %s\n", step->line, __FILE__);
			return;
		}
	}
}

/* ---- packets sent ------------------------------------------------------- */

static void send_write_fields(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt pkt;

	memcpy(kt->mem, "abcde", 5);
	kt_post_write(kt, IB_WR_RDMA_WRITE, 1, mr, 5);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, KT_WRITE_ONLY);
	KUNIT_EXPECT_EQ(test, pkt.psn, S);
	KUNIT_EXPECT_EQ(test, pkt.va, KT_REMOTE_VA);
	KUNIT_EXPECT_EQ(test, pkt.rkey, KT_REMOTE_KEY);
	KUNIT_EXPECT_EQ(test, pkt.dma_len, 5U);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 5U);
	KUNIT_EXPECT_EQ(test, memcmp(pkt.payload, "abcde", 5), 0);
	KUNIT_EXPECT_TRUE(test, pkt.ack_req);
	KUNIT_EXPECT_FALSE(test, pkt.solicited);
	kt_expect_nothing(kt);
	expect_none(kt);
}

static void send_segments(struct kunit *test)
{
	static const u8 opcodes[] = {
		KT_SEND_FIRST, KT_SEND_MIDDLE,
		KT_SEND_MIDDLE, IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE,
	};
	const u32 len = 3 * KT_MTU + 5, gap = PAGE_SIZE - 100;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct ib_sge sges[] = {
		{ kt_va(mr, 0), 100, mr->lkey },
		{ kt_va(mr, 100 + gap), len - 100, mr->lkey },
	};
	struct ib_send_wr wr = {
		.wr_id = 1,
		.opcode = IB_WR_SEND_WITH_IMM,
		.ex.imm_data = cpu_to_be32(0xabcd1234),
		.send_flags = IB_SEND_SIGNALED | IB_SEND_SOLICITED,
		.sg_list = sges,
		.num_sge = 2,
	};
	u32 i, b;

	for (i = 0; i < len; i++)
		kt->mem[i < 100 ? i : i + gap] = i * 3;
	KUNIT_ASSERT_EQ(test, ib_post_send(kt->qp->ibqp, &wr, NULL), 0);
	for (i = 0; i < 4; i++) {
		struct test_pkt pkt = kt_sent(kt);

		KUNIT_EXPECT_EQ(test, pkt.opcode, opcodes[i]);
		KUNIT_EXPECT_EQ(test, pkt.psn, S + i);
		KUNIT_EXPECT_EQ(test, pkt.solicited, i == 3);
		KUNIT_ASSERT_EQ(test, pkt.payload_len, i == 3 ? 5U : KT_MTU);
		for (b = 0; b < pkt.payload_len; b++)
			KUNIT_ASSERT_EQ(test, pkt.payload[b],
					(u8)((i * KT_MTU + b) * 3));
		if (i < 3)
			continue;
		KUNIT_EXPECT_TRUE(test, pkt.ack_req);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(pkt.imm), 0xabcd1234U);
	}
	kt_expect_nothing(kt);
	/* An ACK of part of the message does not complete it. */
	answer(kt, S + 2, KT_ACK);
	expect_none(kt);
	answer(kt, S + 3, KT_ACK);
	expect_success(kt, 1);
}

static void send_inline_copies(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	u8 *data = kunit_kzalloc(test, 65, GFP_KERNEL);
	struct ib_sge sge = { .length = 64 };
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_INLINE | IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	const struct ib_send_wr *bad = NULL;
	struct test_pkt pkt;

	connect(kt, &kt_default_conn);
	KUNIT_ASSERT_NOT_NULL(test, data);
	memset(data, 0x5a, 64);
	sge.addr = (uintptr_t)data;
	KUNIT_ASSERT_EQ(test, ib_post_send(kt->qp->ibqp, &wr, NULL), 0);
	kt_drop_sent(kt);
	/* The copy is retransmitted, not the present content of the memory. */
	memset(data, 0, 64);
	answer(kt, S, KT_NAK_SEQ);
	pkt = kt_sent(kt);
	KUNIT_ASSERT_EQ(test, pkt.payload_len, 64U);
	KUNIT_EXPECT_EQ(test, pkt.payload[0], 0x5a);
	KUNIT_EXPECT_EQ(test, pkt.payload[63], 0x5a);

	sge.length = kt->qp->req.max_inline + 1;
	KUNIT_EXPECT_EQ(test, ib_post_send(kt->qp->ibqp, &wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr);
}

/* No more than MXE_MAX_UNACKED packets are in flight. */
static void send_window(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	unsigned int i;

	for (i = 0; i < 200; i++)
		post_write(kt, i, mr);
	kt_settle(kt);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), MXE_MAX_UNACKED);
	kt_drop_sent(kt);
	answer(kt, S + 9, KT_ACK);
	kt_settle(kt);
	for (i = 0; i < 10; i++)
		expect_success(kt, i);
	expect_none(kt);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 10U);
	expect_sent(kt, KT_WRITE_ONLY, S + MXE_MAX_UNACKED);
}

/* SQD: requests that have begun are finished, and no new request begins. */
static void send_drain(struct kunit *test)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_SQD,
		.en_sqd_async_notify = 1,
	};
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);

	post_write(kt, 1, mr);
	expect_sent(kt, KT_WRITE_ONLY, S);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(kt->qp->ibqp, &attr, IB_QP_STATE |
					   IB_QP_EN_SQD_ASYNC_NOTIFY), 0);
	post_write(kt, 2, mr);
	kt_settle(kt);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_FALSE(test, kt->events & BIT(IB_EVENT_SQ_DRAINED));
	answer(kt, S, KT_ACK);
	kt_settle(kt);
	expect_success(kt, 1);
	KUNIT_EXPECT_TRUE(test, kt->events & BIT(IB_EVENT_SQ_DRAINED));
	kt_expect_nothing(kt);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RTS, &kt_default_conn), 0);
	kt_settle(kt);
	expect_sent(kt, KT_WRITE_ONLY, S + 1);
	answer(kt, S + 1, KT_ACK);
	expect_success(kt, 2);
}

/* ---- atomics as posted and as sent -------------------------------------- */

struct atomic_row {
	const char *desc;
	enum ib_wr_opcode opcode;
	u64 compare_add, compare_add_mask, swap, swap_mask;
	u8 sent;
	enum ib_wc_opcode completed;
};

static const struct atomic_row atomic_rows[] = {
	{ "CmpSwap", IB_WR_ATOMIC_CMP_AND_SWP, 5, 0, 7, 0, KT_CSWAP,
	  IB_WC_COMP_SWAP },
	{ "FetchAdd", IB_WR_ATOMIC_FETCH_AND_ADD, 5, 0, 0, 0, KT_FADD,
	  IB_WC_FETCH_ADD },
	{ "masked CmpSwap", IB_WR_MASKED_ATOMIC_CMP_AND_SWP, 0x50, 0xf0, 0x7,
	  0xf, KT_MCSWAP, IB_WC_MASKED_COMP_SWAP },
	{ "masked FetchAdd", IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, 0x10001,
	  0x80008000, 0, 0, KT_MFADD, IB_WC_MASKED_FETCH_ADD },
	{ "masked CmpSwap of all bits", IB_WR_MASKED_ATOMIC_CMP_AND_SWP, 5,
	  KT_ONES, 7, KT_ONES, KT_CSWAP, IB_WC_MASKED_COMP_SWAP },
	{ "masked FetchAdd without boundary",
	  IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, 5, 0, 0, 0, KT_FADD,
	  IB_WC_MASKED_FETCH_ADD },
	{ "masked FetchAdd with boundary at the top",
	  IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, 5, KT_TOP, 0, 0, KT_FADD,
	  IB_WC_MASKED_FETCH_ADD },
	/* Operands that the operation does not use must not be sent. */
	{ "FetchAdd with leftovers", IB_WR_ATOMIC_FETCH_AND_ADD, 5, 1, 2, 3,
	  KT_FADD, IB_WC_FETCH_ADD },
	{ "masked FetchAdd with leftovers", IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
	  5, 1, 2, 3, KT_MFADD, IB_WC_MASKED_FETCH_ADD },
};

KT_ARRAY_PARAM(atomic, atomic_rows);

static void send_atomic(struct kunit *test)
{
	const struct atomic_row *row = test->param_value;
	bool cas = row->sent == KT_CSWAP || row->sent == KT_MCSWAP;
	bool masked = row->sent >= KT_MCSWAP;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct ib_sge sge = { kt_va(mr, 8), 8, mr->lkey };
	struct ib_atomic_wr wr = {
		.wr.wr_id = 1,
		.wr.opcode = row->opcode,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.remote_addr = KT_REMOTE_VA,
		.rkey = KT_REMOTE_KEY,
		.compare_add = row->compare_add,
		.compare_add_mask = row->compare_add_mask,
		.swap = row->swap,
		.swap_mask = row->swap_mask,
	};
	const u64 orig = 0x0123456789abcdefULL;
	struct test_pkt pkt;
	struct ib_wc wc;
	const u8 *bth;
	size_t len;

	KUNIT_ASSERT_EQ(test, ib_post_send(kt->qp->ibqp, &wr.wr, NULL), 0);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, row->sent);
	KUNIT_EXPECT_EQ(test, pkt.va, KT_REMOTE_VA);
	KUNIT_EXPECT_EQ(test, pkt.rkey, KT_REMOTE_KEY);
	KUNIT_EXPECT_TRUE(test, pkt.ack_req);
	KUNIT_EXPECT_NE(test, (int)pkt.atomic.op, (int)MXE_ATOMIC_UNSUPPORTED);
	KUNIT_EXPECT_EQ(test, pkt.atomic.swap_add,
			cas ? row->swap : row->compare_add);
	/* The parser ignores this field of a FETCH ADD, so check the bytes. */
	bth = kt_sent_bytes(kt, &len);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(bth + (masked ? 36 : 32)),
			cas ? row->compare_add : 0);
	if (masked) {
		KUNIT_EXPECT_EQ(test, pkt.atomic.swap_mask,
				cas ? row->swap_mask : 0);
		KUNIT_EXPECT_EQ(test, pkt.atomic.compare_mask,
				row->compare_add_mask);
	}

	memset(kt->mem, 0xee, 24);
	answer_atomic(kt, S, orig);
	wc = kt_poll(kt, kt->send_cq);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)wc.opcode, (int)row->completed);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 8U);
	KUNIT_EXPECT_EQ(test, *(u64 *)(kt->mem + 8), orig);
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, 0xeeeeeeeeeeeeeeeeULL);
	KUNIT_EXPECT_EQ(test, *(u64 *)(kt->mem + 16), 0xeeeeeeeeeeeeeeeeULL);
}

static void send_atomic_big_endian_reply(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);

	/* A process can request this at creation. */
	kt->qp->be_reply = true;
	post_atomic(kt, 1, mr);
	answer_atomic(kt, S, 0x0123456789abcdefULL);
	expect_success(kt, 1);
	KUNIT_EXPECT_EQ(test, memcmp(kt->mem, "\x01\x23\x45\x67\x89\xab\xcd\xef",
				     8), 0);
}

/* ---- acknowledgments --------------------------------------------------- */

/* The last of several requests posted at once requests an ACK for all. */
static void ack_asked_once(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct ib_sge sge = { kt_va(mr, 0), 4, mr->lkey };
	struct ib_rdma_wr wr[4];
	int i;

	for (i = 0; i < 4; i++)
		wr[i] = (struct ib_rdma_wr) {
			.wr.wr_id = i,
			.wr.opcode = IB_WR_RDMA_WRITE,
			.wr.send_flags = IB_SEND_SIGNALED,
			.wr.sg_list = &sge,
			.wr.num_sge = 1,
			.wr.next = i < 3 ? &wr[i + 1].wr : NULL,
			.remote_addr = KT_REMOTE_VA,
			.rkey = KT_REMOTE_KEY,
		};
	KUNIT_ASSERT_EQ(test, ib_post_send(kt->qp->ibqp, &wr[0].wr, NULL), 0);
	for (i = 0; i < 4; i++)
		/* The first packet of a window requests one too. */
		KUNIT_EXPECT_EQ(test, kt_sent(kt).ack_req, i == 0 || i == 3);
	answer(kt, S + 3, KT_ACK);
	for (i = 0; i < 4; i++)
		expect_success(kt, i);
}

/*
 * A request leaves the ACK request to its successor, which then fails. It is
 * sent again with an ACK request.
 */
static void ack_asked_again(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct ib_sge good = { kt_va(mr, 0), 4, mr->lkey };
	struct ib_sge bad = { kt_va(mr, 0), 4, mr->lkey ^ 0x100 };
	struct ib_rdma_wr wr[3];
	int i;

	for (i = 0; i < 3; i++)
		wr[i] = (struct ib_rdma_wr) {
			.wr.wr_id = i,
			.wr.opcode = IB_WR_RDMA_WRITE,
			.wr.send_flags = IB_SEND_SIGNALED,
			.wr.sg_list = i == 2 ? &bad : &good,
			.wr.num_sge = 1,
			.wr.next = i < 2 ? &wr[i + 1].wr : NULL,
			.remote_addr = KT_REMOTE_VA,
			.rkey = KT_REMOTE_KEY,
		};
	KUNIT_ASSERT_EQ(test, ib_post_send(kt->qp->ibqp, &wr[0].wr, NULL), 0);
	kt_settle(kt);
	expect_sent(kt, KT_WRITE_ONLY, S);
	KUNIT_EXPECT_FALSE(test, kt_sent(kt).ack_req);
	KUNIT_EXPECT_TRUE(test, kt_sent(kt).ack_req);
	kt_expect_nothing(kt);
	answer(kt, S + 1, KT_ACK);
	kt_settle(kt);
	expect_success(kt, 0);
	expect_success(kt, 1);
	expect_failed(kt, 2, IB_WC_LOC_PROT_ERR);
}

/* ---- going back --------------------------------------------------------- */

/* The response to an atomic is lost, and the request is sent again. */
static void implied_nak_atomic(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	size_t len, again_len;
	const u8 *bytes;
	u8 first[64];

	post_atomic(kt, 1, mr);
	post_write(kt, 2, mr);
	expect_sent(kt, KT_FADD, S);
	bytes = kt_sent_bytes(kt, &len);
	KUNIT_ASSERT_LE(test, len, sizeof(first));
	memcpy(first, bytes, len);
	expect_sent(kt, KT_WRITE_ONLY, S + 1);

	answer(kt, S + 1, KT_ACK);
	expect_none(kt);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_implied_nak), 1ULL);
	/*
	 * The packet is identical, so that the peer recognizes the duplicate.
	 */
	expect_sent(kt, KT_FADD, S);
	bytes = kt_sent_bytes(kt, &again_len);
	KUNIT_ASSERT_EQ(test, again_len, len);
	KUNIT_EXPECT_EQ(test, memcmp(bytes, first, len), 0);
	expect_sent(kt, KT_WRITE_ONLY, S + 1);
	kt_expect_nothing(kt);
	answer_atomic(kt, S, 42);
	expect_success(kt, 1);
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, 42ULL);
	answer(kt, S + 1, KT_ACK);
	expect_success(kt, 2);
}

/* ---- READ --------------------------------------------------------------- */

static void expect_read_data(struct kt *kt)
{
	u32 i;

	for (i = 0; i < READ_LEN; i++)
		KUNIT_ASSERT_EQ(kt->test, kt->mem[i], (u8)(i % KT_MTU + 1));
	KUNIT_EXPECT_EQ(kt->test, kt->mem[READ_LEN], 0);
}

static void read_completes(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt pkt;
	struct ib_wc wc;

	post_read(kt, 1, mr, READ_LEN);
	post_write(kt, 2, mr);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, KT_READ_REQ);
	KUNIT_EXPECT_EQ(test, pkt.psn, S);
	KUNIT_EXPECT_EQ(test, pkt.dma_len, (u32)READ_LEN);
	/* The READ takes one PSN for each response. */
	expect_sent(kt, KT_WRITE_ONLY, S + 3);
	answer_read(kt, S, READ_FIRST, KT_MTU);
	answer_read(kt, S + 1, READ_MIDDLE, KT_MTU);
	expect_none(kt);
	answer_read(kt, S + 2, READ_LAST, READ_LEN - 2 * KT_MTU);
	wc = kt_poll(kt, kt->send_cq);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1ULL);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)wc.opcode, (int)IB_WC_RDMA_READ);
	KUNIT_EXPECT_EQ(test, wc.byte_len, (u32)READ_LEN);
	expect_read_data(kt);
	answer(kt, S + 3, KT_ACK);
	expect_success(kt, 2);
}

/*
 * A response in the middle is lost. Only the missing part is requested again.
 */
static void read_resumes(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt pkt;

	post_read(kt, 1, mr, READ_LEN);
	kt_drop_sent(kt);
	answer_read(kt, S, READ_FIRST, KT_MTU);
	answer_read(kt, S + 2, READ_LAST, READ_LEN - 2 * KT_MTU);
	expect_none(kt);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, KT_READ_REQ);
	KUNIT_EXPECT_EQ(test, pkt.psn, S + 1);
	KUNIT_EXPECT_EQ(test, pkt.va, KT_REMOTE_VA + KT_MTU);
	KUNIT_EXPECT_EQ(test, pkt.dma_len, (u32)READ_LEN - KT_MTU);
	kt_expect_nothing(kt);
	/* A duplicate of an earlier response is ignored. */
	answer_read(kt, S, READ_FIRST, KT_MTU);
	answer_read(kt, S + 1, READ_FIRST, KT_MTU);
	answer_read(kt, S + 2, READ_LAST, READ_LEN - 2 * KT_MTU);
	expect_success(kt, 1);
	expect_read_data(kt);
	expect_none(kt);
}

/* ---- bad answers -------------------------------------------------------- */

enum posted { POSTED_WRITE, POSTED_ATOMIC, POSTED_READ, POSTED_LONG_READ };

struct answer_row {
	const char *desc;
	enum posted posted;
	u8 opcode;
	u32 payload_len;
	u8 syndrome;
	enum ib_wc_status status;
};

#define BAD	IB_WC_BAD_RESP_ERR

static const struct answer_row answer_rows[] = {
	{ "NAK Invalid Request", POSTED_WRITE, IB_OPCODE_RC_ACKNOWLEDGE, 0,
	  KT_NAK_INV, IB_WC_REM_INV_REQ_ERR },
	{ "NAK Remote Access Error", POSTED_WRITE, IB_OPCODE_RC_ACKNOWLEDGE, 0,
	  KT_NAK_ACC, IB_WC_REM_ACCESS_ERR },
	{ "NAK Remote Operational Error", POSTED_WRITE,
	  IB_OPCODE_RC_ACKNOWLEDGE, 0, KT_NAK_OP, IB_WC_REM_OP_ERR },
	{ "NAK Remote Access Error of an atomic", POSTED_ATOMIC,
	  IB_OPCODE_RC_ACKNOWLEDGE, 0, KT_NAK_ACC,
	  IB_WC_REM_ACCESS_ERR },
	{ "NAK Invalid Request of a READ", POSTED_LONG_READ,
	  IB_OPCODE_RC_ACKNOWLEDGE, 0, KT_NAK_INV,
	  IB_WC_REM_INV_REQ_ERR },
	{ "NAK of an unknown kind", POSTED_WRITE, IB_OPCODE_RC_ACKNOWLEDGE, 0,
	  AETH_NAK_RESERVED, BAD },
	{ "reserved syndrome", POSTED_WRITE, IB_OPCODE_RC_ACKNOWLEDGE, 0,
	  AETH_RESERVED, BAD },
	{ "atomic response to a WRITE", POSTED_WRITE,
	  IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE, 0, KT_ACK, BAD },
	{ "READ response to a WRITE", POSTED_WRITE, READ_ONLY, 4, KT_ACK, BAD },
	{ "READ response to an atomic", POSTED_ATOMIC, READ_ONLY, 8, KT_ACK, BAD },
	{ "atomic response to a READ", POSTED_READ,
	  IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE, 0, KT_ACK, BAD },
	{ "READ response too short", POSTED_READ, READ_ONLY, 4, KT_ACK, BAD },
	{ "READ response too long", POSTED_READ, READ_ONLY, 12, KT_ACK, BAD },
	{ "READ response First, too short", POSTED_LONG_READ, READ_FIRST,
	  KT_MTU - 4, KT_ACK, BAD },
	{ "READ response First, too long", POSTED_LONG_READ, READ_FIRST,
	  KT_MTU + 4, KT_ACK, BAD },
	{ "READ response Only, more is due", POSTED_LONG_READ, READ_ONLY, KT_MTU,
	  KT_ACK, BAD },
	{ "READ response First, no more is due", POSTED_READ, READ_FIRST, 8,
	  KT_ACK, BAD },
};

KT_ARRAY_PARAM(answer, answer_rows);

/*
 * The bad response acknowledges the request before its own. The request after
 * it is flushed, although it is unsignaled.
 */
static void answer_is_fatal(struct kunit *test)
{
	const struct answer_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct test_pkt out;

	post_write(kt, 1, mr);
	switch (row->posted) {
	case POSTED_WRITE:
		post_write_flags(kt, 2, mr, 0);
		break;
	case POSTED_ATOMIC:
		post_atomic(kt, 2, mr);
		break;
	case POSTED_READ:
		post_read(kt, 2, mr, 8);
		break;
	case POSTED_LONG_READ:
		post_read(kt, 2, mr, READ_LEN);
		break;
	}
	post_write_flags(kt, 3, mr, 0);
	kt_drop_sent(kt);
	out = kt_pkt(kt, row->opcode, S + 1);
	out.payload_len = row->payload_len;
	out.syndrome = row->syndrome;
	kt_inject(kt, &out);
	kt_settle(kt);
	expect_success(kt, 1);
	kt_expect_wc(kt, kt->send_cq, 2, row->status);
	expect_flushed(kt, 3);
	expect_none(kt);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_rcvd_nak_fatal), 1ULL);
	KUNIT_EXPECT_EQ(test, kt->mem[0], 0);
}

/* Packets that arrive before the state has changed have no effect. */
static void answer_after_error(struct kunit *test)
{
	const struct mxe_aeth nak_eth = { cpu_to_be32(KT_NAK_ACC << 24) };
	const struct mxe_aeth ack_eth = { cpu_to_be32(KT_ACK << 24) };
	const struct mxe_pkt nak = {
		.flags = mxe_opcodes[IB_OPCODE_RC_ACKNOWLEDGE].flags,
		.eth = (const u8 *)&nak_eth,
		.psn = S,
	};
	const struct mxe_pkt ack = {
		.flags = nak.flags,
		.eth = (const u8 *)&ack_eth,
		.psn = S + 1,
	};
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);

	post_write(kt, 1, mr);
	post_write(kt, 2, mr);
	mxe_qp_send_begin(kt->qp);
	mxe_complete_pkt(kt->qp, &nak);
	mxe_complete_pkt(kt->qp, &ack);
	mxe_qp_send_end(kt->qp);
	expect_failed(kt, 1, IB_WC_REM_ACCESS_ERR);
	expect_flushed(kt, 2);
}

/* ---- the consumer's own mistakes ---------------------------------------- */

struct local_row {
	const char *desc;
	enum ib_wr_opcode opcode;
	u32 length;
	u32 lkey_xor;
	u64 offset;
	bool other_pd;
	enum ib_wc_status status;
};

static const struct local_row local_rows[] = {
	{ "unknown key", IB_WR_RDMA_WRITE, 4, 0x100,
	  .status = IB_WC_LOC_PROT_ERR },
	{ "old key", IB_WR_SEND, 4, 1, .status = IB_WC_LOC_PROT_ERR },
	{ "outside", IB_WR_SEND, 4, .offset = KT_SIZE - 3,
	  .status = IB_WC_LOC_PROT_ERR },
	{ "foreign domain", IB_WR_SEND, 4, .other_pd = true,
	  .status = IB_WC_LOC_PROT_ERR },
	{ "end outside, after some packets", IB_WR_RDMA_WRITE, 3 * KT_MTU,
	  .offset = KT_SIZE - 2 * KT_MTU, .status = IB_WC_LOC_PROT_ERR },
	{ "longer than a message", IB_WR_RDMA_WRITE, MXE_MAX_MSG_SIZE + 1,
	  .status = IB_WC_LOC_LEN_ERR },
	{ "no room for an atomic's result", IB_WR_ATOMIC_FETCH_AND_ADD, 7,
	  .status = IB_WC_LOC_LEN_ERR },
};

KT_ARRAY_PARAM(local, local_rows);

static void local_error_table(struct kunit *test)
{
	const struct local_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *good = connect(kt, &kt_default_conn);
	struct ib_mr *mr = kt_reg(kt, row->other_pd ? kt->other_pd : kt->pd,
				  KT_ALL_RIGHTS);
	struct ib_sge sge = {
		.addr = kt_va(mr, row->offset),
		.length = row->length,
		.lkey = mr->lkey ^ row->lkey_xor,
	};
	struct ib_atomic_wr wr = {
		.wr.wr_id = 1,
		.wr.opcode = row->opcode,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
	};

	KUNIT_ASSERT_EQ(test, ib_post_send(kt->qp->ibqp, &wr.wr, NULL), 0);
	post_write(kt, 2, good);
	expect_failed(kt, 1, row->status);
	expect_flushed(kt, 2);
	expect_none(kt);
}

static void local_error_of_read(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *read_only;

	connect(kt, &kt_default_conn);
	read_only = kt_reg(kt, kt->pd, IB_ACCESS_REMOTE_READ);
	post_read(kt, 1, read_only, 8);
	answer_read(kt, S, READ_ONLY, 8);
	expect_failed(kt, 1, IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, kt->mem[0], 0);
}

static void post_refused(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_sge sge[8] = {};
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.sg_list = sge,
		.wr.num_sge = 5,
	};
	const struct ib_send_wr *bad;
	struct ib_mr *mr;
	int i, err;

#define POST(want) do {							\
	bad = NULL;							\
	KUNIT_EXPECT_EQ(test, ib_post_send(kt->qp->ibqp, &wr.wr, &bad), want); \
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr.wr); \
} while (0)
	kt_create_qp(kt);
	wr.wr.num_sge = 0;
	POST(-EINVAL);			/* RESET */
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_INIT, &kt_default_conn), 0);
	POST(-EINVAL);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RTR, &kt_default_conn), 0);
	POST(-EINVAL);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RTS, &kt_default_conn), 0);
	wr.wr.num_sge = 5;
	POST(-EINVAL);
	wr.wr.num_sge = -1;
	POST(-EINVAL);
	wr.wr.num_sge = 1;
	wr.wr.opcode = IB_WR_RDMA_READ_WITH_INV;
	POST(-EOPNOTSUPP);
	wr.wr.opcode = 0x7f;
	POST(-EOPNOTSUPP);
	/* Kernel consumers cannot request the only byte order of results. */
	kt->dev->reply_be = true;
	wr.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD;
	POST(-EOPNOTSUPP);
	wr.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
	POST(-EOPNOTSUPP);
	kt->dev->reply_be = false;
#undef POST
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_refused_verbs), 9ULL);

	/* The ring has room again when requests have completed. */
	mr = kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
	for (i = 0, err = 0; i < 1000 && !err; i++)
		err = kt_post_rdma(kt, IB_WR_RDMA_WRITE, i, mr, 0, 4, 0);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_EQ(test, i - 1, (int)kt->qp->req.entries);
	answer(kt, S, KT_ACK);
	err = kt_post_rdma(kt, IB_WR_RDMA_WRITE, i, mr, 0, 4, 0);
	KUNIT_EXPECT_EQ(test, err, 0);
	err = kt_post_rdma(kt, IB_WR_RDMA_WRITE, i, mr, 0, 4, 0);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
}

/* ---- local operations --------------------------------------------------- */

/* Local operations wait for earlier requests, and need no response. */
static void local_op_in_order(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct ib_reg_wr reg = {
		.wr.wr_id = 3,
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = mr,
		.key = ib_inc_rkey(mr->rkey),
		.access = KT_ALL_RIGHTS,
	};
	struct mxe_mr *found;
	struct ib_wc wc;
	u32 key = mr->rkey;

	post_write(kt, 1, mr);
	KUNIT_ASSERT_EQ(test, post_local_inv(kt, 2, key), 0);
	ib_update_fast_reg_key(mr, reg.key);
	KUNIT_ASSERT_EQ(test, ib_post_send(kt->qp->ibqp, &reg.wr, NULL), 0);
	expect_sent(kt, KT_WRITE_ONLY, S);
	/* The WRITE may need the region for a retransmission. */
	answer(kt, S, KT_NAK_SEQ);
	expect_sent(kt, KT_WRITE_ONLY, S);
	expect_none(kt);
	answer(kt, S, KT_ACK);
	expect_success(kt, 1);
	wc = kt_poll(kt, kt->send_cq);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)wc.opcode, (int)IB_WC_LOCAL_INV);
	wc = kt_poll(kt, kt->send_cq);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)wc.opcode, (int)IB_WC_REG_MR);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_NULL(test, mxe_mr_get(kt->dev, key, NULL));
	found = mxe_mr_get(kt->dev, reg.key, NULL);
	KUNIT_ASSERT_NOT_NULL(test, found);
	mxe_mr_put(found);
	/* Local operations take no PSNs. */
	post_write(kt, 4, mr);
	expect_sent(kt, KT_WRITE_ONLY, S + 1);
	answer(kt, S + 1, KT_ACK);
	expect_success(kt, 4);
}

/* ---- flushing ----------------------------------------------------------- */

static void flush_in_order(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	int i;

	for (i = 0; i < 3; i++)
		post_write_flags(kt, i, mr, 0);
	post_atomic(kt, 3, mr);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_ERR, &kt_default_conn), 0);
	/* No work item is needed for any of these. */
	for (i = 0; i < 4; i++)
		expect_flushed(kt, i);
	expect_none(kt);
	/*
	 * Requests that are posted now are flushed too, and nothing is sent or
	 * answered.
	 */
	kt_drop_sent(kt);
	post_write(kt, 4, mr);
	KUNIT_ASSERT_EQ(test, post_local_inv(kt, 5, mr->rkey), 0);
	expect_flushed(kt, 4);
	expect_flushed(kt, 5);
	kt_settle(kt);
	answer(kt, S, KT_ACK);
	expect_none(kt);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_state), 1ULL);

	/* After RESET the QP works again, without its old requests. */
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RESET, &kt_default_conn), 0);
	kt_connect(kt, &kt_default_conn);
	post_write(kt, 6, mr);
	expect_sent(kt, KT_WRITE_ONLY, S);
	answer(kt, S, KT_ACK);
	expect_success(kt, 6);
	expect_none(kt);
}

/* ---- late work ---------------------------------------------------------- */

/* A work item that occupies mxe_qp_wq, which executes one at a time. */
struct blocker {
	struct work_struct work;
	struct completion release;
};

static void blocker_fn(struct work_struct *work)
{
	wait_for_completion(&container_of(work, struct blocker, work)->release);
}

static void block_work(struct blocker *blocker)
{
	init_completion(&blocker->release);
	INIT_WORK_ONSTACK(&blocker->work, blocker_fn);
	queue_work(mxe_qp_wq, &blocker->work);
}

/* Waits up to ten seconds for a packet, and lets the work items go on. */
static void await_sent(struct kt *kt, struct blocker *blocker)
{
	unsigned long end = jiffies + 10 * HZ;

	while (!kt_num_sent(kt) && time_before(jiffies, end))
		msleep(20);
	complete(&blocker->release);
	flush_work(&blocker->work);
	destroy_work_on_stack(&blocker->work);
}

/*
 * A consumer posts with interrupts disabled, which leaves the request to the
 * work item, and the work item does not get to run.
 */
static void late_work(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, &kt_default_conn);
	struct blocker blocker;
	unsigned long flags;

	block_work(&blocker);
	local_irq_save(flags);
	post_write(kt, 1, mr);
	local_irq_restore(flags);
	await_sent(kt, &blocker);
	expect_sent(kt, KT_WRITE_ONLY, S);
	/* The work item finds nothing left to do. */
	kt_settle(kt);
	kt_expect_nothing(kt);
	answer(kt, S, KT_ACK);
	expect_success(kt, 1);

	/* Nor is it needed to repeat a request. */
	post_write(kt, 2, mr);
	expect_sent(kt, KT_WRITE_ONLY, S + 1);
	block_work(&blocker);
	answer(kt, S + 1, RNR_NAK);
	await_sent(kt, &blocker);
	expect_sent(kt, KT_WRITE_ONLY, S + 1);
	kt_settle(kt);
	kt_expect_nothing(kt);
	answer(kt, S + 1, KT_ACK);
	expect_success(kt, 2);
	expect_none(kt);
}

/* ---- timers ------------------------------------------------------------- */

/*
 * The timeout is T, here 69 s. It doubles up to 4 T, and is T again after an
 * ACK.
 */
static void timer_backs_off(struct kunit *test)
{
	static const unsigned int factor[] = { 1, 2, 4, 4 };
	const u64 ns = 4096ULL << 24;
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	unsigned long before, t;
	struct timer_list *timer;
	struct mxe_requester *req;
	struct ib_mr *mr;
	int i;

	conn.timeout = 24;
	conn.retry_cnt = 7;
	mr = connect(kt, &conn);
	req = &kt->qp->req;
	timer = &req->retry_timer;
	before = jiffies;
	post_write(kt, 1, mr);
	for (i = 0; i < ARRAY_SIZE(factor); i++) {
		expect_sent(kt, KT_WRITE_ONLY, S);
		t = nsecs_to_jiffies(factor[i] * ns);
		/* jiffies may advance between any two of these lines. */
		KUNIT_EXPECT_LE(test, (long)(req->retry_at - jiffies), (long)t);
		KUNIT_EXPECT_GT(test, (long)(req->retry_at - before), (long)(t / 2));
		KUNIT_EXPECT_TRUE(test, timer_pending(timer));
		KUNIT_EXPECT_FALSE(test, time_after(timer->expires, req->retry_at));
		/* Let the timer expire now. */
		before = jiffies;
		req->retry_at = before;
		mod_timer(timer, before);
		wait_sent(kt, 1);
	}
	kt_drop_sent(kt);
	answer(kt, S, KT_ACK);
	expect_success(kt, 1);
	post_write(kt, 2, mr);
	KUNIT_EXPECT_LE(test, (long)(req->retry_at - jiffies), (long)t);
	KUNIT_EXPECT_FALSE(test, time_after(timer->expires, req->retry_at));
}

/*
 * A timer that was armed for an earlier request is extended to the present
 * deadline.
 */
static void timer_goes_on(struct kunit *test)
{
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	unsigned long old;
	struct mxe_requester *req;
	struct ib_mr *mr;
	int i;

	conn.timeout = 24;	/* 69 s */
	mr = connect(kt, &conn);
	req = &kt->qp->req;
	post_write(kt, 1, mr);
	kt_drop_sent(kt);
	old = req->retry_timer.expires;
	msleep(20);
	answer(kt, S, KT_ACK);
	expect_success(kt, 1);
	KUNIT_EXPECT_FALSE(test, req->retry_armed);

	post_write(kt, 2, mr);
	expect_sent(kt, KT_WRITE_ONLY, S + 1);
	KUNIT_EXPECT_TRUE(test, time_after(req->retry_at, old));
	mod_timer(&req->retry_timer, jiffies);
	for (i = 0; i < 1000; i++) {
		if (req->retry_timer.expires == req->retry_at)
			break;
		usleep_range(1000, 2000);
	}
	KUNIT_EXPECT_LT(test, i, 1000);
	kt_expect_nothing(kt);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_retransmit_timeouts), 0ULL);
	req->retry_at = jiffies;
	mod_timer(&req->retry_timer, jiffies);
	wait_sent(kt, 1);
	expect_sent(kt, KT_WRITE_ONLY, S + 1);
}

static void rnr_retry_without_end(struct kunit *test)
{
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr;
	int i;

	conn.rnr_retry = 7;
	mr = connect(kt, &conn);
	post_write(kt, 1, mr);
	for (i = 0; i < 10; i++) {
		wait_sent(kt, 1);
		kt_drop_sent(kt);
		answer(kt, S, RNR_NAK);
	}
	wait_sent(kt, 1);
	answer(kt, S, KT_ACK);
	expect_success(kt, 1);
}

/*
 * Requests are in flight when kt_exit() destroys the QP and checks for leaks.
 */
static void destroy_with_timers_running(struct kunit *test)
{
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr;

	conn.timeout = TIMEOUT;
	mr = connect(kt, &conn);
	post_write(kt, 1, mr);
	post_atomic(kt, 2, mr);
	answer(kt, S, RNR_NAK);
	KUNIT_EXPECT_TRUE(test, kt->qp->req.rnr_wait);
}

static struct kunit_case complete_cases[] = {
	KUNIT_CASE_PARAM(complete_run, run_gen_params),
	KUNIT_CASE(send_write_fields),
	KUNIT_CASE(send_segments),
	KUNIT_CASE(send_inline_copies),
	KUNIT_CASE(send_window),
	KUNIT_CASE(send_drain),
	KUNIT_CASE_PARAM(send_atomic, atomic_gen_params),
	KUNIT_CASE(send_atomic_big_endian_reply),
	KUNIT_CASE(ack_asked_once),
	KUNIT_CASE(ack_asked_again),
	KUNIT_CASE(implied_nak_atomic),
	KUNIT_CASE(read_completes),
	KUNIT_CASE(read_resumes),
	KUNIT_CASE_PARAM(answer_is_fatal, answer_gen_params),
	KUNIT_CASE(answer_after_error),
	KUNIT_CASE_PARAM(local_error_table, local_gen_params),
	KUNIT_CASE(local_error_of_read),
	KUNIT_CASE(post_refused),
	KUNIT_CASE(local_op_in_order),
	KUNIT_CASE(flush_in_order),
	KUNIT_CASE(late_work),
	KUNIT_CASE(timer_backs_off),
	KUNIT_CASE(timer_goes_on),
	KUNIT_CASE(rnr_retry_without_end),
	KUNIT_CASE(destroy_with_timers_running),
	{}
};

static struct kunit_suite complete_suite = {
	.name = "mxe_complete",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = complete_cases,
};

kunit_test_suite(complete_suite);
