// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes the protocol engine. The input plays the wire between two queue pairs
 * that are connected to each other, and the processes at both ends.
 *
 * The first byte selects the kind of the queue pairs and their options. Actions
 * follow, each of one byte and its arguments. QPNs, PSNs and keys of the input
 * are relative to the correct ones, and the ICRC is correct unless the action
 * spoils it, so that most packets get as far as valid ones.
 *
 * A finding is a report of a sanitizer, a WARN_ON of the engine, BHs that stay
 * disabled, a malformed packet that is sent, a write outside the region, a
 * leaked reference or buffer, an index of a queue out of order, or a forged
 * packet that changes anything except counters.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <rdma/uverbs_ioctl.h>

#include "kernel.h"
#include "mr.h"
#include "mw.h"
#include "mxe.h"
#include "psn.h"
#include "qp.h"
#include "qp_verbs.h"
#include "rx.h"
#include "send.h"
#include "srq.h"
#include "srq_verbs.h"
#include "tm.h"
#include "ucontext.h"
#include "xrc.h"
#include "xrcd.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int atexit(void (*func)(void));

/* ---- the input ---------------------------------------------------------- */

struct input {
	const u8 *p, *end;
};

static u32 take(struct input *in, unsigned int n)
{
	u32 v = 0;

	while (n--)
		v = v << 8 | (in->p < in->end ? *in->p++ : 0);
	return v;
}

/* ---- the world ---------------------------------------------------------- */

enum kind { KIND_RC, KIND_UC, KIND_UD, KIND_XRC };

enum {
	A, B,				/* ends */
	MTU = 256,
	SQ_DEPTH = 8,
	RQ_DEPTH = 8,
	TM_OPS = 8,
	TM_TAGS = 4,
	CQ_DEPTH = 32,
	MAX_WIRE = 64,			/* packets on the wire */
	MAX_PACKET = 1024,
	REGION_PAGES = FK_PAGES / 2,	/* each is followed by a foreign page */
	REGION_SIZE = REGION_PAGES * PAGE_SIZE,
	GUARD = 0xa5,
	FIRST_PSN = 0xfffff8,		/* wraps soon */
	QKEY = 0x1234,
	ALL_RIGHTS = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
		     IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
		     IB_ACCESS_MW_BIND | IB_ACCESS_FLUSH_GLOBAL,
};

struct packet {
	size_t len;
	u8 data[MAX_PACKET];
};

static struct {
	enum kind kind;
	bool ipv6;
	struct mxe_netns mnet;
	struct mxe_qp_recent recent;
	struct mxe_stats stats;
	struct mxe_dev dev;
	struct mxe_ucontext uctx;
	struct mxe_pd pd;
	struct mxe_cq cq[2];
	struct mxe_xrcd xrcd;
	struct mxe_srq srq;
	bool has_srq;
	bool has_tags;			/* it is a tag-matching SRQ */
	struct mxe_ib_qp qp[2];
	struct mxe_ah ah[2];
	struct mxe_ib_mw mw;
	struct mxe_mr *mr;
	struct packet wire[MAX_WIRE];
	unsigned int wire_len;
} w;

static u8 foreign_page[PAGE_SIZE];
static unsigned long packets;

static void report(void)
{
	dprintf(2, "packets: %lu\n", packets);
}

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

