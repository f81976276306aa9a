// SPDX-License-Identifier: GPL-2.0
/* Makes the two connected queue pairs of world.h. */
#include <rdma/uverbs_ioctl.h>

#include "qp_verbs.h"
#include "srq_verbs.h"
#include "world.h"

enum { TM_OPS = 8, TM_TAGS = 4, RQ_DEPTH = 8 };

struct world w;
u8 world_foreign_page[PAGE_SIZE];

/* Returns the request of a process to a verb, with room for the response. */
static struct ib_udata *udata(void *req, size_t req_len)
{
	static u8 resp[256];
	static struct uverbs_attr_bundle bundle;

	bundle.context = &w.uctx.ibuc;
	bundle.driver_udata = (struct ib_udata) {
		.inbuf = (__force void __user *)req,
		.inlen = req_len,
		.outbuf = (__force void __user *)resp,
		.outlen = sizeof(resp),
	};
	return &bundle.driver_udata;
}

struct mxe_qp *world_qp(int end)
{
	return to_mqp(&w.qp[end].ibqp);
}

static void make_gids(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		union ib_gid *gid = &fk_gid[i].gid;

		memset(&fk_gid[i], 0, sizeof(fk_gid[i]));
		fk_gid[i].gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
		if (w.ipv6)
			memcpy(gid->raw, "\xfd\x4d", 2);
		else
			memset(gid->raw + 10, 0xff, 2);
		gid->raw[12] = 10;
		gid->raw[15] = i + 1;
	}
}

static void make_device(void)
{
	w.mnet.net = &fk_net;
	w.mnet.sk6 = &fk_socket;
	INIT_LIST_HEAD(&w.mnet.devs);
	xa_init_flags(&w.mnet.qps, XA_FLAGS_ALLOC);
	w.mnet.next_qpn = 0x4d01;
	w.mnet.recent = &w.recent;
	w.dev.ibdev.num_comp_vectors = 1;
	w.dev.ibdev.ops.mmap_free = mxe_mmap_free;
	w.dev.ndev = &fk_netdev;
	w.dev.mnet = &w.mnet;
	w.dev.stats = &w.stats;
	list_add(&w.dev.mnet_entry, &w.mnet.devs);
	xa_init(&w.dev.mrs);
	xa_init_flags(&w.dev.ahs, XA_FLAGS_ALLOC);
	xa_init_flags(&w.dev.srqs, XA_FLAGS_ALLOC1);
	mxe_mcast_init(&w.dev.mcast);
	w.uctx.ibuc.device = &w.dev.ibdev;
	w.pd.ibpd.device = &w.dev.ibdev;
	CHECK(!mxe_alloc_pd(&w.pd.ibpd, NULL));
}

static void make_region(void)
{
	struct scatterlist sg[REGION_PAGES];
	struct ib_reg_wr wr = { .access = ALL_RIGHTS };
	struct mxe_reg reg;
	struct ib_mr *mr;
	int i;

	memset(world_foreign_page, GUARD, PAGE_SIZE);
	sg_init_table(sg, REGION_PAGES);
	for (i = 0; i < REGION_PAGES; i++) {
		memset(fk_memory[2 * i], i, PAGE_SIZE);
		memcpy(fk_memory[2 * i + 1], world_foreign_page, PAGE_SIZE);
		sg_set_page(&sg[i], virt_to_page(fk_memory[2 * i]), PAGE_SIZE, 0);
	}
	mr = mxe_alloc_mr(&w.pd.ibpd, IB_MR_TYPE_MEM_REG, REGION_PAGES);
	CHECK(!IS_ERR(mr));
	/* The core sets these. */
	mr->device = &w.dev.ibdev;
	mr->pd = &w.pd.ibpd;
	mr->page_size = PAGE_SIZE;
	CHECK(mxe_map_mr_sg(mr, sg, REGION_PAGES, NULL) == REGION_PAGES);
	wr.mr = mr;
	wr.key = mr->rkey;
	reg = mxe_mr_reg_from_ib(&wr);
	CHECK(!mxe_mr_reg(&w.pd.ibpd, &reg));
	w.mr = to_mmr(mr);

	w.mw.ibmw.device = &w.dev.ibdev;
	w.mw.ibmw.pd = &w.pd.ibpd;
	w.mw.ibmw.type = IB_MW_TYPE_2;
	CHECK(!mxe_alloc_mw(&w.mw.ibmw, NULL));
}

static void set_path(int end, struct rdma_ah_attr *attr)
{
	struct ib_global_route *grh = rdma_ah_retrieve_grh(attr);

	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_ah_flags(attr, IB_AH_GRH);
	grh->dgid = fk_gid[!end].gid;
	grh->sgid_attr = &fk_gid[end];
	grh->hop_limit = 64;
}

