// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that every error status of a completion occurs when it should, and
 * checks the states of the QPs, the requests after the failed one, and
 * asynchronous events. Each invalid request is the first one of its QP, and
 * then follows valid ones on another QP, because later requests use caches and
 * shortcuts of the device.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "vt.h"

static struct vt_dev *a, *b;
static bool later;	/* invalid requests follow valid ones */

/* A request that must fail, on a pair of its own. */
struct bad {
	const char *what;
	enum vt_opcode op;
	int status;		/* of the requester's completion */
	int event;		/* at the responder; -1: none */
	int responder_state;
	unsigned int qp_access;
	unsigned int mr_access;
	uint64_t raddr_off;	/* added to the address of the buffer */
	uint32_t rkey_xor;
	uint32_t len;
	uint32_t lkey_xor;
	bool other_pd;		/* rkey of another protection domain */
};

#define SIZE 65536
#define NO_EVENT (-1)
#define READ_WRITE (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		    IBV_ACCESS_REMOTE_READ)

static const struct bad table[] = {
	{ .what = "RDMA WRITE, bad rkey", .op = VT_WRITE, .rkey_xor = 0xffff00,
	  .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "RDMA WRITE, rkey with a wrong key part", .op = VT_WRITE,
	  .rkey_xor = 1, .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "RDMA READ, bad rkey", .op = VT_READ, .rkey_xor = 0xffff00,
	  .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "FETCH_ADD, bad rkey", .op = VT_FADD, .rkey_xor = 0xffff00,
	  .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "masked CMP_SWAP, bad rkey", .op = VT_MCAS,
	  .rkey_xor = 0xffff00, .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "masked FETCH_ADD, bad rkey", .op = VT_MFADD,
	  .rkey_xor = 0xffff00, .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "RDMA WRITE, region of another protection domain",
	  .op = VT_WRITE, .other_pd = true, .len = 8,
	  .status = IBV_WC_REM_ACCESS_ERR, .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "masked FETCH_ADD, region of another protection domain",
	  .op = VT_MFADD, .other_pd = true, .len = 8,
	  .status = IBV_WC_REM_ACCESS_ERR, .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "RDMA WRITE, region not writable", .op = VT_WRITE,
	  .mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
	  .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "RDMA READ, region not readable", .op = VT_READ,
	  .mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	  .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "CMP_SWAP, region without atomics", .op = VT_CAS,
	  .mr_access = READ_WRITE, .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "masked CMP_SWAP, region without atomics", .op = VT_MCAS,
	  .mr_access = READ_WRITE, .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "RDMA WRITE, beyond the end", .op = VT_WRITE,
	  .raddr_off = SIZE - 4, .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "RDMA WRITE of several packets, the last beyond the end",
	  .op = VT_WRITE, .raddr_off = SIZE - 9000, .len = 9001,
	  .status = IBV_WC_REM_ACCESS_ERR, .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "RDMA READ, before the beginning", .op = VT_READ,
	  .raddr_off = -8ULL, .len = 16, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "masked FETCH_ADD, just beyond the end", .op = VT_MFADD,
	  .raddr_off = SIZE, .len = 8, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .what = "CMP_SWAP, misaligned by 1", .op = VT_CAS, .raddr_off = 1,
	  .len = 8, .status = IBV_WC_REM_INV_REQ_ERR,
	  .event = IBV_EVENT_QP_REQ_ERR },
	{ .what = "FETCH_ADD, misaligned by 4", .op = VT_FADD, .raddr_off = 4,
	  .len = 8, .status = IBV_WC_REM_INV_REQ_ERR,
	  .event = IBV_EVENT_QP_REQ_ERR },
	{ .what = "masked CMP_SWAP, misaligned by 4", .op = VT_MCAS,
	  .raddr_off = 4, .len = 8, .status = IBV_WC_REM_INV_REQ_ERR,
	  .event = IBV_EVENT_QP_REQ_ERR },
	{ .what = "masked FETCH_ADD, misaligned by 1", .op = VT_MFADD,
	  .raddr_off = 1, .len = 8, .status = IBV_WC_REM_INV_REQ_ERR,
	  .event = IBV_EVENT_QP_REQ_ERR },
	{ .what = "RDMA WRITE, queue pair without remote write",
	  .op = VT_WRITE, .qp_access = IBV_ACCESS_REMOTE_READ, .len = 8,
	  .status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR },
	{ .what = "RDMA READ, queue pair without remote read", .op = VT_READ,
	  .qp_access = IBV_ACCESS_REMOTE_WRITE, .len = 8,
	  .status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR },
	{ .what = "CMP_SWAP, queue pair without atomics", .op = VT_CAS,
	  .qp_access = READ_WRITE, .len = 8,
	  .status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR },
	{ .what = "masked FETCH_ADD, queue pair without atomics",
	  .op = VT_MFADD, .qp_access = READ_WRITE, .len = 8,
	  .status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR },
	{ .what = "RDMA WRITE, bad lkey", .op = VT_WRITE,
	  .lkey_xor = 0xffff00, .len = 8, .status = IBV_WC_LOC_PROT_ERR,
	  .event = NO_EVENT, .responder_state = IBV_QPS_RTS },
	{ .what = "SEND, bad lkey", .op = VT_SEND, .lkey_xor = 0xffff00,
	  .len = 8, .status = IBV_WC_LOC_PROT_ERR, .event = NO_EVENT,
	  .responder_state = IBV_QPS_RTS },
	{ .what = "RDMA READ, bad lkey", .op = VT_READ, .lkey_xor = 0xffff00,
	  .len = 8, .status = IBV_WC_LOC_PROT_ERR, .event = NO_EVENT,
	  .responder_state = IBV_QPS_RTS },
	{ .what = "masked CMP_SWAP, bad lkey", .op = VT_MCAS,
	  .lkey_xor = 0xffff00, .len = 8, .status = IBV_WC_LOC_PROT_ERR,
	  .event = NO_EVENT, .responder_state = IBV_QPS_RTS },
	{ .what = "masked FETCH_ADD, result of 4 bytes", .op = VT_MFADD,
	  .len = 4, .status = IBV_WC_LOC_LEN_ERR, .event = NO_EVENT,
	  .responder_state = IBV_QPS_RTS },
};

