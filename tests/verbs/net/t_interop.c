// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that mxe ($MXE_A) and another RoCE v2 device ($MXE_B) work together,
 * each as requester and as responder: the standard operations on RC, UC and UD,
 * shared receive queues, memory windows, and those masked atomics that are
 * standard on the wire.
 */
#include "ud.h"

static uint64_t run_atomic(struct vt_pair *p, enum vt_opcode op, uint64_t old,
			   uint64_t compare_add, uint64_t swap,
			   uint64_t compare_mask, uint64_t swap_mask,
			   const char *what)
{
	struct vt_wr wr = {
		.op = op, .via = op >= VT_MCAS ? VT_WR : VT_POST_SEND,
		.compare_add = compare_add, .swap = swap,
		.compare_mask = compare_mask, .swap_mask = swap_mask,
	};
	uint64_t got;

	*vt_word(&p->b, 128) = old;
	is_int(vt_atomic(p, &wr, 128, &got), IBV_WC_SUCCESS, "%s", what);
	is_u64(got, old, "... old value");
	return *vt_word(&p->b, 128);
}

static void test_direction(struct vt_dev *from, struct vt_dev *to, bool ipv6,
			   const char *how)
{
	static const uint32_t sizes[] = { 0, 1, 1023, 1024, 1025, 9000, 60000 };
	struct vt_conf conf = vt_defaults();
	const char *wrong;
	struct vt_pair p;

	conf.mtu = IBV_MTU_1024;
	conf.ipv6 = ipv6;
	vt_pair_open(&p, from, to, &conf);
	for (int op = VT_SEND; op <= VT_READ; op++) {
		wrong = NULL;
		for (size_t i = 0; i < 7 && !wrong; i++)
			wrong = vt_transfer(&p, op, VT_POST_SEND, sizes[i], 0);
		if (!ok(!wrong, "%s: %s", how, vt_op_name[op]))
			diag("  %s", wrong);
	}
	is_u64(run_atomic(&p, VT_CAS, 5, 5, 0xfedcba9876543210, 0, 0,
			  "CMP_SWAP, equal"),
	       0xfedcba9876543210, "... new value");
	is_u64(run_atomic(&p, VT_CAS, 5, 6, 7, 0, 0, "CMP_SWAP, different"), 5,
	       "... new value");
	is_u64(run_atomic(&p, VT_FADD, 0xffffffff, 0x100000002, 0, 0, 0,
			  "FETCH_ADD"), 0x200000001, "... new value");
	vt_pair_close(&p);
}

/* mxe sends these as standard requests, which every peer can execute. */
static void test_lowered(struct vt_dev *from, struct vt_dev *to)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	vt_pair_open(&p, from, to, &conf);
	is_u64(run_atomic(&p, VT_MCAS, 5, 5, 99, ~0ULL, ~0ULL,
			  "masked CMP_SWAP with full masks"), 99,
	       "... new value");
	is_u64(run_atomic(&p, VT_MFADD, ~0ULL, 2, 0, 0, 0,
			  "masked FETCH_ADD without boundaries"), 1,
	       "... new value");
	is_u64(run_atomic(&p, VT_MFADD, 1, 2, 0, 1ULL << 63, 0,
			  "masked FETCH_ADD, boundary at bit 63"), 3,
	       "... new value");
	vt_pair_close(&p);
}

static void test_errors(struct vt_dev *from, struct vt_dev *to, const char *how)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_sge sge;
	struct vt_wr wr = {
		.op = VT_SEND, .flags = IBV_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1,
	};
	struct vt_pair p;
	struct ibv_wc wc;

	vt_pair_open(&p, from, to, &conf);
	sge = vt_sge(&p.a, 0, 5000);
	if (vt_post(&p.a, &wr))
		vt_bail("post");
	vt_poll(p.a.cq, &wc, 100);
	if (vt_recv(&p.b, 1, 0, 5000))
		vt_bail("ibv_post_recv");
	ok(vt_poll(p.a.cq, &wc, VT_MS) && !wc.status,
	   "%s: receiver not ready, then ready", how);
	wr.op = VT_WRITE;
	wr.raddr = vt_addr(&p.b, conf.size - 8);
	wr.rkey = p.b.mr->rkey;
	sge.length = 16;
	is_int(vt_do(&p.a, &wr, NULL), IBV_WC_REM_ACCESS_ERR,
	       "%s: write beyond the end", how);
	vt_pair_close(&p);
}

