// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the shortcut for the packets of atomics (wire_atomic.c) takes
 * plain packets, and leaves each other packet to the general path without
 * having changed anything.
 */
#include <linux/bottom_half.h>
#include <net/inet_ecn.h>

#include "dc.h"
#include "harness.h"
#include "icrc.h"
#include "psn.h"
#include "rndv.h"
#include "rx.h"
#include "send.h"
#include "wire_atomic.h"

#define OLD	5ULL
#define NEW	6ULL
#define WR_ID	17

/* Passes a packet to the shortcut as rx.c does.  Returns true if taken. */
static bool take_skb(struct kt *kt, struct sk_buff *skb)
{
	struct mxe_qp *qp = kt->qp;
	bool taken;

	local_bh_disable();
	taken = mxe_wire_atomic_accepts(qp, skb);
	if (taken && mxe_wire_atomic_is_response(skb)) {
		mxe_sq_begin(qp);
		taken = mxe_wire_atomic_response(qp, skb);
		mxe_sq_end(qp);
	} else if (taken) {
		mxe_rq_begin(qp);
		taken = mxe_wire_atomic_request(qp, skb);
		mxe_rq_end(qp);
	}
	kfree_skb(skb);
	local_bh_enable();
	return taken;
}

static bool take(struct kt *kt, const u8 *bth, size_t len, enum kt_spoil spoil)
{
	return take_skb(kt, kt_skb(kt, bth, len, spoil));
}

/* ---- states of a QP ------------------------------------------------------ */

/*
 * Changes a QP for a moment.  The test sets @qp->attr and all other members to
 * their former values.
 */
struct state_row {
	const char *desc;
	void (*change)(struct mxe_qp *qp, bool on);
	bool taken;
};

static void be_same(struct mxe_qp *qp, bool on)
{
}

static void be_dying(struct mxe_qp *qp, bool on)
{
	qp->dying = on;
}

static void be_in_err(struct mxe_qp *qp, bool on)
{
	qp->state = on ? IB_QPS_ERR : IB_QPS_RTS;
}

static void be_in_rtr(struct mxe_qp *qp, bool on)
{
	qp->state = on ? IB_QPS_RTR : IB_QPS_RTS;
	qp->rq.comm_est = false;
}

static void be_uc(struct mxe_qp *qp, bool on)
{
	qp->type = on ? IB_QPT_UC : IB_QPT_RC;
}

static void be_dc(struct mxe_qp *qp, bool on)
{
	static struct mxe_dc dc;

	static_branch_enable(&mxe_dc_used);
	qp->dc = on ? &dc : NULL;
}

static void have_tm(struct mxe_qp *qp, bool on)
{
	static struct mxe_rndv rndv;

	static_branch_enable(&mxe_tm_used);
	qp->rndv = on ? &rndv : NULL;
}

static void be_without_peer(struct mxe_qp *qp, bool on)
{
	qp->av.valid = !on;
}

static void halt_receiving(struct mxe_qp *qp, bool on)
{
	qp->rq.halted = on;
}

static void spend_budget(struct mxe_qp *qp, bool on)
{
	qp->rq.budget = on ? 0 : MXE_SLICE;
}

static void begin_message(struct mxe_qp *qp, bool on)
{
	qp->rq.msg = on ? MXE_OP_SEND : 0;
}

static void begin_read(struct mxe_qp *qp, bool on)
{
	qp->rq.read.active = on;
}

static void defer_request(struct mxe_qp *qp, bool on)
{
	if (on)
		__skb_queue_tail(&qp->rq.deferred, alloc_skb(8, GFP_ATOMIC));
	else
		kfree_skb(__skb_dequeue(&qp->rq.deferred));
}

static void deny_atomics(struct mxe_qp *qp, bool on)
{
	qp->attr.qp_access_flags ^= IB_ACCESS_REMOTE_ATOMIC;
}

static void have_no_resources(struct mxe_qp *qp, bool on)
{
	qp->rq.num_res = on ? 0 : kt_default_conn.max_dest_rd_atomic;
}

static void halt_sending(struct mxe_qp *qp, bool on)
{
	qp->sq.halted = on;
}

static void fail_later(struct mxe_qp *qp, bool on)
{
	qp->sq.local_error = on ? IB_WC_LOC_PROT_ERR : IB_WC_SUCCESS;
	qp->sq.local_error_at = qp->sq.next;
}

static void not_have_sent(struct mxe_qp *qp, bool on)
{
	qp->sq.sent_psn -= on ? 1 : -1;
}

static void wait_for_rnr(struct mxe_qp *qp, bool on)
{
	qp->sq.rnr_wait = on;
}

static void wait_for_window(struct mxe_qp *qp, bool on)
{
	qp->sq.window = on ? 0 : MXE_MAX_UNACKED;
}

static void spend_send_budget(struct mxe_qp *qp, bool on)
{
	qp->sq.budget = on ? 0 : MXE_SLICE;
}

static void have_no_slot(struct mxe_qp *qp, bool on)
{
	qp->sq.wr_mask = on ? 0 : KT_RING_ENTRIES - 1;
	qp->sq.tail -= on ? 1 : -1;
}

static void wait_for_responses(struct mxe_qp *qp, bool on)
{
	qp->sq.rd_atomic = on ? kt_default_conn.max_rd_atomic : 0;
}

static void have_no_sizes(struct mxe_qp *qp, bool on)
{
	qp->sq.atomic_log_sizes = on ? BIT(2) : BIT(2) | BIT(3);
}

