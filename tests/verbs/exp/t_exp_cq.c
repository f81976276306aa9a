// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that masked atomics complete on extended CQs, and that the
 * experimental verbs return the time of a completion, for native and emulated
 * masked atomics. The devices are $MXE_A and $MXE_B, which may be the same.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs_exp.h>

#include "tap.h"
#include "vt.h"

#define COUNT 100
#define LOW_HALF (1ull << 31)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Adds 1 to the low half of the first word. */
static int post(struct vt_pair *p, uint64_t wr_id, bool signaled)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_EXP, .wr_id = wr_id,
		.flags = signaled ? IBV_SEND_SIGNALED : 0,
		.sge = &sge, .num_sge = 1, .raddr = vt_addr(&p->b, 0),
		.rkey = p->b.mr->rkey, .compare_add = 1,
		.compare_mask = LOW_HALF,
	};

	return vt_post(&p->a, &wr);
}

/*
 * ---- ibv_start_poll() -------------------------------------------------------
 */

struct seen {
	int count;
	int wrong;
};

static void look(struct ibv_cq_ex *cq, struct seen *seen)
{
	if (cq->wr_id != 2 * (uint64_t)seen->count + 1 || cq->status ||
	    (int)ibv_wc_read_opcode(cq) != IBV_EXP_WC_MASKED_FETCH_ADD ||
	    ibv_wc_read_byte_len(cq) != 8)
		seen->wrong++;
	seen->count++;
}

/* Polls all completions that have arrived. Returns false on error. */
static bool poll_some(struct ibv_cq_ex *cq, struct seen *seen)
{
	struct ibv_poll_cq_attr attr = { };
	int ret = ibv_start_poll(cq, &attr);

	if (ret)
		return ret == ENOENT;
	do {
		look(cq, seen);
		ret = ibv_next_poll(cq);
	} while (!ret);
	ibv_end_poll(cq);
	return ret == ENOENT;
}

/* Every other request is signaled. */
static void test_start_poll(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	uint64_t until = vt_now_ms() + VT_MS;
	struct seen seen = { 0 };
	struct vt_pair p;
	int posted = 0;

	conf.exp = true;
	conf.ex_cq = true;
	conf.depth = 16;
	vt_pair_open(&p, a, b, &conf);
	*vt_word(&p.b, 0) = 0x7fffffffff;
	while (seen.count < COUNT && vt_now_ms() < until) {
		while (posted < 2 * COUNT && posted < 2 * seen.count + 8 &&
		       !post(&p, posted, posted & 1))
			posted++;
		if (!poll_some((struct ibv_cq_ex *)p.a.cq, &seen))
			break;
	}
	is_int(seen.count, COUNT, "ibv_start_poll: completions");
	is_int(seen.wrong, 0, "... in order, with the opcodes of OFED");
	is_u64(*vt_word(&p.b, 0), 0x7f00000000 |
	       ((0xffffffff + 2 * COUNT) & 0xffffffff),
	       "... and the sum within the field");
	vt_pair_close(&p);
}

/*
 * ---- time -------------------------------------------------------------------
 */

static void test_stamps(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_exp_values values;
	uint64_t before, after, slack, ns, last = 0;
	int i, n, good = 0;
	struct ibv_exp_wc wc;
	struct vt_pair p;

	conf.exp = true;
	conf.ex_cq = true;
	conf.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	vt_pair_open(&p, a, b, &conf);
	for (i = 0; i < COUNT; i++) {
		uint64_t until = vt_now_ms() + VT_MS;

		before = now_ns();
		if (post(&p, i, true))
			break;
		do
			n = ibv_exp_poll_cq(p.a.cq, 1, &wc, sizeof(wc));
		while (!n && vt_now_ms() < until);
		after = now_ns();
		if (n != 1 || wc.status ||
		    !(wc.exp_wc_flags & IBV_EXP_WC_WITH_TIMESTAMP) ||
		    ibv_exp_query_values(a->ctx, IBV_EXP_VALUES_CLOCK_INFO,
					 &values))
			break;
		ns = ibv_exp_cqe_ts_to_ns(&values.clock_info, wc.timestamp);
		/*
		 * ibv_exp_query_values() reads both clocks, sometimes with a
		 * long delay in between.
		 */
		slack = now_ns() - after + 1000000;
		/*
		 * If the clock advances only by ticks, two completions may have
		 * the same time.
		 */
		if (wc.timestamp >= last && ns + slack > before &&
		    ns < after + slack)
			good++;
		else
			diag("%d: %lld ns after the last, %lld before the post, %lld after the poll, %llu allowed",
			     i, (long long)(wc.timestamp - last),
			     (long long)(before - ns), (long long)(ns - after),
			     (unsigned long long)slack);
		last = wc.timestamp;
	}
	is_int(i, COUNT, "completions have time stamps");
	is_int(good, COUNT, "... of their arrival");
	vt_pair_close(&p);
}

static void test_create(struct vt_dev *dev)
{
	struct ibv_exp_device_attr device = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK |
			     IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK,
	};
	struct ibv_exp_cq_init_attr attr = {
		.comp_mask = IBV_EXP_CQ_INIT_ATTR_FLAGS,
		.flags = IBV_EXP_CQ_TIMESTAMP,
	};
	struct ibv_exp_wc wc;
	struct ibv_cq *cq;

	is_int(ibv_exp_query_device(dev->ctx, &device), 0, "query");
	is_int(!!(device.comp_mask & IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK),
	       dev->is_mxe, "a clock, if the device has one");
	cq = ibv_exp_create_cq(dev->ctx, 8, dev, NULL, 0, &attr);
	if (!dev->is_mxe) {
		ok(!cq && errno == ENOSYS, "no time stamps on this device");
		return;
	}
	ok(cq && cq->cq_context == dev && device.hca_core_clock,
	   "a completion queue with time stamps");
	is_int(ibv_exp_poll_cq(cq, 1, &wc, sizeof(wc)), 0, "... polled");
	is_int(ibv_destroy_cq(cq), 0, "... and destroyed");
}

int main(void)
{
	struct vt_dev *a = vt_open(vt_name_a());
	struct vt_dev *b = strcmp(vt_name_a(), vt_name_b()) ?
			   vt_open(vt_name_b()) : a;

	plan(0);
	test_start_poll(a, b);
	test_create(a);
	if (a->is_mxe)
		test_stamps(a, b);
	if (b != a)
		vt_close(b);
	vt_close(a);
	return done_testing();
}
