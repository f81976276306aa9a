// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a process which never yields its CPU gets its completions: the
 * work that follows from errors, from timeouts and from a receiver that is not
 * ready needs no other thread of that CPU.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"
#include "vt.h"

enum { DEPTH = 600, READ_LEN = 512 << 10, SPIN_MS = 10000, MAX_TRIES = 50 };
/* Results of a case, see stalled(). */
enum { WRONG, DONE, VOID };

struct progress {
	struct vt_dev *a, *b;
	struct vt_conf conf;
	struct vt_pair pair;
};

static int ksoftirqd = -1;

static const char throttle[] = "/proc/sys/kernel/sched_rt_runtime_us";

/* Lets a real-time process use all of a CPU.  Returns the old limit. */
static long set_throttle(long us)
{
	FILE *f = fopen(throttle, "r+");
	long old;

	if (!f || fscanf(f, "%ld", &old) != 1)
		vt_bail("%s", throttle);
	rewind(f);
	if (fprintf(f, "%ld", us) < 0 || fclose(f))
		vt_bail("%s", throttle);
	return old;
}

/* From now on no other thread runs on this CPU, or threads do again. */
static void seize_cpu(bool seize)
{
	struct sched_param param = { .sched_priority = seize ? 1 : 0 };

	if (sched_setscheduler(0, seize ? SCHED_FIFO : SCHED_OTHER, &param))
		vt_bail("sched_setscheduler");
}

/* Opens the status of the thread that runs softirqs which CPU 0 has put off. */
static void open_ksoftirqd(void)
{
	char path[64], line[256];
	int pid, n;

	for (pid = 2; pid < 100 && ksoftirqd < 0; pid++) {
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		ksoftirqd = open(path, O_RDONLY);
		if (ksoftirqd < 0)
			continue;
		n = pread(ksoftirqd, line, sizeof(line) - 1, 0);
		line[n < 0 ? 0 : n] = 0;
		if (!strstr(line, "(ksoftirqd/0)")) {
			close(ksoftirqd);
			ksoftirqd = -1;
		}
	}
	if (ksoftirqd < 0)
		vt_bail("no ksoftirqd/0");
}

/*
 * Before Linux 6.4, a CPU runs no softirq, so no timer and no packet of any
 * protocol, once ksoftirqd is to run them.  That happens when softirqs last too
 * long, as on a slow machine.  A case in which it happens proves nothing.
 */
static bool stalled(void)
{
	char line[256];
	int n = pread(ksoftirqd, line, sizeof(line) - 1, 0);

	if (n <= 0)
		vt_bail("pread");
	line[n] = 0;
	return strstr(line, ") R ");
}

/*
 * Polls without sleeping for n completions with this status and consecutive
 * wr_ids.
 */
static int spin(struct ibv_cq *cq, enum ibv_wc_status status, int n)
{
	uint64_t end = vt_now_ms() + SPIN_MS;
	struct ibv_wc wc;
	int found = 0, got;

	while (found < n) {
		got = ibv_poll_cq(cq, 1, &wc);
		if (got < 0)
			vt_bail("ibv_poll_cq");
		if (got && (wc.status != status || wc.wr_id != (uint64_t)found))
			return WRONG;
		found += got;
		if (!got && stalled())
			return VOID;
		if (vt_now_ms() > end)
			return WRONG;
	}
	/* None may arrive twice. */
	return ibv_poll_cq(cq, 1, &wc) ? WRONG : DONE;
}

static void post(struct vt_end *e, enum vt_opcode op, const struct vt_end *to,
		 uint64_t wr_id, uint32_t len)
{
	struct ibv_sge sge = vt_sge(e, 0, len);
	struct vt_wr wr = {
		.op = op, .wr_id = wr_id, .sge = &sge, .num_sge = 1,
		.flags = IBV_SEND_SIGNALED, .raddr = vt_addr(to, 0),
		.rkey = to->mr->rkey,
	};

	if (vt_post(e, &wr))
		vt_bail("ibv_post_send");
}

static void recv_many(struct vt_end *e, int n)
{
	for (int i = 0; i < n; i++)
		if (vt_recv(e, i, 0, 8))
			vt_bail("ibv_post_recv");
}

static void modify(struct vt_end *e, enum ibv_qp_state state)
{
	if (vt_to_state(e, state))
		vt_bail("ibv_modify_qp");
}

static int flush_recvs(struct progress *t)
{
	recv_many(&t->pair.b, DEPTH);
	seize_cpu(true);
	modify(&t->pair.b, IBV_QPS_ERR);
	return spin(t->pair.b.rcq, IBV_WC_WR_FLUSH_ERR, DEPTH);
}

/* The requests wait for receives of the other side. */
static int flush_sends(struct progress *t)
{
	for (int i = 0; i < DEPTH; i++)
		post(&t->pair.a, VT_SEND, &t->pair.b, i, 8);
	seize_cpu(true);
	modify(&t->pair.a, IBV_QPS_ERR);
	return spin(t->pair.a.cq, IBV_WC_WR_FLUSH_ERR, DEPTH);
}