static void have_no_opcode(struct mxe_qp *qp, bool on)
{
	qp->sq.opcodes ^= BIT(IB_WR_ATOMIC_FETCH_AND_ADD);
}

static void be_of_kernel(struct mxe_qp *qp, bool on)
{
	qp->is_user = !on;
}

/* Leaves the loopback path to find out that it does not exist. */
static void be_local(struct mxe_qp *qp, bool on)
{
	qp->sq.loopback.local = on;
	qp->sq.loopback.known = false;
}

/* The loopback path does not know yet that it may be used. */
static void reach_this_host(struct mxe_qp *qp, bool on)
{
	static __be32 peer;

	if (on)
		peer = qp->av.v4.daddr;
	qp->av.v4.daddr = on ? qp->av.v4.saddr : peer;
	mxe_tx_forget(&qp->sq.tx);
	qp->sq.loopback.local = false;
	qp->sq.loopback.known = false;
}

static void have_rewound(struct mxe_qp *qp, bool on)
{
	qp->sq.cur -= on ? 1 : -1;
}

static void drain(struct mxe_qp *qp, bool on)
{
	qp->state = on ? IB_QPS_SQD : IB_QPS_RTS;
}

/* ---- the ring of a process ----------------------------------------------- */

static struct mxe_sge *sge_of(struct kt_ring *ring, u32 index)
{
	return (struct mxe_sge *)ring->entry[index].data;
}

static void put_atomic(struct kt_ring *ring, u32 index, struct ib_mr *mr, u8 opcode)
{
	bool is_masked = opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP ||
			 opcode == IB_WR_MASKED_ATOMIC_FETCH_AND_ADD;

	ring->entry[index].wqe = (struct mxe_send_wqe) {
		.wr_id = index,
		.opcode = opcode,
		.flags = MXE_SEND_SIGNALED,
		.num_sge = 1,
		.log_arg_sz = is_masked ? 3 : 0,
		.remote_addr = KT_REMOTE_VA,
		.rkey = KT_REMOTE_KEY,
		.atomic.compare_add = 0x1111,
		.atomic.swap = 0x2222,
		.atomic.compare_add_mask = 0x3333,
		.atomic.swap_mask = 0x4444,
	};
	*sge_of(ring, index) = (struct mxe_sge) {
		.addr = kt_va(mr, 8 * index),
		.length = 8,
		.lkey = mr->lkey,
	};
}

/* Runs the shortcut as a doorbell does. */
static bool ring_doorbell(struct kt *kt)
{
	bool all;

	local_bh_disable();
	mxe_sq_begin_bh_off(kt->qp);
	all = mxe_wire_atomic_ring(kt->qp);
	mxe_sq_end_deferred(kt->qp);
	local_bh_enable();
	return all;
}

struct wqe_row {
	const char *desc;
	u8 opcode;
	u8 at;			/* byte of the WQE that is changed */
	u8 bits;		/* that are inverted */
	u8 bth_opcode;		/* of the packet; 0: left in the ring */
};

#define WQE_AT(member)	offsetof(struct mxe_send_wqe, member)

static const struct wqe_row wqe_rows[] = {
	{ "CmpSwap", IB_WR_ATOMIC_CMP_AND_SWP, .bth_opcode = KT_CSWAP },
	{ "FetchAdd", IB_WR_ATOMIC_FETCH_AND_ADD, .bth_opcode = KT_FADD },
	{ "masked CmpSwap", IB_WR_MASKED_ATOMIC_CMP_AND_SWP, .bth_opcode = KT_MCSWAP },
	{ "masked FetchAdd", IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, .bth_opcode = KT_MFADD },
	{ "fence, nothing to wait for", IB_WR_ATOMIC_FETCH_AND_ADD,
	  WQE_AT(flags), MXE_SEND_FENCE, KT_FADD },
	{ "SEND", IB_WR_SEND },
	{ "WRITE", IB_WR_RDMA_WRITE },
	{ "READ", IB_WR_RDMA_READ },
	{ "ATOMIC WRITE", MXE_WR_ATOMIC_WRITE },
	{ "unknown opcode", 255 },
	{ "inline", IB_WR_ATOMIC_FETCH_AND_ADD, WQE_AT(flags), MXE_SEND_INLINE },
	{ "DC", IB_WR_ATOMIC_FETCH_AND_ADD, WQE_AT(flags), MXE_SEND_DC },
	{ "own", IB_WR_ATOMIC_FETCH_AND_ADD, WQE_AT(flags), MXE_SEND_OWN },
	{ "no SGE", IB_WR_ATOMIC_FETCH_AND_ADD, WQE_AT(num_sge), 1 },
	{ "two SGEs", IB_WR_ATOMIC_FETCH_AND_ADD, WQE_AT(num_sge), 3 },
	{ "standard with size", IB_WR_ATOMIC_FETCH_AND_ADD, WQE_AT(log_arg_sz), 3 },
	{ "4 bytes", IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, WQE_AT(log_arg_sz), 1 },
	{ "SRQ number", IB_WR_ATOMIC_FETCH_AND_ADD, WQE_AT(remote_srqn), 1 },
	{ "reserved", IB_WR_ATOMIC_FETCH_AND_ADD, WQE_AT(reserved1), 1 },
	{ "short SGE", IB_WR_ATOMIC_FETCH_AND_ADD,
	  sizeof(struct mxe_send_wqe) + offsetof(struct mxe_sge, length), 15 },
	{ "long SGE", IB_WR_ATOMIC_FETCH_AND_ADD,
	  sizeof(struct mxe_send_wqe) + offsetof(struct mxe_sge, length) + 1, 8 },
};

