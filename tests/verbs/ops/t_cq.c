// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that CQs can be resized with completions in them, notify of solicited
 * events only if requested, moderate events, return times, and report an
 * overrun, and that slots of the send queue are free without polling.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <infiniband/verbs_exp.h>
#include "tap.h"
#include "vt.h"

static int send_flags(struct vt_pair *p, uint64_t wr_id, unsigned int flags)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_SEND, .wr_id = wr_id, .sge = &sge, .num_sge = 1,
		.flags = flags,
	};

	return vt_post(&p->a, &wr);
}

static int write_word(struct vt_pair *p, uint64_t wr_id)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_WRITE, .wr_id = wr_id, .sge = &sge, .num_sge = 1,
		.flags = IBV_SEND_SIGNALED, .raddr = vt_addr(&p->b, 0),
		.rkey = p->b.mr->rkey,
	};

	return vt_post(&p->a, &wr);
}

/* Waits until the send queue has drained, and returns to RTS. */
static void drain(struct vt_pair *p)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int i;

	if (vt_to_state(&p->a, IBV_QPS_SQD))
		vt_bail("to SQD");
	for (i = 0; i < VT_MS; i++) {
		if (ibv_query_qp(p->a.qp, &attr, IBV_QP_STATE, &init))
			vt_bail("ibv_query_qp");
		if (!attr.sq_draining)
			break;
		poll(NULL, 0, 1);
	}
	if (vt_to_state(&p->a, IBV_QPS_RTS))
		vt_bail("to RTS");
}

static void test_resize(struct vt_dev *a, struct vt_dev *b)
{
	static const int sizes[] = { 256, 16, 1024, 32 };
	struct vt_conf conf = vt_defaults();
	struct ibv_device_attr caps;
	uint64_t next = 0, posted = 0;
	struct vt_pair p;
	struct ibv_wc wc;

	conf.depth = 64;
	vt_pair_open(&p, a, b, &conf);
	ibv_query_device(a->ctx, &caps);
	for (int s = 0; s < 4; s++) {
		for (int i = 0; i < 6; i++)
			write_word(&p, posted++);
		drain(&p);
		is_int(ibv_resize_cq(p.a.cq, sizes[s]), 0, "resized to %d",
		       sizes[s]);
		ok(p.a.cq->cqe >= sizes[s], "... cqe is not smaller");
		for (int i = 0; i < 5; i++)
			if (!vt_poll(p.a.cq, &wc, VT_MS) || wc.wr_id != next++)
				vt_bail("completion %d of %d", (int)wc.wr_id,
					(int)next);
		pass("... the next 5 completions are in order");
	}
	for (int i = 0; i < 5; i++)
		write_word(&p, posted++);
	drain(&p);
	is_int(ibv_resize_cq(p.a.cq, 4), EINVAL,
	       "no resize below the number of completions");
	is_int(ibv_resize_cq(p.a.cq, caps.max_cqe + 1), EINVAL,
	       "no resize above max_cqe");
	while (next < posted)
		if (!vt_poll(p.a.cq, &wc, VT_MS) || wc.wr_id != next++)
			vt_bail("completion %d", (int)next);
	pass("no completion is lost");
	vt_pair_close(&p);
}

/* Resizes the queue repeatedly while requests are in flight. */
static void test_resize_in_use(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	uint64_t next = 0, posted = 0;
	struct vt_pair p;
	struct ibv_wc wc;
	int err = 0;

	conf.depth = 64;
	vt_pair_open(&p, a, b, &conf);
	for (int round = 0; round < 100 && !err; round++) {
		while (posted < next + 32)
			write_word(&p, posted++);
		err = ibv_resize_cq(p.a.cq, round % 2 ? 64 : 128);
		for (int i = 0; i < 16; i++)
			if (!vt_poll(p.a.cq, &wc, VT_MS) || wc.wr_id != next++)
				vt_bail("completion %d", (int)next);
	}
	is_int(err, 0, "resized 100 times in use, and nothing lost");
	vt_pair_close(&p);
}

static bool event(struct vt_end *e, int ms)
{
	struct pollfd pfd = { .fd = e->chan->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pfd, 1, ms) != 1)
		return false;
	if (ibv_get_cq_event(e->chan, &cq, &context))
		vt_bail("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return true;
}

