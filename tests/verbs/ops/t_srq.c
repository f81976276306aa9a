// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that two queue pairs can share a receive queue, that the queue raises
 * its events and can run empty, and that invalid requests are refused.
 */
#include <errno.h>
#include <string.h>
#include <rdma/mxe-abi.h>
#include "tap.h"
#include "vt.h"

enum { SRQ_WR = 16 };

static struct ibv_srq *make_srq(struct vt_dev *dev, uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = wr, .max_sge = sge },
	};

	return ibv_create_srq(dev->pd, &attr);
}

/* Posts n receives of len bytes into consecutive parts of the end's buffer. */
static int fill(struct ibv_srq *srq, const struct vt_end *e, uint64_t first,
		int n, uint32_t len)
{
	int i, err;

	for (i = 0; i < n; i++) {
		struct ibv_sge sge = vt_sge(e, (size_t)(first + i) * len, len);
		struct ibv_recv_wr *bad, wr = {
			.wr_id = first + i, .sg_list = &sge, .num_sge = 1,
		};

		err = ibv_post_srq_recv(srq, &wr, &bad);
		if (err)
			return err;
	}
	return 0;
}

static int send_word(struct vt_pair *p, uint64_t value)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = { .op = VT_SEND, .sge = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	*vt_word(&p->a, 0) = value;
	return vt_do(&p->a, &wr, &wc);
}

static void test_create(struct vt_dev *dev)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 5, .max_sge = 3 },
	};
	struct ibv_device_attr caps;
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;

	is_int(ibv_query_device(dev->ctx, &caps), 0, "query_device");
	ok(caps.max_srq > 0 && caps.max_srq_wr > 0 && caps.max_srq_sge > 0,
	   "the device supports shared receive queues");

	srq = ibv_create_srq(dev->pd, &init);
	if (!srq)
		vt_bail("ibv_create_srq");
	ok(init.attr.max_wr >= 5 && init.attr.max_sge >= 3,
	   "a queue has at least the requested size");
	is_int(ibv_query_srq(srq, &attr), 0, "ibv_query_srq()");
	is_int(attr.max_wr, init.attr.max_wr, "... max_wr");
	is_int(attr.max_sge, init.attr.max_sge, "... max_sge");
	is_int(attr.srq_limit, 0, "... the limit is not armed");
	attr.srq_limit = init.attr.max_wr + 1;
	is_int(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL,
	       "a limit above its size");
	attr.max_wr = 64;
	is_int(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EOPNOTSUPP,
	       "resizing is not supported");
	attr.srq_limit = 3;
	is_int(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0, "a limit of 3");
	is_int(ibv_query_srq(srq, &attr), 0, "ibv_query_srq()");
	is_int(attr.srq_limit, 3, "... the limit is armed");
	is_int(ibv_destroy_srq(srq), 0, "destroyed");

	srq = make_srq(dev, caps.max_srq_wr, caps.max_srq_sge);
	ok(srq, "a queue of max_srq_wr and max_srq_sge");
	if (srq)
		is_int(ibv_destroy_srq(srq), 0, "... destroyed");
	ok(!make_srq(dev, caps.max_srq_wr + 1, 1) && errno == EINVAL,
	   "... and none with more requests");
	ok(!make_srq(dev, 1, caps.max_srq_sge + 1) && errno == EINVAL,
	   "... or more scatter entries");
	ok(!make_srq(dev, 0, 1) && errno == EINVAL, "... or no requests");
}

static void test_post_refused(struct vt_dev *dev)
{
	struct ibv_srq *srq = make_srq(dev, 4, 2);
	struct ibv_sge sge[3] = { 0 };
	struct ibv_recv_wr *bad, wr = { .sg_list = sge, .num_sge = 3 };
	int i;

	if (!srq)
		vt_bail("ibv_create_srq");
	is_int(ibv_post_srq_recv(srq, &wr, &bad), EINVAL,
	       "a request with too many scatter entries");
	ok(bad == &wr, "... is returned in bad_wr");
	wr.num_sge = 0;
	for (i = 0; i < 4; i++)
		is_int(ibv_post_srq_recv(srq, &wr, &bad), 0, "request %d", i);
	is_int(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM,
	       "no request in a full queue");
	is_int(ibv_destroy_srq(srq), 0, "destroyed with requests in it");
}

/* A message takes the oldest request, whichever queue pair receives it. */
static void test_shared(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_recv_wr *bad, recv = { 0 };
	struct vt_pair p[2];
	struct ibv_wc wc;
	int i;

	conf.srq_b = make_srq(b, SRQ_WR, 1);
	if (!conf.srq_b)
		vt_bail("ibv_create_srq");
	vt_pair_open(&p[0], a, b, &conf);
	vt_pair_open(&p[1], a, b, &conf);
	is_int(fill(conf.srq_b, &p[0].b, 0, SRQ_WR, 64), 0, "requests posted");
	for (i = 0; i < SRQ_WR; i++) {
		struct vt_pair *q = &p[i % 3 == 0];

		is_int(send_word(q, 0x1000 + i), IBV_WC_SUCCESS, "message %d", i);
		if (!vt_poll(q->b.rcq, &wc, VT_MS))
			vt_bail("no completion of message %d", i);
		ok(wc.status == IBV_WC_SUCCESS && wc.wr_id == (uint64_t)i &&
		   wc.qp_num == q->b.qp->qp_num && wc.byte_len == 8,
		   "... took request %d", i);
		is_u64(*vt_word(&p[0].b, i * 64), 0x1000 + i, "... and has the data");
	}
	is_int(ibv_post_recv(p[0].b.qp, &recv, &bad), EINVAL,
	       "the queue pair takes no receive requests of its own");
	is_int(ibv_destroy_srq(conf.srq_b), EBUSY,
	       "a queue in use cannot be destroyed");
	vt_pair_close(&p[0]);
	vt_pair_close(&p[1]);
	is_int(ibv_destroy_srq(conf.srq_b), 0, "... until its users are");
}

