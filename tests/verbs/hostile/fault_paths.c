// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Implements the paths of t_faults: objects to create, connections, and
 * requests to post. See faults.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <infiniband/mxedv.h>
#include <infiniband/verbs_exp.h>
#include "dc.h"
#include "faults.h"
#include "ud.h"
#include "vt.h"
#include "xrc.h"

enum { BIG = 1 << 20 };

static struct vt_dev *a, *b;
struct vt_pair wire;			/* a to b */
static struct vt_pair loop;		/* a to a */
static struct vt_pair fresh;		/* not connected */
static struct ud dgram;
static struct ibv_cq *cq;
static struct ibv_xrcd *xrcd;
static struct ibv_mr *big;
static struct ibv_srq *queue;
static struct ibv_mw *window;
static struct ibv_qp *target;		/* of DC */
static uint8_t *buf;

static int made(const void *object)
{
	if (object)
		return 0;
	return errno ? errno : -1;
}

/* ---- objects ------------------------------------------------------------ */

static struct ibv_context *context;

static int open_device(void)
{
	context = ibv_open_device(a->ctx->device);
	/*
	 * If libibverbs cannot open a file, it tries another path, which does
	 * not exist.
	 */
	if (!context && errno == ENOENT)
		return ENOMEM;
	return made(context);
}

static int close_device(void)
{
	return ibv_close_device(context);
}

static struct ibv_pd *pd;

static int alloc_pd(void)
{
	pd = ibv_alloc_pd(a->ctx);
	return made(pd);
}

static int dealloc_pd(void)
{
	return ibv_dealloc_pd(pd);
}

static struct ibv_comp_channel *channel;

static int create_channel(void)
{
	channel = ibv_create_comp_channel(a->ctx);
	return made(channel);
}

static int destroy_channel(void)
{
	return ibv_destroy_comp_channel(channel);
}

static struct ibv_cq *cq_made;

static int create_cq(void)
{
	cq_made = ibv_create_cq(a->ctx, 1000, NULL, NULL, 0);
	return made(cq_made);
}

static int create_cq_ex(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 10,
		.wc_flags = IBV_WC_STANDARD_FLAGS |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_cq_ex *ex = ibv_create_cq_ex(a->ctx, &attr);

	cq_made = ex ? ibv_cq_ex_to_cq(ex) : NULL;
	return made(cq_made);
}

static int destroy_cq(void)
{
	return ibv_destroy_cq(cq_made);
}

static int resize_cq(void)
{
	return ibv_resize_cq(cq, cq->cqe > 500 ? 100 : 1000);
}

static struct ibv_qp *qp;

static int create_qp_of(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = 100,
			.max_recv_wr = 100,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 64,
		},
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = a->pd,
	};

	if (type == IBV_QPT_XRC_SEND) {
		attr.recv_cq = NULL;
		attr.cap.max_recv_wr = 0;
		attr.cap.max_recv_sge = 0;
	} else if (type == IBV_QPT_XRC_RECV) {
		attr = (struct ibv_qp_init_attr_ex){
			.qp_type = type,
			.comp_mask = IBV_QP_INIT_ATTR_XRCD,
			.xrcd = xrcd,
		};
	}
	qp = ibv_create_qp_ex(a->ctx, &attr);
	return made(qp);
}

static int create_rc(void)
{
	return create_qp_of(IBV_QPT_RC);
}

static int create_uc(void)
{
	return create_qp_of(IBV_QPT_UC);
}

static int create_ud(void)
{
	return create_qp_of(IBV_QPT_UD);
}

static int create_xrc_send(void)
{
	return create_qp_of(IBV_QPT_XRC_SEND);
}

static int create_xrc_recv(void)
{
	return create_qp_of(IBV_QPT_XRC_RECV);
}

static int create_exp(void)
{
	struct ibv_exp_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 16, 16, 2, 2, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
			     IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS |
			     IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG,
		.pd = a->pd,
		.max_atomic_arg = 32,
		.exp_create_flags = IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY,
	};

	qp = ibv_exp_create_qp(a->ctx, &attr);
	return made(qp);
}

static int create_target(void)
{
	qp = dc_create(a, cq, queue, MXEDV_DCTYPE_DCT, 1);
	return made(qp);
}

static int create_initiator(void)
{
	qp = dc_create(a, cq, NULL, MXEDV_DCTYPE_DCI, 0);
	return made(qp);
}

