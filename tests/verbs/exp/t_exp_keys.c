// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that ibv_exp_post_send() posts NOP, BIND_MW, SEND_WITH_INV and
 * LOCAL_INV, and that they work. The devices are $MXE_A and $MXE_B, which may
 * be the same.
 */
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "tap.h"
#include "vt.h"

#define WINDOW 4096
#define OFFSET 512

/* Posts one signaled request. Returns the status of its completion, or -1. */
static int post(struct vt_end *e, struct ibv_exp_send_wr *wr)
{
	struct ibv_exp_send_wr *bad;
	struct ibv_wc wc;

	wr->wr_id = 1;
	wr->exp_send_flags |= IBV_EXP_SEND_SIGNALED;
	if (ibv_exp_post_send(e->qp, wr, &bad) || !vt_poll(e->cq, &wc, VT_MS))
		return -1;
	return wc.status;
}

static int bind(struct vt_end *e, struct ibv_mw *mw, uint32_t rkey)
{
	struct ibv_exp_send_wr wr = {
		.exp_opcode = IBV_EXP_WR_BIND_MW,
		.bind_mw = {
			.mw = mw,
			.rkey = rkey,
			.bind_info = {
				.mr = e->mr,
				.addr = vt_addr(e, OFFSET),
				.length = WINDOW,
				.exp_mw_access_flags =
					IBV_EXP_ACCESS_REMOTE_WRITE,
			},
		},
	};

	return post(e, &wr);
}

static int write_word(struct vt_pair *p, uint32_t rkey, uint64_t value)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct ibv_exp_send_wr wr = {
		.exp_opcode = IBV_EXP_WR_RDMA_WRITE,
		.sg_list = &sge, .num_sge = 1,
		.wr.rdma = { .remote_addr = vt_addr(&p->b, OFFSET),
			     .rkey = rkey },
	};

	*vt_word(&p->a, 0) = value;
	return post(&p->a, &wr);
}

static int invalidate(struct vt_end *e, int opcode, uint32_t rkey)
{
	struct ibv_exp_send_wr wr = {
		.exp_opcode = (enum ibv_exp_wr_opcode)opcode,
		.ex.invalidate_rkey = rkey,
	};

	return post(e, &wr);
}

static void test_nop(struct vt_pair *p)
{
	struct ibv_exp_send_wr wr = { .exp_opcode = IBV_EXP_WR_NOP };

	*vt_word(&p->b, OFFSET) = 5;
	is_int(post(&p->a, &wr), IBV_WC_SUCCESS, "NOP");
	is_u64(*vt_word(&p->b, OFFSET), 5, "NOP: nothing is written");
}

static void test_window(struct vt_pair *p, struct vt_conf *conf)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->b.dev->pd, IBV_MW_TYPE_2);
	uint32_t rkey;
	struct ibv_wc wc;

	if (!mw)
		vt_bail("ibv_alloc_mw");
	rkey = ibv_inc_rkey(mw->rkey);
	is_int(bind(&p->b, mw, rkey), IBV_WC_SUCCESS, "BIND_MW");
	is_int(write_word(p, rkey, 11), IBV_WC_SUCCESS, "a write to the window");
	is_u64(*vt_word(&p->b, OFFSET), 11, "... arrives");
	is_int(invalidate(&p->b, IBV_EXP_WR_LOCAL_INV, rkey), IBV_WC_SUCCESS,
	       "LOCAL_INV");

	rkey = ibv_inc_rkey(rkey);
	is_int(bind(&p->b, mw, rkey), IBV_WC_SUCCESS, "BIND_MW again");
	is_int(write_word(p, rkey, 12), IBV_WC_SUCCESS, "a write again");
	vt_recv(&p->b, 2, 0, 64);
	is_int(invalidate(&p->a, IBV_EXP_WR_SEND_WITH_INV, rkey),
	       IBV_WC_SUCCESS, "SEND_WITH_INV");
	ok(vt_poll(p->b.rcq, &wc, VT_MS) && (wc.wc_flags & IBV_WC_WITH_INV) &&
	   wc.invalidated_rkey == rkey, "... names the key at the other side");
	is_int(write_word(p, rkey, 13), IBV_WC_REM_ACCESS_ERR,
	       "the window is closed");
	is_u64(*vt_word(&p->b, OFFSET), 12, "nothing is written");
	vt_pair_reconnect(p, conf);
	is_int(ibv_dealloc_mw(mw), 0, "the window is released");
}

int main(void)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	plan(0);
	conf.exp = true;
	conf.mr_access |= IBV_ACCESS_MW_BIND;
	vt_pair_open(&p, a, b, &conf);
	test_nop(&p);
	test_window(&p, &conf);
	vt_pair_close(&p);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
