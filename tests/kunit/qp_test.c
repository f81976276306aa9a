// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that QPs are created, change their states, keep their attributes, and
 * reject invalid attributes.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/ip.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <rdma/ib_cache.h>

#include "harness.h"
#include "netns.h"
#include "queues/qp.h"
#include "queues/qp_verbs.h"

/* ---- states ------------------------------------------------------------ */

#define ALL_STATES	(IB_QPS_ERR + 1)

/* IBTA 10.3.1, figure of the RC state machine. */
static const bool allowed[ALL_STATES][ALL_STATES] = {
	[IB_QPS_RESET] = { [IB_QPS_RESET] = true, [IB_QPS_INIT] = true },
	[IB_QPS_INIT] = { [IB_QPS_RESET] = true, [IB_QPS_INIT] = true,
			  [IB_QPS_RTR] = true, [IB_QPS_ERR] = true },
	[IB_QPS_RTR] = { [IB_QPS_RESET] = true, [IB_QPS_RTS] = true,
			 [IB_QPS_ERR] = true },
	[IB_QPS_RTS] = { [IB_QPS_RESET] = true, [IB_QPS_RTS] = true,
			 [IB_QPS_SQD] = true, [IB_QPS_ERR] = true },
	[IB_QPS_SQD] = { [IB_QPS_RESET] = true, [IB_QPS_RTS] = true,
			 [IB_QPS_SQD] = true, [IB_QPS_ERR] = true },
	[IB_QPS_ERR] = { [IB_QPS_RESET] = true, [IB_QPS_ERR] = true },
};

static void go_to(struct kt *kt, enum ib_qp_state state)
{
	const struct kt_conn *conn = &kt_default_conn;

	KUNIT_ASSERT_EQ(kt->test, kt_modify(kt, IB_QPS_RESET, conn), 0);
	if (state >= IB_QPS_INIT)
		KUNIT_ASSERT_EQ(kt->test, kt_modify(kt, IB_QPS_INIT, conn), 0);
	if (state >= IB_QPS_RTR)
		KUNIT_ASSERT_EQ(kt->test, kt_modify(kt, IB_QPS_RTR, conn), 0);
	if (state >= IB_QPS_RTS)
		KUNIT_ASSERT_EQ(kt->test, kt_modify(kt, IB_QPS_RTS, conn), 0);
	if (state > IB_QPS_RTS)
		KUNIT_ASSERT_EQ(kt->test, kt_modify(kt, state, conn), 0);
	KUNIT_ASSERT_EQ(kt->test, (int)kt_state(kt), (int)state);
}

/* Everything that modify_qp may change. */
struct snapshot {
	struct ib_qp_attr attr;
	struct ib_qp_init_attr init;
	struct mxe_av av;
	struct mxe_resp_res *res;
	u32 dest_qpn, mtu, num_res;
};