static void post_filler(struct vt_end *e, uint64_t wr_id)
{
	struct ibv_sge sge = vt_sge(e, 0, 8);
	struct vt_wr wr = {
		.op = VT_WRITE, .wr_id = wr_id, .sge = &sge, .num_sge = 1,
	};

	if (vt_post(e, &wr))
		vt_bail("post");
}

static bool flushed(struct ibv_cq *cq, uint64_t wr_id)
{
	struct ibv_wc wc;

	if (!vt_poll(cq, &wc, VT_MS)) {
		diag("  request %d was not flushed", (int)wr_id);
		return false;
	}
	if (wc.status != IBV_WC_WR_FLUSH_ERR || wc.wr_id != wr_id) {
		diag("  request %d: %s", (int)wc.wr_id, vt_status(wc.status));
		return false;
	}
	return true;
}

static void drain_async(struct vt_dev *dev)
{
	while (vt_async(dev, 0) >= 0)
		;
}

static const char *when(void)
{
	return later ? " after others" : "";
}

static void set_access(struct vt_end *e, unsigned int access)
{
	struct ibv_qp_attr attr = { .qp_access_flags = access };

	if (ibv_modify_qp(e->qp, &attr, IBV_QP_ACCESS_FLAGS))
		vt_bail("ibv_modify_qp: access flags");
}

/* Opens a pair. If the invalid request is a later one, executes valid ones. */
static void open_pair(struct vt_pair *p)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_sge sge;
	struct vt_wr wr = {
		.via = VT_WR, .flags = IBV_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1,
	};

	conf.size = SIZE;
	vt_pair_open(p, a, b, &conf);
	sge = vt_sge(&p->a, 0, 8);
	wr.raddr = vt_addr(&p->b, 0);
	wr.rkey = p->b.mr->rkey;
	for (int i = 0; later && i < 2; i++) {
		for (int op = VT_WRITE; op <= VT_MFADD; op++) {
			wr.op = op;
			if (op != VT_WRITE_IMM && vt_do(&p->a, &wr, NULL))
				vt_bail("operation %d", op);
		}
	}
}

/*
 * Checks that the request fails, that the memory is unchanged, and that later
 * requests are flushed.
 */
