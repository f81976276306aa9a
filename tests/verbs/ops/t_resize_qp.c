// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that ibv_modify_qp() with IBV_QP_CAP resizes the queues of a QP in
 * every state, that requests in them are kept in their order, whether the
 * device has taken them or not, and that requests which are posted meanwhile
 * are executed exactly once. A refused call changes nothing.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include "dc.h"
#include "tap.h"
#include "vt.h"

enum { DEPTH = 16, CQE = 1024, ROUNDS = 200 };

static struct vt_dev *a, *b;

static int resize(struct vt_end *e, uint32_t max_send_wr, uint32_t max_recv_wr)
{
	struct ibv_qp_attr attr = {
		.cap = { .max_send_wr = max_send_wr, .max_recv_wr = max_recv_wr },
	};

	return ibv_modify_qp(e->qp, &attr, IBV_QP_CAP);
}

/* Makes room for the completions of longer queues. */
static void resize_cqs(struct vt_pair *p)
{
	if (ibv_resize_cq(p->a.cq, CQE) || ibv_resize_cq(p->b.cq, CQE) ||
	    ibv_resize_cq(p->a.rcq, CQE) || ibv_resize_cq(p->b.rcq, CQE))
		vt_bail("ibv_resize_cq");
}

static void open_pair(struct vt_pair *p, const struct vt_conf *conf)
{
	vt_pair_open(p, a, b, conf);
	resize_cqs(p);
}

static void is_size(struct vt_end *e, uint32_t max_send_wr, uint32_t max_recv_wr)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	is_int(ibv_query_qp(e->qp, &attr, IBV_QP_CAP, &init), 0, "query");
	is_int(init.cap.max_send_wr, max_send_wr, "... max_send_wr");
	is_int(init.cap.max_recv_wr, max_recv_wr, "... max_recv_wr");
}

static int send_number(struct vt_pair *p, uint32_t number)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_SEND_IMM, .wr_id = number, .imm = number, .sge = &sge,
		.num_sge = 1, .flags = IBV_SEND_SIGNALED,
	};

	return vt_post(&p->a, &wr);
}

/* Posts numbers to the send queue. Returns how many it takes. */
static uint32_t send_numbers(struct vt_pair *p, uint32_t first, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (send_number(p, first + i))
			break;
	return i;
}

/* Posts receive requests with these numbers. Returns how many are taken. */
static uint32_t receive_numbers(struct vt_pair *p, uint32_t first, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (vt_recv(&p->b, first + i, 64, 8))
			break;
	return i;
}

/* Counts completions of a queue that are successful and numbered in order. */
static uint32_t in_order(struct ibv_cq *cq, uint32_t first, uint32_t n)
{
	struct ibv_wc wc;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!vt_poll(cq, &wc, VT_MS))
			break;
		if (wc.status || wc.wr_id != first + i ||
		    (wc.opcode == IBV_WC_RECV && ntohl(wc.imm_data) != first + i)) {
			diag("completion %u: status %s, wr_id %" PRIu64, first + i,
			     vt_status(wc.status), wc.wr_id);
			break;
		}
	}
	return i;
}

/* Sends n messages one way and checks both ends. */
static bool delivers(struct vt_pair *p, uint32_t first, uint32_t n)
{
	return receive_numbers(p, first, n) == n && send_numbers(p, first, n) == n &&
	       in_order(p->a.cq, first, n) == n && in_order(p->b.rcq, first, n) == n;
}

/* ---- states -------------------------------------------------------------- */