static void test_solicited(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_wc wc;

	conf.channel = true;
	vt_pair_open(&p, a, b, &conf);
	for (int i = 0; i < 4; i++)
		vt_recv(&p.b, i, 0, 8);
	is_int(ibv_req_notify_cq(p.b.rcq, 1), 0, "ibv_req_notify_cq(), solicited only");
	send_flags(&p, 0, IBV_SEND_SIGNALED);
	ok(vt_poll(p.b.rcq, &wc, VT_MS), "an unsolicited message");
	ok(!event(&p.b, 300), "... raises no event");
	send_flags(&p, 1, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
	ok(event(&p.b, VT_MS), "a solicited message raises an event");
	ok(vt_poll(p.b.rcq, &wc, VT_MS), "... with its completion");
	is_int(ibv_req_notify_cq(p.b.rcq, 0), 0,
	       "ibv_req_notify_cq(), any message");
	is_int(ibv_req_notify_cq(p.b.rcq, 1), 0,
	       "... then solicited only, which does not narrow it");
	send_flags(&p, 2, IBV_SEND_SIGNALED);
	ok(event(&p.b, VT_MS), "an unsolicited message raises an event");
	send_flags(&p, 3, IBV_SEND_SIGNALED);
	ok(!event(&p.b, 300), "... and the next raises none");
	vt_pair_close(&p);
}

static void arm(struct vt_end *e, int solicited_only)
{
	if (ibv_req_notify_cq(e->rcq, solicited_only))
		vt_bail("ibv_req_notify_cq");
}

/* Sends n messages with the flags and waits until they are in the CQ of b. */
static void receive(struct vt_pair *p, int n, unsigned int flags)
{
	struct ibv_wc wc;

	for (int i = 0; i < n; i++) {
		vt_recv(&p->b, i, 0, 8);
		send_flags(p, i, IBV_SEND_SIGNALED | flags);
		if (!vt_poll(p->a.cq, &wc, VT_MS) || wc.status)
			vt_bail("message %d", i);
	}
}

static void poll_received(struct vt_pair *p, int n)
{
	struct ibv_wc wc;

	for (int i = 0; i < n; i++)
		if (!vt_poll(p->b.rcq, &wc, VT_MS))
			vt_bail("completion %d", i);
}

/*
 * Arming carries the consumer index, as on adapters: a CQ that has completions
 * raises the event when it is armed.
 */
static void test_armed_late(struct vt_dev *a, struct vt_dev *b, bool srq)
{
	const char *name = srq ? "SRQ" : "RQ";
	struct vt_conf conf = vt_defaults();
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
	};
	struct vt_pair p;

	conf.channel = true;
	if (srq) {
		conf.srq_b = ibv_create_srq(b->pd, &attr);
		if (!conf.srq_b)
			vt_bail("ibv_create_srq");
	}
	vt_pair_open(&p, a, b, &conf);
	p.b.xsrq = conf.srq_b;
	receive(&p, 3, 0);
	ok(!event(&p.b, 100), "%s: 3 messages before the CQ is armed", name);
	arm(&p.b, 0);
	ok(event(&p.b, VT_MS), "%s: the CQ is armed: an event at once", name);
	arm(&p.b, 0);
	poll_received(&p, 1);
	ok(event(&p.b, VT_MS), "%s: armed and one of 3 polled: an event", name);
	ok(!event(&p.b, 100), "%s: ... and only one", name);
	is_int(ibv_resize_cq(p.b.rcq, 256), 0, "%s: resized", name);
	arm(&p.b, 0);
	ok(event(&p.b, VT_MS), "%s: armed after it: an event", name);
	arm(&p.b, 1);
	ok(!event(&p.b, 200),
	   "%s: armed for solicited messages, without one: no event", name);
	receive(&p, 1, IBV_SEND_SOLICITED);
	ok(event(&p.b, VT_MS), "%s: a solicited message raises it", name);
	receive(&p, 1, 0);
	poll_received(&p, 2);
	arm(&p.b, 1);
	ok(event(&p.b, VT_MS),
	   "%s: armed for it while it is not polled: an event", name);
	poll_received(&p, 1);
	arm(&p.b, 1);
	ok(!event(&p.b, 200), "%s: armed after it is polled: no event", name);
	poll_received(&p, 1);
	arm(&p.b, 0);
	ok(!event(&p.b, 200), "%s: an empty CQ is armed: no event", name);
	receive(&p, 1, 0);
	ok(event(&p.b, VT_MS), "%s: the next message raises it", name);
	vt_pair_close(&p);
	if (srq)
		is_int(ibv_destroy_srq(conf.srq_b), 0, "SRQ: destroyed");
}