static int mask_of(int end, enum ib_qp_state state)
{
	int mask = IB_QP_STATE;

	switch (state) {
	case IB_QPS_INIT:
		return mask | IB_QP_PORT | IB_QP_ACCESS_FLAGS | IB_QP_QKEY;
	case IB_QPS_RTR:
		mask |= IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
		return w.kind == KIND_UD ? mask : mask | IB_QP_AV;
	case IB_QPS_RTS:
		if (world_qp(end)->state == IB_QPS_RTR)
			mask |= IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
				IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
		return mask;
	default:
		return mask;
	}
}

static int dc_mask(int end, enum ib_qp_state state)
{
	int mask = IB_QP_STATE;

	switch (state) {
	case IB_QPS_INIT:
		return mask | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS;
	case IB_QPS_RTR:
		mask |= IB_QP_PATH_MTU;
		return end == A ? mask : mask | IB_QP_MIN_RNR_TIMER |
					 IB_QP_MAX_DEST_RD_ATOMIC;
	case IB_QPS_RTS:
		return mask | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
		       IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
	default:
		return mask;
	}
}

void world_modify(int end, enum ib_qp_state state)
{
	struct ib_qp_attr attr = {
		.qp_state = state,
		.port_num = 1,
		.qp_access_flags = ALL_RIGHTS,
		.path_mtu = w.conf.path_mtu,
		.dest_qp_num = w.qp[!end].ibqp.qp_num,
		.rq_psn = FIRST_PSN,
		.sq_psn = FIRST_PSN,
		.timeout = 8,
		.retry_cnt = 2,
		.rnr_retry = 2,
		.max_rd_atomic = w.conf.rd_atomic,
		.max_dest_rd_atomic = w.conf.rd_atomic,
		.qkey = QKEY,
	};
	int mask = w.kind == KIND_DC ? dc_mask(end, state) : mask_of(end, state);

	if (mask & IB_QP_AV)
		set_path(end, &attr.ah_attr);
	mxe_modify_qp(&w.qp[end].ibqp, &attr, mask, NULL);
}

void world_connect(int end)
{
	world_modify(end, IB_QPS_INIT);
	world_modify(end, IB_QPS_RTR);
	world_modify(end, IB_QPS_RTS);
}

static enum ib_qp_type qp_type(int end)
{
	switch (w.kind) {
	case KIND_RC:
		return IB_QPT_RC;
	case KIND_UC:
		return IB_QPT_UC;
	case KIND_UD:
		return IB_QPT_UD;
	case KIND_DC:
		return IB_QPT_DRIVER;
	default:
		return end == A ? IB_QPT_XRC_INI : IB_QPT_XRC_TGT;
	}
}

static void make_srq(void)
{
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = RQ_DEPTH, .max_sge = 2 },
		.srq_type = w.kind == KIND_XRC ? IB_SRQT_XRC :
			    w.has_tags ? IB_SRQT_TM : IB_SRQT_BASIC,
	};
	struct mxe_create_srq_req req = { .max_tm_ops = w.has_tags ? TM_OPS : 0 };
	struct ib_srq *srq = &w.srq.ibsrq;

	srq->device = &w.dev.ibdev;
	srq->pd = &w.pd.ibpd;
	srq->srq_type = init.srq_type;
	srq->ext.cq = &w.cq[B].ibcq;
	init.ext.cq = srq->ext.cq;
	if (w.has_tags) {
		init.ext.tag_matching.max_num_tags = TM_TAGS;
	} else {
		srq->ext.xrc.xrcd = &w.xrcd.ibxrcd;
		init.ext.xrc.xrcd = srq->ext.xrc.xrcd;
	}
	CHECK(!mxe_create_srq(srq, &init, udata(&req, sizeof(req))));
}

static void make_qp(int end, u32 flags)
{
	struct mxe_create_qp_req req = { .flags = flags, .max_atomic_arg = 32 };
	struct ib_qp_init_attr init = {
		.qp_type = qp_type(end),
		.cap = {
			.max_send_wr = w.conf.sq_depth, .max_recv_wr = RQ_DEPTH,
			.max_send_sge = 2, .max_recv_sge = 2,
			.max_inline_data = 64,
		},
	};
	struct ib_udata *data = udata(&req, sizeof(req));
	struct ib_qp *qp = &w.qp[end].ibqp;

	if (w.kind == KIND_DC && end == A)
		req.flags |= MXE_QP_CREATE_DCI;
	if (w.kind == KIND_DC && end == B)
		req = (struct mxe_create_qp_req) {
			.flags = MXE_QP_CREATE_DCT, .dct_key = WORLD_DC_KEY,
		};
	qp->device = &w.dev.ibdev;
	qp->qp_type = init.qp_type;
	qp->pd = &w.pd.ibpd;
	if (init.qp_type != IB_QPT_XRC_TGT) {
		init.send_cq = &w.cq[end].ibcq;
		init.recv_cq = &w.cq[end].ibcq;
	} else {
		init.xrcd = &w.xrcd.ibxrcd;
		qp->xrcd = init.xrcd;
		qp->pd = NULL;
		/* uverbs creates it as a queue pair of the kernel. */
		data = NULL;
	}
	if (end == B && w.has_srq && w.kind != KIND_XRC) {
		init.srq = &w.srq.ibsrq;
		qp->srq = init.srq;
	}
	CHECK(!mxe_create_qp(qp, &init, data));
}

