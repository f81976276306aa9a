// SPDX-License-Identifier: GPL-2.0
/* Makes the two connected queue pairs of world.h. */
#include <rdma/uverbs_ioctl.h>

#include "queues/qp_verbs.h"
#include "queues/srq_verbs.h"
#include "rc/inline_recv.h"
#include "tm/tm.h"
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

struct ib_udata *world_udata(void *req, size_t req_len)
{
	return w.is_kernel ? NULL : udata(req, req_len);
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
	w.mcast_gid = fk_gid[0].gid;
	if (w.ipv6)
		memcpy(w.mcast_gid.raw, "\xff\x0e", 2);
	else
		w.mcast_gid.raw[12] = 224;
}

static void make_device(void)
{
	w.mnet.net = &fk_net;
	w.mnet.sk4 = &fk_socket;
	w.mnet.sk6 = &fk_socket;
	rcu_assign_sk_user_data(fk_socket.sk, &w.mnet);
	INIT_LIST_HEAD(&w.mnet.devs);
	xa_init_flags(&w.mnet.qps, XA_FLAGS_ALLOC);
	w.mnet.next_qpn = 0x4d01;
	w.mnet.recent = &w.recent;
	w.dev.ibdev.num_comp_vectors = 1;
	w.dev.ibdev.ops.mmap_free = mxe_mmap_free;
	w.dev.ndev = &fk_netdev;
	w.dev.mnet = &w.mnet;
	w.dev.stats = &w.stats;
	w.dev.coherent = true;
	list_add(&w.dev.mnet_entry, &w.mnet.devs);
	xa_init(&w.dev.mrs);
	xa_init_flags(&w.dev.ahs, XA_FLAGS_ALLOC);
	xa_init_flags(&w.dev.srqs, XA_FLAGS_ALLOC1);
	mxe_mcast_init(&w.dev.mcast);
	w.uctx.ibuc.device = &w.dev.ibdev;
	w.pd.ibpd.device = &w.dev.ibdev;
	CHECK(!mxe_alloc_pd(&w.pd.ibpd, NULL));
}

static void make_memory(void)
{
	int i;

	memset(world_foreign_page, GUARD, PAGE_SIZE);
	for (i = 0; i < REGION_PAGES; i++) {
		memset(fk_memory[2 * i], i, PAGE_SIZE);
		memcpy(fk_memory[2 * i + 1], world_foreign_page, PAGE_SIZE);
	}
}

static void make_pinned_region(void)
{
	u64 start = (unsigned long)fk_memory[0];
	struct ib_mr *mr;

	mr = mxe_reg_user_mr(&w.pd.ibpd, start, REGION_SIZE, start, ALL_RIGHTS,
			     udata(NULL, 0));
	CHECK(!IS_ERR(mr));
	w.mr = to_mmr(mr);
}

static void make_fast_region(void)
{
	struct scatterlist sg[REGION_PAGES];
	struct ib_reg_wr wr = { .access = ALL_RIGHTS };
	struct mxe_reg reg;
	struct ib_mr *mr;
	int i;

	sg_init_table(sg, REGION_PAGES);
	for (i = 0; i < REGION_PAGES; i++)
		sg_set_page(&sg[i], virt_to_page(fk_memory[2 * i]), PAGE_SIZE, 0);
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
}

static void make_windows(enum ib_mw_type type)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct ib_mw *mw = &w.mw[i].ibmw;

		mw->device = &w.dev.ibdev;
		mw->pd = &w.pd.ibpd;
		mw->type = type;
		CHECK(!mxe_alloc_mw(mw, NULL));
	}
}

void world_bind(int end)
{
	struct mxe_bind bind = {
		.addr = w.mr->iova,
		.length = REGION_SIZE,
		.mr_lkey = w.mr->key,
		.access = ALL_RIGHTS & ~(IB_ACCESS_MW_BIND | IB_ACCESS_FLUSH_GLOBAL),
	};

	mxe_mw_bind(&w.dev, &w.pd.ibpd, w.qp[end].ibqp.qp_num,
		    w.mw[end].ibmw.rkey, &bind);
}

