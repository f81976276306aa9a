// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves inline receive: the data of a short message are in the receive buffer
 * when its completion has been polled, and not before, on RC, UC and with an
 * SRQ; and in all cases that exclude it, the message arrives as usual.
 */
#include <errno.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "tap.h"
#include "vt.h"
#include "xrc.h"

enum {
	MAX_INLINE = 16,	/* bytes, as the device reports */
	BUF = 256,		/* of a receive request */
	MANY = 12,
	SIZE = 1 << 16,
};

static bool loops;		/* between QPs of one device, nothing is inline */

static struct vt_conf inline_conf(enum ibv_qp_type type)
{
	struct vt_conf conf = vt_defaults();

	conf.qp_type = type;
	conf.size = SIZE;
	conf.create_flags = MXEDV_QP_CREATE_INLINE_RECV;
	return conf;
}

/* Posts a receive into part @slot of the buffer of end b, which is cleared. */
static void post_recv(struct vt_pair *p, struct ibv_srq *srq, uint64_t slot)
{
	struct ibv_sge sge = vt_sge(&p->b, slot * BUF, BUF);
	struct ibv_recv_wr *bad, wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 };

	memset(p->b.buf + slot * BUF, 0, BUF);
	if (srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(p->b.qp, &wr, &bad))
		vt_bail("cannot post a receive request");
}

/* Sends @len bytes, and waits until the message has been acknowledged. */
static void send_bytes(struct vt_pair *p, uint8_t first, uint32_t len)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, len);
	struct vt_wr wr = { .op = VT_SEND, .sge = &sge, .num_sge = 1 };

	for (uint32_t i = 0; i < len; i++)
		p->a.buf[i] = (uint8_t)(first + i);
	if (vt_do(&p->a, &wr, NULL))
		vt_bail("a SEND failed");
}

static bool has_bytes(const uint8_t *buf, uint8_t first, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (buf[i] != (uint8_t)(first + i))
			return false;
	for (uint32_t i = len; i < BUF; i++)
		if (buf[i])
			return false;
	return true;
}

/* Returns true if the next completion is that of this message. */
static bool receives(struct vt_pair *p, struct ibv_cq *cq, uint64_t slot, uint8_t first,
		     uint32_t len)
{
	struct ibv_wc wc;

	return vt_poll(cq, &wc, VT_MS) && !wc.status && wc.wr_id == slot &&
	       wc.byte_len == len && wc.opcode == IBV_WC_RECV && !wc.wc_flags &&
	       has_bytes(p->b.buf + slot * BUF, first, len);
}

/* Checks a message, and whether the kernel or the library wrote its data. */
static void check(struct vt_pair *p, struct ibv_srq *srq, struct ibv_cq *cq,
		  uint32_t len, bool is_inline, const char *what)
{
	bool early;

	is_inline &= !loops;
	post_recv(p, srq, 3);
	send_bytes(p, 1, len);
	early = p->b.buf[3 * BUF] != 0;
	ok(receives(p, cq, 3, 1, len), "%s, %u bytes", what, len);
	if (len)
		ok(early == !is_inline, "... %s", is_inline ?
		   "written by the library" : "written by the kernel");
}

/* ---- transports ---------------------------------------------------------- */

static void test_rc(struct vt_dev *a, struct vt_dev *b, bool ex_cq)
{
	static const uint32_t sizes[] = { 0, 1, 8, 15, 16, 17, 64 };
	struct vt_conf conf = inline_conf(IBV_QPT_RC);
	struct vt_pair p;

	conf.ex_cq = ex_cq;
	vt_pair_open(&p, a, b, &conf);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		check(&p, NULL, p.b.rcq, sizes[i], sizes[i] && sizes[i] <= MAX_INLINE,
		      ex_cq ? "RC, extended CQ" : "RC");
	vt_pair_close(&p);
}

static void test_transfers(struct vt_dev *a, struct vt_dev *b, enum ibv_qp_type type)
{
	static const enum vt_opcode ops[] = { VT_SEND, VT_SEND_IMM, VT_WRITE_IMM };
	struct vt_conf conf = inline_conf(type);
	const char *wrong = NULL;
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	for (uint32_t len = 0; len <= 20 && !wrong; len++)
		for (int i = 0; i < 3 && !wrong; i++)
			wrong = vt_transfer(&p, ops[i], VT_WR, len, 0);
	ok(!wrong, "%s: messages of all kinds, 0 to 20 bytes: %s",
	   type == IBV_QPT_RC ? "RC" : "UC", wrong ? wrong : "right");
	vt_pair_close(&p);
}