static void make_end(int end)
{
	struct mxe_create_cq_req req = {};
	struct ib_cq_init_attr attr = { .cqe = w.conf.cq_depth };
	struct rdma_ah_attr ah_attr = {};
	struct rdma_ah_init_attr ah = { .ah_attr = &ah_attr };

	w.cq[end].ibcq.device = &w.dev.ibdev;
	CHECK(!mxe_create_cq(&w.cq[end].ibcq, &attr, udata(&req, sizeof(req))));
	w.ah[end].ibah.device = &w.dev.ibdev;
	w.ah[end].ibah.pd = &w.pd.ibpd;
	set_path(end, &ah_attr);
	CHECK(!mxe_create_ah(&w.ah[end].ibah, &ah, udata(NULL, 0)));
}

/* The routes differ in the traffic class. */
static void make_dc_ah(void)
{
	struct rdma_ah_attr ah_attr = {};
	struct rdma_ah_init_attr ah = { .ah_attr = &ah_attr };

	w.dc_ah.ibah.device = &w.dev.ibdev;
	w.dc_ah.ibah.pd = &w.pd.ibpd;
	set_path(A, &ah_attr);
	ah_attr.grh.traffic_class = 4;
	CHECK(!mxe_create_ah(&w.dc_ah.ibah, &ah, udata(NULL, 0)));
}

void world_make(u8 options, const struct world_conf *conf)
{
	u32 flags = options & WORLD_BE_REPLY ? MXE_QP_CREATE_ATOMIC_BE_REPLY : 0;

	memset(&w, 0, sizeof(w));
	w.conf = *conf;
	w.kind = options & WORLD_DC ? KIND_DC : options & 3;
	w.has_srq = options & WORLD_SRQ || w.kind == KIND_XRC ||
		    w.kind == KIND_DC;
	w.has_tags = options & WORLD_TAGS && w.has_srq && w.kind == KIND_RC;
	w.ipv6 = options & WORLD_IPV6;
	fk_begin();
	fk_is_local = options & WORLD_LOOPBACK;
	/* An input must do the same, whatever inputs ran before. */
	static_branch_disable(&mxe_dc_used);
	make_gids();
	make_device();
	make_region();
	make_end(A);
	make_end(B);
	make_dc_ah();
	w.xrcd.ibxrcd.device = &w.dev.ibdev;
	CHECK(!mxe_alloc_xrcd(&w.xrcd.ibxrcd, NULL));
	if (w.has_srq)
		make_srq();
	make_qp(A, flags);
	make_qp(B, flags);
	world_connect(A);
	world_connect(B);
}

void world_destroy(void)
{
	int i;

	for (i = 0; i < 2; i++)
		CHECK(!mxe_destroy_qp(&w.qp[i].ibqp, NULL));
	CHECK(!fk_run_work() && !fk_run_timers());
	if (w.has_srq)
		CHECK(!mxe_destroy_srq(&w.srq.ibsrq, NULL));
	CHECK(!mxe_dealloc_xrcd(&w.xrcd.ibxrcd, NULL));
	CHECK(!mxe_dealloc_mw(&w.mw.ibmw));
	CHECK(!mxe_dereg_mr(&w.mr->ibmr, NULL));
	CHECK(!mxe_destroy_ah(&w.dc_ah.ibah, 0));
	for (i = 0; i < 2; i++) {
		CHECK(!mxe_destroy_ah(&w.ah[i].ibah, 0));
		CHECK(!mxe_destroy_cq(&w.cq[i].ibcq, NULL));
	}
	CHECK(!mxe_dealloc_pd(&w.pd.ibpd, NULL));
	for (i = 0; i < MXE_RESOURCE_COUNT; i++)
		CHECK(!atomic_read(&w.dev.resources[i]));
	CHECK(xa_empty(&w.mnet.qps) && xa_empty(&w.dev.mrs));
	CHECK(xa_empty(&w.dev.ahs) && xa_empty(&w.dev.srqs));
	fk_run_rcu();
	CHECK(!fk_skbs);
}
