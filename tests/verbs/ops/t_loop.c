// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that two queue pairs of one device exchange data without packets where
 * they may, that all other requests end as they do with packets, and that
 * nothing is lost when queue pairs post to each other from several threads or
 * when the responder is destroyed.
 *
 *	t_loop		the tests with one thread
 *	t_loop threads	the tests with several threads
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"
#include "vt.h"

#define WORD 0			/* offset of the word that atomics change */
#define PLACE 4096		/* offset of results */

static struct vt_dev *dev;

/* ---- counters ---------------------------------------------------------- */

static uint64_t counter(const char *name)
{
	return (uint64_t)vt_counter(vt_name_a(), name);
}

/*
 * Checks that n requests were executed without packets since the counter was
 * loops.
 */
static void are_direct(uint64_t loops, uint64_t n)
{
	if (!vt_has_loopback())
		n = 0;
	is_u64(counter("loop_requests") - loops, n, "... %llu without packets",
	       (unsigned long long)n);
}

/* ---- requests executed without packets --------------------------------- */

static void test_transfers(bool ipv6)
{
	static const enum vt_opcode ops[] = {
		VT_SEND, VT_SEND_IMM, VT_WRITE, VT_WRITE_IMM, VT_READ,
	};
	static const uint32_t lengths[] = { 0, 1, 8, 300, 5000, 100000 };
	uint64_t packets = counter("sent_pkts");
	uint64_t loops = counter("loop_requests");
	struct vt_conf conf = vt_defaults();
	uint64_t expected = 0;
	struct vt_pair p;

	conf.ipv6 = ipv6;
	conf.size = 128 * 1024;
	vt_pair_open(&p, dev, dev, &conf);
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(lengths); j++) {
			const char *wrong = vt_transfer(&p, ops[i], VT_WR,
							lengths[j], 0);

			expected++;
			ok(!wrong, "IPv%d %s of %u bytes: %s", ipv6 ? 6 : 4,
			   vt_op_name[ops[i]], lengths[j],
			   wrong ? wrong : "arrives");
		}
	}
	are_direct(loops, expected);
	ok((counter("sent_pkts") == packets) == vt_has_loopback(),
	   "... and packets are sent only by a module without a loopback path");
	vt_pair_close(&p);
}

static void test_inline(void)
{
	uint64_t loops = counter("loop_requests");
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	const char *wrong;

	conf.max_inline = 128;
	vt_pair_open(&p, dev, dev, &conf);
	wrong = vt_transfer(&p, VT_SEND, VT_POST_SEND, 100, IBV_SEND_INLINE);
	ok(!wrong, "inline SEND: %s", wrong ? wrong : "arrives");
	wrong = vt_transfer(&p, VT_WRITE, VT_WR, 64, IBV_SEND_INLINE);
	ok(!wrong, "inline WRITE: %s", wrong ? wrong : "arrives");
	are_direct(loops, 2);
	vt_pair_close(&p);
}

static void test_atomics(void)
{
	static const enum vt_opcode ops[] = {
		VT_CAS, VT_FADD, VT_MCAS, VT_MFADD,
	};
	uint64_t executed = counter("atomics_executed");
	uint64_t loops = counter("loop_requests");
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	uint64_t old;

	vt_pair_open(&p, dev, dev, &conf);
	*vt_word(&p.b, WORD) = 0xff;
	for (size_t i = 0; i < 4; i++) {
		struct vt_wr wr = {
			.op = ops[i], .via = VT_WR,
			.compare_add = ops[i] == VT_CAS ? 0xff : 1,
			.swap = 0x1ff, .compare_mask = 0x80,
			.swap_mask = 0xfff,
		};

		is_int(vt_atomic(&p, &wr, WORD, &old), IBV_WC_SUCCESS, "%s",
		       vt_op_name[ops[i]]);
	}
	are_direct(loops, 4);
	is_u64(counter("atomics_executed") - executed, 4, "... and the atomics are counted");
	/*
	 * The CAS turns 0xff into 0x1ff and the add makes it 0x200. The masked
	 * CAS compares only bit 7, which matches, and stores 0x1ff. The masked
	 * add drops the carry out of bit 7.
	 */
	is_u64(*vt_word(&p.b, WORD), 0x100, "the word after all of them");
	is_u64(old, 0x1ff, "the last result");
	vt_pair_close(&p);
}

