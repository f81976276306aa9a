// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Makes the queues that t_hostile_budget keeps full; see hostile_queues.h. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "hostile_queues.h"
#include "xrc.h"

enum {
	DEPTH = 16384,		/* max_qp_wr */
	READ_LEN = 1 << 20,
	QKEY = 0x11223344,
};

/* Values of wr_id by which the rings are found. */
#define SEND_ID	0x686f7374696c6531ULL
#define RECV_ID	0x686f7374696c6532ULL

static struct vt_conf defaults(void)
{
	struct vt_conf conf = vt_defaults();

	conf.create_flags = MXEDV_QP_CREATE_DEFER_DOORBELL;
	conf.depth = DEPTH;
	conf.max_sge = 1;
	conf.max_inline = 0;
	conf.mr_access |= IBV_ACCESS_MW_BIND;
	return conf;
}

/* Opens device a first, because vt_doorbell_fd() returns its doorbell file. */
static void open_devices(struct vt_pair *p, const char *peer,
			 const struct vt_conf *conf)
{
	struct vt_dev *a = vt_open(vt_name_a());

	vt_pair_open(p, a, vt_open(peer), conf);
}

static void set_doorbell(struct hostile_rings *r, uint32_t qp_num,
			 uint32_t queues)
{
	r->doorbell_fd = vt_doorbell_fd();
	if (r->doorbell_fd < 0)
		vt_bail("no doorbell file");
	r->doorbell = (struct mxe_doorbell){ qp_num, queues };
}

/*
 * Fills the send queue with copies of a request and does not ring the doorbell.
 */
static void fill(struct hostile_rings *r, struct vt_end *e, struct vt_wr wr)
{
	wr.wr_id = SEND_ID;
	for (int i = 0; i < DEPTH; i++)
		if (vt_post(e, &wr))
			vt_bail("cannot fill the send queue");
	hostile_add_ring(r, SEND_ID, DEPTH);
	set_doorbell(r, e->qp->qp_num, MXE_DOORBELL_SEND);
}

static struct vt_wr to_peer(const struct vt_pair *p, enum vt_opcode op,
			    struct ibv_sge *sge)
{
	*sge = vt_sge(&p->a, 0, 8);
	return (struct vt_wr){
		.op = op, .via = VT_WR, .sge = sge, .num_sge = 1,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
		.compare_add = 1,
	};
}

/* ---- local operations ---------------------------------------------------- */

static void fill_binds(struct hostile_rings *r, struct vt_end *e)
{
	struct ibv_mw *mw = ibv_alloc_mw(e->dev->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = { .wr_id = SEND_ID };

	if (!mw)
		vt_bail("ibv_alloc_mw");
	for (int i = 0; i < DEPTH; i++)
		if (ibv_bind_mw(e->qp, mw, &bind))
			vt_bail("cannot fill the send queue");
	hostile_add_ring(r, SEND_ID, DEPTH);
	set_doorbell(r, e->qp->qp_num, MXE_DOORBELL_SEND);
}

/* Binding a type 1 window with a length of 0 is the cheapest request. */
static void open_bind(struct hostile_rings *r)
{
	struct vt_conf conf = defaults();
	struct vt_pair p;

	open_devices(&p, vt_name_b(), &conf);
	fill_binds(r, &p.a);
}

/* ---- requests that have an effect ---------------------------------------- */

static void open_op(struct hostile_rings *r, const char *peer,
		    enum vt_opcode op, uint32_t len)
{
	struct vt_conf conf = defaults();
	struct ibv_sge sge;
	struct vt_pair p;
	struct vt_wr wr;

	if (conf.size < len)
		conf.size = len;
	open_devices(&p, peer, &conf);
	wr = to_peer(&p, op, &sge);
	sge.length = len;
	fill(r, &p.a, wr);
}

static void open_loop_write(struct hostile_rings *r)
{
	open_op(r, vt_name_a(), VT_WRITE, 8);
}

static void open_loop_atomic(struct hostile_rings *r)
{
	open_op(r, vt_name_a(), VT_MFADD, 8);
}

static void open_wire_write(struct hostile_rings *r)
{
	open_op(r, vt_name_b(), VT_WRITE, 8);
}

static void open_wire_atomic(struct hostile_rings *r)
{
	open_op(r, vt_name_b(), VT_MFADD, 8);
}

static void open_wire_read(struct hostile_rings *r)
{
	open_op(r, vt_name_b(), VT_READ, READ_LEN);
}

static void open_uc(struct hostile_rings *r)
{
	struct vt_conf conf = defaults();
	struct ibv_sge sge;
	struct vt_pair p;
	struct vt_wr wr;

	conf.qp_type = IBV_QPT_UC;
	open_devices(&p, vt_name_b(), &conf);
	wr = to_peer(&p, VT_WRITE, &sge);
	wr.num_sge = 0;
	fill(r, &p.a, wr);
}

/* Length-0 SENDs to an SRQ, whose ring is kept full, too. */
static void open_srq(struct hostile_rings *r)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = DEPTH, .max_sge = 1 },
	};
	struct ibv_recv_wr *bad, recv = { .wr_id = RECV_ID };
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_a());
	struct vt_conf conf = defaults();
	struct vt_wr wr = { .op = VT_SEND, .via = VT_WR };
	struct vt_pair p;

	conf.srq_b = ibv_create_srq(b->pd, &attr);
	if (!conf.srq_b)
		vt_bail("ibv_create_srq");
	vt_pair_open(&p, a, b, &conf);
	for (int i = 0; i < DEPTH; i++)
		if (ibv_post_srq_recv(conf.srq_b, &recv, &bad))
			vt_bail("ibv_post_srq_recv");
	fill(r, &p.a, wr);
	hostile_add_ring(r, RECV_ID, DEPTH);
	/* One completion identifies the ring of the receive CQ. */
	if (hostile_ring(r) < 0)
		vt_bail("doorbell");
	hostile_add_ring(r, RECV_ID, 0);
}