/* The completion of a failed request counts as solicited. */
static void test_armed_after_failure(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	conf.channel = true;
	vt_pair_open(&p, a, b, &conf);
	vt_recv(&p.b, 1, 0, 8);
	if (vt_to_state(&p.b, IBV_QPS_ERR))
		vt_bail("to ERR");
	arm(&p.b, 1);
	ok(event(&p.b, VT_MS),
	   "armed for solicited messages with a flushed request: an event");
	vt_pair_close(&p);
}

/* Slots of the send queue are free without polling; see mxe(7). */
static void test_slots(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	int completions = 0, err = 0;
	struct vt_pair p;
	struct ibv_wc wc;

	conf.depth = 64;
	vt_pair_open(&p, a, b, &conf);
	is_int(ibv_resize_cq(p.a.cq, 256), 0, "resized to 256");
	for (int i = 0; i < 256 && !err; i++) {
		err = write_word(&p, i);
		if (i % 32 == 31)
			drain(&p);
	}
	is_int(err, 0, "256 requests, 64 slots, no completion is polled");
	while (ibv_poll_cq(p.a.cq, 1, &wc) > 0)
		completions++;
	is_int(completions, 256, "... 256 completions");
	vt_pair_close(&p);
}

static void test_overrun(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	bool cq_err = false, qp_fatal = false;
	struct vt_pair p;
	struct ibv_wc wc;
	int type;

	conf.depth = 64;
	vt_pair_open(&p, a, b, &conf);
	is_int(ibv_resize_cq(p.a.cq, 4), 0, "resized to 4");
	while (vt_async(a, 100) >= 0)
		;
	for (int i = 0; i < 8; i++)
		write_word(&p, i);
	while (!(cq_err && qp_fatal) && (type = vt_async(a, VT_MS)) >= 0) {
		cq_err |= type == IBV_EVENT_CQ_ERR;
		qp_fatal |= type == IBV_EVENT_QP_FATAL;
	}
	ok(cq_err, "8 completions raise IBV_EVENT_CQ_ERR");
	ok(qp_fatal, "... and IBV_EVENT_QP_FATAL");
	is_int(vt_state(&p.a), IBV_QPS_ERR, "... the queue pair is in ERR");
	for (int i = 0; i < 4; i++)
		if (!vt_poll(p.a.cq, &wc, 100) || wc.wr_id != (uint64_t)i)
			vt_bail("completion %d", i);
	pass("... and the first 4 completions can be polled");
	vt_pair_close(&p);
}

/*
 * Posts n WRITEs at once. Returns the milliseconds until the event, or -1
 * without one.
 */
static int time_to_event(struct vt_pair *p, int n)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct ibv_send_wr wr[8] = { 0 }, *bad;
	uint64_t start;
	int i;

	for (i = 0; i < n; i++)
		wr[i] = (struct ibv_send_wr){
			.next = i + 1 < n ? &wr[i + 1] : NULL,
			.opcode = IBV_WR_RDMA_WRITE,
			.sg_list = &sge, .num_sge = 1,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma.remote_addr = vt_addr(&p->b, 0),
			.wr.rdma.rkey = p->b.mr->rkey,
		};
	if (ibv_req_notify_cq(p->a.cq, 0))
		vt_bail("ibv_req_notify_cq");
	start = vt_now_ms();
	if (ibv_post_send(p->a.qp, wr, &bad))
		vt_bail("ibv_post_send");
	return event(&p->a, VT_MS) ? (int)(vt_now_ms() - start) : -1;
}