static void test_self(void)
{
	struct vt_conf conf = vt_defaults();
	uint64_t loops;
	struct vt_pair p;

	memset(&p, 0, sizeof(p));
	vt_end_create(&p.a, dev, &conf, NULL, NULL);
	if (vt_to_init(&p.a, &conf) || vt_to_rtr(&p.a, &p.a, &conf) ||
	    vt_to_rts(&p.a, &conf))
		vt_bail("cannot connect a queue pair to itself");
	loops = counter("loop_requests");
	for (int i = 0; i < 3; i++) {
		static const enum vt_opcode ops[] = {
			VT_WRITE, VT_SEND, VT_MFADD,
		};
		struct ibv_sge sge = vt_sge(&p.a, 64, 8);
		struct vt_wr wr = {
			.op = ops[i], .via = VT_WR, .sge = &sge, .num_sge = 1,
			.raddr = vt_addr(&p.a, WORD), .rkey = p.a.mr->rkey,
			.compare_add = 5,
		};
		struct ibv_wc wc;

		if (ops[i] == VT_SEND)
			vt_recv(&p.a, 7, 128, 8);
		is_int(vt_do(&p.a, &wr, NULL), IBV_WC_SUCCESS,
		       "connected to itself: %s", vt_op_name[ops[i]]);
		if (ops[i] == VT_SEND)
			ok(vt_poll(p.a.rcq, &wc, VT_MS) && !wc.status &&
			   wc.wr_id == 7, "... and receives");
	}
	are_direct(loops, 3);
	is_u64(*vt_word(&p.a, WORD), 5, "... and the atomic adds");
	vt_end_close(&p.a);
}

/* ---- requests that need packets ---------------------------------------- */

enum spoil {
	NOTHING, RKEY, BEYOND, LKEY, OTHER_PD, MISALIGNED, NO_ACCESS,
	NO_DEPTH, NO_RECV, SHORT_RECV, BAD_RECV, IN_RESET, IN_INIT, IN_ERR,
	DESTROYED, OTHER_PSN, OTHER_MTU, OTHER_PEER,
};

struct refusal {
	enum vt_opcode op;
	enum spoil spoil;
	int status;
	const char *what;
};

static const struct refusal refusals[] = {
	{ VT_WRITE, RKEY, IBV_WC_REM_ACCESS_ERR, "WRITE, wrong key" },
	{ VT_READ, RKEY, IBV_WC_REM_ACCESS_ERR, "READ, wrong key" },
	{ VT_FADD, RKEY, IBV_WC_REM_ACCESS_ERR, "fetch-and-add, wrong key" },
	{ VT_MCAS, RKEY, IBV_WC_REM_ACCESS_ERR, "masked CAS, wrong key" },
	{ VT_WRITE, BEYOND, IBV_WC_REM_ACCESS_ERR, "WRITE, beyond the end" },
	{ VT_READ, BEYOND, IBV_WC_REM_ACCESS_ERR, "READ, beyond the end" },
	{ VT_MFADD, BEYOND, IBV_WC_REM_ACCESS_ERR, "atomic, beyond the end" },
	{ VT_WRITE, LKEY, IBV_WC_LOC_PROT_ERR, "WRITE, wrong local key" },
	{ VT_SEND, LKEY, IBV_WC_LOC_PROT_ERR, "SEND, wrong local key" },
	{ VT_READ, LKEY, IBV_WC_LOC_PROT_ERR, "READ, wrong local key" },
	{ VT_MFADD, LKEY, IBV_WC_LOC_PROT_ERR, "atomic, wrong local key" },
	{ VT_WRITE, OTHER_PD, IBV_WC_REM_ACCESS_ERR, "WRITE, other domain" },
	{ VT_MFADD, OTHER_PD, IBV_WC_REM_ACCESS_ERR, "atomic, other domain" },
	{ VT_MCAS, MISALIGNED, IBV_WC_REM_INV_REQ_ERR, "atomic, misaligned" },
	{ VT_WRITE, NO_ACCESS, IBV_WC_REM_INV_REQ_ERR, "WRITE not granted" },
	{ VT_READ, NO_ACCESS, IBV_WC_REM_INV_REQ_ERR, "READ not granted" },
	{ VT_MFADD, NO_ACCESS, IBV_WC_REM_INV_REQ_ERR, "atomic not granted" },
	{ VT_READ, NO_DEPTH, IBV_WC_LOC_QP_OP_ERR, "READ, depth 0" },
	{ VT_FADD, NO_DEPTH, IBV_WC_LOC_QP_OP_ERR, "atomic, depth 0" },
	{ VT_SEND, NO_RECV, IBV_WC_RNR_RETRY_EXC_ERR, "SEND, no receive" },
	{ VT_WRITE_IMM, NO_RECV, IBV_WC_RNR_RETRY_EXC_ERR,
	  "WRITE with immediate, no receive" },
	{ VT_SEND, SHORT_RECV, IBV_WC_REM_INV_REQ_ERR, "SEND, short receive" },
	{ VT_SEND, BAD_RECV, IBV_WC_REM_OP_ERR, "SEND, bad receive" },
	{ VT_WRITE, IN_RESET, IBV_WC_RETRY_EXC_ERR, "peer in RESET" },
	{ VT_MFADD, IN_INIT, IBV_WC_RETRY_EXC_ERR, "peer in INIT" },
	{ VT_MFADD, IN_ERR, IBV_WC_RETRY_EXC_ERR, "peer in ERR" },
	{ VT_MFADD, DESTROYED, IBV_WC_RETRY_EXC_ERR, "peer destroyed" },
	{ VT_WRITE, OTHER_PSN, IBV_WC_RETRY_EXC_ERR, "other sequence" },
	{ VT_MFADD, OTHER_MTU, IBV_WC_SUCCESS, "other path MTU" },
	{ VT_WRITE, OTHER_PEER, IBV_WC_RETRY_EXC_ERR,
	  "peer connected to another queue pair" },
};