/* ---- other transports ---------------------------------------------------- */

static void ud_to(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = state, .port_num = 1, .qkey = QKEY,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask))
		vt_bail("UD to state %d", state);
}

static struct ibv_qp *ud_create(struct vt_dev *dev)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = dev->pd,
	};
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = MXEDV_QP_CREATE_DEFER_DOORBELL,
	};
	struct ibv_qp *qp = cq ? mxedv_create_qp(dev->ctx, &attr, &mxe_attr) :
				 NULL;

	if (!qp)
		vt_bail("a UD queue pair");
	ud_to(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	ud_to(qp, IBV_QPS_RTR, 0);
	ud_to(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN);
	return qp;
}

static void open_ud(struct hostile_rings *r)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = b->gid4, .hop_limit = 64,
			 .sgid_index = (uint8_t)a->gid4_index },
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = SEND_ID, .opcode = IBV_WR_SEND,
	};
	struct ibv_qp *qp = ud_create(a);

	wr.wr.ud.ah = ibv_create_ah(a->pd, &attr);
	wr.wr.ud.remote_qpn = ud_create(b)->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	if (!wr.wr.ud.ah)
		vt_bail("ibv_create_ah");
	for (int i = 0; i < DEPTH; i++)
		if (ibv_post_send(qp, &wr, &bad))
			vt_bail("cannot fill the send queue");
	hostile_add_ring(r, SEND_ID, DEPTH);
	set_doorbell(r, qp->qp_num, MXE_DOORBELL_SEND);
}

/* An XRC initiator that writes to a target in its own XRC domain. */
static void open_xrc(struct hostile_rings *r)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());
	struct ibv_xrcd *xrcd = xrc_open_domain(b, -1, O_CREAT);
	struct vt_conf conf = defaults();
	struct ibv_sge sge;
	struct vt_pair p;
	struct vt_wr wr;

	if (!xrcd)
		vt_bail("ibv_open_xrcd");
	conf.qp_type = IBV_QPT_XRC_SEND;
	xrc_pair_open(&p, a, b, xrcd, &conf);
	wr = to_peer(&p, VT_WRITE, &sge);
	wr.srqn = p.b.srqn;
	fill(r, &p.a, wr);
}

/* ---- flushing ------------------------------------------------------------ */

/*
 * The requests of a QP in ERR, which are flushed. The first completion
 * identifies the ring of the CQ.
 */
static void open_flush(struct hostile_rings *r)
{
	struct vt_conf conf = defaults();
	struct ibv_sge sge;
	struct vt_pair p;
	struct ibv_wc wc;

	open_devices(&p, vt_name_b(), &conf);
	fill(r, &p.a, to_peer(&p, VT_WRITE, &sge));
	if (vt_to_state(&p.a, IBV_QPS_ERR))
		vt_bail("to ERR");
	if (!vt_poll(p.a.cq, &wc, VT_MS))
		vt_bail("nothing is flushed");
	hostile_add_ring(r, SEND_ID, 0);
}

static void open_flush_recv(struct hostile_rings *r)
{
	struct vt_conf conf = defaults();
	struct vt_pair p;
	struct ibv_wc wc;

	open_devices(&p, vt_name_b(), &conf);
	for (int i = 0; i < DEPTH; i++)
		if (vt_recv(&p.a, RECV_ID, 0, 8))
			vt_bail("cannot fill the receive queue");
	hostile_add_ring(r, RECV_ID, DEPTH);
	set_doorbell(r, p.a.qp->qp_num, MXE_DOORBELL_RECV);
	if (vt_to_state(&p.a, IBV_QPS_ERR))
		vt_bail("to ERR");
	if (!vt_poll(p.a.rcq, &wc, VT_MS))
		vt_bail("nothing is flushed");
	hostile_add_ring(r, RECV_ID, 0);
}

const struct hostile_attack hostile_attacks[] = {
	{ "bind", open_bind, true, false },
	{ "loop_write", open_loop_write, true, false },
	{ "loop_atomic", open_loop_atomic, true, false },
	{ "wire_write", open_wire_write, false, false },
	{ "wire_atomic", open_wire_atomic, false, false },
	{ "wire_read", open_wire_read, false, false },
	{ "uc", open_uc, true, false },
	{ "ud", open_ud, true, false },
	{ "xrc", open_xrc, false, false },
	{ "srq", open_srq, true, false },
	{ "flush", open_flush, true, false },
	{ "flush_recv", open_flush_recv, true, false },
	{ NULL, NULL, false, false },
};