static void test_limit(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_srq_attr attr = { .srq_limit = 4 };
	struct vt_pair p;
	int i;

	conf.srq_b = make_srq(b, SRQ_WR, 1);
	vt_pair_open(&p, a, b, &conf);
	is_int(fill(conf.srq_b, &p.b, 0, 7, 64), 0, "7 requests");
	is_int(ibv_modify_srq(conf.srq_b, &attr, IBV_SRQ_LIMIT), 0,
	       "a limit of 4");
	while (vt_async(b, 100) >= 0)
		;
	for (i = 0; i < 3; i++)
		is_int(send_word(&p, i), IBV_WC_SUCCESS, "message");
	is_int(vt_async(b, 300), -1, "4 are left: no event");
	is_int(send_word(&p, i), IBV_WC_SUCCESS, "message");
	is_int(vt_async(b, VT_MS), IBV_EVENT_SRQ_LIMIT_REACHED,
	       "3 are left: an event");
	is_int(ibv_query_srq(conf.srq_b, &attr), 0, "ibv_query_srq()");
	is_int(attr.srq_limit, 0, "... the limit is no longer armed");
	is_int(send_word(&p, i), IBV_WC_SUCCESS, "message");
	is_int(vt_async(b, 300), -1, "no second event");
	vt_pair_close(&p);
	ibv_destroy_srq(conf.srq_b);
}

static void test_empty(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	conf.srq_b = make_srq(b, SRQ_WR, 1);
	conf.rnr_retry = 1;
	conf.min_rnr_timer = 1;
	vt_pair_open(&p, a, b, &conf);
	is_int(send_word(&p, 1), IBV_WC_RNR_RETRY_EXC_ERR,
	       "an empty queue: receiver not ready");
	vt_pair_close(&p);
	ibv_destroy_srq(conf.srq_b);
}

static void test_last_wqe(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p[2];
	struct ibv_wc wc;

	conf.srq_b = make_srq(b, SRQ_WR, 1);
	vt_pair_open(&p[0], a, b, &conf);
	vt_pair_open(&p[1], a, b, &conf);
	is_int(fill(conf.srq_b, &p[1].b, 0, 2, 64), 0, "2 requests");
	while (vt_async(b, 100) >= 0)
		;
	is_int(vt_to_state(&p[0].b, IBV_QPS_ERR), 0,
	       "one queue pair moves to ERR");
	is_int(vt_async(b, VT_MS), IBV_EVENT_QP_LAST_WQE_REACHED,
	       "... with an event that it takes no more requests");
	ok(!vt_poll(p[0].b.rcq, &wc, 200), "... and flushes none");
	is_int(send_word(&p[1], 77), IBV_WC_SUCCESS,
	       "a message to the other queue pair");
	ok(vt_poll(p[1].b.rcq, &wc, VT_MS) && wc.wr_id == 0,
	   "... takes the first request");
	is_int(vt_async(b, 200), -1, "... and there is no second event");
	vt_pair_close(&p[0]);
	vt_pair_close(&p[1]);
	is_int(ibv_destroy_srq(conf.srq_b), 0, "destroyed with a request left");
}

/* Returns the ring that was created after before[] was filled. */
static struct mxe_ring_hdr *new_ring(const struct vt_mapping *before, int n)
{
	struct vt_mapping now[16];
	int all = vt_find_rings(now, 16);

	for (int i = 0; i < all; i++) {
		int known = 0;

		while (known < n && before[known].addr != now[i].addr)
			known++;
		if (known == n)
			return (void *)now[i].addr;
	}
	vt_bail("no ring");
}

/*
 * An invalid producer index raises an event and moves the queue pair that
 * receives from the SRQ to ERR.
 */
static void test_error(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_mapping before[16];
	int event, n = vt_find_rings(before, 16);
	struct mxe_ring_hdr *hdr;
	struct vt_pair p;

	conf.srq_b = make_srq(b, SRQ_WR, 1);
	hdr = new_ring(before, n);
	vt_pair_open(&p, a, b, &conf);
	while (vt_async(b, 100) >= 0)
		;
	hdr->producer += 1000;
	is_int(send_word(&p, 1), IBV_WC_REM_OP_ERR,
	       "a message with an invalid producer index");
	do
		event = vt_async(b, VT_MS);
	while (event >= 0 && event != IBV_EVENT_SRQ_ERR);
	is_int(event, IBV_EVENT_SRQ_ERR, "... raises an event");
	is_int(vt_state(&p.b), IBV_QPS_ERR, "... and the queue pair is in ERR");
	hdr->producer -= 1000;
	vt_pair_close(&p);
	is_int(ibv_destroy_srq(conf.srq_b), 0, "the queue is destroyed");
}

int main(void)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());

	plan(0);
	test_create(b);
	test_post_refused(b);
	test_shared(a, b);
	test_limit(a, b);
	test_empty(a, b);
	test_last_wqe(a, b);
	test_error(a, b);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