/* XRC targets have no inline receive: their flags do not reach the driver. */
static void test_xrc(struct vt_dev *b)
{
	struct ibv_xrcd *xrcd = xrc_open_domain(b, -1, O_CREAT);
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};
	struct mxedv_qp_init_attr dv = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = MXEDV_QP_CREATE_INLINE_RECV,
	};
	struct ibv_exp_qp_init_attr exp = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_XRCD | IBV_EXP_QP_INIT_ATTR_INL_RECV,
		.xrcd = xrcd,
		.max_inl_recv = 16,
	};
	struct ibv_qp *qp;

	ok(!mxedv_create_qp(b->ctx, &attr, &dv) && errno == EOPNOTSUPP,
	   "an XRC target has none");
	qp = ibv_exp_create_qp(b->ctx, &exp);
	ok(qp && !exp.max_inl_recv, "... and ibv_exp_create_qp() says so");
	if (qp)
		ibv_destroy_qp(qp);
	ibv_close_xrcd(xrcd);
}

/* ---- queues -------------------------------------------------------------- */

/* Of two QPs with the same SRQ, one has inline receive. */
static void test_srq(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(b->pd, &attr);
	struct vt_conf conf = inline_conf(IBV_QPT_RC);
	struct vt_pair p, q;

	if (!srq)
		vt_bail("ibv_create_srq");
	conf.srq_b = srq;
	vt_pair_open(&p, a, b, &conf);
	conf.create_flags = 0;
	vt_pair_open(&q, a, b, &conf);
	check(&p, srq, p.b.rcq, 9, true, "an SRQ");
	check(&q, srq, q.b.rcq, 9, false, "the same SRQ, another QP");
	check(&p, srq, p.b.rcq, 16, true, "the first QP again");
	vt_pair_close(&p);
	vt_pair_close(&q);
	ibv_destroy_srq(srq);
}

/* Completions with data move to the new ring, and a reset QP drops them. */
static void test_resize(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = inline_conf(IBV_QPT_RC);
	struct vt_pair p;
	int right = 0;

	vt_pair_open(&p, a, b, &conf);
	for (uint64_t i = 0; i < MANY; i++)
		post_recv(&p, NULL, i);
	for (uint32_t i = 0; i < MANY; i++)
		send_bytes(&p, (uint8_t)(1 + i), 1 + i);
	for (uint32_t i = 0; i < MANY; i++) {
		if (i == MANY / 3 && ibv_resize_cq(p.b.rcq, 256))
			vt_bail("ibv_resize_cq");
		if (i == MANY / 2 && ibv_resize_cq(p.b.rcq, 8))
			vt_bail("ibv_resize_cq");
		right += receives(&p, p.b.rcq, i, (uint8_t)(1 + i), 1 + i);
	}
	is_int(right, MANY, "a CQ that is resized keeps the data");

	post_recv(&p, NULL, 0);
	send_bytes(&p, 1, 4);
	vt_to_state(&p.b, IBV_QPS_RESET);
	is_int(has_bytes(p.b.buf, 0, 0), !loops, loops ?
	       "data arrive before a QP is reset" :
	       "data of a QP that is reset are not delivered");
	vt_pair_close(&p);
}

static void test_timestamps(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = inline_conf(IBV_QPT_RC);
	struct vt_pair p;

	conf.ex_cq = true;
	conf.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	vt_pair_open(&p, a, b, &conf);
	check(&p, NULL, p.b.rcq, 8, false, "a CQ with timestamps");
	vt_pair_close(&p);
}

/* ---- memory -------------------------------------------------------------- */

/* Receives 8 bytes at @addr of a region. Returns the status. */
static int recv_at(struct vt_pair *p, uint64_t addr, uint32_t len, uint32_t lkey)
{
	struct ibv_sge sge = { addr, len, lkey }, from = vt_sge(&p->a, 0, 8);
	struct ibv_recv_wr *bad, wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };
	struct vt_wr send = { .op = VT_SEND, .sge = &from, .num_sge = 1 };
	struct ibv_wc wc;

	memset(p->b.buf, 0, BUF);
	memset(p->a.buf, 7, 8);
	if (ibv_post_recv(p->b.qp, &wr, &bad))
		vt_bail("ibv_post_recv");
	vt_do(&p->a, &send, NULL);
	return vt_poll(p->b.rcq, &wc, VT_MS) ? (int)wc.status : -1;
}