static int destroy_qp(void)
{
	return ibv_destroy_qp(qp);
}

static int query_target(void)
{
	struct mxedv_dct_attr attr;

	return mxedv_query_dct(target, &attr, sizeof(attr));
}

static int arm_target(void)
{
	return mxedv_arm_dct(target, MXEDV_DCT_KEY_VIOLATION);
}

static struct ibv_srq *srq;

static int create_srq(void)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 100, .max_sge = 2 },
	};

	srq = ibv_create_srq(a->pd, &attr);
	return made(srq);
}

static int create_xrc_srq(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 100, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = a->pd,
		.xrcd = xrcd,
		.cq = cq,
	};

	srq = ibv_create_srq_ex(a->ctx, &attr);
	return made(srq);
}

static int destroy_srq(void)
{
	return ibv_destroy_srq(srq);
}

static int limit_srq(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 5 };

	return ibv_modify_srq(queue, &attr, IBV_SRQ_LIMIT);
}

static struct ibv_xrcd *domain;

static int open_xrcd(void)
{
	domain = xrc_open_domain(a, -1, O_CREAT);
	return made(domain);
}

static int close_xrcd(void)
{
	return ibv_close_xrcd(domain);
}

static struct ibv_ah *ah;

static int create_ah(void)
{
	ah = ud_ah_gid(a, a->gid4_index, &b->gid4);
	return made(ah);
}

static int destroy_ah(void)
{
	return ibv_destroy_ah(ah);
}

static union ibv_gid group = { .raw = { 0xff, 0x0e, [15] = 0x42 } };

static int attach(void)
{
	return ibv_attach_mcast(dgram.qp, &group, 0);
}

static int detach(void)
{
	return ibv_detach_mcast(dgram.qp, &group, 0);
}

/* ---- memory ------------------------------------------------------------- */

static struct ibv_mr *mr;

static int reg_mr(void)
{
	mr = ibv_reg_mr(a->pd, buf, BIG, VT_ACCESS_ALL);
	return made(mr);
}

static int dereg_mr(void)
{
	return ibv_dereg_mr(mr);
}

static int rereg_mr(void)
{
	if (!ibv_rereg_mr(big, IBV_REREG_MR_CHANGE_TRANSLATION |
			  IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_PD,
			  a->pd, buf, BIG - 4096,
			  VT_ACCESS_ALL | IBV_ACCESS_MW_BIND))
		return 0;
	return errno;
}

static int sync_mr(void)
{
	return mxedv_sync_mr(big, (uintptr_t)big->addr, 4096,
			     MXEDV_SYNC_MR_FOR_CPU | MXEDV_SYNC_MR_FOR_DEVICE);
}

static struct ibv_mw *mw;

static int alloc_mw(void)
{
	mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_2);
	return made(mw);
}

static int dealloc_mw(void)
{
	return ibv_dealloc_mw(mw);
}

static struct ibv_dm *dm;

static int alloc_dm(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 65536 };

	dm = ibv_alloc_dm(a->ctx, &attr);
	return made(dm);
}

static int free_dm(void)
{
	return ibv_free_dm(dm);
}

static int reg_dm(void)
{
	int ret = alloc_dm();

	if (ret)
		return ret;
	mr = ibv_reg_dm_mr(a->pd, dm, 0, 4096,
			   VT_ACCESS_ALL | IBV_ACCESS_ZERO_BASED);
	ret = made(mr);
	/*
	 * If the region was not created, the injected failure may still hit the
	 * first ibv_free_dm().
	 */
	if (ret && ibv_free_dm(dm) && ibv_free_dm(dm))
		return -1;
	return ret;
}

static int dereg_dm(void)
{
	int ret = mr ? ibv_dereg_mr(mr) : 0;

	if (ret)
		return ret;
	mr = NULL;
	return ibv_free_dm(dm);
}

/* ---- connections and requests ------------------------------------------- */

static struct vt_conf conf;

static int connect_rc(void)
{
	int ret = vt_to_init(&fresh.a, &conf);

	if (!ret)
		ret = vt_to_rtr(&fresh.a, &fresh.b, &conf);
	if (!ret)
		ret = vt_to_rts(&fresh.a, &conf);
	return ret;
}