static struct snapshot *snapshot(struct kt *kt)
{
	struct snapshot *s = kunit_kzalloc(kt->test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(kt->test, s);
	KUNIT_ASSERT_EQ(kt->test, ib_query_qp(kt->qp->ibqp, &s->attr,
					      ~0, &s->init), 0);
	s->av = kt->qp->av;
	s->res = kt->qp->resp.res;
	s->dest_qpn = kt->qp->dest_qpn;
	s->mtu = kt->qp->mtu;
	s->num_res = kt->qp->resp.num_res;
	return s;
}

static void expect_unchanged(struct kt *kt, struct snapshot *before)
{
	struct snapshot *now = snapshot(kt);

	KUNIT_EXPECT_EQ(kt->test, (int)now->attr.qp_state,
			(int)before->attr.qp_state);
	KUNIT_EXPECT_EQ(kt->test, memcmp(&now->attr, &before->attr,
					 sizeof(now->attr)), 0);
	KUNIT_EXPECT_EQ(kt->test, memcmp(&now->av, &before->av,
					 sizeof(now->av)), 0);
	KUNIT_EXPECT_PTR_EQ(kt->test, now->res, before->res);
	KUNIT_EXPECT_EQ(kt->test, now->dest_qpn, before->dest_qpn);
	KUNIT_EXPECT_EQ(kt->test, now->mtu, before->mtu);
	KUNIT_EXPECT_EQ(kt->test, now->num_res, before->num_res);
}

static void qp_transitions(struct kunit *test)
{
	static const enum ib_qp_state from_states[] = {
		IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD,
		IB_QPS_ERR,
	};
	struct kt *kt = kt_of(test);
	int i, to;

	kt_create_qp(kt);
	for (i = 0; i < ARRAY_SIZE(from_states); i++) {
		enum ib_qp_state from = from_states[i];

		for (to = 0; to < ALL_STATES; to++) {
			struct snapshot *before;
			int err;

			go_to(kt, from);
			before = snapshot(kt);
			err = kt_modify(kt, to, &kt_default_conn);
			KUNIT_EXPECT_EQ_MSG(test, err,
					    allowed[from][to] ? 0 : -EINVAL,
					    "%d to %d", from, to);
			if (err)
				expect_unchanged(kt, before);
			else
				KUNIT_EXPECT_EQ(test, (int)kt_state(kt), to);
		}
	}
}

static void qp_states_of_traffic(struct kunit *test)
{
	static const struct {
		enum ib_qp_state state;
		bool receive, send;
	} rows[] = {
		{ IB_QPS_RESET, false, false }, { IB_QPS_INIT, false, false },
		{ IB_QPS_RTR, true, false }, { IB_QPS_RTS, true, true },
		{ IB_QPS_SQD, true, true }, { IB_QPS_SQE, true, false },
		{ IB_QPS_ERR, false, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ_MSG(test, mxe_qp_can_receive(rows[i].state),
				    rows[i].receive, "state %d", rows[i].state);
		KUNIT_EXPECT_EQ_MSG(test, mxe_qp_can_send(rows[i].state),
				    rows[i].send, "state %d", rows[i].state);
	}
}

/*
 * RESET discards the path and the requests, which do not complete, and the QP
 * can be connected again.
 */
static void qp_reset_forgets(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct test_pkt send;
	struct ib_mr *mr;

	kt_create_qp(kt);
	mr = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	kt_connect(kt, &kt_default_conn);
	KUNIT_EXPECT_TRUE(test, kt->qp->av.valid);
	kt_post_write(kt, IB_WR_RDMA_WRITE, 1, mr, 4);
	kt_post_recv(kt, 2, mr, 0, 4);
	KUNIT_EXPECT_EQ(test, kt_sent(kt).opcode, KT_WRITE_ONLY);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RESET, &kt_default_conn), 0);
	KUNIT_EXPECT_FALSE(test, kt->qp->av.valid);
	kt_connect(kt, &kt_default_conn);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
	kt_settle(kt);
	kt_expect_nothing(kt);
	kt_expect_no_wc(kt, kt->send_cq);

	/* The next ones are the first of the new connection. */
	kt_post_write(kt, IB_WR_RDMA_WRITE, 3, mr, 4);
	KUNIT_EXPECT_EQ(test, kt_sent(kt).psn, KT_SQ_PSN);
	kt_expect_nothing(kt);
	kt_post_recv(kt, 4, mr, 0, 4);
	send = kt_pkt(kt, KT_SEND_ONLY, KT_RQ_PSN);
	send.payload_len = 4;
	kt_inject(kt, &send);
	kt_expect_wc(kt, kt->recv_cq, 4, IB_WC_SUCCESS);
	kt_expect_no_wc(kt, kt->recv_cq);
}

/* Checks the traffic class of a request and of an ACK. */
static void expect_tclass(struct kt *kt, struct ib_mr *mr, u8 tclass)
{
	struct test_pkt out = kt_pkt(kt, KT_SEND_ONLY, KT_RQ_PSN);
	struct kunit *test = kt->test;

	kt_post_write(kt, IB_WR_RDMA_WRITE, 1, mr, 4);
	KUNIT_EXPECT_EQ(test, kt_sent(kt).opcode, KT_WRITE_ONLY);
	KUNIT_EXPECT_EQ(test, ip_hdr(kt->last)->tos, tclass);
	out.ack_req = true;
	kt_inject(kt, &out);
	KUNIT_EXPECT_EQ(test, kt_sent(kt).opcode, IB_OPCODE_RC_ACKNOWLEDGE);
	KUNIT_EXPECT_EQ(test, ip_hdr(kt->last)->tos, tclass);
}

