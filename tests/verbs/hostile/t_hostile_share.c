// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that the CPU time that a process causes is not taken from others. An
 * attacker on each CPU fills its send queues, rings the doorbell once, and
 * sleeps for 20 ms, repeatedly. The test asserts that
 *
 * - a process at nice 0 that spins on each CPU keeps 45 % of the CPU time that
 *   it gets without the attack,
 * - the 99th percentile of the latency of an honest process, which waits for
 *   completion events, stays within 5 times that of the idle machine.
 *
 *	t_hostile_share [NAME...]	only these attacks
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tap.h"
#include "hostile.h"
#include "ud.h"

enum {
	QPS = 2,		/* of each attacker */
	WRITE_LEN = 256 * 1024,
	WRITE_DEPTH = 64,
	UD_SENDS = 4096,
	UD_LEN = 4096,
	READS = 16,
	READ_STEP = 4 << 20,	/* bytes of memory that back the region */
	REFILL_MS = 20,
	SHARE_PERCENT = 45,
	TRIES = 4,		/* of an attack that seems to succeed */
	LATENCY_FACTOR = 5,
	OPS = 500,
	OPS_FULL = 5000,
	HONEST_MS = 8000,
};

struct attack {
	const char *name;
	void (*run)(void *ready);
};

static struct {
	atomic_int ready[HOSTILE_CPUS];
} *sh;

static struct {
	atomic_int go, done;	/* number of the measurement */
	int ops;
	int status;		/* of the atomic that failed, or 0 */
	uint64_t ns[OPS_FULL];
} *honest;

/* ---- attackers ----------------------------------------------------------- */

static struct vt_conf deferred(uint32_t depth)
{
	struct vt_conf conf = vt_defaults();

	conf.create_flags = MXEDV_QP_CREATE_DEFER_DOORBELL;
	conf.depth = depth;
	conf.max_sge = 1;
	conf.max_inline = 0;
	return conf;
}

static void ring(struct vt_dev *dev, struct ibv_qp **qps)
{
	if (mxedv_ring_doorbells(dev->ctx, qps, QPS))
		vt_bail("doorbell");
}

static void run_loop_write(void *ready)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_a());
	struct vt_conf conf = deferred(WRITE_DEPTH);
	struct ibv_qp *qps[QPS];
	struct vt_pair p[QPS];

	conf.size = WRITE_LEN;
	for (int i = 0; i < QPS; i++) {
		vt_pair_open(&p[i], a, b, &conf);
		qps[i] = p[i].a.qp;
	}
	for (;;) {
		for (int i = 0; i < QPS; i++) {
			struct ibv_sge sge = vt_sge(&p[i].a, 0, WRITE_LEN);
			struct vt_wr wr = {
				.op = VT_WRITE, .via = VT_WR, .sge = &sge,
				.num_sge = 1, .raddr = vt_addr(&p[i].b, 0),
				.rkey = p[i].b.mr->rkey,
			};

			/*
			 * Unsignaled requests: the queue accepts new requests
			 * as soon as they are executed.
			 */
			while (!vt_post(&p[i].a, &wr))
				;
		}
		ring(a, qps);
		*(atomic_int *)ready = 1;
		hostile_sleep_ms(REFILL_MS);
	}
}

static struct ibv_qp *flood_qp(struct vt_dev *dev)
{
	struct ud u = { .dev = dev };
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = MXEDV_QP_CREATE_DEFER_DOORBELL,
	};
	struct ibv_qp_init_attr_ex attr;

	u.cq = ibv_create_cq(dev->ctx, UD_DEPTH, NULL, NULL, 0);
	u.rcq = u.cq;
	if (!u.cq)
		vt_bail("ibv_create_cq");
	attr = ud_init_attr(&u);
	attr.cap.max_send_wr = UD_SENDS;
	u.qp = mxedv_create_qp(dev->ctx, &attr, &mxe_attr);
	if (!u.qp || ud_to(&u, IBV_QPS_INIT, UD_QKEY) ||
	    ud_to(&u, IBV_QPS_RTR, 0) || ud_to(&u, IBV_QPS_RTS, 0))
		vt_bail("a UD queue pair");
	return u.qp;
}

static void run_ud(void *ready)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND, .num_sge = 1 };
	struct ibv_qp *qps[QPS];
	struct ibv_sge sge;
	struct ud to;

	ud_open(&to, b);
	for (int i = 0; i < QPS; i++)
		qps[i] = flood_qp(a);
	sge.addr = (uintptr_t)calloc(1, UD_LEN);
	sge.length = UD_LEN;
	sge.lkey = ibv_reg_mr(a->pd, (void *)(uintptr_t)sge.addr, UD_LEN, 0)->lkey;
	wr.sg_list = &sge;
	wr.wr.ud.ah = ud_ah(a, b, false);
	wr.wr.ud.remote_qpn = to.qp->qp_num;
	wr.wr.ud.remote_qkey = UD_QKEY;
	for (;;) {
		for (int i = 0; i < QPS; i++)
			while (!ibv_post_send(qps[i], &wr, &bad))
				;
		ring(a, qps);
		*(atomic_int *)ready = 1;
		hostile_sleep_ms(REFILL_MS);
	}
}