static void try_bad(const struct bad *t)
{
	static uint8_t before[SIZE];
	struct ibv_pd *pd = NULL;
	struct ibv_mr *mr = NULL;
	struct vt_pair p;
	struct ibv_sge sge;
	struct vt_wr wr = {
		.op = t->op,
		.via = t->op >= VT_MCAS ? VT_WR : VT_POST_SEND,
		.wr_id = 100, .sge = &sge, .num_sge = 1,
		.flags = IBV_SEND_SIGNALED,
		.compare_add = 0x0101010101010101, .compare_mask = 0x80,
		.swap = 1, .swap_mask = ~0ULL >> 1,
	};
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };
	int want_state = t->event == NO_EVENT ? t->responder_state :
						IBV_QPS_ERR;
	size_t same = SIZE;
	bool came, good;
	int event;

	open_pair(&p);
	if (t->qp_access)
		set_access(&p.b, t->qp_access);
	drain_async(b);
	mr = p.b.mr;
	if (t->other_pd || t->mr_access) {
		if (t->other_pd) {
			pd = ibv_alloc_pd(b->ctx);
			if (!pd)
				vt_bail("ibv_alloc_pd");
		}
		mr = ibv_reg_mr(pd ? pd : b->pd, p.b.buf, SIZE,
				(int)(t->mr_access ? t->mr_access :
						     VT_ACCESS_ALL));
		if (!mr)
			vt_bail("ibv_reg_mr");
	}
	memset(p.b.buf, 1, SIZE);
	memcpy(before, p.b.buf, SIZE);
	memset(p.a.buf, 2, SIZE);

	sge = vt_sge(&p.a, 0, t->len);
	sge.lkey ^= t->lkey_xor;
	wr.raddr = vt_addr(&p.b, 0) + t->raddr_off;
	wr.rkey = mr->rkey ^ t->rkey_xor;
	if (vt_recv(&p.b, 200, 0, 8) || vt_recv(&p.a, 300, 0, 8))
		vt_bail("ibv_post_recv");
	if (vt_post(&p.a, &wr))
		vt_bail("cannot post: %s", t->what);
	came = vt_poll(p.a.cq, &wc, VT_MS);
	if (!ok(came && (int)wc.status == t->status && wc.wr_id == 100, "%s%s: %s",
		t->what, when(), ibv_wc_status_str(t->status)))
		diag("  got: %s", vt_status(came ? (int)wc.status : -1));

	post_filler(&p.a, 101);
	good = flushed(p.a.cq, 101) && flushed(p.a.rcq, 300) &&
	       vt_state(&p.a) == IBV_QPS_ERR;
	event = vt_async(b, t->event == NO_EVENT ? 0 : VT_MS);
	if (event != t->event) {
		diag("  event %d, expected %d", event, t->event);
		good = false;
	}
	if ((int)vt_state(&p.b) != want_state) {
		diag("  responder in state %d", vt_state(&p.b));
		good = false;
	}
	if (want_state == IBV_QPS_ERR && !flushed(p.b.rcq, 200))
		good = false;
	/*
	 * Two failed requests may have changed memory: a long write, up to the
	 * bad packet, and an atomic whose result has no valid buffer, which is
	 * detected when the result arrives.
	 */
	if (t->len > 4096)
		same = SIZE - 9000;
	else if (t->lkey_xor && t->op >= VT_CAS)
		same = 0;
	if (memcmp(p.b.buf, before, same)) {
		diag("  memory changed");
		good = false;
	}
	ok(good, "... states, events, flushed requests, memory");

	if (mr != p.b.mr)
		ibv_dereg_mr(mr);
	vt_pair_close(&p);
	if (pd && ibv_dealloc_pd(pd))
		vt_bail("ibv_dealloc_pd");
	drain_async(a);
}

/* The remote address and the length wrap at 2^64. */
static void test_wrap(void)
{
	struct vt_pair p;
	struct ibv_sge sge;
	struct vt_wr wr = { .sge = &sge, .num_sge = 1 };

	for (int op = VT_WRITE; op <= VT_MFADD; op++) {
		if (op == VT_WRITE_IMM)
			continue;
		open_pair(&p);
		wr.op = op;
		wr.via = VT_WR;
		sge = vt_sge(&p.a, 0, op >= VT_CAS ? 8 : 4096);
		wr.raddr = op >= VT_CAS ? -8ULL : -2048ULL;
		wr.rkey = p.b.mr->rkey;
		is_int(vt_do(&p.a, &wr, NULL), IBV_WC_REM_ACCESS_ERR,
		       "operation %d at an address that wraps%s", op, when());
		vt_pair_close(&p);
	}
}