static void test_states(const struct vt_conf *conf)
{
	struct ibv_device_attr caps;
	struct vt_pair p;

	is_int(ibv_query_device(a->ctx, &caps), 0, "ibv_query_device()");
	ok(caps.device_cap_flags & IBV_DEVICE_RESIZE_MAX_WR,
	   "the device resizes queues");
	vt_pair_create(&p, a, b, conf);
	resize_cqs(&p);
	is_size(&p.a, DEPTH, DEPTH);
	is_int(resize(&p.a, 30, 5), 0, "in RESET");
	is_size(&p.a, 32, 8);
	is_int(vt_to_init(&p.a, conf) ?: vt_to_init(&p.b, conf), 0, "to INIT");
	is_int(receive_numbers(&p, 0, DEPTH), DEPTH, "receives in INIT");
	is_int(vt_recv(&p.b, 99, 0, 8), ENOMEM, "... fill the queue");
	is_int(resize(&p.b, DEPTH, 2 * DEPTH), 0, "in INIT");
	is_int(receive_numbers(&p, DEPTH, 2 * DEPTH), DEPTH, "... doubles the queue");
	is_int(vt_to_rtr(&p.a, &p.b, conf) ?: vt_to_rtr(&p.b, &p.a, conf), 0, "to RTR");
	is_int(resize(&p.b, DEPTH, 64), 0, "in RTR");
	is_int(vt_to_rts(&p.a, conf) ?: vt_to_rts(&p.b, conf), 0, "to RTS");
	is_int(send_numbers(&p, 0, 32), 32, "32 messages");
	is_int(in_order(p.a.cq, 0, 32), 32, "... complete");
	is_int(in_order(p.b.rcq, 0, 32), 32, "... take the receives in their order");
	is_int(resize(&p.a, 1, 1), 0, "in RTS, to 1");
	is_size(&p.a, 1, 1);
	ok(delivers(&p, 0, 1), "... one message at a time");
	is_int(vt_to_state(&p.a, IBV_QPS_ERR), 0, "to ERR");
	is_int(resize(&p.a, 8, 8), 0, "in ERR");
	is_int(send_numbers(&p, 0, 8), 8, "... requests");
	for (int i = 0; i < 8; i++) {
		struct ibv_wc wc = { .status = IBV_WC_SUCCESS };

		ok(vt_poll(p.a.cq, &wc, VT_MS) && wc.status == IBV_WC_WR_FLUSH_ERR &&
		   wc.wr_id == (uint64_t)i, "... are flushed");
	}
	is_int(vt_recv(&p.a, 5, 0, 8), 0, "... a receive");
	{
		struct ibv_wc wc = { .status = IBV_WC_SUCCESS };

		ok(vt_poll(p.a.rcq, &wc, VT_MS) && wc.status == IBV_WC_WR_FLUSH_ERR,
		   "... is flushed");
	}
	is_int(vt_to_state(&p.a, IBV_QPS_RESET) ?: vt_to_state(&p.b, IBV_QPS_RESET), 0,
	       "to RESET");
	vt_pair_connect(&p, conf);
	ok(delivers(&p, 0, 8), "the queues keep their size after RESET");
	vt_pair_close(&p);
}

/* ---- requests that are kept ---------------------------------------------- */

/* In SQD, the device takes no requests, so they are in the ring. */
static void test_posted(const struct vt_conf *conf)
{
	struct vt_pair p;

	open_pair(&p, conf);
	ok(delivers(&p, 0, 11), "indices that are not 0");
	is_int(vt_to_state(&p.a, IBV_QPS_SQD), 0, "to SQD");
	is_int(receive_numbers(&p, 100, DEPTH), DEPTH, "receives");
	is_int(send_numbers(&p, 100, DEPTH + 1), DEPTH, "requests fill the queue");
	is_int(resize(&p.a, DEPTH / 2, DEPTH), EINVAL, "not to a shorter queue");
	is_size(&p.a, DEPTH, DEPTH);
	is_int(resize(&p.a, 4 * DEPTH, DEPTH), 0, "a longer queue");
	is_int(resize(&p.b, DEPTH, 4 * DEPTH), 0, "a longer receive queue");
	is_int(receive_numbers(&p, 100 + DEPTH, 3 * DEPTH), 3 * DEPTH, "more receives");
	is_int(send_numbers(&p, 100 + DEPTH, 3 * DEPTH + 1), 3 * DEPTH,
	       "more requests fill it");
	is_int(vt_to_state(&p.a, IBV_QPS_RTS), 0, "to RTS");
	is_int(in_order(p.a.cq, 100, 4 * DEPTH), 4 * DEPTH, "all complete in their order");
	is_int(in_order(p.b.rcq, 100, 4 * DEPTH), 4 * DEPTH, "... and arrive in it");
	is_int(resize(&p.a, DEPTH, DEPTH), 0, "the shorter queue, when it is empty");
	ok(delivers(&p, 0, DEPTH), "... delivers messages");
	vt_pair_close(&p);
}

/* Without receives at the peer, the device has taken and sent the requests. */
static void test_outstanding(const struct vt_conf *conf)
{
	struct vt_pair p;

	open_pair(&p, conf);
	ok(delivers(&p, 0, 5), "indices that are not 0");
	is_int(send_numbers(&p, 50, DEPTH), DEPTH, "messages without a receive");
	is_int(resize(&p.a, DEPTH / 2, DEPTH), EINVAL, "not to a shorter queue");
	is_int(resize(&p.a, 8 * DEPTH, DEPTH), 0, "a longer queue");
	is_int(send_numbers(&p, 50 + DEPTH, DEPTH), DEPTH, "more messages");
	is_int(receive_numbers(&p, 50, DEPTH), DEPTH, "receives");
	is_int(in_order(p.a.cq, 50, DEPTH), DEPTH, "the first complete");
	is_int(receive_numbers(&p, 50 + DEPTH, DEPTH), DEPTH, "more receives");
	is_int(in_order(p.a.cq, 50 + DEPTH, DEPTH), DEPTH, "the others complete");
	is_int(in_order(p.b.rcq, 50, 2 * DEPTH), 2 * DEPTH, "all arrive in their order");
	vt_pair_close(&p);
}