KT_ARRAY_PARAM(wqe, wqe_rows);

/*
 * The packet is that of the general path, and a response completes the request.
 */
static void expect_sent(struct kt *kt, const struct wqe_row *row)
{
	struct kunit *test = kt->test;
	struct mxe_pkt pkt = kt_sent(kt);
	bool is_add = row->bth_opcode == KT_FADD || row->bth_opcode == KT_MFADD;
	struct mxe_pkt_out out;

	KUNIT_EXPECT_EQ(test, pkt.opcode, row->bth_opcode);
	KUNIT_EXPECT_EQ(test, pkt.psn, KT_SQ_PSN);
	KUNIT_EXPECT_TRUE(test, pkt.ack_req);
	KUNIT_EXPECT_EQ(test, pkt.va, KT_REMOTE_VA);
	KUNIT_EXPECT_EQ(test, pkt.rkey, KT_REMOTE_KEY);
	KUNIT_EXPECT_EQ(test, pkt.atomic.swap_add, is_add ? 0x1111ULL : 0x2222ULL);
	KUNIT_EXPECT_EQ(test, pkt.atomic.compare, is_add ? 0ULL : 0x1111ULL);
	if (pkt.flags & MXE_OP_MSKATOMICETH) {
		KUNIT_EXPECT_EQ(test, pkt.atomic.compare_mask, 0x3333ULL);
		KUNIT_EXPECT_EQ(test, pkt.atomic.swap_mask, is_add ? 0ULL : 0x4444ULL);
	}
	kt_expect_nothing(kt);
	out = kt_pkt(kt, IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE, KT_SQ_PSN);
	out.atomic_orig = NEW;
	kt_inject(kt, &out);
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, NEW);
	kt_expect_wc(kt, kt->send_cq, 0, IB_WC_SUCCESS);
}

static void wire_wqe(struct kunit *test)
{
	const struct wqe_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct kt_ring *ring = kt_ring_enter(kt);
	struct ib_mr *mr = kt_reg(kt, kt->pd, KT_ALL_RIGHTS);

	put_atomic(ring, 0, mr, row->opcode);
	((u8 *)&ring->entry[0])[row->at] ^= row->bits;
	ring->hdr.producer = 1;
	KUNIT_EXPECT_EQ(test, ring_doorbell(kt), !!row->bth_opcode);
	KUNIT_EXPECT_EQ(test, kt->qp->sq.fetched, (u32)!!row->bth_opcode);
	KUNIT_EXPECT_EQ(test, kt->qp->sq.max_psn, KT_SQ_PSN + !!row->bth_opcode);
	if (row->bth_opcode)
		expect_sent(kt, row);
	else
		kt_expect_nothing(kt);
	kt_ring_leave(kt);
}

static const struct state_row send_state_rows[] = {
	{ "usual", be_same, true },
	{ "SQD", drain },
	{ "ERR", be_in_err },
	{ "UC", be_uc },
	{ "DC", be_dc },
	{ "tag matching", have_tm },
	{ "kernel consumer", be_of_kernel },
	{ "loopback path", be_local },
#ifndef MXE_WITHOUT_LOOPBACK
	{ "new loopback path", reach_this_host },
#endif
	{ "halted", halt_sending },
	{ "failed request", fail_later },
	{ "RNR", wait_for_rnr },
	{ "rewound", have_rewound },
	{ "window", wait_for_window },
	{ "no budget", spend_send_budget },
	{ "no slot", have_no_slot },
	{ "max_rd_atomic", wait_for_responses },
	{ "no atomics of 8 bytes", have_no_sizes },
	{ "no such opcode", have_no_opcode },
};

KT_ARRAY_PARAM(send_state, send_state_rows);

static void wire_send_state(struct kunit *test)
{
	const struct state_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct kt_ring *ring = kt_ring_enter(kt);
	struct ib_mr *mr = kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
	bool all;

	put_atomic(ring, 0, mr, IB_WR_ATOMIC_FETCH_AND_ADD);
	ring->hdr.producer = 1;
	row->change(kt->qp, true);
	all = ring_doorbell(kt);
	row->change(kt->qp, false);
	KUNIT_EXPECT_EQ(test, all, row->taken);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), (unsigned int)row->taken);
	kt_ring_leave(kt);
}

/*
 * Sends the atomics before a WRITE, and no fenced one while others are in
 * flight.
 */
static void wire_batch(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct kt_ring *ring = kt_ring_enter(kt);
	struct ib_mr *mr = kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
	u32 i;

	for (i = 0; i < 4; i++)
		put_atomic(ring, i, mr, i == 2 ? IB_WR_RDMA_WRITE :
						 IB_WR_ATOMIC_FETCH_AND_ADD);
	ring->hdr.producer = 4;
	KUNIT_EXPECT_FALSE(test, ring_doorbell(kt));
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 2U);
	KUNIT_EXPECT_EQ(test, kt->qp->sq.rd_atomic, 2U);
	put_atomic(ring, 2, mr, IB_WR_ATOMIC_FETCH_AND_ADD);
	ring->entry[2].wqe.flags |= MXE_SEND_FENCE;
	KUNIT_EXPECT_FALSE(test, ring_doorbell(kt));
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 2U);
	/* More than the queue has entries: the general path reports that. */
	ring->entry[2].wqe.flags = 0;
	ring->hdr.producer = KT_RING_ENTRIES + 1;
	KUNIT_EXPECT_FALSE(test, ring_doorbell(kt));
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 2U);
	ring->hdr.producer = 4;
	KUNIT_EXPECT_TRUE(test, ring_doorbell(kt));
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 4U);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, kt_sent(kt).psn, KT_SQ_PSN + i);
	kt_ring_leave(kt);
}