/* Local elements outside their region, or in one that may not be written. */
static void test_local(void)
{
	struct ibv_mr *mr;
	struct vt_pair p;
	struct ibv_sge sge;
	struct vt_wr wr = { .op = VT_WRITE, .sge = &sge, .num_sge = 1 };

	open_pair(&p);
	sge = vt_sge(&p.a, SIZE - 4, 8);
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	is_int(vt_do(&p.a, &wr, NULL), IBV_WC_LOC_PROT_ERR,
	       "element beyond the end of its region%s", when());
	vt_pair_close(&p);

	open_pair(&p);
	sge = vt_sge(&p.a, 0, 4096);
	sge.addr = -2048ULL;
	wr.rkey = p.b.mr->rkey;
	is_int(vt_do(&p.a, &wr, NULL), IBV_WC_LOC_PROT_ERR,
	       "element at an address that wraps%s", when());
	vt_pair_close(&p);

	for (int op = VT_READ; op <= VT_MFADD; op++) {
		open_pair(&p);
		mr = ibv_reg_mr(a->pd, p.a.buf, p.a.size, 0);
		if (!mr)
			vt_bail("ibv_reg_mr");
		sge = vt_sge(&p.a, 0, 8);
		sge.lkey = mr->lkey;
		wr.op = op;
		wr.via = VT_WR;
		wr.raddr = vt_addr(&p.b, 0);
		wr.rkey = p.b.mr->rkey;
		memset(p.a.buf, 0x77, 8);
		is_int(vt_do(&p.a, &wr, NULL), IBV_WC_LOC_PROT_ERR,
		       "result of operation %d into a read-only region%s", op,
		       when());
		is_u64(*vt_word(&p.a, 0), 0x7777777777777777, "... does not change it");
		ibv_dereg_mr(mr);
		vt_pair_close(&p);
	}
}

static void test_rnr(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_sge sge;
	struct vt_wr wr = {
		.op = VT_SEND, .flags = IBV_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1,
	};
	struct ibv_wc wc;

	conf.rnr_retry = 0;
	vt_pair_open(&p, a, b, &conf);
	sge = vt_sge(&p.a, 0, 100);
	is_int(vt_do(&p.a, &wr, NULL), IBV_WC_RNR_RETRY_EXC_ERR,
	       "receiver not ready, no retry");
	is_int(vt_state(&p.b), IBV_QPS_RTS, "... the receiver is still in RTS");
	vt_pair_close(&p);

	conf.rnr_retry = 2;
	vt_pair_open(&p, a, b, &conf);
	sge = vt_sge(&p.a, 0, 100);
	wr.op = VT_WRITE_IMM;
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	is_int(vt_do(&p.a, &wr, NULL), IBV_WC_RNR_RETRY_EXC_ERR,
	       "receiver not ready for a write with immediate, two retries");
	vt_pair_close(&p);

	conf.rnr_retry = 7;
	vt_pair_open(&p, a, b, &conf);
	sge = vt_sge(&p.a, 0, 9000);
	memset(p.a.buf, 0x3c, 9000);
	wr.op = VT_SEND;
	if (vt_post(&p.a, &wr))
		vt_bail("post");
	ok(!vt_poll(p.a.cq, &wc, 200), "rnr_retry 7 keeps trying");
	if (vt_recv(&p.b, 1, 0, 9000))
		vt_bail("ibv_post_recv");
	ok(vt_poll(p.a.cq, &wc, VT_MS) && wc.status == IBV_WC_SUCCESS,
	   "... and succeeds when a receive is posted");
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && wc.status == IBV_WC_SUCCESS &&
	   wc.byte_len == 9000 && !memcmp(p.a.buf, p.b.buf, 9000),
	   "... and the data is correct");
	vt_pair_close(&p);
}