/* Maps the same READ_STEP bytes repeatedly, `size` bytes in total. */
static void *alias(size_t size)
{
	int fd = memfd_create("alias", 0);
	char *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || ftruncate(fd, READ_STEP) || p == MAP_FAILED)
		vt_bail("memory");
	for (size_t at = 0; at < size; at += READ_STEP)
		if (mmap(p + at, READ_STEP, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			vt_bail("mmap");
	close(fd);
	return p;
}

/* The responder, here the second device, does the work. */
static void run_read(void *ready)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());
	struct vt_conf conf = vt_defaults();
	int open = 0, n;
	struct vt_pair p;

	conf.size = hostile_full() ? 1UL << 30 : 256UL << 20;
	conf.rd_atomic = READS;
	vt_end_create(&p.a, a, &conf, NULL, alias(conf.size));
	vt_end_create(&p.b, b, &conf, NULL, alias(conf.size));
	vt_pair_connect(&p, &conf);
	for (;;) {
		struct ibv_sge sge = vt_sge(&p.a, 0, (uint32_t)conf.size);
		struct vt_wr wr = {
			.op = VT_READ, .via = VT_WR, .sge = &sge, .num_sge = 1,
			.flags = IBV_SEND_SIGNALED,
			.raddr = vt_addr(&p.b, 0), .rkey = p.b.mr->rkey,
		};
		struct ibv_wc wc[READS];

		for (; open < READS; open++)
			if (vt_post(&p.a, &wr))
				vt_bail("READ");
		*(atomic_int *)ready = 1;
		hostile_sleep_ms(REFILL_MS);
		n = ibv_poll_cq(p.a.cq, READS, wc);
		for (int i = 0; i < n; i++)
			if (wc[i].status)
				vt_bail("READ: %s", vt_status(wc[i].status));
		open -= n;
	}
}

static const struct attack attacks[] = {
	{ "loop_write", run_loop_write },
	{ "ud", run_ud },
	{ "read", run_read },
};

/* ---- an honest process --------------------------------------------------- */

/* Returns the duration in ns and sets honest->status. */
static uint64_t one_atomic(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .flags = IBV_SEND_SIGNALED,
		.sge = &sge, .num_sge = 1, .raddr = vt_addr(&p->b, 0),
		.rkey = p->b.mr->rkey, .compare_add = 1,
	};
	struct ibv_cq *cq;
	struct ibv_wc wc;
	uint64_t ns;
	void *context;

	if (ibv_req_notify_cq(p->a.cq, 0))
		vt_bail("ibv_req_notify_cq");
	ns = vt_now_ns();
	if (vt_post(&p->a, &wr))
		vt_bail("cannot post");
	if (ibv_get_cq_event(p->a.chan, &cq, &context))
		vt_bail("ibv_get_cq_event");
	if (ibv_poll_cq(p->a.cq, 1, &wc) != 1)
		vt_bail("an event without a completion");
	ns = vt_now_ns() - ns;
	ibv_ack_cq_events(cq, 1);
	honest->status = wc.status;
	return ns;
}

/* Measures each time honest->go is incremented. */
static void run_honest(void *arg)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());
	int ops = hostile_full() ? OPS_FULL : OPS;
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	(void)arg;
	conf.channel = true;
	vt_pair_open(&p, a, b, &conf);
	for (int round = 1;; round++) {
		uint64_t end;

		while (honest->go < round)
			hostile_sleep_ms(5);
		end = vt_now_ms() + HONEST_MS;
		for (honest->ops = 0; honest->ops < ops;) {
			honest->ns[honest->ops++] = one_atomic(&p);
			if (honest->status || vt_now_ms() > end)
				break;
			/* Long enough to include rare events. */
			hostile_sleep_ms(1);
		}
		honest->done = round;
		if (honest->status)
			vt_pair_reconnect(&p, &conf);
	}
}

