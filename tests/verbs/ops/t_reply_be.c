// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a module that is loaded with atomic_reply=be returns results of
 * atomics in big-endian byte order only, and refuses atomics of queue pairs
 * without the flag for such results.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <infiniband/verbs_exp.h>
#include "tap.h"
#include "vt.h"

static void test_caps(struct vt_dev *dev)
{
	struct ibv_exp_device_attr exp = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS,
	};
	struct mxedv_device_attr dv;
	struct ibv_device_attr attr;

	if (ibv_query_device(dev->ctx, &attr))
		vt_bail("ibv_query_device");
	is_int(attr.atomic_cap, IBV_ATOMIC_NONE,
	       "ibv_query_device() reports no atomics");
	is_int(ibv_exp_query_device(dev->ctx, &exp), 0,
	       "ibv_exp_query_device()");
	is_int(exp.exp_atomic_cap, IBV_EXP_ATOMIC_HCA_REPLY_BE,
	       "... exp_atomic_cap is IBV_EXP_ATOMIC_HCA_REPLY_BE");
	ok(exp.comp_mask & IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS &&
	   exp.masked_atomic.masked_log_atomic_arg_sizes == 0x3f &&
	   exp.masked_atomic.masked_log_atomic_arg_sizes_network_endianness ==
	   0x3f, "... sizes in network byte order");
	is_int(mxedv_query_device(dev->ctx, &dv, sizeof(dv)), 0,
	       "mxedv_query_device()");
	ok(dv.reply_modes == MXEDV_ATOMIC_REPLY_BE && dv.log_arg_sizes == 0x3f &&
	   dv.log_arg_sizes_be == 0x3f, "... big-endian replies only");
}

static void test_refused(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_sge sge;
	struct vt_wr wr = {
		.via = VT_WR, .sge = &sge, .num_sge = 1, .compare_add = 1,
		.compare_mask = 0x80, .swap_mask = 0xff,
		.flags = IBV_SEND_SIGNALED,
	};

	vt_pair_open(&p, a, b, &conf);
	sge = vt_sge(&p.a, 0, 8);
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	for (int via = VT_POST_SEND; via <= VT_WR; via++) {
		for (int op = VT_CAS; op <= VT_MFADD; op++) {
			if (via == VT_POST_SEND && op >= VT_MCAS)
				continue;
			wr.op = op;
			wr.via = via;
			is_int(vt_post(&p.a, &wr), EINVAL,
			       "without the flag: %s by %s", vt_op_name[op],
			       vt_via_name[via]);
		}
	}
	ok(!vt_transfer(&p, VT_WRITE, VT_POST_SEND, 100, 0),
	   "... other operations work");
	vt_pair_close(&p);

	conf.exp = true;
	vt_pair_open(&p, a, b, &conf);
	sge = vt_sge(&p.a, 0, 8);
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	for (int op = VT_CAS; op <= VT_MFADD; op++) {
		wr.op = op;
		wr.via = VT_EXP;
		is_int(vt_post(&p.a, &wr), EINVAL,
		       "without the flag: %s by ibv_exp_post_send",
		       vt_op_name[op]);
	}
	vt_pair_close(&p);
}

static void test_swapped(struct vt_dev *a, struct vt_dev *b, enum vt_via via)
{
	const uint64_t old = 0x0102030405060708;
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	uint64_t got;

	conf.be_reply = true;
	conf.exp = via == VT_EXP;
	vt_pair_open(&p, a, b, &conf);
	for (int op = VT_CAS; op <= VT_MFADD; op++) {
		static const uint64_t want[] = {
			[VT_CAS] = 0x11,
			[VT_FADD] = 0x0102030405060709,
			[VT_MCAS] = 0x0102030405060711,
			[VT_MFADD] = 0x0202030405060708,
		};
		struct vt_wr wr = {
			.op = op, .via = via, .compare_add = old, .swap = 0x11,
			.compare_mask = ~0ULL, .swap_mask = 0xff,
		};

		if (via == VT_POST_SEND && op >= VT_MCAS)
			continue;
		if (op == VT_FADD)
			wr.compare_add = 1;
		if (op == VT_MFADD) {
			wr.compare_add = 0x0100000000000000;
			wr.compare_mask = 0x80;
		}
		*vt_word(&p.b, 0) = old;
		is_int(vt_atomic(&p, &wr, 0, &got), IBV_WC_SUCCESS,
		       "with the flag: %s by %s", vt_op_name[op],
		       vt_via_name[via]);
		is_u64(got, htobe64(old), "... old value, in big-endian");
		is_u64(*vt_word(&p.b, 0), want[op],
		       "... new value, in host byte order");
	}
	vt_pair_close(&p);
}

int main(void)
{
	struct vt_dev *a, *b;

	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	test_caps(a);
	test_refused(a, b);
	for (int via = VT_POST_SEND; via <= VT_EXP; via++)
		test_swapped(a, b, via);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
