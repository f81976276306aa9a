// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs that the processes of the packet target call while packets arrive. An
 * object that is created has arbitrary attributes, and is destroyed at once.
 */
#include "memory/dm.h"
#include "packet.h"
#include "queues/post.h"
#include "queues/qp_verbs.h"
#include "queues/srq_verbs.h"
#include "world.h"

/* A number that is mostly small. */
static u32 some_number(struct input *in)
{
	u8 byte = take(in, 1);

	return byte & 0x80 ? take(in, 3) : byte;
}

/* ---- objects of the world ------------------------------------------------ */

static void change_cq(int end, struct input *in)
{
	struct ib_cq *cq = &w.cq[end].ibcq;
	u8 choice = take(in, 1);

	switch (choice & 3) {
	case 0:
		mxe_resize_cq(cq, some_number(in), world_udata(NULL, 0));
		break;
	case 1:
		mxe_modify_cq(cq, choice >> 4, choice >> 2 & 3);
		break;
	case 2:
		mxe_req_notify_cq(cq, choice >> 2 & 7);
		break;
	default:
		world_poll(end);
		break;
	}
}

static void query(int end)
{
	struct ib_qp_init_attr init;
	struct ib_srq_attr srq_attr;
	struct ib_qp_attr attr;

	mxe_query_qp(&w.qp[end].ibqp, &attr, 0, &init);
	if (w.has_srq)
		mxe_query_srq(&w.srq.ibsrq, &srq_attr);
}

static void change_srq(struct input *in)
{
	struct ib_srq_attr attr = { .srq_limit = some_number(in) };

	if (w.has_srq)
		mxe_modify_srq(&w.srq.ibsrq, &attr, take(in, 1) & 3,
			       world_udata(NULL, 0));
}

/* Registers the region again, as ib_core does. */
static void rereg(struct input *in)
{
	u64 start = (unsigned long)fk_memory[0];
	u8 choice = take(in, 1);
	struct ib_mr *mr;

	mr = mxe_rereg_user_mr(&w.mr->ibmr, choice & 7,
			       start + take(in, 2) % REGION_SIZE,
			       some_number(in), start, ALL_RIGHTS, &w.pd.ibpd,
			       world_udata(NULL, 0));
	if (IS_ERR(mr))
		return;
	CHECK(!mxe_dereg_mr(&w.mr->ibmr, NULL));
	w.mr = to_mmr(mr);
}

/* Destroys the window of an end, and makes another one. */
static void renew_window(int end, struct input *in)
{
	struct ib_mw *mw = &w.mw[end].ibmw;
	bool bind = take(in, 1) & 1;

	CHECK(!mxe_dealloc_mw(mw));
	if (mxe_alloc_mw(mw, NULL)) {
		fk_fail_allocs(0, 0);
		CHECK(!mxe_alloc_mw(mw, NULL));
	}
	if (bind)
		world_bind(end);
}

/* Changes attributes of a queue pair to arbitrary values. */
static void modify(int end, struct input *in)
{
	struct ib_qp_attr attr = {};
	int mask = take(in, 3);

	attr.qp_state = take(in, 1) & 7;
	attr.cur_qp_state = take(in, 1) & 7;
	attr.port_num = take(in, 1) & 3;
	attr.path_mtu = take(in, 1) & 7;
	attr.timeout = some_number(in);
	attr.retry_cnt = take(in, 1) & 15;
	attr.rnr_retry = take(in, 1) & 15;
	attr.min_rnr_timer = some_number(in);
	attr.max_rd_atomic = take(in, 1);
	attr.max_dest_rd_atomic = take(in, 1);
	attr.qp_access_flags = take(in, 3);
	attr.rq_psn = take(in, 3);
	attr.sq_psn = take(in, 3);
	attr.dest_qp_num = w.qp[!end].ibqp.qp_num;
	attr.qkey = QKEY;
	attr.en_sqd_async_notify = mask & 1;
	/* The path is that of world_connect(). */
	mxe_modify_qp(&w.qp[end].ibqp, &attr, mask & ~IB_QP_AV,
		      world_udata(NULL, 0));
}