static struct mxe_qp *qp_of(int end)
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

	memset(foreign_page, GUARD, PAGE_SIZE);
	sg_init_table(sg, REGION_PAGES);
	for (i = 0; i < REGION_PAGES; i++) {
		memset(fk_memory[2 * i], i, PAGE_SIZE);
		memcpy(fk_memory[2 * i + 1], foreign_page, PAGE_SIZE);
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

static void modify(int end, enum ib_qp_state state)
{
	struct ib_qp_attr attr = {
		.qp_state = state,
		.port_num = 1,
		.qp_access_flags = ALL_RIGHTS,
		.path_mtu = IB_MTU_256,
		.dest_qp_num = w.qp[!end].ibqp.qp_num,
		.rq_psn = FIRST_PSN,
		.sq_psn = FIRST_PSN,
		.timeout = 8,
		.retry_cnt = 2,
		.rnr_retry = 2,
		.max_rd_atomic = 3,
		.max_dest_rd_atomic = 3,
		.qkey = QKEY,
	};
	int mask = IB_QP_STATE;

	switch (state) {
	case IB_QPS_INIT:
		mask |= IB_QP_PORT | IB_QP_ACCESS_FLAGS | IB_QP_QKEY;
		break;
	case IB_QPS_RTR:
		mask |= IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
		if (w.kind != KIND_UD) {
			mask |= IB_QP_AV;
			set_path(end, &attr.ah_attr);
		}
		break;
	case IB_QPS_RTS:
		if (qp_of(end)->state == IB_QPS_RTR)
			mask |= IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
				IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
		break;
	default:
		break;
	}
	mxe_modify_qp(&w.qp[end].ibqp, &attr, mask, NULL);
}

static void connect(int end)
{
	modify(end, IB_QPS_INIT);
	modify(end, IB_QPS_RTR);
	modify(end, IB_QPS_RTS);
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
			.max_send_wr = SQ_DEPTH, .max_recv_wr = RQ_DEPTH,
			.max_send_sge = 2, .max_recv_sge = 2,
			.max_inline_data = 64,
		},
	};
	struct ib_udata *data = udata(&req, sizeof(req));
	struct ib_qp *qp = &w.qp[end].ibqp;

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
	struct ib_cq_init_attr attr = { .cqe = CQ_DEPTH };
	struct rdma_ah_attr ah_attr = {};
	struct rdma_ah_init_attr ah = { .ah_attr = &ah_attr };

	w.cq[end].ibcq.device = &w.dev.ibdev;
	CHECK(!mxe_create_cq(&w.cq[end].ibcq, &attr, udata(&req, sizeof(req))));
	w.ah[end].ibah.device = &w.dev.ibdev;
	w.ah[end].ibah.pd = &w.pd.ibpd;
	set_path(end, &ah_attr);
	CHECK(!mxe_create_ah(&w.ah[end].ibah, &ah, udata(NULL, 0)));
}

static void sent(const u8 *data, size_t len);

static void make_world(u8 options)
{
	u32 flags = options & 0x10 ? MXE_QP_CREATE_ATOMIC_BE_REPLY : 0;

	memset(&w, 0, offsetof(typeof(w), wire));
	w.wire_len = 0;
	w.kind = options & 3;
	w.has_srq = options & 4 || w.kind == KIND_XRC;
	w.has_tags = options & 0x40 && w.has_srq && w.kind == KIND_RC;
	w.ipv6 = options & 8;
	fk_begin();
	fk_sent = sent;
	fk_is_local = options & 0x20;
	make_gids();
	make_device();
	make_region();
	make_end(A);
	make_end(B);
	w.xrcd.ibxrcd.device = &w.dev.ibdev;
	CHECK(!mxe_alloc_xrcd(&w.xrcd.ibxrcd, NULL));
	if (w.has_srq)
		make_srq();
	make_qp(A, flags);
	make_qp(B, flags);
	connect(A);
	connect(B);
}

/* Destroying waits for references, so a leaked one is a finding. */
static void end_world(void)
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

/* ---- invariants --------------------------------------------------------- */

static void check_sq(const struct mxe_qp *qp)
{
	const struct mxe_sq *sq = &qp->sq;

	CHECK(sq->fetched - sq->tail <= sq->wr_mask + 1);
	/* A failed request may move tail past cur until the flush. */
	if (sq->halted)
		return;
	CHECK(sq->next - sq->tail <= sq->fetched - sq->tail);
	CHECK(sq->cur - sq->tail <= sq->next - sq->tail);
	CHECK(sq->rd_atomic <= qp->attr.max_rd_atomic);
	if (w.kind == KIND_RC || w.kind == KIND_XRC) {
		CHECK(mxe_psn_diff(sq->una, sq->max_psn) <= 0);
		CHECK(mxe_psn_diff(sq->psn, sq->max_psn) <= 0);
		CHECK(mxe_psn_diff(sq->psn, sq->una) <= 2 * MXE_MAX_UNACKED);
	}
}

static void check_world(void)
{
	int i;

	for (i = 0; i < FK_PAGES; i += 2)
		CHECK(!memcmp(fk_memory[i + 1], foreign_page, PAGE_SIZE));
	for (i = 0; i < 2; i++)
		check_sq(qp_of(i));
	CHECK(!(atomic_read(&w.mr->accesses) & ~MXE_MR_CLOSED));
}

