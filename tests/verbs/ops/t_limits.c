// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that the maxima that the device reports can be reached and not
 * exceeded, and that requests can be posted only in the states of a queue pair
 * that permit it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "vt.h"

static struct vt_dev *a, *b;
static struct ibv_device_attr caps;

/* ---- limits of a queue pair --------------------------------------------- */

/* No device attribute reports the limit on inline data. */
enum { MAX_INLINE = 512 };

/* A QP can be created with each maximum, and with no larger value. */
static void test_max_cap(void)
{
	const struct {
		const char *what;
		size_t offset;
		uint32_t max;
	} rows[] = {
		{ "max_send_wr", offsetof(struct ibv_qp_cap, max_send_wr),
		  (uint32_t)caps.max_qp_wr },
		{ "max_recv_wr", offsetof(struct ibv_qp_cap, max_recv_wr),
		  (uint32_t)caps.max_qp_wr },
		{ "max_send_sge", offsetof(struct ibv_qp_cap, max_send_sge),
		  (uint32_t)caps.max_sge },
		{ "max_recv_sge", offsetof(struct ibv_qp_cap, max_recv_sge),
		  (uint32_t)caps.max_sge },
		{ "max_inline_data", offsetof(struct ibv_qp_cap, max_inline_data),
		  MAX_INLINE },
	};
	struct ibv_cq *cq = ibv_create_cq(a->ctx, 1, NULL, NULL, 0);

	if (!cq)
		vt_bail("ibv_create_cq");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (uint32_t more = 0; more < 2; more++) {
			struct ibv_qp_init_attr attr = {
				.send_cq = cq, .recv_cq = cq,
				.qp_type = IBV_QPT_RC,
				.cap = { 1, 1, 1, 1, 0 },
			};
			uint32_t value = rows[i].max + more;
			struct ibv_qp *qp;

			memcpy((char *)&attr.cap + rows[i].offset, &value,
			       sizeof(value));
			qp = ibv_create_qp(a->pd, &attr);
			if (more)
				ok(!qp && errno == EINVAL, "... and no larger one");
			else
				ok(qp != NULL, "%s %u", rows[i].what, value);
			if (qp)
				ibv_destroy_qp(qp);
		}
	}
	ibv_destroy_cq(cq);
}

static int post_send_empty(struct vt_pair *p, uint64_t wr_id, bool signaled)
{
	struct vt_wr wr = {
		.op = VT_SEND, .wr_id = wr_id,
		.flags = signaled ? IBV_SEND_SIGNALED : 0,
	};

	return vt_post(&p->a, &wr);
}

static void expect_received(struct vt_pair *p, uint32_t num)
{
	uint32_t i;

	for (i = 0; i < num; i++) {
		struct ibv_wc wc;

		if (!vt_poll(p->b.rcq, &wc, VT_MS) || wc.status ||
		    wc.wr_id != i)
			break;
	}
	is_int(i, num, "... and each message is received in order");
}

/*
 * In SQD nothing is sent, so the send queue can be filled. Back in RTS its
 * requests are sent in order.
 */
static void test_max_qp_wr(void)
{
	struct vt_conf conf = vt_defaults();
	uint32_t max = (uint32_t)caps.max_qp_wr, i;
	struct vt_pair p;
	struct ibv_wc wc;

	conf.depth = max;
	vt_pair_open(&p, a, b, &conf);
	for (i = 0; i < max; i++)
		if (vt_recv(&p.b, i, 0, 0))
			break;
	is_int(i, max, "max_qp_wr receive requests");
	is_int(vt_recv(&p.b, i, 0, 0), ENOMEM, "... and not one more");

	if (vt_to_state(&p.a, IBV_QPS_SQD))
		vt_bail("to SQD");
	for (i = 0; i < max; i++)
		if (post_send_empty(&p, i, i == max - 1))
			break;
	is_int(i, max, "max_qp_wr send requests");
	is_int(post_send_empty(&p, i, false), ENOMEM, "... and not one more");
	ok(!vt_poll(p.b.rcq, &wc, 200), "... which wait in SQD");
	if (vt_to_state(&p.a, IBV_QPS_RTS))
		vt_bail("to RTS");
	expect_received(&p, max);
	ok(vt_poll(p.a.cq, &wc, VT_MS) && !wc.status && wc.wr_id == max - 1,
	   "... and the signaled one completes");
	vt_pair_close(&p);
}

