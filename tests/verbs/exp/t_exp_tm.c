// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves tag matching through the experimental verbs: capabilities, the SRQ,
 * operations, and completions with the tag and the flags of OFED.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "exp_wc.h"
#include "tap.h"
#include "vt.h"

static const uint64_t ALL = UINT64_MAX;

static void is_wc(const struct ibv_exp_wc *wc, uint64_t wr_id,
		  enum ibv_exp_wc_opcode opcode, uint64_t flags, const char *what)
{
	ok(wc->wr_id == wr_id && !wc->status && wc->exp_opcode == opcode &&
	   wc->exp_wc_flags == flags, "%s", what);
	if (wc->status || wc->exp_wc_flags != flags)
		diag("status %d, flags %#llx", wc->status,
		     (unsigned long long)wc->exp_wc_flags);
}

static int op(struct ibv_srq *srq, enum ibv_exp_ops_wr_opcode opcode, uint64_t id,
	      uint64_t tag, struct ibv_sge *sge, uint32_t *handle)
{
	struct ibv_exp_ops_wr *bad, wr = {
		.wr_id = id,
		.opcode = opcode,
		.flags = IBV_EXP_OPS_SIGNALED,
		.tm = {
			.handle = *handle,
			.add = { 100 + id, sge, !!sge, tag, ALL },
		},
	};
	int ret = ibv_exp_post_srq_ops(srq, &wr, &bad);

	*handle = wr.tm.handle;
	return ret;
}

static void send_tag(struct vt_pair *p, uint8_t opcode, uint64_t tag, uint32_t len)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, len);
	struct vt_wr wr = { .op = VT_SEND, .sge = &sge, .num_sge = 1 };
	struct ibv_exp_tmh *tmh = (void *)p->a.buf;
	struct ibv_exp_tmh_rvh *rvh = (void *)(tmh + 1);

	*tmh = (struct ibv_exp_tmh){
		.opcode = opcode, .app_ctx = htobe32(77), .tag = htobe64(tag),
	};
	if (opcode == IBV_EXP_TMH_RNDV)
		*rvh = (struct ibv_exp_tmh_rvh){
			.va = htobe64(vt_addr(&p->a, 1024)),
			.rkey = htobe32(p->a.mr->rkey),
			.len = htobe32(1000),
		};
	is_int(vt_do(&p->a, &wr, NULL), IBV_WC_SUCCESS, "a message");
}

static void test_messages(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_exp_cq_init_attr cq_attr = { 0 };
	struct ibv_cq *cq = ibv_exp_create_cq(b->ctx, 64, NULL, NULL, 0, &cq_attr);
	struct ibv_exp_create_srq_attr attr = {
		.base = { .attr = { .max_wr = 4, .max_sge = 1 } },
		.srq_type = IBV_EXP_SRQT_TAG_MATCHING,
		.comp_mask = IBV_EXP_CREATE_SRQ_TM | IBV_EXP_CREATE_SRQ_CQ,
		.pd = b->pd,
		.cq = cq,
		.tm_cap = { .max_num_tags = 16, .max_ops = 16 },
	};
	struct vt_conf conf = vt_defaults();
	uint32_t handle = 0, other = 0;
	struct ibv_exp_wc wc;
	struct ibv_sge sge;
	struct vt_pair p;

	conf.srq_b = ibv_exp_create_srq(b->ctx, &attr);
	if (!cq || !conf.srq_b)
		vt_bail("ibv_exp_create_srq");
	vt_pair_open(&p, a, b, &conf);
	vt_recv(&p.a, 9, 2048, 64);
	sge = vt_sge(&p.b, 0, 1000);

	is_int(op(conf.srq_b, IBV_EXP_WR_TAG_ADD, 1, 5, &sge, &handle), 0, "TAG_ADD");
	wc = exp_wc_poll(cq);
	is_wc(&wc, 1, IBV_EXP_WC_TM_ADD, 0, "... completes");
	send_tag(&p, IBV_EXP_TMH_EAGER, 5, 48);
	wc = exp_wc_poll(cq);
	is_wc(&wc, 101, IBV_EXP_WC_TM_RECV,
	      IBV_EXP_WC_TM_MATCH | IBV_EXP_WC_TM_DATA_VALID, "the match");
	ok(wc.tm_info.tag == 5 && wc.tm_info.priv == 77, "... its header");
	is_u64(wc.byte_len, 32, "... its length");
	is_int(op(conf.srq_b, IBV_EXP_WR_TAG_DEL, 2, 0, NULL, &handle), 0, "TAG_DEL");
	wc = exp_wc_poll(cq);
	is_wc(&wc, 2, IBV_EXP_WC_TM_DEL, IBV_EXP_WC_TM_DEL_FAILED,
	      "... of a consumed tag");

	is_int(op(conf.srq_b, IBV_EXP_WR_TAG_ADD, 3, 6, &sge, &handle), 0, "TAG_ADD");
	wc = exp_wc_poll(cq);
	send_tag(&p, IBV_EXP_TMH_RNDV, 6, 32);
	wc = exp_wc_poll(cq);
	is_wc(&wc, 103, IBV_EXP_WC_TM_RECV, IBV_EXP_WC_TM_MATCH, "a rendezvous");
	wc = exp_wc_poll(cq);
	is_wc(&wc, 103, IBV_EXP_WC_TM_RECV, IBV_EXP_WC_TM_DATA_VALID, "... its data");
	ok(!memcmp(p.b.buf, p.a.buf + 1024, 1000), "... are right");

	sge.length = 999;
	is_int(op(conf.srq_b, IBV_EXP_WR_TAG_ADD, 4, 7, &sge, &other), 0, "TAG_ADD");
	wc = exp_wc_poll(cq);
	send_tag(&p, IBV_EXP_TMH_RNDV, 7, 32);
	wc = exp_wc_poll(cq);
	is_wc(&wc, 104, IBV_EXP_WC_TM_RECV,
	      IBV_EXP_WC_TM_MATCH | IBV_EXP_WC_TM_RNDV_INCOMPLETE,
	      "a buffer that is too small");
	vt_pair_close(&p);
	is_int(ibv_destroy_srq(conf.srq_b), 0, "destroyed");
	is_int(ibv_destroy_cq(cq), 0, "destroyed");
}

static void test_caps(struct vt_dev *dev)
{
	struct ibv_exp_device_attr attr = { .comp_mask = IBV_EXP_DEVICE_ATTR_TM_CAPS };

	is_int(ibv_exp_query_device(dev->ctx, &attr), 0, "ibv_exp_query_device()");
	ok(attr.comp_mask & IBV_EXP_DEVICE_ATTR_TM_CAPS, "tm_caps");
	is_int(attr.tm_caps.capability_flags, IBV_EXP_TM_CAP_RC, "... RC");
	ok(attr.tm_caps.max_num_tags >= 1024 && attr.tm_caps.max_ops &&
	   attr.tm_caps.max_sge && attr.tm_caps.max_rndv_hdr_size >= 32,
	   "... the limits");
}

int main(void)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());

	test_caps(b);
	test_messages(a, b);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