/* A sent atomic starts the ACK timeout, and costs as much as its packet. */
static void wire_send_effects(struct kunit *test)
{
	struct kt_conn conn = kt_default_conn;
	struct kt *kt = kt_of(test);
	struct kt_ring *ring = kt_ring_enter(kt);
	struct ib_mr *mr = kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
	struct mxe_sq *sq = &kt->qp->sq;

	conn.timeout = 20;
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RESET, &conn), 0);
	kt_connect(kt, &conn);
	put_atomic(ring, 0, mr, IB_WR_ATOMIC_FETCH_AND_ADD);
	ring->hdr.producer = 1;
	sq->ack_left = true;
	local_bh_disable();
	mxe_sq_begin_bh_off(kt->qp);
	KUNIT_EXPECT_TRUE(test, mxe_wire_atomic_ring(kt->qp));
	KUNIT_EXPECT_EQ(test, sq->budget, MXE_SLICE - (s32)mxe_pkt_cost(0, 0));
	mxe_sq_end_deferred(kt->qp);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, sq->retry_armed);
	KUNIT_EXPECT_FALSE(test, sq->ack_left);
	KUNIT_EXPECT_EQ(test, sq->psn, KT_SQ_PSN + 1);
	KUNIT_EXPECT_EQ(test, sq->sent_psn, KT_SQ_PSN + 1);
	kt_drop_sent(kt);
	kt_ring_leave(kt);
}

/* ---- requests ------------------------------------------------------------ */

static struct ib_mr *connect(struct kt *kt)
{
	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	return kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
}

/* Builds a request that changes the word from OLD to NEW. */
static u8 *build_request(struct kt *kt, struct ib_mr *mr, u8 opcode, size_t *len)
{
	struct mxe_pkt_out out = kt_pkt(kt, opcode, KT_RQ_PSN);
	bool is_add = opcode == KT_FADD || opcode == KT_MFADD;

	out.va = kt_va(mr, 0);
	out.rkey = mr->rkey;
	out.atomic.swap_add = is_add ? NEW - OLD : NEW;
	out.atomic.compare = is_add ? 0 : OLD;
	out.atomic.swap_mask = opcode == KT_MCSWAP ? 0xff : 0;
	out.atomic.compare_mask = opcode == KT_MCSWAP ? 0xff : 0;
	*(u64 *)kt->mem = OLD;
	return kt_build(kt, &out, len);
}

static void expect_request(struct kt *kt, bool taken, bool expected)
{
	struct kunit *test = kt->test;

	KUNIT_EXPECT_EQ(test, taken, expected);
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, expected ? NEW : OLD);
	KUNIT_EXPECT_EQ(test, kt->qp->rq.epsn, KT_RQ_PSN + expected);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_rcvd_pkts), (u64)expected);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_atomics_executed), (u64)expected);
	KUNIT_EXPECT_FALSE(test, kt->qp->rq.halted);
	if (expected)
		kt_expect_atomic_ack(kt, KT_RQ_PSN, OLD, 1);
	else
		kt_expect_nothing(kt);
}

/* Bits of a packet that are inverted before its ICRC is computed. */
struct bits_row {
	const char *desc;
	u8 opcode;
	u8 at;			/* byte, counted from the BTH */
	u8 bits;
	bool taken;
};

static const struct bits_row request_rows[] = {
	{ "CmpSwap", KT_CSWAP, .taken = true },
	{ "FetchAdd", KT_FADD, .taken = true },
	{ "masked CmpSwap", KT_MCSWAP, .taken = true },
	{ "masked FetchAdd", KT_MFADD, .taken = true },
	{ "solicited", KT_FADD, 1, MXE_BTH_SE, true },
	{ "not migrated", KT_FADD, 1, MXE_BTH_MIGREQ, true },
	{ "limited member", KT_FADD, 2, 0x80, true },
	{ "no AckReq", KT_FADD, 8, 0x80, true },
	{ "FECN and BECN", KT_FADD, 4, 0xc0, true },
	{ "unused operand", KT_FADD, 39, 1, true },
	{ "XRC", KT_FADD, 0, MXE_TRANSPORT_XRC << 5 },
	{ "header version", KT_FADD, 1, 1 },
	{ "padding", KT_FADD, 1, 1 << MXE_BTH_PAD_SHIFT },
	{ "padding of a masked one", KT_MFADD, 1, 1 << MXE_BTH_PAD_SHIFT },
	{ "partition key, high byte", KT_FADD, 2, 0x40 },
	{ "partition key, low byte", KT_FADD, 3, 1 },
	{ "QP number, high byte", KT_FADD, 5, 1 },
	{ "QP number, low byte", KT_FADD, 7, 1 },
	{ "PSN before", KT_FADD, 10, 1 },
	{ "PSN behind", KT_FADD, 11, 1 },
	{ "address outside", KT_FADD, 12, 0x80 },
	{ "address misaligned", KT_FADD, 19, 1 },
	{ "address of a masked one misaligned", KT_MFADD, 19, 4 },
	{ "key, index", KT_FADD, 20, 1 },
	{ "key, low byte", KT_FADD, 23, 1 },
	{ "key of a masked one", KT_MCSWAP, 23, 1 },
	{ "format version", KT_MFADD, 24, 2 },
	{ "size", KT_MFADD, 25, 1 },
	{ "reserved, first byte", KT_MFADD, 26, 1 },
	{ "reserved, last byte", KT_MCSWAP, 27, 1 },
	{ "compare operand of an add", KT_MFADD, 43, 1 },
	{ "swap mask of an add", KT_MFADD, 44, 1 },
};