/* ---- concurrency --------------------------------------------------------- */

static struct vt_pair traffic;
static uint64_t posted;

/* Posts additions until stop. A full queue is not an error. */
static void *post_adds(void *arg)
{
	const bool *stop = arg;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		struct ibv_sge sge = vt_sge(&traffic.a, 0, 8);
		struct vt_wr wr = {
			.op = VT_FADD, .compare_add = 1, .sge = &sge, .num_sge = 1,
			.raddr = vt_addr(&traffic.b, 0), .rkey = traffic.b.mr->rkey,
			.wr_id = posted, .flags = IBV_SEND_SIGNALED,
		};

		if (!vt_post(&traffic.a, &wr))
			posted++;
	}
	return NULL;
}

static void test_traffic(const struct vt_conf *conf)
{
	uint64_t polled = 0;
	bool stop = false;
	pthread_t thread;
	struct ibv_wc wc;
	int failed = 0, resized = 0;
	bool good = true;

	open_pair(&traffic, conf);
	*vt_word(&traffic.b, 0) = 0;
	posted = 0;
	if (pthread_create(&thread, NULL, post_adds, &stop))
		vt_bail("pthread_create");
	while (resized < ROUNDS && good) {
		int err = resize(&traffic.a, resized & 1 ? 8 : 64, 16);

		/* More may be outstanding than fit in the shorter queue. */
		if (err && err != EINVAL)
			failed++;
		resized += !err;
		while (ibv_poll_cq(traffic.a.cq, 1, &wc) == 1)
			good = good && !wc.status && wc.wr_id == polled++;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	while (good && polled < posted) {
		good = vt_poll(traffic.a.cq, &wc, VT_MS) && !wc.status &&
		       wc.wr_id == polled;
		polled++;
	}
	is_int(failed, 0, "the queue is resized %d times under traffic", ROUNDS);
	ok(good, "... all requests complete in their order");
	is_u64(*vt_word(&traffic.b, 0), posted, "... each is executed once");
	vt_pair_close(&traffic);
}

/* ---- refused calls ------------------------------------------------------- */

static void test_refused(const struct vt_conf *conf)
{
	struct ibv_qp_attr attr = {
		.cap = { .max_send_wr = 32, .max_recv_wr = 32 },
		.qp_state = IBV_QPS_INIT,
	};
	struct ibv_device_attr caps;
	struct dc_target target;
	struct vt_pair p;

	is_int(ibv_query_device(a->ctx, &caps), 0, "ibv_query_device()");
	open_pair(&p, conf);
	is_int(resize(&p.a, (uint32_t)caps.max_qp_wr + 1, DEPTH), EINVAL,
	       "more send requests than max_qp_wr");
	is_int(resize(&p.a, DEPTH, (uint32_t)caps.max_qp_wr + 1), EINVAL,
	       "more receive requests");
	is_int(resize(&p.a, DEPTH, 0), EINVAL, "no receive queue any more");
	is_int(ibv_modify_qp(p.a.qp, &attr, IBV_QP_CAP | IBV_QP_STATE), EINVAL,
	       "together with another attribute");
	is_size(&p.a, DEPTH, DEPTH);
	ok(delivers(&p, 0, DEPTH), "... nothing has changed");
	is_int(resize(&p.a, (uint32_t)caps.max_qp_wr, (uint32_t)caps.max_qp_wr), 0,
	       "max_qp_wr in both");
	ok(delivers(&p, 0, DEPTH), "... delivers messages");
	vt_pair_close(&p);

	dc_target_open(&target, a, a, 1, false);
	is_int(ibv_modify_qp(target.qp, &attr, IBV_QP_CAP), EOPNOTSUPP,
	       "a DC target has no queues");
	dc_target_close(&target);
}

/* A QP with an SRQ has no receive queue to resize. */
static void test_srq(struct vt_conf conf)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 32, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(b->pd, &attr);
	struct vt_pair p;

	if (!srq)
		vt_bail("ibv_create_srq");
	conf.srq_b = srq;
	open_pair(&p, &conf);
	is_int(resize(&p.b, 32, 32), EINVAL, "a receive queue beside an SRQ");
	is_int(resize(&p.b, 32, 0), 0, "the send queue beside an SRQ");
	is_size(&p.b, 32, 0);
	vt_pair_close(&p);
	ibv_destroy_srq(srq);
}

int main(void)
{
	struct vt_conf conf = vt_defaults(), wide;

	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	conf.depth = DEPTH;
	conf.rnr_retry = 7;
	test_states(&conf);
	test_posted(&conf);
	test_outstanding(&conf);
	wide = conf;
	wide.max_atomic_arg = 32;
	wide.max_sge = 4;
	diag("entries with room for wide atomics");
	test_posted(&wide);
	test_outstanding(&wide);
	test_traffic(&conf);
	test_refused(&conf);
	test_srq(conf);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