static void set_path(int end, struct rdma_ah_attr *attr)
{
	struct ib_global_route *grh = rdma_ah_retrieve_grh(attr);

	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_ah_flags(attr, IB_AH_GRH);
	grh->dgid = fk_gid[!end].gid;
	grh->sgid_attr = &fk_gid[end];
	grh->hop_limit = 64;
	grh->traffic_class = w.conf.traffic_class;
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
	CHECK(!mxe_create_srq(srq, &init, world_udata(&req, sizeof(req))));
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
	struct ib_udata *data = world_udata(&req, sizeof(req));
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

static void on_completion(struct ib_cq *cq, void *context)
{
}

static void on_event(struct ib_event *event, void *context)
{
}

static void make_cq(int end, u32 flags)
{
	struct mxe_create_cq_req req = {};
	struct ib_cq_init_attr attr = { .cqe = w.conf.cq_depth, .flags = flags };
	struct ib_cq *cq = &w.cq[end].ibcq;

	cq->device = &w.dev.ibdev;
	cq->comp_handler = on_completion;
	cq->event_handler = on_event;
	CHECK(!mxe_create_cq(cq, &attr, world_udata(&req, sizeof(req))));
}

static void make_ah(struct mxe_ah *ah, int from, u8 traffic_class,
		    const union ib_gid *dgid)
{
	struct rdma_ah_attr ah_attr = {};
	struct rdma_ah_init_attr init = { .ah_attr = &ah_attr };

	ah->ibah.device = &w.dev.ibdev;
	ah->ibah.pd = &w.pd.ibpd;
	set_path(from, &ah_attr);
	ah_attr.grh.traffic_class += traffic_class;
	if (dgid)
		ah_attr.grh.dgid = *dgid;
	CHECK(!mxe_create_ah(&ah->ibah, &init, world_udata(NULL, 0)));
}

static u32 qp_flags(u32 options)
{
	u32 flags = 0;

	if (options & WORLD_BE_REPLY)
		flags |= MXE_QP_CREATE_ATOMIC_BE_REPLY;
	if (options & WORLD_ONE_MAPPING)
		flags |= MXE_QP_CREATE_ONE_MAPPING;
	if (options & WORLD_INLINE_RECV && !w.has_tags &&
	    (w.kind == KIND_RC || w.kind == KIND_UC))
		flags |= MXE_QP_CREATE_INLINE_RECV;
	return flags;
}

/* Decides which of the options go together. */
static void choose(u32 options)
{
	w.kind = options & WORLD_DC ? KIND_DC : options & 3;
	w.is_kernel = options & WORLD_KERNEL && w.kind <= KIND_UD;
	w.has_srq = options & WORLD_SRQ || w.kind == KIND_XRC ||
		    w.kind == KIND_DC;
	w.has_tags = options & WORLD_TAGS && w.has_srq && w.kind == KIND_RC &&
		     !w.is_kernel;
	w.ipv6 = options & WORLD_IPV6;
}

void world_make(u32 options, const struct world_conf *conf)
{
	u32 cq_flags;
	int i;

	memset(&w, 0, sizeof(w));
	w.conf = *conf;
	choose(options);
	fk_begin();
	fk_is_local = options & WORLD_LOOPBACK;
	/* An input must do the same, whatever inputs ran before. */
	static_branch_disable(&mxe_tm_used);
	static_branch_disable(&mxe_inline_recv_used);
	make_gids();
	make_device();
	make_memory();
	if (options & WORLD_PINNED && !w.is_kernel)
		make_pinned_region();
	else
		make_fast_region();
	make_windows(options & WORLD_MW_TYPE_1 ? IB_MW_TYPE_1 : IB_MW_TYPE_2);
	cq_flags = options & WORLD_TIMESTAMPS && !w.is_kernel ?
		   IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION : 0;
	for (i = 0; i < 2; i++) {
		make_cq(i, cq_flags);
		make_ah(&w.ah[i], i, 0, NULL);
	}
	make_ah(&w.dc_ah, A, 4, NULL);
	make_ah(&w.mcast_ah, A, 0, &w.mcast_gid);
	w.xrcd.ibxrcd.device = &w.dev.ibdev;
	CHECK(!mxe_alloc_xrcd(&w.xrcd.ibxrcd, NULL));
	if (w.has_srq)
		make_srq();
	for (i = 0; i < 2; i++)
		make_qp(i, qp_flags(options));
	for (i = 0; i < 2; i++) {
		world_connect(i);
		world_bind(i);
	}
	if (w.kind == KIND_UD)
		CHECK(!mxe_attach_mcast(&w.qp[B].ibqp, &w.mcast_gid, 0));
}

void world_poll(int end)
{
	struct ib_wc wc[4];

	if (!w.is_kernel) {
		w.cq[end].ring.hdr->consumer = w.cq[end].ring.hdr->producer;
		return;
	}
	while (mxe_poll_cq(&w.cq[end].ibcq, ARRAY_SIZE(wc), wc) > 0)
		;
}

/* A failed insertion may have left nodes without entries. */
static void end_table(struct xarray *xa)
{
	CHECK(!mxe_xa_has_entries(xa));
	xa_destroy(xa);
}

void world_destroy(void)
{
	int i;

	fk_fail_allocs(0, 0);
	if (world_qp(B)->mcast_groups)
		CHECK(!mxe_detach_mcast(&w.qp[B].ibqp, &w.mcast_gid, 0));
	for (i = 0; i < 2; i++)
		CHECK(!mxe_destroy_qp(&w.qp[i].ibqp, NULL));
	CHECK(!fk_run_work() && !fk_run_timers());
	if (w.has_srq)
		CHECK(!mxe_destroy_srq(&w.srq.ibsrq, NULL));
	CHECK(!mxe_dealloc_xrcd(&w.xrcd.ibxrcd, NULL));
	for (i = 0; i < 2; i++)
		CHECK(!mxe_dealloc_mw(&w.mw[i].ibmw));
	CHECK(!mxe_dereg_mr(&w.mr->ibmr, NULL));
	CHECK(!mxe_destroy_ah(&w.dc_ah.ibah, 0));
	CHECK(!mxe_destroy_ah(&w.mcast_ah.ibah, 0));
	for (i = 0; i < 2; i++) {
		CHECK(!mxe_destroy_ah(&w.ah[i].ibah, 0));
		CHECK(!mxe_destroy_cq(&w.cq[i].ibcq, NULL));
	}
	CHECK(!mxe_dealloc_pd(&w.pd.ibpd, NULL));
	for (i = 0; i < MXE_RESOURCE_COUNT; i++)
		CHECK(!atomic_read(&w.dev.resources[i]));
	end_table(&w.mnet.qps);
	end_table(&w.dev.mrs);
	end_table(&w.dev.ahs);
	end_table(&w.dev.srqs);
	fk_run_rcu();
	CHECK(!fk_skbs && !fk_groups);
}