static void test_max_sge(void)
{
	struct vt_conf conf = vt_defaults();
	int n = caps.max_sge;
	struct ibv_sge *sge = calloc((size_t)n, sizeof(*sge));
	struct vt_wr wr = { .op = VT_SEND, .sge = sge, .num_sge = n };
	struct vt_pair p;
	struct ibv_wc wc;
	bool same = true;

	if (!sge)
		vt_bail("memory");
	conf.max_sge = (uint32_t)n;
	vt_pair_open(&p, a, b, &conf);
	/* Gathered in order, scattered backwards. */
	for (int i = 0; i < n; i++)
		sge[i] = vt_sge(&p.b, (size_t)(n - 1 - i) * 2, 1);
	is_int(vt_recv_sge(&p.b, 0, sge, n), 0,
	       "a receive request of max_sge elements");
	for (int i = 0; i < n; i++) {
		sge[i] = vt_sge(&p.a, (size_t)i * 3, 1);
		p.a.buf[i * 3] = (uint8_t)(i + 1);
	}
	is_int(vt_do(&p.a, &wr, NULL), IBV_WC_SUCCESS,
	       "a message of max_sge elements");
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && !wc.status &&
	   wc.byte_len == (uint32_t)n, "... is received");
	for (int i = 0; i < n; i++)
		same &= p.b.buf[(n - 1 - i) * 2] == (uint8_t)(i + 1);
	ok(same, "... with each byte in its place");
	vt_pair_close(&p);
	free(sge);
}

static void test_max_inline(void)
{
	struct vt_conf conf = vt_defaults();
	uint8_t data[MAX_INLINE];
	struct ibv_sge sge = {
		.addr = (uintptr_t)data, .length = sizeof(data),
	};
	struct vt_wr wr = {
		.op = VT_WRITE, .flags = IBV_SEND_INLINE, .sge = &sge,
		.num_sge = 1,
	};
	struct vt_pair p;

	vt_fill_random(data, sizeof(data));
	conf.max_inline = sizeof(data);
	vt_pair_open(&p, a, b, &conf);
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	is_int(vt_do(&p.a, &wr, NULL), IBV_WC_SUCCESS, "%d bytes inline",
	       MAX_INLINE);
	ok(!memcmp(p.b.buf, data, sizeof(data)), "... arrive");
	vt_pair_close(&p);
}

static void test_max_rd_atom(void)
{
	enum { NUM = 1000 };
	struct vt_conf conf = vt_defaults();
	uint64_t sum = 0;
	struct vt_pair p;
	int done = 0;

	conf.rd_atomic = (uint8_t)caps.max_qp_rd_atom;
	conf.depth = NUM;
	vt_pair_open(&p, a, b, &conf);
	*vt_word(&p.b, 0) = 0;
	for (int i = 0; i < NUM; i++) {
		struct ibv_sge sge = vt_sge(&p.a, (size_t)i * 8, 8);
		struct vt_wr wr = {
			.op = VT_MFADD, .via = VT_WR, .sge = &sge, .num_sge = 1,
			.flags = IBV_SEND_SIGNALED, .wr_id = (uint64_t)i,
			.raddr = vt_addr(&p.b, 0), .rkey = p.b.mr->rkey,
			.compare_add = 1,
		};

		if (vt_post(&p.a, &wr))
			vt_bail("atomic %d", i);
	}
	for (; done < NUM; done++) {
		struct ibv_wc wc;

		if (!vt_poll(p.a.cq, &wc, VT_MS) || wc.status ||
		    wc.wr_id != (uint64_t)done)
			break;
		sum += *vt_word(&p.a, (size_t)done * 8);
	}
	is_int(done, NUM, "atomics with max_qp_rd_atom %d outstanding",
	       caps.max_qp_rd_atom);
	is_u64(sum, (uint64_t)NUM * (NUM - 1) / 2, "... each executed once");
	vt_pair_close(&p);

	vt_pair_create(&p, a, b, &conf);
	if (vt_to_init(&p.a, &conf) || vt_to_rtr(&p.a, &p.b, &conf))
		vt_bail("to RTR");
	conf.rd_atomic++;
	is_int(vt_to_rts(&p.a, &conf), EINVAL, "... and not with one more");
	vt_pair_close(&p);
}

/* ---- limits of the device ----------------------------------------------- */

static void test_max_cqe(void)
{
	struct ibv_cq *cq = ibv_create_cq(a->ctx, caps.max_cqe, NULL, NULL, 0);

	ok(cq && cq->cqe >= caps.max_cqe, "a completion queue of max_cqe");
	if (cq)
		is_int(ibv_destroy_cq(cq), 0, "... is destroyed");
	cq = ibv_create_cq(a->ctx, caps.max_cqe + 1, NULL, NULL, 0);
	ok(!cq && errno == EINVAL, "... and no larger one");
}

static void test_max_srq_wr(void)
{
	struct ibv_srq_init_attr attr = {
		.attr.max_wr = (uint32_t)caps.max_srq_wr,
		.attr.max_sge = (uint32_t)caps.max_srq_sge,
	};
	struct ibv_srq *srq = ibv_create_srq(a->pd, &attr);
	struct ibv_recv_wr wr = { 0 }, *bad;
	int i = 0;

	if (!ok(srq != NULL, "an SRQ of max_srq_wr and max_srq_sge"))
		return;
	while (i < caps.max_srq_wr && !ibv_post_srq_recv(srq, &wr, &bad))
		i++;
	is_int(i, caps.max_srq_wr, "... is filled");
	is_int(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM, "... and full");
	is_int(ibv_destroy_srq(srq), 0, "... and destroyed");
	attr.attr.max_wr++;
	ok(!ibv_create_srq(a->pd, &attr) && errno == EINVAL,
	   "... and no larger one");
}