static int polled(struct vt_pair *p)
{
	struct ibv_wc wc;
	int n = 0;

	while (ibv_poll_cq(p->a.cq, 1, &wc) > 0)
		n++;
	return n;
}

/*
 * Repeats time_to_event() until it takes less than limit milliseconds, because
 * the machine may be slow at times. Returns the milliseconds and sets *num to
 * the number of completions in the last try.
 */
static int within(struct vt_pair *p, int n, int limit, int *num)
{
	int ms = -1;

	for (int i = 0; i < 1000; i++) {
		ms = time_to_event(p, n);
		*num = polled(p);
		drain(p);
		polled(p);
		if (ms < limit)
			break;
	}
	return ms;
}

/*
 * Repeats time_to_event() until all n completions are in the queue at the
 * event. Returns the milliseconds, or -1.
 */
static int time_to_all(struct vt_pair *p, int n)
{
	int ms = -1, num = 0;

	for (int i = 0; i < 1000 && num != n; i++) {
		ms = time_to_event(p, n);
		num = polled(p);
		drain(p);
		polled(p);
	}
	return num == n ? ms : -1;
}

static int moderate(struct vt_pair *p, uint16_t count, uint16_t period)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = period },
	};

	return ibv_modify_cq(p->a.cq, &attr);
}

static void test_moderation(struct vt_dev *a, struct vt_dev *b)
{
	enum { PERIOD = 65 };	/* milliseconds */
	struct ibv_exp_cq_attr exp = {
		.moderation = { .cq_count = 0, .cq_period = PERIOD * 1000 },
	};
	struct vt_conf conf = vt_defaults();
	struct ibv_device_attr_ex caps;
	struct vt_pair p;
	int ms, num;

	is_int(ibv_query_device_ex(a->ctx, NULL, &caps), 0, "query_device_ex");
	is_int(caps.cq_mod_caps.max_cq_count, 65535, "max_cq_count");
	is_int(caps.cq_mod_caps.max_cq_period, 65535, "max_cq_period");
	conf.channel = true;
	vt_pair_open(&p, a, b, &conf);
	ms = within(&p, 1, PERIOD, &num);
	ok(ms >= 0 && ms < PERIOD, "without moderation an event at once (%d ms)",
	   ms);
	is_int(moderate(&p, 4, PERIOD * 1000), 0,
	       "an event for 4 completions or after 65 ms");
	ms = time_to_event(&p, 1);
	ok(ms >= PERIOD - 1, "one completion: the event is delayed (%d ms)", ms);
	is_int(polled(&p), 1, "... with one completion in the queue");
	ms = within(&p, 4, PERIOD, &num);
	ok(ms >= 0 && ms < PERIOD, "4 completions: an event at once (%d ms)", ms);
	is_int(num, 4, "... with all 4 in the queue");
	ok(!event(&p.a, 3 * PERIOD), "... and no second event");
	is_int(ibv_exp_modify_cq(p.a.cq, &exp, IBV_EXP_CQ_MODERATION), 0,
	       "an event after 65 ms only");
	ms = time_to_all(&p, 8);
	ok(ms >= PERIOD - 1, "8 completions: one delayed event (%d ms)",
	   ms);
	is_int(moderate(&p, 4, 0), 0, "a count without a period");
	ms = within(&p, 1, PERIOD, &num);
	ok(ms >= 0 && ms < PERIOD, "... moderates nothing (%d ms)", ms);

	/* The queue is destroyed while an event is delayed. */
	moderate(&p, 0, PERIOD * 1000);
	if (ibv_req_notify_cq(p.a.cq, 0))
		vt_bail("ibv_req_notify_cq");
	write_word(&p, 0);
	drain(&p);
	vt_pair_close(&p);
	pass("a queue is destroyed while an event is delayed");
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t device_clock(struct vt_dev *dev)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	if (ibv_query_rt_values_ex(dev->ctx, &values))
		return 0;
	return (uint64_t)values.raw_clock.tv_nsec;
}

/*
 * Reads both times of the next completion, and the wall-clock time so often
 * that the thread probably loses the CPU meanwhile. Sets *steady to false if
 * that time has decreased. Returns false if there is no completion.
 */