/* Works from every state that connect_rc() can leave. */
static int reset_rc(void)
{
	return vt_to_state(&fresh.a, IBV_QPS_RESET);
}

/* Flushes the receive request that is posted. */
static int to_error(void)
{
	return vt_to_state(&wire.b, IBV_QPS_ERR);
}

static int connect_again(void)
{
	struct ibv_wc wc;

	if (vt_state(&wire.b) == IBV_QPS_ERR &&
	    (!vt_poll(wire.b.rcq, &wc, VT_MS) ||
	     wc.status != IBV_WC_WR_FLUSH_ERR))
		return -1;
	if (vt_to_state(&wire.a, IBV_QPS_RESET) ||
	    vt_to_state(&wire.b, IBV_QPS_RESET))
		return -1;
	vt_pair_connect(&wire, &conf);
	return vt_recv(&wire.b, 0, 0, 64) ? -1 : 0;
}

static int notify(void)
{
	return ibv_req_notify_cq(cq, 0);
}

static int query(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_device_attr_ex caps;
	struct ibv_port_attr port;
	struct ibv_qp_attr attr;
	int ret;

	ret = ibv_query_qp(wire.a.qp, &attr, IBV_QP_STATE, &init);
	if (!ret)
		ret = ibv_query_port(a->ctx, 1, &port);
	if (!ret)
		ret = ibv_query_device_ex(a->ctx, NULL, &caps);
	return ret;
}

static uint64_t added;

static int add_one(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .flags = IBV_SEND_SIGNALED,
		.sge = &sge, .num_sge = 1, .compare_add = 1,
		.raddr = vt_addr(&p->b, 64), .rkey = p->b.mr->rkey,
	};
	int ret = vt_post(&p->a, &wr);

	if (!ret)
		added++;
	return ret;
}

/*
 * Posts one more request and checks that all posted requests were executed
 * exactly once.
 */
static int sum_is_right(struct vt_pair *p)
{
	uint64_t before = *vt_word(&p->b, 64);
	struct ibv_wc wc;

	if (add_one(p))
		return -1;
	for (; added; added--) {
		if (!vt_poll(p->a.cq, &wc, VT_MS) || wc.status)
			return -1;
		before = *vt_word(&p->a, 0) + 1;
	}
	return before == *vt_word(&p->b, 64) ? 0 : -1;
}

static int post_wire(void)
{
	return add_one(&wire);
}

static int wire_is_right(void)
{
	return sum_is_right(&wire);
}

static int post_loop(void)
{
	return add_one(&loop);
}

static int loop_is_right(void)
{
	return sum_is_right(&loop);
}

static int post_recv(void)
{
	return vt_recv(&wire.a, 0, 0, 64);
}

/* Consumes the only receive request with a SEND. */
static int recv_is_right(void)
{
	struct ibv_sge sge = vt_sge(&wire.b, 0, 8);
	struct vt_wr wr = {
		.op = VT_SEND, .via = VT_WR, .sge = &sge, .num_sge = 1,
	};
	struct ibv_wc wc;

	if (vt_do(&wire.b, &wr, NULL))
		return -1;
	return vt_poll(wire.a.rcq, &wc, VT_MS) && !wc.status ? 0 : -1;
}

static int post_bind(void)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = window,
			.rkey = ibv_inc_rkey(window->rkey),
			.bind_info = {
				.mr = big, .addr = (uintptr_t)big->addr,
				.length = 4096,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ,
			},
		},
	};
	int ret = ibv_post_send(loop.a.qp, &wr, &bad);

	if (!ret) {
		window->rkey = wr.bind_mw.rkey;
		added++;
	}
	return ret;
}

static int invalidate(void)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.invalidate_rkey = window->rkey,
	};

	if (ibv_post_send(loop.a.qp, &wr, &bad))
		return -1;
	return sum_is_right(&loop);
}

static int resize_qp(void)
{
	static uint32_t depth = 64;
	struct ibv_qp_attr attr = {
		.cap = { .max_send_wr = depth, .max_recv_wr = depth },
	};

	depth ^= 64 ^ 256;
	return ibv_modify_qp(loop.a.qp, &attr, IBV_QP_CAP);
}

/* ---- all of them -------------------------------------------------------- */