/* The effects of a request. */
struct outcome {
	int status, recv_status, state_a, state_b;
	uint64_t word, place, atomics;
};

static int connect_b(struct vt_pair *p, const struct refusal *r,
		     struct vt_conf conf, const struct vt_end *other)
{
	if (r->spoil == OTHER_PSN)
		conf.psn += 1000;
	if (r->spoil == OTHER_MTU)
		conf.mtu = IBV_MTU_256;
	if (r->spoil == NO_ACCESS)
		conf.qp_access = IBV_ACCESS_LOCAL_WRITE;
	if (r->spoil == IN_RESET)
		return 0;
	if (vt_to_init(&p->b, &conf))
		return -1;
	if (r->spoil == IN_INIT)
		return 0;
	if (vt_to_rtr(&p->b, r->spoil == OTHER_PEER ? other : &p->a, &conf) ||
	    vt_to_rts(&p->b, &conf))
		return -1;
	return r->spoil == IN_ERR ? vt_to_state(&p->b, IBV_QPS_ERR) : 0;
}

static void post_receive(struct vt_pair *p, enum spoil spoil)
{
	struct ibv_sge sge = vt_sge(&p->b, 64, spoil == SHORT_RECV ? 4 : 8);

	if (spoil == NO_RECV || spoil == IN_RESET)
		return;
	if (spoil == BAD_RECV)
		sge.lkey ^= 0x5500;
	vt_recv_sge(&p->b, 1, &sge, 1);
}

/*
 * Returns the state. A queue pair that fails may enter ERR shortly after the
 * failure is visible elsewhere, so this waits for it.
 */
static int settled(struct vt_end *e, bool fails)
{
	for (int i = 0; fails && i < VT_MS && vt_state(e) != IBV_QPS_ERR; i++)
		usleep(1000);
	return vt_state(e);
}

static struct outcome refused(const struct refusal *r, bool direct)
{
	bool atomic = r->op >= VT_CAS;
	struct vt_conf conf = vt_defaults();
	uint64_t executed = counter("atomics_executed");
	struct outcome out = { .recv_status = -1, .state_b = -1 };
	struct ibv_mr *mr = NULL;
	struct ibv_pd *pd = NULL;
	struct vt_pair p;
	struct vt_end other;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vt_wr wr;