/* Receives that cannot take their message. */
static void test_bad_recv(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_sge sge, to;
	struct vt_wr wr = { .op = VT_SEND, .sge = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	for (int len = 101; len <= 9000; len += 8899) {
		vt_pair_open(&p, a, b, &conf);
		drain_async(b);
		sge = vt_sge(&p.a, 0, (uint32_t)len);
		memset(p.b.buf, 0, 16384);
		memset(p.a.buf, 0xff, 16384);
		if (vt_recv(&p.b, 7, 0, (uint32_t)len - 1))
			vt_bail("ibv_post_recv");
		is_int(vt_do(&p.a, &wr, NULL), IBV_WC_REM_INV_REQ_ERR,
		       "%d bytes for a receive of %d: the sender's status", len,
		       len - 1);
		ok(vt_poll(p.b.rcq, &wc, VT_MS) && wc.wr_id == 7 &&
		   wc.status == IBV_WC_LOC_LEN_ERR, "... the receiver's status");
		is_int(p.b.buf[len - 1], 0,
		       "... nothing is written beyond the buffer");
		is_int(vt_state(&p.b), IBV_QPS_ERR, "... the receiver is in ERR");
		vt_pair_close(&p);
	}

	vt_pair_open(&p, a, b, &conf);
	sge = vt_sge(&p.a, 0, 100);
	to = vt_sge(&p.b, 0, 100);
	to.lkey ^= 0xffff00;
	if (vt_recv_sge(&p.b, 8, &to, 1))
		vt_bail("ibv_post_recv");
	is_int(vt_do(&p.a, &wr, NULL), IBV_WC_REM_OP_ERR,
	       "receive with a bad lkey: the sender's status");
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && wc.wr_id == 8 &&
	   wc.status == IBV_WC_LOC_PROT_ERR, "... the receiver's status");
	vt_pair_close(&p);
}

static void test_retry_exceeded(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_sge sge;
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .flags = IBV_SEND_SIGNALED,
		.sge = &sge, .num_sge = 1,
	};
	struct ibv_wc wc;
	uint64_t start;

	conf.timeout = 13;	/* 34 ms */
	conf.retry_cnt = 3;
	vt_pair_open(&p, a, b, &conf);
	if (ibv_destroy_qp(p.b.qp))
		vt_bail("ibv_destroy_qp");
	p.b.qp = NULL;
	sge = vt_sge(&p.a, 0, 8);
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	start = vt_now_ms();
	if (vt_post(&p.a, &wr) || vt_post(&p.a, &wr))
		vt_bail("post");
	ok(vt_poll(p.a.cq, &wc, VT_MS) && wc.status == IBV_WC_RETRY_EXC_ERR,
	   "the peer's queue pair is destroyed: %s",
	   ibv_wc_status_str(IBV_WC_RETRY_EXC_ERR));
	/* Four timeouts of at least 33.5 ms. */
	ok(vt_now_ms() - start >= 130, "... not before four time-outs");
	ok(flushed(p.a.cq, 0), "... the next request is flushed");
	vt_pair_close(&p);
}

static void test_flush(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	bool good = true;

	vt_pair_open(&p, a, b, &conf);
	for (uint64_t i = 0; i < 5; i++)
		if (vt_recv(&p.a, i, 0, 8))
			vt_bail("ibv_post_recv");
	is_int(vt_to_state(&p.a, IBV_QPS_ERR), 0, "to ERR");
	for (uint64_t i = 0; i < 5; i++)
		good = good && flushed(p.a.rcq, i);
	ok(good, "... flushes the receive queue, in order");
	good = true;
	for (uint64_t i = 0; i < 5; i++) {
		post_filler(&p.a, i);
		if (vt_recv(&p.a, 10 + i, 0, 8))
			vt_bail("ibv_post_recv");
	}
	for (uint64_t i = 0; i < 5; i++)
		good = good && flushed(p.a.cq, i) && flushed(p.a.rcq, 10 + i);
	ok(good, "requests posted in ERR are flushed, signalled or not");
	vt_pair_close(&p);

	/* Requests in flight to a peer that does not respond. */
	conf.timeout = 0;	/* no retransmit timer */
	vt_pair_open(&p, a, b, &conf);
	if (vt_to_state(&p.b, IBV_QPS_RESET))
		vt_bail("to RESET");
	for (uint64_t i = 0; i < 5; i++)
		post_filler(&p.a, i);
	is_int(vt_to_state(&p.a, IBV_QPS_ERR), 0, "to ERR, requests in flight");
	good = true;
	for (uint64_t i = 0; i < 5; i++)
		good = good && flushed(p.a.cq, i);
	ok(good, "... flushes the send queue");
	vt_pair_close(&p);
}