static int compare(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

/*
 * Measures the latency of atomics and prints the median and the 99th
 * percentile. Returns the latter in us, or infinity if an atomic failed.
 */
static double honest_p99(const char *when)
{
	uint64_t end = vt_now_ms() + HONEST_MS + VT_MS;
	int n, rank;

	honest->go++;
	while (honest->done < honest->go) {
		if (vt_now_ms() > end)
			vt_bail("the honest process makes no progress");
		hostile_sleep_ms(5);
	}
	n = honest->ops;
	if (honest->status) {
		diag("%s: atomic %d: %s", when, n, vt_status(honest->status));
		return INFINITY;
	}
	qsort(honest->ns, (size_t)n, sizeof(*honest->ns), compare);
	rank = n * 99 / 100;
	diag("%s: latency of %d atomics: median %.0f us, p99 %.0f us", when, n,
	     (double)honest->ns[n / 2] / 1e3, (double)honest->ns[rank] / 1e3);
	return (double)honest->ns[rank] / 1e3;
}

/* ---- measurement -------------------------------------------------------- */

static void attack_on_0(void *arg)
{
	hostile_pin(0);
	((const struct attack *)arg)->run(&sh->ready[0]);
}

static void attack_on_1(void *arg)
{
	hostile_pin(1);
	((const struct attack *)arg)->run(&sh->ready[1]);
}

static void shares(struct hostile_spinners *s)
{
	hostile_spin_start(s);
	hostile_sleep_ms(hostile_full() ? 10000 : 2000);
	hostile_spin_stop(s);
}

static double charged(const pid_t *pids)
{
	struct timespec ts;
	double sum = 0;
	clockid_t clock;

	for (int i = 0; i < HOSTILE_CPUS; i++) {
		if (clock_getcpuclockid(pids[i], &clock) ||
		    clock_gettime(clock, &ts))
			vt_bail("an attacker has ended by itself");
		sum += (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
	}
	return sum;
}

/* CPU share that an attack leaves to others: the best measurement so far. */
struct left {
	double share[HOSTILE_CPUS];
	double p99;
	bool lasts;
};

static void measure(const struct attack *attack, struct left *best)
{
	struct hostile_spinners s;
	pid_t pids[HOSTILE_CPUS];
	double p99, cpu, wall;

	memset(sh, 0, sizeof(*sh));
	pids[0] = hostile_fork(attack_on_0, (void *)attack);
	pids[1] = hostile_fork(attack_on_1, (void *)attack);
	for (int i = 0; i < HOSTILE_CPUS; i++)
		hostile_wait(&sh->ready[i], "attacker");
	cpu = charged(pids);
	wall = (double)vt_now_ns() / 1e9;
	shares(&s);
	diag("%s: spinners keep %.1f %% and %.1f %%; %.2f s of CPU are charged to the attackers in %.2f s",
	     attack->name, 100 * s.share[0], 100 * s.share[1],
	     charged(pids) - cpu, (double)vt_now_ns() / 1e9 - wall);
	p99 = honest_p99(attack->name);
	for (int i = 0; i < HOSTILE_CPUS; i++) {
		if (hostile_kill(pids[i]) == UINT64_MAX)
			best->lasts = false;
		if (s.share[i] > best->share[i])
			best->share[i] = s.share[i];
	}
	if (p99 < best->p99)
		best->p99 = p99;
}

static bool is_enough(const struct left *left, const double *alone,
		      double idle_p99)
{
	for (int i = 0; i < HOSTILE_CPUS; i++)
		if (left->share[i] * 100 < SHARE_PERCENT * alone[i])
			return false;
	return left->p99 <= LATENCY_FACTOR * idle_p99;
}

/*
 * The hypervisor may take a CPU away from a spinner or from the honest process
 * at any time, so an attack that seems to succeed is measured again. A real
 * success repeats itself.
 */
static void check(const struct attack *attack, const double *alone,
		  double idle_p99)
{
	struct left left = { .p99 = INFINITY, .lasts = true };

	for (int try = 0; try < TRIES && !is_enough(&left, alone, idle_p99);
	     try++)
		measure(attack, &left);
	for (int i = 0; i < HOSTILE_CPUS; i++)
		ok(left.share[i] * 100 >= SHARE_PERCENT * alone[i],
		   "%s: a spinner on CPU %d keeps %d %% of it", attack->name,
		   i, SHARE_PERCENT);
	ok(left.p99 <= LATENCY_FACTOR * idle_p99,
	   "%s: the p99 of an honest process is within %d times %.0f us",
	   attack->name, LATENCY_FACTOR, idle_p99);
	ok(left.lasts, "%s: the attackers run until they are killed",
	   attack->name);
}

int main(int argc, char **argv)
{
	struct hostile_spinners s;
	double idle_p99, again;
	pid_t pid;

	(void)argc;
	sh = hostile_begin(sizeof(*sh));
	plan(0);
	honest = hostile_shared(sizeof(*honest));
	pid = hostile_fork(run_honest, NULL);
	/* The first measurement warms caches and neighbour entries. */
	honest_p99("first");
	idle_p99 = honest_p99("idle");
	again = honest_p99("idle");
	if (again > idle_p99)
		idle_p99 = again;
	shares(&s);
	diag("idle: spinners have %.1f %% and %.1f %%", 100 * s.share[0],
	     100 * s.share[1]);
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++)
		if (vt_wanted(attacks[i].name, argv + 1))
			check(&attacks[i], s.share, idle_p99);
	ok(hostile_kill(pid) != UINT64_MAX, "the honest process still runs");
	return done_testing();
}