static void post_wrongly(int end)
{
	const struct ib_send_wr *bad_send, send = {};
	const struct ib_recv_wr *bad_recv, recv = {};
	struct ib_wc wc;

	if (w.is_kernel)
		return;
	CHECK(mxe_post_send(&w.qp[end].ibqp, &send, &bad_send));
	CHECK(mxe_post_recv(&w.qp[end].ibqp, &recv, &bad_recv));
	if (w.has_srq)
		CHECK(mxe_post_srq_recv(&w.srq.ibsrq, &recv, &bad_recv));
	CHECK(mxe_poll_cq(&w.cq[end].ibcq, 1, &wc) < 0);
}

static void change_group(struct input *in)
{
	struct ib_qp *qp = &w.qp[B].ibqp;
	union ib_gid gid = w.mcast_gid;
	u8 choice = take(in, 1);

	if (w.kind != KIND_UD)
		return;
	/* A member cannot be destroyed. */
	if (world_qp(B)->mcast_groups)
		CHECK(mxe_destroy_qp(qp, NULL));
	if (choice & 1)
		mxe_detach_mcast(qp, &gid, 0);
	else
		mxe_attach_mcast(qp, &gid, 0);
}

/* ---- other objects ------------------------------------------------------- */

static void try_cq(struct input *in)
{
	struct mxe_create_cq_req req = { .flags = !take(in, 1) };
	struct ib_cq_init_attr attr = {
		.cqe = some_number(in), .flags = take(in, 1) & 7,
		.comp_vector = !take(in, 1),
	};
	struct mxe_cq cq = { .ibcq.device = &w.dev.ibdev };

	if (!mxe_create_cq(&cq.ibcq, &attr, world_udata(&req, sizeof(req))))
		CHECK(!mxe_destroy_cq(&cq.ibcq, NULL));
}

static void try_srq(struct input *in)
{
	struct mxe_create_srq_req req = {
		.flags = !take(in, 1), .max_tm_ops = some_number(in),
	};
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = some_number(in), .max_sge = some_number(in) },
		.srq_type = take(in, 1) & 3,
	};
	struct mxe_srq srq = {};

	srq.ibsrq.device = &w.dev.ibdev;
	srq.ibsrq.pd = &w.pd.ibpd;
	srq.ibsrq.srq_type = init.srq_type;
	srq.ibsrq.ext.cq = &w.cq[B].ibcq;
	init.ext.cq = srq.ibsrq.ext.cq;
	if (init.srq_type == IB_SRQT_TM) {
		init.ext.tag_matching.max_num_tags = some_number(in);
	} else {
		srq.ibsrq.ext.xrc.xrcd = &w.xrcd.ibxrcd;
		init.ext.xrc.xrcd = srq.ibsrq.ext.xrc.xrcd;
	}
	if (!mxe_create_srq(&srq.ibsrq, &init, world_udata(&req, sizeof(req))))
		CHECK(!mxe_destroy_srq(&srq.ibsrq, NULL));
}

static void try_qp(struct input *in)
{
	static const enum ib_qp_type types[] = {
		IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_XRC_INI, IB_QPT_XRC_TGT,
		IB_QPT_DRIVER, IB_QPT_GSI, IB_QPT_RAW_PACKET,
	};
	struct mxe_create_qp_req req = {
		.flags = take(in, 1), .max_atomic_arg = take(in, 1),
	};
	u8 choice = take(in, 1);
	struct ib_qp_init_attr init = {
		.qp_type = types[choice & 7],
		.create_flags = !take(in, 1),
		.cap = {
			.max_send_wr = some_number(in),
			.max_recv_wr = some_number(in),
			.max_send_sge = take(in, 1) % 40,
			.max_recv_sge = take(in, 1) % 40,
			.max_inline_data = some_number(in),
		},
	};
	struct ib_udata *udata = world_udata(&req, sizeof(req));
	struct mxe_ib_qp qp = {};

	if (init.qp_type == IB_QPT_XRC_TGT) {
		init.xrcd = &w.xrcd.ibxrcd;
		udata = NULL;
	}
	if (choice & 8) {
		init.send_cq = &w.cq[A].ibcq;
		init.recv_cq = &w.cq[A].ibcq;
	}
	if (choice & 16 && w.has_srq && init.qp_type != IB_QPT_XRC_TGT)
		init.srq = &w.srq.ibsrq;
	if (init.qp_type == IB_QPT_DRIVER && choice & 32)
		req.dct_key = WORLD_DC_KEY;
	qp.ibqp.device = &w.dev.ibdev;
	qp.ibqp.qp_type = init.qp_type;
	qp.ibqp.pd = &w.pd.ibpd;
	qp.ibqp.xrcd = init.xrcd;
	qp.ibqp.srq = init.srq;
	if (!mxe_create_qp(&qp.ibqp, &init, udata))
		CHECK(!mxe_destroy_qp(&qp.ibqp, NULL));
}