static void test_uc(struct vt_dev *from, struct vt_dev *to, bool ipv6,
		    const char *how)
{
	static const uint32_t sizes[] = { 0, 1, 1023, 1024, 1025, 20001 };
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	conf.qp_type = IBV_QPT_UC;
	conf.mtu = IBV_MTU_1024;
	conf.ipv6 = ipv6;
	vt_pair_open(&p, from, to, &conf);
	for (int op = VT_SEND; op <= VT_WRITE_IMM; op++) {
		const char *wrong = NULL;

		for (size_t i = 0; i < 6 && !wrong; i++)
			wrong = vt_transfer(&p, op, VT_POST_SEND, sizes[i], 0);
		if (!ok(!wrong, "%s: %s over UC", how, vt_op_name[op]))
			diag("  %s", wrong);
	}
	vt_pair_close(&p);
}

static void test_ud(struct vt_dev *from, struct vt_dev *to, bool ipv6,
		    const char *how)
{
	static const uint32_t sizes[] = { 0, 1, 100, 1023, 4096 };
	struct ibv_ah *ah = ud_ah(from, to, ipv6);
	struct ud a, b;

	ud_open(&a, from);
	ud_open(&b, to);
	for (uint32_t i = 0; i < 5; i++) {
		struct ud_wr w = {
			.ah = ah, .qpn = b.qp->qp_num, .qkey = UD_QKEY,
			.len = sizes[i], .imm = i & 1 ? 0x89abcdef : 0,
		};
		struct ibv_wc wc;
		char what[80];

		snprintf(what, sizeof(what), "%s: datagram of %u bytes, IPv%d",
			 how, w.len, ipv6 ? 6 : 4);
		vt_fill_random(a.buf, w.len);
		ud_must_recv(&b, UD_RECV, UD_SLOT);
		is_int(ud_send_wait(&a, w), IBV_WC_SUCCESS, "%s: sent", what);
		wc = ud_next(&b, what);
		ok(wc.byte_len == UD_GRH + w.len &&
		   wc.src_qp == a.qp->qp_num && wc.wc_flags & IBV_WC_GRH &&
		   (!w.imm || be32toh(wc.imm_data) == w.imm),
		   "%s: length, sender, immediate data", what);
		is_mem(b.buf + UD_RECV + UD_GRH, a.buf, w.len, "%s: data", what);
	}
	ud_close(&a);
	ud_close(&b);
	ibv_destroy_ah(ah);
}

/* Two QPs share an SRQ. The receiver is not ready at first. */
static void test_srq(struct vt_dev *from, struct vt_dev *to, const char *how)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 8, .max_sge = 1 },
	};
	struct vt_conf conf = vt_defaults();
	struct vt_pair p[2];
	struct ibv_wc wc;

	conf.srq_b = ibv_create_srq(to->pd, &attr);
	if (!conf.srq_b)
		vt_bail("ibv_create_srq");
	vt_pair_open(&p[0], from, to, &conf);
	vt_pair_open(&p[1], from, to, &conf);
	for (int i = 0; i < 6; i++) {
		struct vt_pair *q = &p[i & 1];
		struct ibv_sge sge = vt_sge(&q->a, 0, 5000);
		struct vt_wr wr = {
			.op = VT_SEND, .flags = IBV_SEND_SIGNALED,
			.sge = &sge, .num_sge = 1,
		};
		struct ibv_sge to_sge = vt_sge(&p[0].b, 0, 5000);
		struct ibv_recv_wr *bad, recv = {
			.wr_id = (uint64_t)i, .sg_list = &to_sge, .num_sge = 1,
		};

		vt_fill_random(q->a.buf, 5000);
		if (vt_post(&q->a, &wr))
			vt_bail("post");
		ok(!vt_poll(q->a.cq, &wc, 50), "%s: SRQ: nothing posted", how);
		if (ibv_post_srq_recv(conf.srq_b, &recv, &bad))
			vt_bail("ibv_post_srq_recv");
		ok(vt_poll(q->a.cq, &wc, VT_MS) && !wc.status,
		   "%s: SRQ: then sent", how);
		ok(vt_poll(q->b.rcq, &wc, VT_MS) && !wc.status &&
		   wc.wr_id == (uint64_t)i && wc.qp_num == q->b.qp->qp_num,
		   "%s: SRQ: received by the right QP", how);
		is_mem(p[0].b.buf, q->a.buf, 5000, "%s: SRQ: data", how);
	}
	vt_pair_close(&p[0]);
	vt_pair_close(&p[1]);
	ibv_destroy_srq(conf.srq_b);
}