static bool read_times(struct vt_pair *p, uint64_t *ts, uint64_t *wall,
		       bool *steady)
{
	struct ibv_cq_ex *cq = (struct ibv_cq_ex *)p->a.cq;
	struct ibv_poll_cq_attr attr = { 0 };
	uint64_t next;

	if (ibv_start_poll(cq, &attr))
		return false;
	*ts = ibv_wc_read_completion_ts(cq);
	*wall = ibv_wc_read_completion_wallclock_ns(cq);
	for (int i = 0; i < 5000; i++) {
		next = ibv_wc_read_completion_wallclock_ns(cq);
		*steady &= next >= *wall;
		*wall = next;
	}
	ibv_end_poll(cq);
	return true;
}

static void test_timestamps(struct vt_dev *a, struct vt_dev *b)
{
	uint64_t before, after, wall_before, wall_after, asked, slack, ts, wall, last = 0;
	struct vt_conf conf = vt_defaults();
	struct ibv_device_attr_ex caps;
	bool in_order = true, in_time = true, on_wall = true, steady = true;
	struct vt_pair p;
	int i;

	is_int(ibv_query_device_ex(a->ctx, NULL, &caps), 0, "query_device_ex");
	is_u64(caps.hca_core_clock, 1000000, "a device clock of 1 GHz");
	is_u64(caps.completion_timestamp_mask, ~0ULL, "... of 64 bits");
	conf.ex_cq = true;
	conf.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	vt_pair_open(&p, a, b, &conf);
	for (i = 0; i < 5; i++) {
		before = device_clock(a);
		wall_before = ns_of(CLOCK_REALTIME);
		write_word(&p, i);
		drain(&p);
		after = device_clock(a);
		wall_after = ns_of(CLOCK_REALTIME);
		/*
		 * Read late, because the times must be those of the completion.
		 */
		poll(NULL, 0, 20);
		asked = ns_of(CLOCK_REALTIME);
		if (!read_times(&p, &ts, &wall, &steady))
			vt_bail("no completion");
		/*
		 * read_times() reads both clocks, possibly a long time apart.
		 */
		slack = ns_of(CLOCK_REALTIME) - asked + 1000000;
		in_order &= ts > last;
		in_time &= ts >= before && ts <= after;
		on_wall &= wall + slack >= wall_before &&
			   wall <= wall_after + slack;
		last = ts;
	}
	ok(in_order, "later completions have later times");
	ok(in_time, "... between two readings of the device clock");
	ok(on_wall, "... and of CLOCK_REALTIME");
	ok(steady, "the time of a completion does not decrease");
	vt_pair_close(&p);
}

static void test_flags(struct vt_dev *dev)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};

	ok(!ibv_create_cq_ex(dev->ctx, &attr) && errno == EOPNOTSUPP,
	   "IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN is not supported");
}

/* A program may ask for every field. Those that the device lacks are 0. */
static void test_every_field(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq_ex *cq;
	struct vt_pair p;

	conf.ex_cq = true;
	conf.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_CVLAN |
			IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_TM_INFO;
	vt_pair_open(&p, a, b, &conf);
	cq = (struct ibv_cq_ex *)p.a.cq;
	write_word(&p, 0);
	drain(&p);
	if (ibv_start_poll(cq, &attr))
		vt_bail("no completion");
	is_int(cq->status, IBV_WC_SUCCESS, "a CQ with every field");
	is_int(ibv_wc_read_opcode(cq), IBV_WC_RDMA_WRITE, "... the opcode");
	is_u64(ibv_wc_read_flow_tag(cq), 0, "... no flow tag");
	is_u64(ibv_wc_read_cvlan(cq), 0, "... no VLAN");
	ibv_end_poll(cq);
	vt_pair_close(&p);
}

int main(void)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());

	plan(0);
	test_resize(a, b);
	test_resize_in_use(a, b);
	test_solicited(a, b);
	test_armed_late(a, b, false);
	test_armed_late(a, b, true);
	test_armed_after_failure(a, b);
	test_moderation(a, b);
	test_timestamps(a, b);
	test_flags(a);
	test_every_field(a, b);
	test_slots(a, b);
	test_overrun(a, b);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