/*
 * RESET discards the cached headers, even if the next connection has the same
 * peer and the same numbers.
 */
static void qp_reset_forgets_headers(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr;
	u8 i;

	kt_create_qp(kt);
	mr = kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
	for (i = 1; i < 3; i++) {
		kt->tclass = i << 2;
		kt->qp->req.tx.progress = true;
		kt->qp->resp.tx.progress = true;
		kt_connect(kt, &kt_default_conn);
		KUNIT_EXPECT_FALSE(test, kt->qp->req.tx.progress);
		KUNIT_EXPECT_FALSE(test, kt->qp->resp.tx.progress);
		expect_tclass(kt, mr, kt->tclass);
		KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RESET,
						&kt_default_conn), 0);
	}
}

/*
 * RESET stops the timers, because a leftover one would use up a retry of the
 * next connection.
 */
static void qp_reset_stops_timers(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct mxe_requester *req;

	kt_create_qp(kt);
	req = &kt->qp->req;
	kt_connect(kt, &kt_default_conn);
	mod_timer(&req->retry_timer, jiffies + 100 * HZ);
	mod_timer(&req->rnr_timer, jiffies + 100 * HZ);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RESET, &kt_default_conn), 0);
	KUNIT_EXPECT_FALSE(test, timer_pending(&req->retry_timer));
	KUNIT_EXPECT_FALSE(test, timer_pending(&req->rnr_timer));
}

/* A late error, after RESET and a new start, has no effect. */
static void qp_reset_forgets_error(struct kunit *test)
{
	struct kt *kt = kt_of(test);

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	mxe_qp_send_begin(kt->qp);
	kt->qp->req.halted = true;
	kt->qp->req.pending = BIT(MXE_PENDING_ERROR);
	mxe_qp_send_end(kt->qp);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_ERR);

	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RESET, &kt_default_conn), 0);
	kt_connect(kt, &kt_default_conn);
	mxe_qp_error(kt->qp);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
}

/* A flow label of more than its 20 bits does not reach other fields. */
static void qp_flow_label(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	union ib_gid gid = {};
	struct mxe_av av;

	ipv6_addr_set_v4mapped(htonl(0x0a4d0002), (struct in6_addr *)&gid);
	rdma_ah_set_grh(&attr, &gid, 0xfff54321, kt_gid_index(kt), 64, 0x69);
	attr.grh.sgid_attr = rdma_get_gid_attr(&kt->dev->ibdev, 1,
					       attr.grh.sgid_index);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr.grh.sgid_attr));
	KUNIT_EXPECT_EQ(test, mxe_av_init(kt->dev, &av, &attr), 0);
	rdma_put_gid_attr(attr.grh.sgid_attr);
	KUNIT_EXPECT_EQ(test, av.flow_label, 0x54321U);
	KUNIT_EXPECT_EQ(test, av.tclass, 0x69);
}

static void qp_query_returns_attributes(struct kunit *test)
{
	const struct kt_conn conn = {
		.rq_psn = 0xfffffe,
		.sq_psn = 0xabcdef,
		.mtu = IB_MTU_2048,
		.access = IB_ACCESS_REMOTE_READ | IB_ACCESS_MW_BIND,
		.timeout = 31,
		.retry_cnt = 7,
		.rnr_retry = 6,
		.max_rd_atomic = MXE_MAX_RD_ATOMIC,
		.max_dest_rd_atomic = 1,
	};
	struct kt *kt = kt_of(test);
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	struct snapshot *s;

	kt_create_qp(kt);
	kt_connect(kt, &conn);
	s = snapshot(kt);
	KUNIT_EXPECT_EQ(test, (int)s->attr.qp_state, (int)IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, (int)s->attr.cur_qp_state, (int)IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, s->attr.rq_psn, 0xfffffeU);
	KUNIT_EXPECT_EQ(test, s->attr.sq_psn, 0xabcdefU);
	/* As ib_core queries for `rdma resource show`, of any process. */
	KUNIT_EXPECT_EQ(test, ib_query_qp(kt->qp->ibqp, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.rq_psn, 0U);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, 0U);
	KUNIT_EXPECT_EQ(test, (int)s->attr.path_mtu, (int)IB_MTU_2048);
	KUNIT_EXPECT_EQ(test, s->attr.qp_access_flags,
			(int)(IB_ACCESS_REMOTE_READ | IB_ACCESS_MW_BIND));
	KUNIT_EXPECT_EQ(test, s->attr.timeout, 31);
	KUNIT_EXPECT_EQ(test, s->attr.retry_cnt, 7);
	KUNIT_EXPECT_EQ(test, s->attr.rnr_retry, 6);
	KUNIT_EXPECT_EQ(test, s->attr.max_rd_atomic, MXE_MAX_RD_ATOMIC);
	KUNIT_EXPECT_EQ(test, s->attr.max_dest_rd_atomic, 1);
	KUNIT_EXPECT_EQ(test, s->attr.dest_qp_num, KT_PEER_QPN);
	KUNIT_EXPECT_EQ(test, s->attr.port_num, 1);
	KUNIT_EXPECT_EQ(test, (int)s->init.qp_type, (int)IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, (int)s->init.sq_sig_type, (int)IB_SIGNAL_REQ_WR);
	KUNIT_EXPECT_GE(test, s->init.cap.max_send_wr, 256U);
}