static void try_mr(struct input *in)
{
	struct mxe_mmap_entry entry = { .mem = fk_memory[0] };
	struct ib_dm_mr_attr attr = { .length = PAGE_SIZE / 2 };
	u64 start = (unsigned long)fk_memory[0];
	struct mxe_dm dm = { .entry = &entry };
	u8 garbage = take(in, 1) & 1;
	struct ib_mr *mr;

	switch (take(in, 1) % 6) {
	case 0:
		mr = mxe_get_dma_mr(&w.pd.ibpd, take(in, 1));
		break;
	case 2:
		attr.offset = take(in, 1);
		attr.access_flags = take(in, 1);
		mr = mxe_reg_dm_mr(&w.pd.ibpd, &dm.ibdm, &attr, NULL);
		break;
	case 3:
		mr = mxe_reg_user_mr_dmabuf(&w.pd.ibpd, take(in, 2), some_number(in),
					    start, 0, take(in, 1),
					    world_udata(NULL, 0));
		break;
	case 1:
		mr = mxe_alloc_mr(&w.pd.ibpd, take(in, 1) & 1, some_number(in));
		break;
	default:
		mr = mxe_reg_user_mr(&w.pd.ibpd, start + take(in, 2),
				     some_number(in), start, take(in, 3),
				     world_udata(&garbage, garbage));
		break;
	}
	if (!IS_ERR(mr))
		CHECK(!mxe_dereg_mr(mr, NULL));
}

static void try_ah(int end, struct input *in)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	struct rdma_ah_init_attr init = { .ah_attr = &attr };
	struct mxe_ah ah = {};
	u8 choice = take(in, 1);

	rdma_ah_set_ah_flags(&attr, choice & 1 ? IB_AH_GRH : 0);
	attr.grh.sgid_attr = choice & 2 ? &fk_gid[end] : NULL;
	attr.grh.dgid = fk_gid[!end].gid;
	if (choice & 4)
		attr.grh.dgid.raw[0] ^= 1;
	ah.ibah.device = &w.dev.ibdev;
	ah.ibah.pd = &w.pd.ibpd;
	if (!mxe_create_ah(&ah.ibah, &init, world_udata(NULL, 0)))
		CHECK(!mxe_destroy_ah(&ah.ibah, 0));
}

static void try_context(struct input *in)
{
	struct mxe_alloc_ucontext_req req = { .flags = !take(in, 1) };
	struct mxe_ucontext uctx = { .ibuc.device = &w.dev.ibdev };
	struct ib_udata *udata = world_udata(&req, sizeof(req));

	if (udata && !mxe_alloc_ucontext(&uctx.ibuc, udata))
		mxe_dealloc_ucontext(&uctx.ibuc);
}

void packet_verb(int end, struct input *in)
{
	switch (take(in, 1) % 16) {
	case 0:
		query(end);
		break;
	case 1:
		change_srq(in);
		break;
	case 2:
		rereg(in);
		break;
	case 3:
		renew_window(end, in);
		break;
	case 4:
		modify(end, in);
		break;
	case 5:
		post_wrongly(end);
		break;
	case 6:
		change_group(in);
		break;
	case 7:
		try_cq(in);
		break;
	case 8:
		try_srq(in);
		break;
	case 9:
		try_qp(in);
		break;
	case 10:
		try_mr(in);
		break;
	case 11:
		try_ah(end, in);
		break;
	case 12:
		try_context(in);
		break;
	default:
		change_cq(end, in);
		break;
	}
}