/* ---- packets ------------------------------------------------------------ */

static struct iphdr *ip_of(u8 *data)
{
	return (struct iphdr *)data;
}

static size_t ip_len(const u8 *data)
{
	return data[0] >> 4 == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

static __le32 icrc_of(const u8 *data, size_t len)
{
	const struct udphdr *udph = (const void *)(data + ip_len(data));
	const u8 *bth = (const u8 *)(udph + 1);

	len -= bth - data + MXE_ICRC_SIZE;
	return data[0] >> 4 == 4 ?
	       mxe_icrc_ipv4((const void *)data, udph, bth, len) :
	       mxe_icrc_ipv6((const void *)data, udph, bth, len);
}

/* The engine sends only packets that it would accept itself. */
static void sent(const u8 *data, size_t len)
{
	size_t hdr = ip_len(data) + sizeof(struct udphdr);
	struct packet *packet;
	struct mxe_pkt pkt;
	__le32 icrc;

	memset(&pkt, 0, sizeof(pkt));
	CHECK(mxe_pkt_parse(&pkt, data + hdr, len - hdr) == MXE_PKT_OK);
	icrc = icrc_of(data, len);
	CHECK(!memcmp(&icrc, data + len - MXE_ICRC_SIZE, MXE_ICRC_SIZE));
	CHECK(len <= MAX_PACKET);
	if (w.wire_len == MAX_WIRE)
		return;
	packet = &w.wire[w.wire_len++];
	packet->len = len;
	memcpy(packet->data, data, len);
}

static void unwire(unsigned int i)
{
	w.wire_len--;
	memmove(&w.wire[i], &w.wire[i + 1],
		(w.wire_len - i) * sizeof(w.wire[0]));
}

static void receive(const u8 *data, size_t len)
{
	packets++;
	mxe_rx(&w.mnet, fk_skb(data, len), NULL);
}

static void receive_good(u8 *data, size_t len)
{
	size_t hdr = ip_len(data) + sizeof(struct udphdr);
	__le32 icrc;

	/* Shorter packets have no ICRC. */
	if (len >= hdr + sizeof(struct mxe_bth) + MXE_ICRC_SIZE) {
		icrc = icrc_of(data, len);
		memcpy(data + len - MXE_ICRC_SIZE, &icrc, sizeof(icrc));
	}
	receive(data, len);
}

/*
 * Builds IP and UDP headers for len bytes from one end to the other. Returns
 * the position of the BTH.
 */
static u8 *put_headers(u8 *data, int from, size_t len)
{
	size_t udp_len = sizeof(struct udphdr) + len;
	struct udphdr *udph;

	if (w.ipv6) {
		struct ipv6hdr *ip6h = (void *)data;

		memset(ip6h, 0, sizeof(*ip6h));
		ip6h->version = 6;
		ip6h->payload_len = htons(udp_len);
		ip6h->nexthdr = IPPROTO_UDP;
		memcpy(&ip6h->saddr, &fk_gid[from].gid, 16);
		memcpy(&ip6h->daddr, &fk_gid[!from].gid, 16);
		udph = (void *)(ip6h + 1);
	} else {
		struct iphdr *iph = (void *)data;

		*iph = (struct iphdr) {
			.version = 4, .ihl = 5, .ttl = 64,
			.tot_len = htons(sizeof(*iph) + udp_len),
			.protocol = IPPROTO_UDP,
		};
		memcpy(&iph->saddr, fk_gid[from].gid.raw + 12, 4);
		memcpy(&iph->daddr, fk_gid[!from].gid.raw + 12, 4);
		udph = (void *)(iph + 1);
	}
	*udph = (struct udphdr) {
		.source = htons(0xc000), .dest = htons(mxe_udp_port),
		.len = htons(udp_len),
	};
	return (u8 *)(udph + 1);
}

enum craft_flags {
	CRAFT_KEEP_QPN		= BIT(0),
	CRAFT_KEEP_PSN		= BIT(1),
	CRAFT_KEEP_ADDRESS	= BIT(2),	/* memory address and key */
	CRAFT_BAD_ICRC		= BIT(3),
	CRAFT_STRANGER		= BIT(4),
	CRAFT_FROM_B		= BIT(5),
	CRAFT_CE		= BIT(6),	/* marked by a switch */
	CRAFT_WINDOW		= BIT(7),	/* use the key of the window */
};

static u32 some_key(bool window)
{
	return window ? w.mw.ibmw.rkey : w.mr->ibmr.rkey;
}

/* Fills in the numbers that an attacker on the path would know. */
static void make_plausible(u8 *p, size_t len, u8 flags, s8 ahead)
{
	struct mxe_bth *bth = (void *)p;
	u32 op = mxe_opcode_flags(bth->opcode);
	struct mxe_qp *to = qp_of(flags & CRAFT_FROM_B ? A : B);
	u32 psn = op & MXE_OP_RESPONSE ? to->sq.una : to->rq.epsn;
	struct mxe_reth *reth;
	u8 *end = p + len;

	if (!(flags & CRAFT_KEEP_QPN))
		bth->qpn = cpu_to_be32(to->qpn);
	if (!(flags & CRAFT_KEEP_PSN))
		bth->apsn = (bth->apsn & cpu_to_be32(MXE_BTH_ACK_REQ)) |
			    cpu_to_be32(mxe_psn_add(psn, ahead));
	p += sizeof(*bth);
	if (op & MXE_OP_DETH && end - p >= sizeof(struct mxe_deth)) {
		((struct mxe_deth *)p)->qkey = cpu_to_be32(QKEY);
		p += sizeof(struct mxe_deth);
	}
	if (op & MXE_OP_XRCETH && end - p >= sizeof(struct mxe_xrceth)) {
		((struct mxe_xrceth *)p)->srqn = cpu_to_be32(w.srq.num);
		p += sizeof(struct mxe_xrceth);
	}
	if (op & MXE_OP_FETH)
		p += sizeof(struct mxe_feth);
	/* All headers that address memory begin with an address and a key. */
	if (!(op & (MXE_OP_RETH | MXE_OP_ATOMICETH | MXE_OP_MSKATOMICETH)) ||
	    flags & CRAFT_KEEP_ADDRESS || end - p < (long)sizeof(*reth))
		return;
	reth = (void *)p;
	reth->va = cpu_to_be64(w.mr->iova + be64_to_cpu(reth->va) %
					    (REGION_SIZE + 64));
	reth->rkey = cpu_to_be32(some_key(flags & CRAFT_WINDOW));
	if (op & MXE_OP_RETH)
		reth->len &= cpu_to_be32(0x80001fff);
}

/* ---- forged packets ----------------------------------------------------- */

/* State that no packet without the right numbers may change. */
struct snapshot {
	u8 memory[REGION_PAGES][PAGE_SIZE];
	struct mxe_sq sq[2];
	struct mxe_rq rq[2];
	enum ib_qp_state state[2];
	u32 completions[2];
	unsigned int wire_len;
};

static void snapshot(struct snapshot *s)
{
	int i;

	for (i = 0; i < REGION_PAGES; i++)
		memcpy(s->memory[i], fk_memory[2 * i], PAGE_SIZE);
	for (i = 0; i < 2; i++) {
		s->sq[i] = qp_of(i)->sq;
		s->rq[i] = qp_of(i)->rq;
		s->state[i] = qp_of(i)->state;
		s->completions[i] = w.cq[i].producer;
	}
	s->wire_len = w.wire_len;
}

static bool is_forged(const u8 *bth, u8 flags)
{
	u32 qpn = be32_to_cpu(((const struct mxe_bth *)bth)->qpn) &
		  MXE_BTH_QPN_MASK;

	if (flags & CRAFT_BAD_ICRC || !xa_load(&w.mnet.qps, qpn))
		return true;
	/* A datagram may arrive from any address. */
	return flags & CRAFT_STRANGER && w.kind != KIND_UD;
}

static void receive_forged(u8 *data, size_t len)
{
	static struct snapshot before, after;

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	snapshot(&before);
	receive(data, len);
	snapshot(&after);
	CHECK(!memcmp(&before, &after, sizeof(before)));
}

/* Delivers a packet that neither end has sent. */
static void craft(struct input *in)
{
	u8 data[MAX_PACKET], flags = take(in, 1);
	int from = flags & CRAFT_FROM_B ? B : A;
	s8 ahead = take(in, 1);
	size_t len = take(in, 2) % (MTU + 128), hdr;
	u8 *bth = put_headers(data, from, len + MXE_ICRC_SIZE);

	hdr = bth - data;
	len = min_t(size_t, len, in->end - in->p);
	memset(bth, 0, sizeof(struct mxe_bth) + MXE_ICRC_SIZE);
	memcpy(bth, in->p, len);
	in->p += len;
	if (len >= sizeof(struct mxe_bth))
		make_plausible(bth, len, flags, ahead);
	if (flags & CRAFT_STRANGER)
		data[w.ipv6 ? 23 : 15] ^= 0x80;
	if (flags & CRAFT_CE && !w.ipv6)
		ip_of(data)->tos = 3;
	len += hdr + MXE_ICRC_SIZE;
	if (len < hdr + sizeof(struct mxe_bth) + MXE_ICRC_SIZE ||
	    !is_forged(bth, flags)) {
		receive_good(data, len);
		return;
	}
	{
		__le32 icrc = icrc_of(data, len);

		if (flags & CRAFT_BAD_ICRC)
			icrc ^= cpu_to_le32(1 << (ahead & 31));
		memcpy(data + len - MXE_ICRC_SIZE, &icrc, sizeof(icrc));
	}
	receive_forged(data, len);
}

/* ---- work requests ------------------------------------------------------ */

static void put_sge(struct mxe_sge *sge, struct input *in)
{
	u16 offset = take(in, 2), length = take(in, 2);

	*sge = (struct mxe_sge) {
		.addr = w.mr->iova + offset % (REGION_SIZE + 16),
		.length = length & 0x1fff,
		.lkey = w.mr->ibmr.lkey,
	};
}

/* Few tags, so that messages match. */
static u64 some_tag(struct input *in)
{
	return take(in, 1) & 3;
}

/* Writes the headers of a message to a tag-matching SRQ. */
static void put_message(struct mxe_rndv_hdr *hdr, struct input *in)
{
	*hdr = (struct mxe_rndv_hdr) {
		.tmh.opcode = take(in, 1) & 3,
		.tmh.tag = cpu_to_be64(some_tag(in)),
		.rvh.va = cpu_to_be64(w.mr->iova + take(in, 1)),
		.rvh.rkey = cpu_to_be32(some_key(true)),
		.rvh.len = cpu_to_be32(take(in, 2)),
	};
}

/*
 * Builds a request that is valid except for the members that the input chooses.
 */
static void put_request(struct mxe_send_wqe *wqe, int end, struct input *in)
{
	u8 choice = take(in, 1);

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = choice;
	wqe->opcode = take(in, 1) & 0xf;
	wqe->flags = take(in, 1);
	wqe->remote_addr = w.mr->iova + take(in, 2) % (REGION_SIZE + 16);
	if (choice & 1)
		wqe->remote_addr &= ~31ULL;
	wqe->rkey = some_key(choice & 2);
	wqe->remote_srqn = w.kind == KIND_XRC ? w.srq.num : 0;
	if (wqe->opcode == IB_UVERBS_WR_BIND_MW) {
		wqe->rkey = w.mw.ibmw.rkey ^ (choice >> 4);
		wqe->bind.addr = w.mr->iova + take(in, 1);
		wqe->bind.length = take(in, 2);
		wqe->bind.mr_lkey = w.mr->ibmr.lkey;
		wqe->bind.access = take(in, 1);
		return;
	}
	if (wqe->opcode == IB_UVERBS_WR_SEND_WITH_INV ||
	    wqe->opcode == IB_UVERBS_WR_LOCAL_INV)
		wqe->invalidate_rkey = some_key(choice & 4);
	if (w.kind != KIND_UD && wqe->opcode == MXE_WR_FLUSH) {
		wqe->flush.length = take(in, 1);
		wqe->flush.type = IB_FLUSH_GLOBAL;
		wqe->flush.level = take(in, 1) & 1;
		return;
	}
	if (w.kind == KIND_UD) {
		wqe->ud.ah_num = w.ah[end].num;
		wqe->ud.remote_qpn = w.qp[!end].ibqp.qp_num;
		wqe->ud.remote_qkey = QKEY;
	} else {
		wqe->atomic.compare_add = take(in, 2);
		wqe->atomic.swap = take(in, 2);
		wqe->atomic.compare_add_mask = (u64)take(in, 4) << 32 | 0x80;
		wqe->atomic.swap_mask = ~0ULL << (choice & 63);
	}
	if (wqe->opcode == IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP ||
	    wqe->opcode == IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD)
		wqe->log_arg_sz = (choice >> 3) % 6;
	if (wqe->flags & MXE_SEND_INLINE) {
		wqe->inline_len = take(in, 1) % 80;
		return;
	}
	if (w.has_tags && end == A && wqe->opcode == IB_UVERBS_WR_SEND) {
		put_message((void *)(wqe + 1), in);
		wqe->flags = MXE_SEND_INLINE;
		wqe->inline_len = 30 + choice % 34;
		return;
	}
	wqe->num_sge = 1;
	if (wqe->log_arg_sz > 3)
		put_sge((void *)(wqe + 1) + (4 << wqe->log_arg_sz), in);
	else
		put_sge((void *)(wqe + 1), in);
}

/* Writes arbitrary bytes into an entry, as a process can. */
static void put_bytes(u8 *entry, size_t room, struct input *in)
{
	size_t len = min_t(size_t, take(in, 1), room);

	len = min_t(size_t, len, in->end - in->p);
	memcpy(entry, in->p, len);
	in->p += len;
}

static void post_send(int end, struct input *in, bool sane)
{
	struct mxe_ring *ring = &qp_of(end)->sq.ring;
	void *entry;

	if (!ring->hdr)
		return;
	entry = mxe_ring_entry(ring, ring->hdr->producer);
	if (sane)
		put_request(entry, end, in);
	else
		put_bytes(entry, ring->stride, in);
	ring->hdr->producer++;
	mxe_send_doorbell(qp_of(end));
}

static struct mxe_ring *recv_ring(int end)
{
	return end == B && w.has_srq ? &w.srq.q.ring : &qp_of(end)->rq.q.ring;
}

static void post_recv(int end, struct input *in, bool sane)
{
	struct mxe_ring *ring = recv_ring(end);
	struct mxe_recv_wqe *wqe;

	if (!ring->hdr)
		return;
	wqe = mxe_ring_entry(ring, ring->hdr->producer);
	if (sane) {
		*wqe = (struct mxe_recv_wqe) { .num_sge = 1 };
		put_sge((void *)(wqe + 1), in);
	} else {
		put_bytes((u8 *)wqe, ring->stride, in);
	}
	ring->hdr->producer++;
}

/* Posts a tag operation, or arbitrary bytes as one, and rings the doorbell. */
static void post_tag(struct input *in)
{
	struct mxe_ring *ring;
	struct mxe_tm_wqe *op;
	u8 choice = take(in, 1);

	if (!w.has_tags)
		return;
	ring = &w.srq.tm->ops;
	op = mxe_ring_entry(ring, ring->hdr->producer);
	if (choice & 0x80) {
		put_bytes((u8 *)op, ring->stride, in);
	} else {
		*op = (struct mxe_tm_wqe) {
			.opcode = choice & 4 ? choice & 3 : MXE_TM_ADD,
			.flags = choice >> 3 & 3,
			.handle = take(in, 1) & 7,
			.unexpected_cnt = w.srq.tm->unexpected - !(choice & 0x60),
		};
		if (op->opcode == MXE_TM_ADD) {
			op->tag = some_tag(in);
			op->mask = choice & 0x20 ? ~0ULL : 3;
			op->num_sge = 1;
			put_sge((void *)(op + 1), in);
		}
	}
	ring->hdr->producer += choice == 0xff ? 100 : 1;
	while (mxe_tm_ring(&w.srq))
		;
}

/* Corrupts the indices or the flags of a ring, as a process can. */
static void scribble(int end, struct input *in)
{
	struct mxe_ring *rings[] = {
		&qp_of(end)->sq.ring, recv_ring(end), &w.cq[end].ring,
	};
	struct mxe_ring *ring = rings[take(in, 1) % 3];
	u8 what = take(in, 1);

	if (!ring->hdr)
		return;
	if (what & 1)
		ring->hdr->producer += (s8)take(in, 1) << (what >> 3);
	if (what & 2)
		ring->hdr->consumer += (s8)take(in, 1) << (what >> 3);
	if (what & 4)
		ring->hdr->flags = take(in, 1);
}

/* ---- actions ------------------------------------------------------------ */

enum action {
	SEND, SEND_BYTES, RECV, RECV_BYTES, DELIVER, DELIVER_ALL, LOSE, DOUBLE,
	LATER, SPOIL, CUT, CRAFT, SCRIBBLE, TICK, WORK, MODIFY, TAG,
	NUM_ACTIONS,
};

static void deliver(void)
{
	struct packet packet = w.wire[0];

	unwire(0);
	receive(packet.data, packet.len);
}

/*
 * Delivers the first packet on the wire with one byte changed and a correct
 * ICRC.
 */
static void spoil(struct input *in)
{
	struct packet packet = w.wire[0];
	size_t hdr = ip_len(packet.data) + sizeof(struct udphdr);
	size_t i = take(in, 1) % (packet.len - hdr - MXE_ICRC_SIZE);

	unwire(0);
	packet.data[hdr + i] ^= take(in, 1);
	receive_good(packet.data, packet.len);
}

/* Delivers the first packet on the wire with another length. */
static void cut(struct input *in)
{
	struct packet packet = w.wire[0];
	size_t hdr = ip_len(packet.data) + sizeof(struct udphdr);
	size_t len = packet.len + (s8)take(in, 1);

	unwire(0);
	receive_good(packet.data, clamp_t(size_t, len, hdr, MAX_PACKET));
}

static void on_wire(enum action action, struct input *in)
{
	if (!w.wire_len)
		return;
	switch (action) {
	case DELIVER:
		deliver();
		break;
	case LOSE:
		unwire(0);
		break;
	case DOUBLE:
		receive(w.wire[0].data, w.wire[0].len);
		break;
	case LATER:
		if (w.wire_len < MAX_WIRE) {
			w.wire[w.wire_len++] = w.wire[0];
			unwire(0);
		}
		break;
	case SPOIL:
		spoil(in);
		break;
	default:
		cut(in);
		break;
	}
}

static void deliver_all(void)
{
	int budget = 256;

	while (budget-- && (w.wire_len || fk_run_work()))
		if (w.wire_len)
			deliver();
}

static void change_state(int end, u8 state)
{
	switch (state & 3) {
	case 0:
		modify(end, IB_QPS_ERR);
		break;
	case 1:
		modify(end, IB_QPS_RESET);
		connect(end);
		break;
	case 2:
		modify(end, IB_QPS_SQD);
		break;
	default:
		modify(end, IB_QPS_RTS);
		break;
	}
}

static void act(struct input *in)
{
	u8 byte = take(in, 1);
	enum action action = (byte & 0x7f) % NUM_ACTIONS;
	int end = byte >> 7;

	switch (action) {
	case SEND:
	case SEND_BYTES:
		post_send(end, in, action == SEND);
		break;
	case RECV:
	case RECV_BYTES:
		post_recv(end, in, action == RECV);
		break;
	case CRAFT:
		craft(in);
		break;
	case DELIVER_ALL:
		deliver_all();
		break;
	case SCRIBBLE:
		scribble(end, in);
		break;
	case TICK:
		fk_run_timers();
		break;
	case WORK:
		fk_run_work();
		break;
	case MODIFY:
		change_state(end, take(in, 1));
		break;
	case TAG:
		post_tag(in);
		break;
	default:
		on_wire(action, in);
		break;
	}
	/* The process polls. SCRIBBLE may corrupt the index again. */
	if (action != SCRIBBLE && end)
		w.cq[A].ring.hdr->consumer = w.cq[A].ring.hdr->producer;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static bool is_ready;
	struct input in = { data, data + size };
	int budget = 64;

	if (!is_ready) {
		is_ready = true;
		atexit(report);
		CHECK(!mxe_icrc_init());
	}
	make_world(take(&in, 1));
	while (in.p < in.end && budget--) {
		act(&in);
		check_sq(qp_of(A));
		check_sq(qp_of(B));
		CHECK(!preempt_count());
	}
	deliver_all();
	check_world();
	end_world();
	return 0;
}