/* Addresses of such a region are not those of the process. */
static void test_iova(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = inline_conf(IBV_QPT_RC);
	struct vt_pair p;
	struct ibv_mr *mr;

	vt_pair_open(&p, a, b, &conf);
	mr = ibv_reg_mr_iova(b->pd, p.b.buf, BUF, 0x10000, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		vt_bail("ibv_reg_mr_iova");
	is_int(recv_at(&p, 0x10010, 8, mr->lkey), IBV_WC_SUCCESS, "a region with an iova");
	ok(p.b.buf[0x10] == 7 && p.b.buf[0x17] == 7 && !p.b.buf[0x18], "... has the data");
	ibv_dereg_mr(mr);
	mr = ibv_reg_mr(b->pd, p.b.buf, BUF, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED);
	if (!mr)
		vt_bail("a zero-based region");
	is_int(recv_at(&p, 0x20, 8, mr->lkey), IBV_WC_SUCCESS, "a zero-based region");
	ok(p.b.buf[0x20] == 7 && !p.b.buf[0x28], "... has the data");
	ibv_dereg_mr(mr);
	vt_pair_close(&p);
}

static void test_errors(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = inline_conf(IBV_QPT_RC);
	struct ibv_mr *mr;
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	is_int(recv_at(&p, vt_addr(&p.b, 0), 7, p.b.mr->lkey), IBV_WC_LOC_LEN_ERR,
	       "a buffer that is too short");
	vt_pair_close(&p);
	vt_pair_open(&p, a, b, &conf);
	is_int(recv_at(&p, vt_addr(&p.b, 0), 8, ~p.b.mr->lkey), IBV_WC_LOC_PROT_ERR,
	       "a key that does not exist");
	vt_pair_close(&p);
	vt_pair_open(&p, a, b, &conf);
	mr = ibv_reg_mr(b->pd, p.b.buf, BUF, 0);
	if (!mr)
		vt_bail("ibv_reg_mr");
	is_int(recv_at(&p, vt_addr(&p.b, 0), 8, mr->lkey), IBV_WC_LOC_PROT_ERR,
	       "a region that must not be written");
	ok(has_bytes(p.b.buf, 0, 0), "... is not");
	ibv_dereg_mr(mr);
	vt_pair_close(&p);
}

/* ---- creation ------------------------------------------------------------ */

static uint32_t exp_inline(struct vt_dev *dev, enum ibv_qp_type type, uint32_t wish)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 16, NULL, NULL, 0);
	struct ibv_exp_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type,
		.cap = { 1, 1, 1, 1, 0 },
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD | IBV_EXP_QP_INIT_ATTR_INL_RECV,
		.pd = dev->pd,
		.max_inl_recv = wish,
	};
	struct ibv_qp *qp = cq ? ibv_exp_create_qp(dev->ctx, &attr) : NULL;

	if (!qp)
		vt_bail("ibv_exp_create_qp");
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	return attr.max_inl_recv;
}

static void test_create(struct vt_dev *dev)
{
	struct ibv_exp_device_attr exp = { .comp_mask = IBV_EXP_DEVICE_ATTR_INLINE_RECV_SZ };
	struct mxedv_device_attr attr;

	is_int(mxedv_query_device(dev->ctx, &attr, sizeof(attr)), 0, "mxedv_query_device()");
	is_int(attr.max_inline_recv, MAX_INLINE, "... reports inline receive");
	is_int(ibv_exp_query_device(dev->ctx, &exp), 0, "ibv_exp_query_device()");
	is_int(exp.inline_recv_sz, MAX_INLINE, "... does, too");
	is_int(exp_inline(dev, IBV_QPT_RC, 64), MAX_INLINE, "RC, 64 bytes requested");
	is_int(exp_inline(dev, IBV_QPT_UC, 1), MAX_INLINE, "UC, 1 byte requested");
	is_int(exp_inline(dev, IBV_QPT_UD, 64), 0, "UD has none");
	is_int(exp_inline(dev, IBV_QPT_RC, 0), 0, "none requested");
}

int main(void)
{
	struct vt_dev *a, *b;

	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	loops = !strcmp(vt_name_a(), vt_name_b());
	test_create(b);
	test_rc(a, b, false);
	test_rc(a, b, true);
	test_transfers(a, b, IBV_QPT_RC);
	test_transfers(a, b, IBV_QPT_UC);
	test_xrc(b);
	test_srq(a, b);
	test_resize(a, b);
	test_timestamps(a, b);
	test_iova(a, b);
	test_errors(a, b);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