	vt_set_loopback(direct);
	/* Shorten the time-out only for requests that are to fail by it. */
	if (r->status == IBV_WC_RETRY_EXC_ERR) {
		conf.timeout = 13;	/* 34 ms */
		/* With DESTROYED, a request that succeeds precedes. */
		conf.retry_cnt = r->spoil == DESTROYED ? 7 : 2;
	}
	conf.rnr_retry = 1;
	conf.min_rnr_timer = 1;
	vt_pair_create(&p, dev, dev, &conf);
	vt_end_create(&other, dev, &conf, NULL, NULL);
	if (r->spoil == NO_DEPTH)
		conf.rd_atomic = 0;
	if (vt_to_init(&p.a, &conf) || vt_to_rtr(&p.a, &p.b, &conf) ||
	    vt_to_rts(&p.a, &conf) || connect_b(&p, r, conf, &other))
		vt_bail("cannot connect");
	post_receive(&p, r->spoil);

	memset(p.a.buf, 0x11, 256);
	memset(p.a.buf + PLACE, 0x22, 64);
	memset(p.b.buf, 0, 256);
	sge = vt_sge(&p.a, r->op == VT_READ || atomic ? PLACE : 0, 8);
	wr = (struct vt_wr){
		.op = r->op, .via = VT_WR, .sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&p.b, WORD), .rkey = p.b.mr->rkey,
		.compare_add = 1,
	};
	switch (r->spoil) {
	case RKEY:
		wr.rkey ^= 0x5500;
		break;
	case BEYOND:
		wr.raddr += p.b.size;
		break;
	case LKEY:
		sge.lkey ^= 0x5500;
		break;
	case MISALIGNED:
		wr.raddr += 4;
		break;
	case OTHER_PD:
		pd = ibv_alloc_pd(dev->ctx);
		mr = ibv_reg_mr(pd, p.b.buf, p.b.size, VT_ACCESS_ALL);
		if (!mr)
			vt_bail("cannot register");
		wr.rkey = mr->rkey;
		break;
	case DESTROYED:
		/* The look-up finds the peer once before its destruction. */
		if (vt_do(&p.a, &wr, NULL))
			vt_bail("cannot add");
		ibv_destroy_qp(p.b.qp);
		p.b.qp = NULL;
		break;
	default:
		break;
	}

	out.status = vt_do(&p.a, &wr, &wc);
	if (r->spoil == SHORT_RECV || r->spoil == BAD_RECV) {
		if (vt_poll(p.b.rcq, &wc, VT_MS))
			out.recv_status = wc.status;
	}
	out.state_a = settled(&p.a, out.status);
	if (p.b.qp)
		out.state_b = settled(&p.b, out.status == IBV_WC_REM_INV_REQ_ERR ||
				      out.status == IBV_WC_REM_ACCESS_ERR ||
				      out.status == IBV_WC_REM_OP_ERR);
	out.word = *vt_word(&p.b, WORD);
	out.place = *vt_word(&p.a, PLACE);
	out.atomics = counter("atomics_executed") - executed;
	if (mr) {
		ibv_dereg_mr(mr);
		ibv_dealloc_pd(pd);
	}
	vt_end_close(&other);
	vt_pair_close(&p);
	return out;
}

static void test_refusals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *r = &refusals[i];
		uint64_t loops = counter("loop_requests");
		struct outcome direct = refused(r, true), packets;

		/* DESTROYED has one request before the destruction. */
		is_u64(counter("loop_requests") - loops,
		       vt_has_loopback() && r->spoil == DESTROYED,
		       "%s: needs packets", r->what);
		packets = refused(r, false);
		is_int(direct.status, r->status, "... status %s",
		       vt_status(r->status));
		ok(!memcmp(&direct, &packets, sizeof(direct)),
		   "... with the same outcome as without the loopback path");
		if (memcmp(&direct, &packets, sizeof(direct)))
			diag("status %d %d, receive %d %d, states %d %d %d %d, word %" PRIx64 " %" PRIx64 ", place %" PRIx64 " %" PRIx64,
			     direct.status, packets.status, direct.recv_status,
			     packets.recv_status, direct.state_a,
			     packets.state_a, direct.state_b, packets.state_b,
			     direct.word, packets.word, direct.place,
			     packets.place);
	}
	vt_set_loopback(true);
}

