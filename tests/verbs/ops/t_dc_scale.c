// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints the time and the kernel memory of many DC initiators at one target, of
 * one initiator that uses many targets in turn, and of the same fetch-and-adds
 * on as many RC connections.  Proves that each request is executed once, and
 * that a session takes no more than MAX_SESSION_BYTES.
 *
 *	t_dc_scale [NUMBER]
 *
 * The times are those of the monotonic clock, which counts instructions of both
 * hosts in tools/vm --icount.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dc.h"
#include "kmem.h"
#include "tap.h"

#define MAX_SESSION_BYTES 6144

static struct vt_dev *a, *b;
static unsigned int number = 500;
static int64_t start_bytes;
static uint64_t start_ns;

static void measure(void)
{
	start_bytes = kmem_settled();
	start_ns = vt_now_ns();
}

/* Returns the bytes of each object that was made since measure(). */
static int64_t report(const char *what)
{
	uint64_t ns = (vt_now_ns() - start_ns) / number;
	int64_t bytes = (kmem_settled() - start_bytes) / (int64_t)number;

	diag("%s: %" PRIu64 " and %" PRId64 " bytes each", what, ns, bytes);
	return bytes;
}

/* ---- RC ------------------------------------------------------------------ */

struct rc {
	struct ibv_cq *cq_a, *cq_b;
	struct ibv_mr *mr_a, *mr_b;
	uint64_t to, from;
	struct ibv_qp **a, **b;
};

static struct ibv_qp *rc_make(struct vt_dev *dev, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp *qp = ibv_create_qp(dev->pd, &attr);

	if (!qp)
		vt_bail("an RC QP");
	return qp;
}

static void rc_connect(struct rc *rc, unsigned int i)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p = {
		.a = { .dev = a, .qp = rc->a[i] },
		.b = { .dev = b, .qp = rc->b[i] },
	};

	conf.rd_atomic = 1;
	vt_pair_connect(&p, &conf);
}

static void rc_round(struct rc *rc)
{
	struct ibv_sge sge = { (uintptr_t)&rc->from, 8, rc->mr_a->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = {
			.remote_addr = (uintptr_t)&rc->to,
			.rkey = rc->mr_b->rkey,
			.compare_add = 1,
		},
	};
	struct ibv_wc wc;

	for (unsigned int i = 0; i < number; i++)
		if (ibv_post_send(rc->a[i], &wr, &bad) ||
		    !vt_poll(rc->cq_a, &wc, VT_MS) || wc.status)
			vt_bail("request %u on RC", i);
}

static void test_rc(void)
{
	struct rc rc = {
		.cq_a = ibv_create_cq(a->ctx, 4, NULL, NULL, 0),
		.cq_b = ibv_create_cq(b->ctx, 4, NULL, NULL, 0),
		.a = calloc(number, sizeof(*rc.a)),
		.b = calloc(number, sizeof(*rc.b)),
	};
	unsigned int i;

	rc.mr_a = ibv_reg_mr(a->pd, &rc.from, 8, VT_ACCESS_ALL);
	rc.mr_b = ibv_reg_mr(b->pd, &rc.to, 8, VT_ACCESS_ALL);
	if (!rc.cq_a || !rc.cq_b || !rc.mr_a || !rc.mr_b || !rc.a || !rc.b)
		vt_bail("objects of RC");
	measure();
	for (i = 0; i < number; i++) {
		rc.a[i] = rc_make(a, rc.cq_a);
		rc.b[i] = rc_make(b, rc.cq_b);
		rc_connect(&rc, i);
	}
	report("RC: make and connect a pair of QPs");
	measure();
	rc_round(&rc);
	report("RC: the first request");
	measure();
	rc_round(&rc);
	report("RC: another request");
	ok(rc.to == 2 * number, "RC: each request was executed once");
	for (i = 0; i < number; i++) {
		ibv_destroy_qp(rc.a[i]);
		ibv_destroy_qp(rc.b[i]);
	}
	ibv_dereg_mr(rc.mr_a);
	ibv_dereg_mr(rc.mr_b);
	ibv_destroy_cq(rc.cq_a);
	ibv_destroy_cq(rc.cq_b);
	free(rc.a);
	free(rc.b);
}

/* ---- DC ------------------------------------------------------------------ */

static void request(struct dc_initiator *i, struct dc_target *t)
{
	if (dc_fadd(i, t) != IBV_WC_SUCCESS)
		vt_bail("a request on DC");
}

static void test_initiators(void)
{
	struct dc_initiator *i = calloc(number, sizeof(*i)), first;
	struct dc_target t;
	int64_t bytes;
	unsigned int n;

	if (!i)
		vt_bail("calloc");
	dc_initiator_open(&first, a);
	dc_target_open(&t, b, a, 1, false);
	measure();
	for (n = 0; n < number; n++) {
		/* They share the memory and the CQ of the first one. */
		i[n] = first;
		dc_initiator_qp(&i[n]);
	}
	report("DC, one target: make an initiator");
	measure();
	for (n = 0; n < number; n++)
		request(&i[n], &t);
	bytes = report("DC, one target: the first request, with a token");
	/*
	 * A few sessions do not fill the pages allocated for them, and lockdep
	 * makes every lock larger.
	 */
	if (number >= 500 && access("/proc/lockdep", F_OK))
		ok(bytes <= MAX_SESSION_BYTES, "a session has %" PRId64 " bytes",
		   bytes);
	measure();
	for (n = 0; n < number; n++)
		request(&i[n], &t);
	report("DC, one target: another request");
	ok(dc_word(t.buf) == 2 * number,
	   "%u initiators: each request was executed once", number);
	for (n = 0; n < number; n++)
		ibv_destroy_qp(i[n].qp);
	dc_target_close(&t);
	dc_initiator_close(&first);
	free(i);
}

static void test_targets(void)
{
	struct dc_target *t = calloc(number, sizeof(*t)), first;
	struct dc_initiator i;
	unsigned int n;

	if (!t)
		vt_bail("calloc");
	dc_initiator_open(&i, a);
	dc_target_open(&first, b, a, 1, false);
	measure();
	for (n = 0; n < number; n++) {
		/* They share the memory, CQ and SRQ of the first one. */
		t[n] = first;
		dc_target_qp(&t[n]);
	}
	report("DC, one initiator: make a target");
	measure();
	for (n = 0; n < number; n++)
		request(&i, &t[n]);
	report("DC, one initiator: a request to the next target, with a token");
	measure();
	for (n = 0; n < number; n++)
		request(&i, &t[n]);
	report("DC, one initiator: another request to the next target");
	measure();
	for (n = 0; n < number; n++)
		request(&i, &t[0]);
	report("DC, one initiator: a request to the same target");
	ok(dc_word(first.buf) == 3 * number,
	   "%u targets: each request was executed once", number);
	for (n = 0; n < number; n++)
		ibv_destroy_qp(t[n].qp);
	dc_target_close(&first);
	dc_initiator_close(&i);
	free(t);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : (int)number;

	if (n < 1)
		vt_bail("%d is not a number of objects", n);
	number = (unsigned int)n;
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	dc_small = true;
	test_rc();
	test_initiators();
	test_targets();
	vt_close(b);
	vt_close(a);
	return done_testing();
}