const struct path paths[] = {
	{ "open", open_device, close_device, LOOK },
	{ "pd", alloc_pd, dealloc_pd, DESTROY },
	{ "channel", create_channel, destroy_channel, LOOK },
	{ "cq", create_cq, destroy_cq, DESTROY },
	{ "cq_ex", create_cq_ex, destroy_cq, DESTROY },
	{ "resize", resize_cq, NULL, LOOK },
	{ "resize_qp", resize_qp, NULL, LOOK },
	{ "notify", notify, NULL, LOOK },
	{ "rc", create_rc, destroy_qp, DESTROY },
	{ "uc", create_uc, destroy_qp, DESTROY },
	{ "ud", create_ud, destroy_qp, DESTROY },
	{ "xrc_send", create_xrc_send, destroy_qp, DESTROY },
	/*
	 * If memory is short, create_xrc_qp_user() of the core (6.1) leaks a
	 * reference to the XRC domain, which then could never be destroyed.
	 */
	{ "xrc_recv", create_xrc_recv, destroy_qp, ONLY_DESTROY },
	{ "exp", create_exp, destroy_qp, DESTROY },
	{ "dc_target", create_target, destroy_qp, DESTROY },
	{ "dc_initiator", create_initiator, destroy_qp, DESTROY },
	{ "dct_query", query_target, NULL, LOOK },
	{ "dct_arm", arm_target, NULL, LOOK },
	{ "srq", create_srq, destroy_srq, DESTROY },
	{ "xrc_srq", create_xrc_srq, destroy_srq, DESTROY },
	{ "srq_limit", limit_srq, NULL, LOOK },
	{ "xrcd", open_xrcd, close_xrcd, DESTROY },
	{ "ah", create_ah, destroy_ah, DESTROY },
	{ "mcast", attach, detach, DESTROY },
	{ "mr", reg_mr, dereg_mr, DESTROY },
	{ "rereg", rereg_mr, NULL, LOOK },
	{ "sync", sync_mr, NULL, LOOK },
	{ "mw", alloc_mw, dealloc_mw, DESTROY },
	{ "dm", alloc_dm, free_dm, DESTROY },
	{ "dm_mr", reg_dm, dereg_dm, DESTROY },
	{ "query", query, NULL, LOOK },
	{ "error", to_error, connect_again, RESTORE },
	{ "send_wire", post_wire, wire_is_right, RESTORE },
	{ "send_loop", post_loop, loop_is_right, RESTORE },
	{ "recv", post_recv, recv_is_right, LOOK },
	{ "bind", post_bind, invalidate, LOOK },
	{ "connect", connect_rc, reset_rc, RESTORE },
	{ NULL, NULL, NULL, LOOK },
};

void paths_set_up(void)
{
	static struct vt_conf mw_conf;

	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	conf = vt_defaults();
	conf.timeout = 14;	/* 67 ms */
	mw_conf = conf;
	mw_conf.mr_access |= IBV_ACCESS_MW_BIND;
	vt_pair_open(&wire, a, b, &conf);
	vt_pair_open(&loop, a, a, &mw_conf);
	vt_pair_create(&fresh, a, b, &conf);
	ud_open(&dgram, a);
	buf = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (buf == MAP_FAILED)
		vt_bail("mmap");
	big = ibv_reg_mr(a->pd, buf, BIG, VT_ACCESS_ALL | IBV_ACCESS_MW_BIND);
	cq = ibv_create_cq(a->ctx, 100, NULL, NULL, 0);
	if (!big || !cq || open_xrcd() || create_srq() || alloc_mw())
		vt_bail("set-up");
	xrcd = domain;
	queue = srq;
	window = mw;
	target = dc_create(a, cq, queue, MXEDV_DCTYPE_DCT, 1);
	if (!target)
		vt_bail("a DC target");
	if (vt_recv(&wire.b, 0, 0, 64))
		vt_bail("ibv_post_recv");
}

void paths_tear_down(void)
{
	if (ibv_dealloc_mw(window) || ibv_destroy_qp(target) ||
	    ibv_destroy_srq(queue) || ibv_close_xrcd(xrcd) ||
	    ibv_destroy_cq(cq) || ibv_dereg_mr(big))
		vt_bail("destroy");
	munmap(buf, BIG);
	ud_close(&dgram);
	vt_pair_close(&fresh);
	vt_pair_close(&loop);
	vt_pair_close(&wire);
	vt_close(a);
	vt_close(b);
}