static int read_key(struct vt_pair *p, uint32_t rkey)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 100);
	struct vt_wr wr = {
		.op = VT_READ, .sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&p->b, 4096), .rkey = rkey,
	};
	struct ibv_wc wc;

	return vt_do(&p->a, &wr, &wc);
}

/* The peer reads through a type 2 window and then invalidates it. */
static void test_window(struct vt_dev *from, struct vt_dev *to, const char *how)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_mw *mw = ibv_alloc_mw(to->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr *bad, bind = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
	}, inv = {
		.opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED,
	};
	struct vt_pair p;
	struct ibv_wc wc;

	conf.mr_access = VT_ACCESS_ALL | IBV_ACCESS_MW_BIND;
	vt_pair_open(&p, from, to, &conf);
	if (!mw)
		vt_bail("ibv_alloc_mw");
	bind.bind_mw.mw = mw;
	bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	bind.bind_mw.bind_info = (struct ibv_mw_bind_info){
		p.b.mr, vt_addr(&p.b, 4096), 100, IBV_ACCESS_REMOTE_READ,
	};
	is_int(ibv_post_send(p.b.qp, &bind, &bad), 0, "%s: window", how);
	ok(vt_poll(p.b.cq, &wc, VT_MS) && !wc.status, "... is bound");
	vt_fill_random(p.b.buf + 4096, 100);
	is_int(read_key(&p, bind.bind_mw.rkey), IBV_WC_SUCCESS, "... is read");
	is_mem(p.a.buf, p.b.buf + 4096, 100, "... with the right data");
	inv.invalidate_rkey = bind.bind_mw.rkey;
	if (vt_recv(&p.b, 1, 0, 8) || ibv_post_send(p.a.qp, &inv, &bad))
		vt_bail("SEND with invalidate");
	ok(vt_poll(p.a.cq, &wc, VT_MS) && !wc.status, "... SEND with invalidate");
	/*
	 * rxe returns the flag of the kernel, whose value has another meaning
	 * in user space.
	 */
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && !wc.status &&
	   (!to->is_mxe || wc.wc_flags & IBV_WC_WITH_INV) &&
	   wc.invalidated_rkey == inv.invalidate_rkey, "... is received");
	is_int(read_key(&p, inv.invalidate_rkey), IBV_WC_REM_ACCESS_ERR,
	       "... closes it");
	ibv_dealloc_mw(mw);
	vt_pair_close(&p);
}

static void test_both(struct vt_dev *from, struct vt_dev *to, const char *how)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		test_uc(from, to, ipv6, how);
		test_ud(from, to, ipv6, how);
	}
	test_srq(from, to, how);
	test_window(from, to, how);
}

int main(void)
{
	struct vt_dev *mxe, *other;

	plan(0);
	mxe = vt_open(vt_name_a());
	other = vt_open(vt_name_b());
	ok(mxe->is_mxe && !other->is_mxe, "one device is mxe, the other is not");

	test_direction(mxe, other, false, "mxe to the other");
	test_direction(other, mxe, false, "the other to mxe");
	test_direction(mxe, other, true, "mxe to the other, IPv6");
	test_direction(other, mxe, true, "the other to mxe, IPv6");
	test_lowered(mxe, other);
	test_errors(mxe, other, "mxe to the other");
	test_errors(other, mxe, "the other to mxe");
	test_both(mxe, other, "mxe to the other");
	test_both(other, mxe, "the other to mxe");
	vt_close(mxe);
	vt_close(other);
	return done_testing();
}