/* ---- refused attributes ------------------------------------------------ */

/* A transition that is valid except for one field or the mask. */
struct refuse_row {
	const char *desc;
	enum ib_qp_state to;
	int add, drop;		/* of the mask */
	size_t offset, size;	/* of the bad field, if any */
	u32 value;
	int err;		/* -EINVAL if 0 */
};

#define FIELD(field)	offsetof(struct ib_qp_attr, field)

static const struct refuse_row refuse_rows[] = {
	{ "INIT without P_Key", IB_QPS_INIT, 0, IB_QP_PKEY_INDEX },
	{ "INIT without port", IB_QPS_INIT, 0, IB_QP_PORT },
	{ "INIT without access", IB_QPS_INIT, 0, IB_QP_ACCESS_FLAGS },
	{ "INIT with path MTU", IB_QPS_INIT, IB_QP_PATH_MTU },
	{ "RTR without address", IB_QPS_RTR, 0, IB_QP_AV },
	{ "RTR without path MTU", IB_QPS_RTR, 0, IB_QP_PATH_MTU },
	{ "RTR without destination", IB_QPS_RTR, 0, IB_QP_DEST_QPN },
	{ "RTR without PSN", IB_QPS_RTR, 0, IB_QP_RQ_PSN },
	{ "RTR without responder depth", IB_QPS_RTR, 0,
	  IB_QP_MAX_DEST_RD_ATOMIC },
	{ "RTR without RNR timer", IB_QPS_RTR, 0, IB_QP_MIN_RNR_TIMER },
	{ "RTR with Q_Key", IB_QPS_RTR, IB_QP_QKEY },
	{ "RTS without PSN", IB_QPS_RTS, 0, IB_QP_SQ_PSN },
	{ "RTS without timeout", IB_QPS_RTS, 0, IB_QP_TIMEOUT },
	{ "RTS without retry count", IB_QPS_RTS, 0, IB_QP_RETRY_CNT },
	{ "RTS without RNR retry count", IB_QPS_RTS, 0, IB_QP_RNR_RETRY },
	{ "RTS without initiator depth", IB_QPS_RTS, 0, IB_QP_MAX_QP_RD_ATOMIC },
	{ "RTS with destination", IB_QPS_RTS, IB_QP_DEST_QPN },

	{ "P_Key index 1", IB_QPS_INIT, 0, 0, FIELD(pkey_index), 2, 1 },
	{ "paging on demand", IB_QPS_INIT, 0, 0, FIELD(qp_access_flags), 4,
	  IB_ACCESS_ON_DEMAND },
	{ "path MTU code 0", IB_QPS_RTR, 0, 0, FIELD(path_mtu), 4, 0 },
	{ "path MTU code 6", IB_QPS_RTR, 0, 0, FIELD(path_mtu), 4, 6 },
	{ "path MTU code -1", IB_QPS_RTR, 0, 0, FIELD(path_mtu), 4, -1 },
	{ "responder depth 129", IB_QPS_RTR, 0, 0, FIELD(max_dest_rd_atomic), 1,
	  MXE_MAX_RD_ATOMIC + 1 },
	{ "responder depth 255", IB_QPS_RTR, 0, 0, FIELD(max_dest_rd_atomic), 1,
	  255 },
	{ "RNR timer code 32", IB_QPS_RTR, 0, 0, FIELD(min_rnr_timer), 1, 32 },
	{ "timeout code 32", IB_QPS_RTS, 0, 0, FIELD(timeout), 1, 32 },
	{ "retry count 8", IB_QPS_RTS, 0, 0, FIELD(retry_cnt), 1, 8 },
	{ "RNR retry count 8", IB_QPS_RTS, 0, 0, FIELD(rnr_retry), 1, 8 },
	{ "initiator depth 129", IB_QPS_RTS, 0, 0, FIELD(max_rd_atomic), 1,
	  MXE_MAX_RD_ATOMIC + 1 },
	{ "another current state", IB_QPS_RTS, IB_QP_CUR_STATE, 0,
	  FIELD(cur_qp_state), 4, IB_QPS_SQD },

	{ "path migration state", IB_QPS_INIT, IB_QP_PATH_MIG_STATE,
	  .err = -EOPNOTSUPP },
	{ "sizes of the queues", IB_QPS_INIT, IB_QP_CAP, .err = -EOPNOTSUPP },
	{ "rate limit", IB_QPS_RTS, IB_QP_RATE_LIMIT, .err = -EOPNOTSUPP },
	{ "unknown attribute", IB_QPS_RTS, 1 << 30, .err = -EOPNOTSUPP },
};