static int recv_in_err(struct progress *t)
{
	modify(&t->pair.b, IBV_QPS_ERR);
	seize_cpu(true);
	recv_many(&t->pair.b, 2);
	return spin(t->pair.b.rcq, IBV_WC_WR_FLUSH_ERR, 2);
}

static int send_in_err(struct progress *t)
{
	modify(&t->pair.a, IBV_QPS_ERR);
	seize_cpu(true);
	post(&t->pair.a, VT_SEND, &t->pair.b, 0, 8);
	post(&t->pair.a, VT_SEND, &t->pair.b, 1, 8);
	return spin(t->pair.a.cq, IBV_WC_WR_FLUSH_ERR, 2);
}

/* A WRITE is refused, and the error flushes the receives. */
static int flush_after_nak(struct progress *t)
{
	struct ibv_sge sge = vt_sge(&t->pair.a, 0, 8);
	struct vt_wr wr = {
		.op = VT_WRITE, .sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&t->pair.b, 0), .rkey = t->pair.b.mr->rkey ^ 1,
	};
	int result;

	recv_many(&t->pair.a, DEPTH);
	seize_cpu(true);
	if (vt_post(&t->pair.a, &wr))
		vt_bail("ibv_post_send");
	result = spin(t->pair.a.cq, IBV_WC_REM_ACCESS_ERR, 1);
	if (result == DONE)
		result = spin(t->pair.a.rcq, IBV_WC_WR_FLUSH_ERR, DEPTH);
	return result;
}

static int rnr(struct progress *t)
{
	int i, result;

	seize_cpu(true);
	for (i = 0; i < 4; i++)
		post(&t->pair.a, VT_SEND, &t->pair.b, i, 8);
	/* The receiver has answered that it is not ready. */
	recv_many(&t->pair.b, 4);
	result = spin(t->pair.a.cq, IBV_WC_SUCCESS, 4);
	if (result == DONE)
		result = spin(t->pair.b.rcq, IBV_WC_SUCCESS, 4);
	return result;
}

/* The peer drops the first packets, because it is not connected yet. */
static int after_timeout(struct progress *t, enum vt_opcode op, uint32_t len)
{
	struct vt_pair *p = &t->pair;

	modify(&p->b, IBV_QPS_RESET);
	post(&p->a, op, &p->b, 0, len);
	if (vt_to_init(&p->b, &t->conf) || vt_to_rtr(&p->b, &p->a, &t->conf) ||
	    vt_to_rts(&p->b, &t->conf))
		vt_bail("ibv_modify_qp");
	seize_cpu(true);
	return spin(p->a.cq, IBV_WC_SUCCESS, 1);
}

static int write_after_timeout(struct progress *t)
{
	return after_timeout(t, VT_WRITE, 8);
}

/* The responses exceed the slice in which the request arrives. */
static int read_after_timeout(struct progress *t)
{
	return after_timeout(t, VT_READ, READ_LEN);
}

static const struct {
	const char *name;
	int (*run)(struct progress *t);
} cases[] = {
	{ "receives that a change to ERR flushes", flush_recvs },
	{ "sends that a change to ERR flushes", flush_sends },
	{ "receives posted in ERR", recv_in_err },
	{ "sends posted in ERR", send_in_err },
	{ "receives that an error flushes", flush_after_nak },
	{ "SENDs repeated after RNR", rnr },
	{ "a WRITE repeated after a timeout", write_after_timeout },
	{ "a READ with many responses", read_after_timeout },
};

enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]) };

static int run(struct progress *t, int n)
{
	int result = VOID;

	for (int i = 0; i < MAX_TRIES && result == VOID; i++) {
		vt_pair_open(&t->pair, t->a, t->b, &t->conf);
		result = cases[n].run(t);
		seize_cpu(false);
		vt_pair_close(&t->pair);
	}
	return result;
}

int main(void)
{
	struct progress t = {
		.a = vt_open(vt_name_a()), .b = vt_open(vt_name_b()),
		.conf = vt_defaults(),
	};
	cpu_set_t cpus;
	long limit;

	plan(NUM_CASES);
	t.conf.depth = DEPTH;
	t.conf.size = READ_LEN;
	t.conf.min_rnr_timer = 1;
	t.conf.rnr_retry = 7;
	t.conf.retry_cnt = 7;
	t.conf.timeout = 17;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		vt_bail("sched_setaffinity");
	open_ksoftirqd();
	limit = set_throttle(-1);
	for (int i = 0; i < NUM_CASES; i++)
		is_int(run(&t, i), DONE, "%s", cases[i].name);
	set_throttle(limit);
	close(ksoftirqd);
	vt_close(t.b);
	vt_close(t.a);
	return done_testing();
}