/* Requests behind one that waits for a receive request keep their order. */
static void test_order(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_wc wc;
	bool good = true;

	conf.min_rnr_timer = 14;	/* 1 ms */
	conf.rnr_retry = 7;
	vt_pair_open(&p, dev, dev, &conf);
	for (uint64_t i = 0; i < 8; i++) {
		struct ibv_sge sge = vt_sge(&p.a, 64 * i, 8);
		struct vt_wr wr = {
			.op = i % 2 ? VT_MFADD : VT_SEND, .via = VT_WR,
			.wr_id = i, .flags = IBV_SEND_SIGNALED, .sge = &sge,
			.num_sge = 1, .raddr = vt_addr(&p.b, WORD),
			.rkey = p.b.mr->rkey, .compare_add = 1,
		};

		if (vt_post(&p.a, &wr))
			vt_bail("cannot post");
	}
	is_int(vt_poll(p.a.cq, &wc, 30), 0, "nothing passes a SEND that waits");
	is_u64(*vt_word(&p.b, WORD), 0, "... and no atomic is executed");
	for (uint64_t i = 0; i < 4; i++)
		vt_recv(&p.b, i, 1024 + 64 * i, 8);
	for (uint64_t i = 0; i < 8 && good; i++)
		good = vt_poll(p.a.cq, &wc, VT_MS) && !wc.status &&
		       wc.wr_id == i;
	ok(good, "... all of them complete in order");
	is_u64(*vt_word(&p.b, WORD), 4, "... and the atomics were executed once");
	vt_pair_close(&p);
}

/* Adds a fetch-and-add to a batch. */
static void add_one(struct vt_pair *p, uint64_t wr_id, uint32_t rkey, bool masked)
{
	p->a.qpx->wr_id = wr_id;
	p->a.qpx->wr_flags = IBV_SEND_SIGNALED;
	if (masked)
		mxedv_wr_masked_atomic_fetch_add(p->a.mqp, rkey, vt_addr(&p->b, WORD),
						 1, 1ull << 31);
	else
		ibv_wr_atomic_fetch_add(p->a.qpx, rkey, vt_addr(&p->b, WORD), 1);
	ibv_wr_set_sge(p->a.qpx, p->a.mr->lkey, vt_addr(&p->a, PLACE + 8 * wr_id), 8);
}

/*
 * One doorbell for atomics with a WRITE among them, and an atomic with an
 * invalid key behind them.
 */
static void test_batch(void)
{
	enum { WRITE_AT = 3, INVALID_AT = 6, NUM = 9 };
	uint64_t executed = counter("atomics_executed");
	struct vt_conf conf = vt_defaults();
	bool results = true, order = true;
	struct vt_pair p;
	struct ibv_wc wc;

	vt_pair_open(&p, dev, dev, &conf);
	ibv_wr_start(p.a.qpx);
	for (uint64_t i = 0; i < NUM; i++) {
		if (i != WRITE_AT) {
			add_one(&p, i, p.b.mr->rkey ^ (i == INVALID_AT), i % 2);
			continue;
		}
		p.a.qpx->wr_id = i;
		p.a.qpx->wr_flags = IBV_SEND_SIGNALED;
		*vt_word(&p.a, WORD) = 100;
		ibv_wr_rdma_write(p.a.qpx, p.b.mr->rkey, vt_addr(&p.b, WORD));
		ibv_wr_set_sge(p.a.qpx, p.a.mr->lkey, vt_addr(&p.a, WORD), 8);
	}
	is_int(ibv_wr_complete(p.a.qpx), 0, "%d requests are posted in one call", NUM);
	for (uint64_t i = 0; i < NUM && order; i++)
		order = vt_poll(p.a.cq, &wc, VT_MS) && wc.wr_id == i &&
			wc.status == (i < INVALID_AT ? IBV_WC_SUCCESS :
				      i == INVALID_AT ? IBV_WC_REM_ACCESS_ERR :
							IBV_WC_WR_FLUSH_ERR);
	ok(order, "... they complete in order, and those after an invalid key are flushed");
	for (uint64_t i = 0; i < INVALID_AT && results; i++)
		results = i == WRITE_AT ||
			  *vt_word(&p.a, PLACE + 8 * i) == (i < WRITE_AT ? i : 96 + i);
	ok(results, "... each atomic returns the value that its predecessors left");
	is_u64(*vt_word(&p.b, WORD), 102, "... and the word counts those before it");
	is_u64(counter("atomics_executed") - executed, 5, "... as the counter does");
	vt_pair_close(&p);
}