KT_ARRAY_PARAM(request, request_rows);

static void wire_request(struct kunit *test)
{
	const struct bits_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	size_t len;
	u8 *bth = build_request(kt, mr, row->opcode, &len);

	bth[row->at] ^= row->bits;
	expect_request(kt, take(kt, bth, len, KT_GOOD), row->taken);
}

static const struct state_row request_state_rows[] = {
	{ "usual", be_same, true },
	{ "dying", be_dying },
	{ "ERR", be_in_err },
	{ "first message in RTR", be_in_rtr },
	{ "UC", be_uc },
	{ "DC", be_dc },
	{ "no address", be_without_peer },
	{ "halted", halt_receiving },
	{ "no budget", spend_budget },
	{ "inside a message", begin_message },
	{ "READ in progress", begin_read },
	{ "deferred request", defer_request },
	{ "no right to atomics", deny_atomics },
	{ "no resources", have_no_resources },
};

KT_ARRAY_PARAM(request_state, request_state_rows);

static void wire_request_state(struct kunit *test)
{
	const struct state_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	size_t len;
	u8 *bth = build_request(kt, mr, KT_FADD, &len);
	bool taken;

	row->change(kt->qp, true);
	taken = take(kt, bth, len, KT_GOOD);
	row->change(kt->qp, false);
	expect_request(kt, taken, row->taken);
}

/* Appends bytes to a packet that are not in its linear part. */
static struct sk_buff *with_fragment(struct kt *kt, struct sk_buff *skb)
{
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(kt->test, page);
	skb_add_rx_frag(skb, 0, page, 0, 4, PAGE_SIZE);
	return skb;
}

/* The shortcut does not look at the options, so there are none. */
static struct sk_buff *with_options(struct sk_buff *skb, size_t len)
{
	u8 *bth = (u8 *)(udp_hdr(skb) + 1);
	__le32 icrc;

	ip_hdr(skb)->ihl = 6;
	local_bh_disable();
	icrc = mxe_icrc_ipv4(ip_hdr(skb), udp_hdr(skb), bth, len);
	local_bh_enable();
	put_unaligned(icrc, (__le32 *)(bth + len));
	return skb;
}

static void wire_request_packet(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	size_t len;
	u8 *bth = build_request(kt, mr, KT_FADD, &len);
	struct sk_buff *longer = kt_skb(kt, bth, len, KT_GOOD);

	KUNIT_ASSERT_GE(test, skb_tailroom(longer), 4);
	skb_put_zero(longer, 4);
	KUNIT_EXPECT_FALSE(test, take_skb(kt, longer));
	KUNIT_EXPECT_FALSE(test, take_skb(kt, with_fragment(kt, kt_skb(kt, bth, len, KT_GOOD))));
	KUNIT_EXPECT_FALSE(test, take_skb(kt, with_options(kt_skb(kt, bth, len, KT_GOOD), len)));
	KUNIT_EXPECT_FALSE(test, take(kt, bth, len - 4, KT_GOOD));
	KUNIT_EXPECT_FALSE(test, take(kt, bth, len, KT_BAD_ICRC));
	KUNIT_EXPECT_FALSE(test, take(kt, bth, len, KT_BAD_SOURCE));
	kt->tos = INET_ECN_CE;
	KUNIT_EXPECT_FALSE(test, take(kt, bth, len, KT_GOOD));
	kt->tos = INET_ECN_ECT_0;
	expect_request(kt, take(kt, bth, len, KT_GOOD), true);
}

/*
 * Turns a packet into one of IPv6 between the addresses of the QP. With another
 * @nexthdr than UDP, it claims to have an extension header.
 */
static struct sk_buff *to_ipv6(struct kt *kt, const u8 *bth, size_t len, u8 tclass,
			       u8 nexthdr)
{
	const struct mxe_av *av = &kt->qp->av;
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);
	struct ipv6hdr *ip6h;
	struct udphdr *udph;
	__le32 icrc;
	u8 *data;

	KUNIT_ASSERT_NOT_NULL(kt->test, skb);
	skb_reset_network_header(skb);
	ip6h = skb_put_zero(skb, sizeof(*ip6h));
	ip6_flow_hdr(ip6h, tclass, 0);
	ip6h->nexthdr = nexthdr;
	ip6h->saddr = av->v6.daddr;
	ip6h->daddr = av->v6.saddr;
	skb_set_transport_header(skb, sizeof(*ip6h));
	udph = skb_put_zero(skb, sizeof(*udph));
	data = skb_put_data(skb, bth, len);
	local_bh_disable();
	icrc = mxe_icrc_ipv6(ip6h, udph, data, len);
	local_bh_enable();
	skb_put_data(skb, &icrc, sizeof(icrc));
	skb->dev = kt->ndev;
	return skb;
}