/* All kinds of objects are counted alike. PDs are the cheapest. */
static void test_max_pd(void)
{
	int max = caps.max_pd, num = 0;
	struct ibv_pd **pds = calloc((size_t)max + 1, sizeof(*pds));
	int err = 0;

	if (!pds)
		vt_bail("memory");
	while (num <= max) {
		pds[num] = ibv_alloc_pd(a->ctx);
		if (!pds[num]) {
			err = errno;
			break;
		}
		num++;
	}
	is_int(err, ENOMEM, "the number of protection domains is limited");
	/* QP 1 and this program have one each. */
	ok(num >= max - 2 && num < max, "... to %d, with max_pd %d", num, max);
	for (int i = 0; i < num; i++)
		if (ibv_dealloc_pd(pds[i]))
			vt_bail("ibv_dealloc_pd");
	pds[0] = ibv_alloc_pd(a->ctx);
	ok(pds[0] != NULL, "... and one can be allocated after they are freed");
	if (pds[0])
		ibv_dealloc_pd(pds[0]);
	free(pds);
}

/* ---- states ------------------------------------------------------------- */

static int post_write(struct vt_pair *p, enum vt_via via, uint64_t wr_id)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_WRITE, .via = via, .sge = &sge, .num_sge = 1,
		.flags = IBV_SEND_SIGNALED, .wr_id = wr_id,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
	};

	return vt_post(&p->a, &wr);
}

static void expect_refused(struct vt_pair *p, const char *state)
{
	for (enum vt_via via = VT_POST_SEND; via <= VT_WR; via++)
		is_int(post_write(p, via, 0), EINVAL, "no send in %s by %s",
		       state, vt_via_name[via]);
}

static void test_states(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_wc wc;

	vt_pair_create(&p, a, b, &conf);
	expect_refused(&p, "RESET");
	is_int(vt_recv(&p.a, 1, 0, 8), EINVAL, "no receive in RESET");
	if (vt_to_init(&p.a, &conf) || vt_to_init(&p.b, &conf))
		vt_bail("to INIT");
	expect_refused(&p, "INIT");
	is_int(vt_recv(&p.a, 1, 0, 8), 0, "a receive in INIT");
	if (vt_to_rtr(&p.a, &p.b, &conf) || vt_to_rtr(&p.b, &p.a, &conf))
		vt_bail("to RTR");
	expect_refused(&p, "RTR");
	is_int(vt_recv(&p.a, 2, 0, 8), 0, "a receive in RTR");
	if (vt_to_rts(&p.a, &conf) || vt_to_rts(&p.b, &conf))
		vt_bail("to RTS");
	is_int(post_write(&p, VT_POST_SEND, 3), 0, "a send in RTS");
	ok(vt_poll(p.a.cq, &wc, VT_MS) && wc.wr_id == 3 && !wc.status,
	   "... is executed");
	ok(!(wc.wc_flags & IBV_WC_GRH), "... and its completion reports no GRH");

	if (vt_to_state(&p.a, IBV_QPS_SQD))
		vt_bail("to SQD");
	is_int(post_write(&p, VT_POST_SEND, 4), 0, "a send in SQD");
	ok(!vt_poll(p.a.cq, &wc, 200), "... waits");
	if (vt_to_state(&p.a, IBV_QPS_RTS))
		vt_bail("to RTS");
	ok(vt_poll(p.a.cq, &wc, VT_MS) && wc.wr_id == 4 && !wc.status,
	   "... until RTS");

	if (vt_to_state(&p.a, IBV_QPS_ERR))
		vt_bail("to ERR");
	is_int(post_write(&p, VT_POST_SEND, 5), 0, "a send in ERR");
	ok(vt_poll(p.a.cq, &wc, VT_MS) && wc.wr_id == 5 &&
	   wc.status == IBV_WC_WR_FLUSH_ERR, "... is flushed");
	is_int(vt_recv(&p.a, 6, 0, 8), 0, "a receive in ERR");
	for (uint64_t id = 1; id <= 6; id += id == 2 ? 4 : 1)
		ok(vt_poll(p.a.rcq, &wc, VT_MS) && wc.wr_id == id &&
		   wc.status == IBV_WC_WR_FLUSH_ERR,
		   "... receive %" PRIu64 " is flushed", id);
	vt_pair_close(&p);
}

int main(void)
{
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	if (ibv_query_device(a->ctx, &caps))
		vt_bail("ibv_query_device");

	plan(0);
	test_max_cap();
	test_max_qp_wr();
	test_max_sge();
	test_max_inline();
	test_max_rd_atom();
	test_max_cqe();
	test_max_srq_wr();
	test_max_pd();
	test_states();
	vt_close(a);
	vt_close(b);
	return done_testing();
}
