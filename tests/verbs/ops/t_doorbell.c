// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that requests wait for their doorbell, that one doorbell works for
 * many QPs, and that a queue has space as soon as a completion is visible, even
 * if another thread has rung the doorbell.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"
#include "vt.h"

#define PAIRS 16

static struct vt_dev *a, *b;
static struct vt_pair pairs[PAIRS];
static uint64_t old[PAIRS];

/* Posts an atomic that adds 1 to the first word of the peer. */
static int post_add(int i, enum vt_via via)
{
	struct ibv_sge sge = vt_sge(&pairs[i].a, 8, 8);
	struct vt_wr wr = {
		.op = via == VT_WR ? VT_MFADD : VT_FADD,
		.via = via,
		.flags = IBV_SEND_SIGNALED,
		.wr_id = (uint64_t)i,
		.sge = &sge,
		.num_sge = 1,
		.raddr = vt_addr(&pairs[i].b, 0),
		.rkey = pairs[i].b.mr->rkey,
		.compare_add = 1,
		.compare_mask = 1ULL << 15,
	};

	return vt_post(&pairs[i].a, &wr);
}

static int ring(int from, int to)
{
	struct ibv_qp *qps[PAIRS];

	for (int i = from; i < to; i++)
		qps[i - from] = pairs[i].a.qp;
	return mxedv_ring_doorbells(a->ctx, qps, (uint32_t)(to - from));
}

static int count_done(int from, int to)
{
	struct ibv_wc wc;
	int done = 0;

	for (int i = from; i < to; i++)
		if (vt_poll(pairs[i].a.cq, &wc, VT_MS) && !wc.status &&
		    wc.wr_id == (uint64_t)i &&
		    *vt_word(&pairs[i].a, 8) == old[i] &&
		    *vt_word(&pairs[i].b, 0) == old[i] + 1)
			done++;
	return done;
}

/* Counts the requests that have been neither executed nor completed. */
static int count_waiting(int from, int to)
{
	struct ibv_wc wc;
	int waiting = 0;

	for (int i = from; i < to; i++)
		if (!ibv_poll_cq(pairs[i].a.cq, 1, &wc) &&
		    *vt_word(&pairs[i].b, 0) == old[i])
			waiting++;
	return waiting;
}

static void remember(void)
{
	for (int i = 0; i < PAIRS; i++)
		old[i] = *vt_word(&pairs[i].b, 0);
}

static int post_to(int from, int to)
{
	int posted = 0;

	remember();
	for (int i = from; i < to; i++)
		if (!post_add(i, i & 1 ? VT_POST_SEND : VT_WR))
			posted++;
	return posted;
}

static void test_many(void)
{
	is_int(post_to(0, PAIRS), PAIRS, "posted to 16 queue pairs");
	is_int(count_waiting(0, PAIRS), PAIRS, "... all requests wait");
	is_int(ring(0, 8), 0, "a doorbell for the first 8");
	is_int(count_done(0, 8), 8, "... whose requests are executed");
	is_int(count_waiting(8, PAIRS), 8, "... and the others still wait");
	is_int(ring(0, PAIRS), 0, "a doorbell for all");
	is_int(count_done(8, PAIRS), 8, "... the others are executed");
	is_int(ring(0, PAIRS), 0, "a doorbell without requests");
	remember();
	is_int(count_waiting(0, PAIRS), PAIRS, "... executes nothing");
}

/* A child that inherits all open files and exits. */
static void test_fork(void)
{
	int status = -1;
	pid_t pid;

	is_int(post_to(0, PAIRS), PAIRS, "requests posted before a fork");
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	is_int(status, 0, "... the child exits");
	is_int(count_waiting(0, PAIRS), PAIRS, "... the requests still wait");
	is_int(ring(0, PAIRS), 0, "a doorbell of the parent");
	is_int(count_done(0, PAIRS), PAIRS, "... executes them");
}