/* Passes a packet to the general path. */
static void receive_ipv6(struct kt *kt, struct sk_buff *skb)
{
	local_bh_disable();
	rcu_read_lock();
	mxe_rx(kt->dev->mnet, skb, NULL);
	rcu_read_unlock();
	local_bh_enable();
}

/* The kernel of the test may have no IPv6, so only its reception is tested. */
static void wire_request_ipv6(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	struct mxe_av *av = &kt->qp->av;
	struct mxe_av saved = *av;
	struct sk_buff *skb;
	size_t len;
	u8 *bth = build_request(kt, mr, KT_FADD, &len);

	av->is_ipv4 = false;
	memset(&av->v6.saddr, 0xfd, sizeof(av->v6.saddr));
	memset(&av->v6.daddr, 0xfe, sizeof(av->v6.daddr));
	KUNIT_EXPECT_FALSE(test, take_skb(kt, to_ipv6(kt, bth, len, INET_ECN_CE, NEXTHDR_UDP)));
	skb = to_ipv6(kt, bth, len, 0, NEXTHDR_UDP);
	*(skb_tail_pointer(skb) - 1) ^= 1;
	KUNIT_EXPECT_FALSE(test, take_skb(kt, skb));
	skb = to_ipv6(kt, bth, len, 0, NEXTHDR_UDP);
	ipv6_hdr(skb)->saddr.s6_addr[15] ^= 1;
	KUNIT_EXPECT_FALSE(test, take_skb(kt, skb));
	KUNIT_EXPECT_FALSE(test, take_skb(kt, to_ipv6(kt, bth, len, 0, NEXTHDR_DEST)));
	receive_ipv6(kt, to_ipv6(kt, bth, len, 0, NEXTHDR_DEST));
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_length), 1ULL);
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, OLD);
	KUNIT_EXPECT_TRUE(test, take_skb(kt, to_ipv6(kt, bth, len, INET_ECN_ECT_0, NEXTHDR_UDP)));
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, NEW);
	*av = saved;
	kt_drop_sent(kt);
}

/* The word is misaligned in memory, or the key does not grant the access. */
static void wire_request_memory(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	struct ib_mr *other = kt_reg(kt, kt->other_pd, KT_ALL_RIGHTS);
	struct ib_mr *weak = kt_reg(kt, kt->pd, KT_ALL_RIGHTS & ~IB_ACCESS_REMOTE_ATOMIC);
	size_t len;
	u8 *bth;

	bth = build_request(kt, other, KT_FADD, &len);
	expect_request(kt, take(kt, bth, len, KT_GOOD), false);
	bth = build_request(kt, weak, KT_FADD, &len);
	expect_request(kt, take(kt, bth, len, KT_GOOD), false);
	bth = build_request(kt, mr, KT_FADD, &len);
	to_mmr(mr)->first_offset = 4;
	expect_request(kt, take(kt, bth, len, KT_GOOD), false);
	/* The word is aligned in memory, but its address is not. */
	((struct mxe_atomiceth *)(bth + sizeof(struct mxe_bth)))->va =
		cpu_to_be64(kt_va(mr, 4));
	expect_request(kt, take(kt, bth, len, KT_GOOD), false);
	bth = build_request(kt, mr, KT_FADD, &len);
	to_mmr(mr)->first_offset = 0;
	expect_request(kt, take(kt, bth, len, KT_GOOD), true);
}

/* The general path answers a duplicate with the stored result. */
static void wire_duplicate(struct kunit *test)
{
	const u8 opcodes[] = { KT_CSWAP, KT_FADD, KT_MCSWAP, KT_MFADD };
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	unsigned int i;
	size_t len;
	u8 *bth;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		bth = build_request(kt, mr, opcodes[i], &len);
		((struct mxe_bth *)bth)->apsn = cpu_to_be32(KT_RQ_PSN + i);
		KUNIT_EXPECT_TRUE(test, take(kt, bth, len, KT_GOOD));
		kt_expect_atomic_ack(kt, KT_RQ_PSN + i, OLD, i + 1);
		KUNIT_EXPECT_FALSE(test, take(kt, bth, len, KT_GOOD));
		kt_inject_bth(kt, bth, len, KT_GOOD);
		KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, NEW);
		kt_expect_atomic_ack(kt, KT_RQ_PSN + i, OLD, i + 1);
	}
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_duplicate_requests), (u64)i);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_atomics_executed), (u64)i);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_masked_atomics_executed), 2ULL);
}

/* The requests of a list cost as much as they do on the general path. */
static void wire_list(struct kunit *test)
{
	const unsigned int fit = MXE_SLICE / mxe_pkt_cost(0, 0);
	struct sk_buff *list = NULL, **end = &list;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	unsigned int i;
	size_t len;
	u8 *bth = build_request(kt, mr, KT_FADD, &len);

	for (i = 0; i < fit + 1; i++) {
		((struct mxe_bth *)bth)->apsn = cpu_to_be32(KT_RQ_PSN + i);
		*end = kt_skb(kt, bth, len, KT_GOOD);
		end = &(*end)->next;
	}
	local_bh_disable();
	mxe_rx(kt->dev->mnet, list, kt->qp);
	/* qp->work cannot have run yet. */
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_atomics_executed), (u64)fit);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&kt->qp->rq.deferred), 1U);
	local_bh_enable();
	kt_settle(kt);
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, OLD + fit + 1);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_rcvd_pkts), (u64)fit + 1);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), fit + 1);
	kt_drop_sent(kt);
}