KT_ARRAY_PARAM(refuse, refuse_rows);

static int good_mask(enum ib_qp_state to)
{
	switch (to) {
	case IB_QPS_INIT:
		return IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
		       IB_QP_ACCESS_FLAGS;
	case IB_QPS_RTR:
		return IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
		       IB_QP_DEST_QPN | IB_QP_RQ_PSN |
		       IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	default:
		return IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT |
		       IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
		       IB_QP_MAX_QP_RD_ATOMIC;
	}
}

/*
 * Returns attributes that are valid for every transition, with the address of a
 * QP that was connected.
 */
static struct ib_qp_attr *good_attr(struct kt *kt, enum ib_qp_state to)
{
	struct ib_qp_attr *attr = &snapshot(kt)->attr;

	attr->qp_state = to;
	attr->cur_qp_state = to - 1;
	attr->rq_psn = 0x777777;
	attr->sq_psn = 0x888888;
	attr->dest_qp_num = 0x999;
	attr->min_rnr_timer = 1;
	attr->timeout = 20;
	attr->path_mtu = IB_MTU_1024;
	attr->max_dest_rd_atomic = 9;
	attr->max_rd_atomic = 8;
	return attr;
}

static void set_field(struct ib_qp_attr *attr, const struct refuse_row *row)
{
	void *p = (void *)attr + row->offset;

	switch (row->size) {
	case 1:
		*(u8 *)p = row->value;
		break;
	case 2:
		*(u16 *)p = row->value;
		break;
	case 4:
		*(u32 *)p = row->value;
		break;
	}
}

static void qp_refused_attribute(struct kunit *test)
{
	const struct refuse_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct snapshot *before;
	struct ib_qp_attr *attr;
	u64 refused;
	int mask;

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	attr = good_attr(kt, row->to);
	go_to(kt, row->to - 1);

	refused = kt_counter(kt, MXE_CNT_refused_verbs);
	before = snapshot(kt);
	set_field(attr, row);
	mask = (good_mask(row->to) | row->add) & ~row->drop;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(kt->qp->ibqp, attr, mask),
			row->err ?: -EINVAL);
	expect_unchanged(kt, before);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_refused_verbs), refused + 1);

	/* Accepted without the bad attribute. */
	attr = memcpy(attr, good_attr(kt, row->to), sizeof(*attr));
	if (row->to != IB_QPS_RTR)
		KUNIT_EXPECT_EQ(test, ib_modify_qp(kt->qp->ibqp, attr,
						   good_mask(row->to)), 0);
}

/*
 * Attributes that the core rejects, or does not expect from kernel consumers.
 */
