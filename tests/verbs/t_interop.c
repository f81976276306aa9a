// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mxe ($MXE_A) and another RoCE v2 device ($MXE_B), each as requester and as
 * responder: the standard operations, and those masked ones that are standard
 * on the wire.
 */
#include <stdlib.h>
#include "../tap.h"
#include "vt.h"

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

/* These go out as standard requests, so any peer can serve them. */
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
	vt_close(mxe);
	vt_close(other);
	return done_testing();
}