/* ---- responses ----------------------------------------------------------- */

#define RESULT		0x0102030405060708ULL
#define UNTOUCHED	0x7777777777777777ULL

static void post(struct kt *kt, struct ib_mr *mr, enum ib_wr_opcode opcode,
		 u32 first_len, u32 lkey)
{
	struct ib_sge sge[2] = {
		{ kt_va(mr, 0), first_len, lkey },
		{ kt_va(mr, first_len), 8, lkey },
	};
	struct ib_atomic_wr wr = {
		.wr.wr_id = WR_ID,
		.wr.opcode = opcode,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = sge,
		.wr.num_sge = first_len < 8 ? 2 : 1,
		.remote_addr = KT_REMOTE_VA,
		.rkey = KT_REMOTE_KEY,
	};

	*(u64 *)kt->mem = UNTOUCHED;
	if (opcode == IB_WR_RDMA_READ)
		KUNIT_ASSERT_EQ(kt->test, kt_post_rdma(kt, opcode, WR_ID, mr, 0, 8,
						       IB_SEND_SIGNALED), 0);
	else
		KUNIT_ASSERT_EQ(kt->test, ib_post_send(kt->qp->ibqp, &wr.wr, NULL), 0);
	kt_drop_sent(kt);
}

static u8 *build_response(struct kt *kt, size_t *len)
{
	struct mxe_pkt_out out = kt_pkt(kt, IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
					KT_SQ_PSN);

	out.ack_req = false;
	out.atomic_orig = RESULT;
	return kt_build(kt, &out, len);
}

static void expect_response(struct kt *kt, bool taken, bool expected)
{
	struct kunit *test = kt->test;

	KUNIT_EXPECT_EQ(test, taken, expected);
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, expected ? RESULT : UNTOUCHED);
	KUNIT_EXPECT_EQ(test, kt->qp->sq.tail, (u32)expected);
	KUNIT_EXPECT_EQ(test, kt->qp->sq.una, KT_SQ_PSN + expected);
	KUNIT_EXPECT_EQ(test, kt->qp->sq.rd_atomic, (u32)!expected);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_rcvd_pkts), (u64)expected);
	if (expected)
		kt_expect_wc(kt, kt->send_cq, WR_ID, IB_WC_SUCCESS);
	else
		kt_expect_no_wc(kt, kt->send_cq);
	kt_expect_nothing(kt);
}

static const struct bits_row response_rows[] = {
	{ "response", .taken = true },
	{ "credits", .at = 12, .bits = 0x1f, .taken = true },
	{ "MSN", .at = 15, .bits = 0xff, .taken = true },
	{ "NAK", .at = 12, .bits = 0x60 },
	{ "RNR NAK", .at = 12, .bits = 0x20 },
	{ "reserved syndrome", .at = 12, .bits = 0x80 },
	{ "PSN before", .at = 9, .bits = 0x80 },
	{ "PSN behind", .at = 11, .bits = 1 },
	{ "header version", .at = 1, .bits = 1 },
	{ "padding", .at = 1, .bits = 1 << MXE_BTH_PAD_SHIFT },
	{ "partition key", .at = 3, .bits = 1 },
	{ "QP number", .at = 7, .bits = 1 },
};

KT_ARRAY_PARAM(response, response_rows);

static void wire_response(struct kunit *test)
{
	const struct bits_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	size_t len;
	u8 *bth;

	post(kt, mr, IB_WR_ATOMIC_FETCH_AND_ADD, 8, mr->lkey);
	bth = build_response(kt, &len);
	bth[row->at] ^= row->bits;
	expect_response(kt, take(kt, bth, len, KT_GOOD), row->taken);
}

static const struct state_row response_state_rows[] = {
	{ "usual", be_same, true },
	{ "dying", be_dying },
	{ "ERR", be_in_err },
	{ "UC", be_uc },
	{ "DC", be_dc },
	{ "no address", be_without_peer },
	{ "halted", halt_sending },
	{ "failed request", fail_later },
	{ "not sent", not_have_sent },
	{ "rewound", have_rewound },
};

KT_ARRAY_PARAM(response_state, response_state_rows);

static void wire_response_state(struct kunit *test)
{
	const struct state_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	size_t len;
	u8 *bth;
	bool taken;

	post(kt, mr, IB_WR_ATOMIC_FETCH_AND_ADD, 8, mr->lkey);
	bth = build_response(kt, &len);
	row->change(kt->qp, true);
	taken = take(kt, bth, len, KT_GOOD);
	row->change(kt->qp, false);
	expect_response(kt, taken, row->taken);
}

struct posted_row {
	const char *desc;
	enum ib_wr_opcode opcode;
	u32 first_len;
	u32 other_key;		/* bits of the key that are inverted */
	bool taken;
};

static const struct posted_row posted_rows[] = {
	{ "masked atomic", IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, 8, 0, true },
	{ "long SGE", IB_WR_ATOMIC_CMP_AND_SWP, 64, 0, true },
	{ "two SGEs", IB_WR_ATOMIC_CMP_AND_SWP, 4, 0 },
	{ "wrong key", IB_WR_ATOMIC_CMP_AND_SWP, 8, 1 },
	{ "READ", IB_WR_RDMA_READ, 8, 0 },
};

KT_ARRAY_PARAM(posted, posted_rows);