/* ---- several threads --------------------------------------------------- */

enum { THREADS = 4, WINDOW = 16 };

struct worker {
	pthread_t thread;
	struct vt_end *e;		/* posts */
	uint64_t raddr;			/* of the word */
	uint32_t rkey;
	_Atomic uint64_t added;		/* completed with success */
	uint64_t unknown;		/* completed otherwise */
	int last;			/* status */
};

static atomic_bool stop;

static int post_add(struct worker *w, uint64_t n)
{
	struct ibv_sge sge = vt_sge(w->e, PLACE + n % WINDOW * 8, 8);
	struct vt_wr wr = {
		.op = n % 2 ? VT_MFADD : VT_FADD, .via = VT_WR, .wr_id = n,
		.flags = IBV_SEND_SIGNALED, .sge = &sge, .num_sge = 1,
		.raddr = w->raddr, .rkey = w->rkey, .compare_add = 1,
	};

	/* WRITEs and READs between the atomics. */
	if (n % 5 == 3) {
		sge.length = 64;
		wr.op = VT_WRITE;
		wr.raddr += 64;
	} else if (n % 5 == 4) {
		sge.length = 64;
		wr.op = VT_READ;
		wr.raddr += 64;
	}
	return vt_post(w->e, &wr);
}

static void *work(void *arg)
{
	uint64_t posted = 0, done = 0;
	struct worker *w = arg;
	struct ibv_wc wc;

	while (!stop || done < posted) {
		while (!stop && posted - done < WINDOW) {
			if (post_add(w, posted))
				break;
			posted++;
		}
		if (done == posted)
			continue;
		if (!vt_poll(w->e->cq, &wc, VT_MS)) {
			w->last = -1;
			return NULL;
		}
		if (wc.wr_id != done) {
			w->last = -2;
			return NULL;
		}
		if (wc.status)
			w->last = wc.status;
		if (done % 5 < 3) {
			w->added += !wc.status;
			w->unknown += !!wc.status;
		}
		done++;
		/* In ERR all requests are flushed, so await all of them. */
		if (wc.status && done == posted)
			return NULL;
	}
	return NULL;
}

static void start(struct worker *w, struct vt_end *e, struct vt_end *at)
{
	*w = (struct worker){
		.e = e, .raddr = vt_addr(at, WORD), .rkey = at->mr->rkey,
	};
	if (pthread_create(&w->thread, NULL, work, w))
		vt_bail("pthread_create");
}

/* Both ends add to a word of the other at once. */
static void test_both_ways(bool moving)
{
	const char *what = moving ? " while direct_loop is toggled" : "";
	struct vt_conf conf = vt_defaults();
	struct worker w[2 * THREADS];
	struct vt_pair p[THREADS];
	uint64_t sum = 0, words = 0;
	bool good = true;

	stop = false;
	for (int i = 0; i < THREADS; i++) {
		vt_pair_open(&p[i], dev, dev, &conf);
		start(&w[2 * i], &p[i].a, &p[i].b);
		start(&w[2 * i + 1], &p[i].b, &p[i].a);
	}
	for (int i = 0; i < 40 || (w[0].added <= 100 && i < VT_MS / 25); i++) {
		usleep(25000);
		if (moving)
			vt_set_loopback(i % 2);
	}
	stop = true;
	vt_set_loopback(true);
	for (int i = 0; i < 2 * THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		good = good && !w[i].last;
		sum += w[i].added;
	}
	for (int i = 0; i < THREADS; i++) {
		words += *vt_word(&p[i].a, WORD) + *vt_word(&p[i].b, WORD);
		vt_pair_close(&p[i]);
	}
	ok(good, "%d queue pairs post to each other%s", 2 * THREADS, what);
	ok(sum > 100, "... %" PRIu64 " additions", sum);
	is_u64(words, sum, "... each executed once");
}