static void qp_refused_by_driver(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 2 };
	struct kt *kt = kt_of(test);
	struct snapshot *before;

	kt_create_qp(kt);
	before = snapshot(kt);
	KUNIT_EXPECT_EQ(test, mxe_modify_qp(kt->qp->ibqp, &attr,
					    good_mask(IB_QPS_INIT), NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, mxe_modify_qp(kt->qp->ibqp, &attr,
					    good_mask(IB_QPS_INIT) |
					    IB_QP_ALT_PATH, NULL), -EOPNOTSUPP);
	attr.port_num = 0;
	KUNIT_EXPECT_EQ(test, mxe_modify_qp(kt->qp->ibqp, &attr,
					    good_mask(IB_QPS_INIT), NULL),
			-EINVAL);
	expect_unchanged(kt, before);
}

/* The path MTU and the headers must fit into a frame of the netdev. */
static void qp_path_mtu_of_netdev(struct kunit *test)
{
	static const struct {
		unsigned int ndev_mtu;
		enum ib_mtu biggest;
	} rows[] = {
		{ 1500, IB_MTU_1024 }, { 4200, IB_MTU_4096 },
		{ 9000, IB_MTU_4096 }, { 2200, IB_MTU_2048 },
	};
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	int i;

	kt_create_qp(kt);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		WRITE_ONCE(kt->ndev->mtu, rows[i].ndev_mtu);
		go_to(kt, IB_QPS_INIT);
		if (rows[i].biggest < IB_MTU_4096) {
			conn.mtu = rows[i].biggest + 1;
			KUNIT_EXPECT_EQ(test, kt_modify(kt, IB_QPS_RTR, &conn),
					-EINVAL);
		}
		conn.mtu = rows[i].biggest;
		KUNIT_EXPECT_EQ(test, kt_modify(kt, IB_QPS_RTR, &conn), 0);
	}
}

/* ---- creation ---------------------------------------------------------- */

struct create_row {
	const char *desc;
	struct ib_qp_init_attr init;
	int err;
};

static const struct create_row create_rows[] = {
	{ "SMI", { .qp_type = IB_QPT_SMI }, -EOPNOTSUPP },
	{ "a second GSI", { .qp_type = IB_QPT_GSI }, -EBUSY },
	{ "unknown flag", { .qp_type = IB_QPT_RC, .create_flags = 1 << 29 },
	  -EOPNOTSUPP },
	{ "too many sends", { .qp_type = IB_QPT_RC,
			      .cap.max_send_wr = MXE_MAX_QP_WR + 1 }, -EINVAL },
	{ "far too many sends", { .qp_type = IB_QPT_RC,
				  .cap.max_send_wr = -1 }, -EINVAL },
	{ "too many receives", { .qp_type = IB_QPT_RC,
				 .cap.max_recv_wr = MXE_MAX_QP_WR + 1 },
	  -EINVAL },
	{ "too many gather entries", { .qp_type = IB_QPT_RC,
				       .cap.max_send_sge = MXE_MAX_SGE + 1 },
	  -EINVAL },
	{ "too many scatter entries", { .qp_type = IB_QPT_RC,
					.cap.max_recv_sge = MXE_MAX_SGE + 1 },
	  -EINVAL },
	{ "too much inline data", { .qp_type = IB_QPT_RC,
				    .cap.max_inline_data = MXE_MAX_INLINE + 1 },
	  -EINVAL },
	{ "the biggest", { .qp_type = IB_QPT_RC,
			   .cap = { MXE_MAX_QP_WR, MXE_MAX_QP_WR, MXE_MAX_SGE,
				    MXE_MAX_SGE, MXE_MAX_INLINE } }, 0 },
	{ "the smallest", { .qp_type = IB_QPT_RC }, 0 },
};

KT_ARRAY_PARAM(create, create_rows);