static void wire_response_posted(struct kunit *test)
{
	const struct posted_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	size_t len;
	u8 *bth;

	post(kt, mr, row->opcode, row->first_len, mr->lkey ^ row->other_key);
	bth = build_response(kt, &len);
	expect_response(kt, take(kt, bth, len, KT_GOOD), row->taken);
}

/* No request is outstanding, and the region has no right to be written. */
static void wire_response_refused(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr;
	size_t len;
	u8 *bth;

	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	mr = kt_reg(kt, kt->pd, IB_ACCESS_REMOTE_READ);
	bth = build_response(kt, &len);
	KUNIT_EXPECT_FALSE(test, take(kt, bth, len, KT_GOOD));
	post(kt, mr, IB_WR_ATOMIC_FETCH_AND_ADD, 8, mr->lkey);
	expect_response(kt, take(kt, bth, len, KT_GOOD), false);
}

/* A response has the effects of progress, and the byte order of the QP. */
static void wire_response_effects(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	struct mxe_sq *sq = &kt->qp->sq;
	size_t len;
	u8 *bth;

	post(kt, mr, IB_WR_ATOMIC_FETCH_AND_ADD, 8, mr->lkey);
	bth = build_response(kt, &len);
	kt->qp->be_reply = true;
	sq->retry_left = 0;
	sq->rnr_retry_left = 0;
	sq->rewound = true;
	sq->window = 8;
	KUNIT_EXPECT_TRUE(test, take(kt, bth, len, KT_GOOD));
	kt->qp->be_reply = false;
	KUNIT_EXPECT_EQ(test, *(__be64 *)kt->mem, cpu_to_be64(RESULT));
	KUNIT_EXPECT_EQ(test, (u32)sq->retry_left, kt_default_conn.retry_cnt);
	KUNIT_EXPECT_EQ(test, (u32)sq->rnr_retry_left, kt_default_conn.rnr_retry);
	KUNIT_EXPECT_FALSE(test, sq->rewound);
	KUNIT_EXPECT_EQ(test, sq->window, 9U);
	kt_expect_wc(kt, kt->send_cq, WR_ID, IB_WC_SUCCESS);
}

/* The response to an atomic of 4 bytes has the length of one of 8 bytes. */
static void wire_response_4_bytes(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct kt_ring *ring = kt_ring_enter(kt);
	struct ib_mr *mr = kt_reg(kt, kt->pd, KT_ALL_RIGHTS);
	size_t len;
	u8 *bth;

	put_atomic(ring, 0, mr, IB_WR_MASKED_ATOMIC_FETCH_AND_ADD);
	ring->entry[0].wqe.log_arg_sz = 2;
	ring->hdr.producer = 1;
	mxe_send_doorbell(kt->qp);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 1U);
	*(u64 *)kt->mem = UNTOUCHED;
	bth = build_response(kt, &len);
	KUNIT_EXPECT_FALSE(test, take(kt, bth, len, KT_GOOD));
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, UNTOUCHED);
	kt_drop_sent(kt);
	kt_ring_leave(kt);
}

/* A list with packets for both sides of the QP. Each side has its own lock. */
static void wire_both_sides(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt);
	struct sk_buff *list, **end = &list;
	size_t len, response_len;
	u8 *response, *bth;
	unsigned int i;

	post(kt, mr, IB_WR_ATOMIC_FETCH_AND_ADD, 8, mr->lkey);
	response = build_response(kt, &response_len);
	bth = build_request(kt, mr, KT_FADD, &len);
	/* The shortcut takes the first request and the first response. */
	for (i = 0; i < 6; i++) {
		*end = i % 3 < 2 ? kt_skb(kt, bth, len, KT_GOOD) :
				   kt_skb(kt, response, response_len, KT_GOOD);
		end = &(*end)->next;
	}
	local_bh_disable();
	mxe_rx(kt->dev->mnet, list, kt->qp);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_rcvd_pkts), 6ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_atomics_executed), 1ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_duplicate_requests), 3ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_unsolicited_response), 1ULL);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 4U);
	KUNIT_EXPECT_EQ(test, *(u64 *)kt->mem, RESULT);
	kt_expect_wc(kt, kt->send_cq, WR_ID, IB_WC_SUCCESS);
	kt_drop_sent(kt);
}

static struct kunit_case wire_atomic_cases[] = {
	KUNIT_CASE_PARAM(wire_wqe, wqe_gen_params),
	KUNIT_CASE_PARAM(wire_send_state, send_state_gen_params),
	KUNIT_CASE(wire_batch),
	KUNIT_CASE(wire_send_effects),
	KUNIT_CASE_PARAM(wire_request, request_gen_params),
	KUNIT_CASE_PARAM(wire_request_state, request_state_gen_params),
	KUNIT_CASE(wire_request_packet),
	KUNIT_CASE(wire_request_ipv6),
	KUNIT_CASE(wire_request_memory),
	KUNIT_CASE(wire_duplicate),
	KUNIT_CASE(wire_list),
	KUNIT_CASE_PARAM(wire_response, response_gen_params),
	KUNIT_CASE_PARAM(wire_response_state, response_state_gen_params),
	KUNIT_CASE_PARAM(wire_response_posted, posted_gen_params),
	KUNIT_CASE(wire_response_refused),
	KUNIT_CASE(wire_response_effects),
	KUNIT_CASE(wire_response_4_bytes),
	KUNIT_CASE(wire_both_sides),
	{}
};

static struct kunit_suite wire_atomic_suite = {
	.name = "mxe_wire_atomic",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = wire_atomic_cases,
};

kunit_test_suites(&wire_atomic_suite);