/* Requests without a doorbell are flushed in ERR and removed by RESET. */
static void test_states(void)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_wc wc;

	is_int(post_to(0, 2), 2, "posted to two queue pairs");
	is_int(vt_to_state(&pairs[0].a, IBV_QPS_ERR), 0, "the first to ERR");
	ok(vt_poll(pairs[0].a.cq, &wc, VT_MS) &&
	   wc.status == IBV_WC_WR_FLUSH_ERR, "... flushes its request");
	is_int(post_add(0, VT_POST_SEND), 0, "a request posted in ERR");
	is_int(ring(0, 1), 0, "... and its doorbell");
	ok(vt_poll(pairs[0].a.cq, &wc, VT_MS) &&
	   wc.status == IBV_WC_WR_FLUSH_ERR, "... is flushed, too");
	is_int(vt_to_state(&pairs[1].a, IBV_QPS_RESET), 0, "the second to RESET");
	is_int(vt_to_state(&pairs[0].a, IBV_QPS_RESET), 0, "... and the first");
	for (int i = 0; i < 2; i++) {
		vt_to_state(&pairs[i].b, IBV_QPS_RESET);
		vt_pair_connect(&pairs[i], &conf);
	}
	is_int(post_to(0, 2), 2, "posted to both after a new connection");
	is_int(ring(0, 2), 0, "... and their doorbell");
	is_int(count_done(0, 2), 2, "... executes the requests");
	is_int(count_waiting(0, 2), 0, "... and none waits");
}

static void test_destroy(void)
{
	struct ibv_qp *qps[2] = { pairs[0].a.qp, pairs[1].a.qp };
	uint64_t *word = vt_word(&pairs[PAIRS - 1].b, 0);

	is_int(post_to(0, PAIRS), PAIRS, "posted to 16 queue pairs");
	is_int(ibv_destroy_qp(pairs[PAIRS - 1].a.qp), 0, "one is destroyed");
	pairs[PAIRS - 1].a.qp = NULL;
	is_int(ring(0, PAIRS - 1), 0, "a doorbell for the others");
	is_int(count_done(0, PAIRS - 1), PAIRS - 1, "... executes their requests");
	is_u64(*word, old[PAIRS - 1], "... and not that of the destroyed one");
	is_int(mxedv_ring_doorbells(b->ctx, qps, 2), EINVAL,
	       "no doorbell for queue pairs of another context");
}

/* ---- posting after polling ---------------------------------------------- */

static struct vt_pair single;
static atomic_bool stop;

static void *ring_on(void *unused)
{
	struct ibv_qp *qp = single.a.qp;

	(void)unused;
	while (!stop && !mxedv_ring_doorbells(a->ctx, &qp, 1))
		;
	return NULL;
}

/*
 * Requests execute in the thread that rings. A thread that has seen the
 * completion of the only request in the queue finds space at once.
 */
static void test_room(struct vt_conf conf)
{
	enum { TIMES = 5000 };
	struct ibv_sge sge;
	struct vt_wr wr = {
		.op = VT_FADD, .via = VT_POST_SEND, .flags = IBV_SEND_SIGNALED,
		.sge = &sge, .num_sge = 1, .compare_add = 1,
	};
	pthread_t thread;
	struct ibv_wc wc;
	int i, err = 0;

	conf.depth = 1;
	vt_pair_open(&single, a, b, &conf);
	sge = vt_sge(&single.a, 8, 8);
	wr.raddr = vt_addr(&single.b, 0);
	wr.rkey = single.b.mr->rkey;
	memset(single.b.buf, 0, 8);
	if (pthread_create(&thread, NULL, ring_on, NULL))
		vt_bail("pthread_create");
	for (i = 0; i < TIMES && !err; i++) {
		err = vt_post(&single.a, &wr);
		if (!err && !vt_poll(single.a.cq, &wc, VT_MS))
			err = ETIMEDOUT;
	}
	stop = true;
	pthread_join(thread, NULL);
	is_int(err, 0, "a queue of one has space after each completion");
	is_u64(*vt_word(&single.b, 0), (uint64_t)i, "... each executed once");
	vt_pair_close(&single);
}

int main(void)
{
	struct vt_conf conf = vt_defaults();

	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	conf.create_flags = MXEDV_QP_CREATE_DEFER_DOORBELL;
	for (int i = 0; i < PAIRS; i++) {
		vt_pair_open(&pairs[i], a, b, &conf);
		memset(pairs[i].b.buf, 0, 8);
	}
	test_many();
	test_fork();
	test_states();
	test_destroy();
	test_room(conf);
	for (int i = 0; i < PAIRS; i++)
		vt_pair_close(&pairs[i]);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