/* All threads add to one word. */
static void test_one_word(void)
{
	struct vt_conf conf = vt_defaults();
	struct worker w[THREADS];
	struct vt_pair p[THREADS];
	uint64_t sum = 0;
	bool good = true;

	stop = false;
	for (int i = 0; i < THREADS; i++)
		vt_pair_open(&p[i], dev, dev, &conf);
	for (int i = 0; i < THREADS; i++)
		start(&w[i], &p[i].a, &p[0].b);
	sleep(1);
	stop = true;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		good = good && !w[i].last;
		sum += w[i].added;
	}
	ok(good, "%d queue pairs add to one word", THREADS);
	is_u64(*vt_word(&p[0].b, WORD), sum, "... and each addition counts once");
	for (int i = 0; i < THREADS; i++)
		vt_pair_close(&p[i]);
}

/*
 * The responder is destroyed or moved to ERR or RESET under traffic. Each
 * addition that completed with success was executed. Those that failed may have
 * been executed.
 */
static void test_goes_away(int seconds)
{
	uint64_t end = vt_now_ms() + (uint64_t)seconds * 1000;
	struct vt_conf conf = vt_defaults();
	int rounds = 0, wrong = 0;

	conf.timeout = 8;
	conf.retry_cnt = 1;
	while (rounds <= 5 || vt_now_ms() < end) {
		struct worker w;
		struct vt_pair p;
		uint64_t word;

		stop = false;
		vt_pair_open(&p, dev, dev, &conf);
		start(&w, &p.a, &p.b);
		usleep((unsigned int)(vt_random_u64() % 3000));
		if (rounds % 3 == 0) {
			ibv_destroy_qp(p.b.qp);
			p.b.qp = NULL;
		} else {
			vt_to_state(&p.b, rounds % 3 == 1 ? IBV_QPS_ERR :
							    IBV_QPS_RESET);
		}
		usleep(1000);
		stop = true;
		pthread_join(w.thread, NULL);
		word = *vt_word(&p.b, WORD);
		if (w.last < 0 || word < w.added ||
		    word > w.added + w.unknown) {
			diag("round %d: last %d, word %" PRIu64 ", added %" PRIu64 ", unknown %" PRIu64,
			     rounds, w.last, word, w.added, w.unknown);
			wrong++;
		}
		vt_pair_close(&p);
		rounds++;
	}
	is_int(wrong, 0, "%d responders stop under traffic", rounds);
	ok(rounds > 5, "... often enough");
}

/*
 * Without the peer's address on this host, packets to it would leave the host.
 */
static void test_address_gone(void)
{
	static const char *const command[] = {
		"ip -n h1 addr del 10.77.0.1/24 dev eth0",
		"ip -n h1 addr add 10.77.0.1/24 dev eth0",
	};
	struct vt_conf conf = vt_defaults();
	struct vt_wr wr = { .op = VT_FADD, .compare_add = 1 };
	struct vt_pair p;
	uint64_t loops, old;

	conf.timeout = 13;
	conf.retry_cnt = 1;
	vt_pair_open(&p, dev, dev, &conf);
	is_int(vt_atomic(&p, &wr, WORD, &old), IBV_WC_SUCCESS,
	       "fetch-and-add with the peer's address on this host");
	loops = counter("loop_requests");
	if (system(command[0]))
		vt_bail("%s", command[0]);
	is_int(vt_atomic(&p, &wr, WORD, &old), IBV_WC_RETRY_EXC_ERR,
	       "... and without it the peer cannot be reached");
	is_u64(counter("loop_requests"), loops, "... or executed without packets");
	if (system(command[1]))
		vt_bail("%s", command[1]);
	vt_pair_close(&p);
}

int main(int argc, char **argv)
{
	bool threads = argc > 1 && !strcmp(argv[1], "threads");

	plan(0);
	dev = vt_open(vt_name_a());
	if (threads) {
		test_one_word();
		test_both_ways(false);
		test_both_ways(true);
		test_goes_away(3);
		goto out;
	}
	test_transfers(false);
	test_transfers(true);
	test_inline();
	test_atomics();
	test_self();
	test_refusals();
	test_order();
	test_batch();
	test_address_gone();
out:
	vt_close(dev);
	return done_testing();
}