static void qp_create_table(struct kunit *test)
{
	const struct create_row *row = test->param_value;
	struct ib_qp_init_attr init = row->init;
	struct kt *kt = kt_of(test);
	struct ib_qp *ibqp;

	init.send_cq = kt->send_cq;
	init.recv_cq = kt->recv_cq;
	ibqp = ib_create_qp(kt->pd, &init);
	if (row->err) {
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ibqp), row->err);
		KUNIT_EXPECT_TRUE(test, xa_empty(&kt->dev->mnet->qps));
		return;
	}
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ibqp);
	kt->qp = to_mqp(ibqp);
	KUNIT_EXPECT_GE(test, init.cap.max_send_wr, row->init.cap.max_send_wr);
	KUNIT_EXPECT_GE(test, init.cap.max_recv_wr, row->init.cap.max_recv_wr);
	KUNIT_EXPECT_GE(test, init.cap.max_send_sge, row->init.cap.max_send_sge);
	KUNIT_EXPECT_GE(test, init.cap.max_inline_data,
			row->init.cap.max_inline_data);
	/* The numbers of the special QPs are not assigned. */
	KUNIT_EXPECT_GE(test, ibqp->qp_num, 2U);
	KUNIT_EXPECT_LT(test, ibqp->qp_num, 0xffffffU);
}

/* ---- destruction ------------------------------------------------------- */

struct gsi {
	struct ib_cqe cqe;
	struct ib_qp *ibqp;
	struct completion entered;
	bool destroyed;
	bool done;
	int err;
};

/* As that of ib_mad, posts a receive request for one that completed. */
static void gsi_handler(struct ib_cq *cq, struct ib_wc *wc)
{
	struct gsi *gsi = container_of(wc->wr_cqe, struct gsi, cqe);
	const struct ib_recv_wr wr = { .wr_cqe = &gsi->cqe };

	complete(&gsi->entered);
	msleep(200);
	if (READ_ONCE(gsi->destroyed))
		return;
	gsi->err = ib_post_recv(gsi->ibqp, &wr, NULL);
	WRITE_ONCE(gsi->done, true);
}

/*
 * ib_mad destroys QP 1 while its handler may be running.  Another UD QP stands
 * for it, because ib_mad has the only one of the device.
 */
static void qp_destroy_gsi(struct kunit *test)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_UD,
		.cap = { .max_recv_wr = 4, .max_recv_sge = 1 },
	};
	struct gsi gsi = { .cqe.done = gsi_handler };
	const struct ib_recv_wr wr = { .wr_cqe = &gsi.cqe };
	struct kt *kt = kt_of(test);
	struct ib_cq *cq;

	init_completion(&gsi.entered);
	cq = ib_alloc_cq(&kt->dev->ibdev, NULL, 16, 0,
			 IB_POLL_UNBOUND_WORKQUEUE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
	init.send_cq = cq;
	init.recv_cq = cq;
	gsi.ibqp = ib_create_qp(kt->pd, &init);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, gsi.ibqp);
	kt->qp = to_mqp(gsi.ibqp);
	KUNIT_EXPECT_EQ(test, kt_modify(kt, IB_QPS_INIT, &kt_default_conn), 0);
	KUNIT_EXPECT_EQ(test, ib_post_recv(gsi.ibqp, &wr, NULL), 0);
	KUNIT_EXPECT_EQ(test, kt_modify(kt, IB_QPS_ERR, &kt_default_conn), 0);
	wait_for_completion(&gsi.entered);

	kt->qp = NULL;
	gsi.ibqp->qp_type = IB_QPT_GSI;
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(gsi.ibqp), 0);
	WRITE_ONCE(gsi.destroyed, true);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(gsi.done));
	KUNIT_EXPECT_EQ(test, gsi.err, -EINVAL);
	ib_free_cq(cq);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(qp_transitions),
	KUNIT_CASE(qp_states_of_traffic),
	KUNIT_CASE(qp_reset_forgets),
	KUNIT_CASE(qp_reset_forgets_headers),
	KUNIT_CASE(qp_reset_stops_timers),
	KUNIT_CASE(qp_reset_forgets_error),
	KUNIT_CASE(qp_flow_label),
	KUNIT_CASE(qp_query_returns_attributes),
	KUNIT_CASE_PARAM(qp_refused_attribute, refuse_gen_params),
	KUNIT_CASE(qp_refused_by_driver),
	KUNIT_CASE(qp_path_mtu_of_netdev),
	KUNIT_CASE_PARAM(qp_create_table, create_gen_params),
	KUNIT_CASE(qp_destroy_gsi),
	{}
};

static struct kunit_suite qp_suite = {
	.name = "mxe_qp",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = qp_cases,
};

kunit_test_suite(qp_suite);