/* A queue pair that failed works again after RESET. */
static void test_recover(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .compare_add = 1,
	};
	struct vt_pair p;
	uint64_t old;

	vt_pair_open(&p, a, b, &conf);
	is_int(vt_atomic(&p, &wr, 4, &old), IBV_WC_REM_INV_REQ_ERR,
	       "a pair fails");
	vt_pair_reconnect(&p, &conf);
	*vt_word(&p.b, 8) = 41;
	is_int(vt_atomic(&p, &wr, 8, &old), IBV_WC_SUCCESS,
	       "... works again after RESET and a new connection");
	is_u64(old, 41, "... old value");
	is_u64(*vt_word(&p.b, 8), 42, "... new value");
	vt_pair_close(&p);
	drain_async(b);
}

static void test_too_long(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_sge sge[4];
	struct vt_wr wr = { .op = VT_WRITE, .sge = sge, .num_sge = 4 };

	vt_pair_open(&p, a, b, &conf);
	for (int i = 0; i < 4; i++) {
		sge[i] = vt_sge(&p.a, 0, 0);
		sge[i].length = b->max_msg_sz / 4 + 1;
	}
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	is_int(vt_do(&p.a, &wr, NULL), IBV_WC_LOC_LEN_ERR,
	       "a message longer than max_msg_sz, %u", b->max_msg_sz);
	vt_pair_close(&p);
}

/* Checks the errno values of refused posts. */
static void test_post_errors(void)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad = NULL;
	struct ibv_recv_wr rwr = { 0 }, *rbad = NULL;
	struct ibv_sge sge[33];
	struct vt_pair p;
	unsigned int posted = 0;
	int ret;

	vt_pair_create(&p, a, b, &conf);
	for (int i = 0; i < 33; i++)
		sge[i] = vt_sge(&p.a, 0, 1);
	is_int(ibv_post_send(p.a.qp, &wr, &bad), EINVAL,
	       "ibv_post_send() in RESET");
	ok(bad == &wr, "... sets bad_wr");
	is_int(ibv_post_recv(p.a.qp, &rwr, &rbad), EINVAL,
	       "ibv_post_recv() in RESET");
	vt_pair_connect(&p, &conf);

	wr.sg_list = sge;
	wr.num_sge = 33;
	is_int(ibv_post_send(p.a.qp, &wr, &bad), EINVAL,
	       "a send request with too many elements");
	wr.num_sge = 1;
	wr.opcode = (enum ibv_wr_opcode)77;
	is_int(ibv_post_send(p.a.qp, &wr, &bad), EINVAL,
	       "a send request with an unknown opcode");
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_INLINE;
	sge[0].length = 1 << 20;
	is_int(ibv_post_send(p.a.qp, &wr, &bad), EINVAL,
	       "a send request with too much inline data");

	/* The queue fills up because the peer does not respond. */
	vt_to_state(&p.b, IBV_QPS_RESET);
	sge[0].length = 1;
	wr.send_flags = 0;
	do
		ret = ibv_post_send(p.a.qp, &wr, &bad);
	while (!ret && ++posted < 100000);
	is_int(ret, ENOMEM, "a full send queue");
	ok(posted >= conf.depth && bad == &wr, "... after %u requests", posted);
	posted = 0;
	do
		ret = ibv_post_recv(p.a.qp, &rwr, &rbad);
	while (!ret && ++posted < 100000);
	is_int(ret, ENOMEM, "a full receive queue");
	ok(posted >= conf.depth && rbad == &rwr, "... after %u requests",
	   posted);
	vt_pair_close(&p);
}

int main(void)
{
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());

	for (int i = 0; i < 2; i++) {
		later = i;
		for (size_t j = 0; j < ARRAY_SIZE(table); j++)
			try_bad(&table[j]);
		test_wrap();
		test_local();
	}
	test_rnr();
	test_bad_recv();
	test_retry_exceeded();
	test_flush();
	test_recover();
	test_too_long();
	test_post_errors();

	vt_close(a);
	vt_close(b);
	return done_testing();
}
