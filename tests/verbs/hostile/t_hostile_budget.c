// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that queues that never become empty cannot keep a CPU. A second
 * process stores new indices into the rings as fast as it can while the first
 * one rings the doorbell. For every kind of queue the test asserts that
 *
 * - one doorbell call of one record executes at most a burst of requests and
 *   returns within 100 ms,
 * - a SCHED_FIFO task on the CPU of the attack still runs in time,
 * - the process dies within 100 ms of SIGKILL, beyond what the same process
 *   takes when it is idle.
 *
 *	t_hostile_budget [NAME...]	only these attacks
 *
 * Times are multiplied by $MXE_FACTOR. The process that feeds the rings ends by
 * itself after FEED_MS, so an attack that succeeds ends too.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"
#include "hostile.h"
#include "hostile_queues.h"

enum {
	FEED_MS = 2500,
	CALLS = 30,
	SLOW_MS = 100,		/* no doorbell call may take longer */
	KILL_MS = 100,		/* nor a kill, beyond that of an idle process */
	LATE_MS = 10,		/* nor may a CPU be kept for longer */
	LATE_SOFTIRQ_MS = 50,	/* if network softirqs run in between */
	ATTACK_MS = 300,
	CALLER_PRIORITY = 50,
	PARENT_PRIORITY = 70,
	TRIES = 3,
	HOPELESS = 5,		/* times the limit: no second try */
};

enum mode {
	COUNT,			/* CALLS calls, each measured */
	RING,			/* calls until it is killed */
	IDLE,			/* the same objects, no calls */
};

static struct run {
	enum mode mode;
	atomic_int feeding, ready, stop;
	pid_t feeder;
	uint32_t calls, slow, slow_over, max_count;
	uint64_t max_ns;
} *run;

static const struct hostile_attack *attack;
static struct hostile_rings rings;

/* ---- the attacker -------------------------------------------------------- */

static void feed(void *arg)
{
	/* Outlives the process that it feeds. */
	prctl(PR_SET_PDEATHSIG, 0);
	hostile_pin(1);
	if (run->mode == COUNT)
		hostile_fifo(CALLER_PRIORITY);
	run->feeding = 1;
	/*
	 * Set it here, because the attacker may not run again before the end of
	 * the attack.
	 */
	run->ready = 1;
	hostile_feed(arg);
}

/*
 * The caller and the feeder each occupy a CPU with a priority that keeps every
 * kworker from running, so that only the call itself moves the consumer index.
 */
static void count_calls(void)
{
	uint64_t end = vt_now_ns() + FEED_MS * HOSTILE_MS;

	hostile_fifo(CALLER_PRIORITY);
	while (run->calls < CALLS && vt_now_ns() < end) {
		uint32_t count = hostile_consumer(&rings.queue[0]);
		uint64_t ns = vt_now_ns();

		if (hostile_ring(&rings) < 0)
			vt_bail("doorbell");
		ns = vt_now_ns() - ns;
		count = hostile_consumer(&rings.queue[0]) - count;
		run->calls++;
		if (count > run->max_count)
			run->max_count = count;
		if (ns > run->max_ns)
			run->max_ns = ns;
		if (ns > hostile_limit(SLOW_MS)) {
			run->slow++;
			run->slow_over += count > HOSTILE_BURST;
		}
		/* Let acknowledgments and kworkers run. */
		hostile_sleep_ms(1);
	}
	hostile_fifo(0);
	run->stop = 1;
}

static void attacker(void *arg)
{
	(void)arg;
	hostile_pin(0);
	memset(&rings, 0, sizeof(rings));
	rings.stop = &run->stop;
	rings.feed_ns = FEED_MS * HOSTILE_MS;
	attack->open(&rings);
	if (run->mode != IDLE) {
		run->feeder = hostile_fork(feed, &rings);
		hostile_wait(&run->feeding, "process that feeds the rings");
	}
	if (run->mode == COUNT) {
		count_calls();
		return;
	}
	if (run->mode == IDLE)
		run->ready = 1;
	if (run->mode == IDLE || attack->rings_itself)
		for (;;)
			pause();
	for (;;)
		if (hostile_ring(&rings) < 0)
			vt_bail("doorbell");
}

static pid_t begin(enum mode mode)
{
	memset(run, 0, sizeof(*run));
	run->mode = mode;
	return hostile_fork(attacker, NULL);
}

static void end_feeder(void)
{
	run->stop = 1;
	if (run->feeder && waitpid(run->feeder, NULL, 0) != run->feeder &&
	    errno != ECHILD)
		vt_bail("the process that feeds the rings");
}

/* ---- measurement -------------------------------------------------------- */

/*
 * Returns how many requests may complete during a call: those that the call
 * executes, and one slice of late_timer per 10 ms.  The first slice may begin
 * at once.
 */
static unsigned int allowed_requests(void)
{
	return HOSTILE_BURST +
	       (run->max_ns / (10 * 1000 * 1000) + 1) * HOSTILE_SLICE;
}

static void check_calls(void)
{
	int status;

	hostile_rt_unlimited(true);
	status = hostile_join(begin(COUNT));
	end_feeder();
	hostile_rt_unlimited(false);
	if (!ok(!status, "%s: doorbells are rung", attack->name))
		return;
	diag("%s: %u calls, at most %u requests and %.1f ms", attack->name,
	     run->calls, run->max_count, (double)run->max_ns / 1e6);
	if (attack->completes_in_call)
		ok(run->max_count <= allowed_requests(),
		   "%s: no call executes more than %d requests", attack->name,
		   HOSTILE_BURST);
	if (!hostile_judges_time())
		return;
	/*
	 * An emulated CPU may stop during one of the calls, so a long time can
	 * be excused. A call that executes too many requests cannot.
	 */
	ok(run->calls && run->slow * 10 <= run->calls &&
	   !(attack->completes_in_call && run->slow_over),
	   "%s: calls take less than %.0f ms", attack->name,
	   (double)hostile_limit(SLOW_MS) / 1e6);
}

struct cost {
	uint64_t kill_ns, late_ns;
};

/* Lets the attacker run for a while, then kills it. */
static struct cost measure(enum mode mode)
{
	struct hostile_lateness late;
	struct cost cost;
	pid_t pid;

	hostile_late_start(&late, 0);
	pid = begin(mode);
	hostile_fifo(PARENT_PRIORITY);
	hostile_wait(&run->ready, "attacker");
	memset(late.shared->top, 0, sizeof(late.shared->top));
	hostile_sleep_ms(ATTACK_MS);
	cost.kill_ns = hostile_kill(pid);
	hostile_fifo(0);
	hostile_late_stop(&late);
	end_feeder();
	cost.late_ns = hostile_late_ns(&late);
	return cost;
}

static void check_cost(uint64_t base_late_ns)
{
	uint64_t late_limit = 2 * base_late_ns +
		hostile_limit(attack->completes_in_call || attack->rings_itself ?
			      LATE_MS : LATE_SOFTIRQ_MS);
	struct cost cost, best = { UINT64_MAX, UINT64_MAX };
	static struct cost idle;
	uint64_t kill_limit;

	/* All attacks have about the same objects. */
	if (!idle.kill_ns || hostile_full())
		idle = measure(IDLE);
	kill_limit = hostile_limit(KILL_MS) + idle.kill_ns;
	if (idle.kill_ns == UINT64_MAX) {
		fail("%s: the idle process lives until it is killed",
		     attack->name);
		return;
	}
	/* Repeat the measurement, because the machine may have stalled. */
	for (int i = 0; i < TRIES && (best.kill_ns > kill_limit ||
				      best.late_ns > late_limit); i++) {
		cost = measure(RING);
		if (cost.kill_ns < best.kill_ns)
			best.kill_ns = cost.kill_ns;
		if (cost.late_ns < best.late_ns)
			best.late_ns = cost.late_ns;
		if (cost.kill_ns > HOPELESS * kill_limit ||
		    cost.late_ns > HOPELESS * late_limit) {
			best = cost;
			break;
		}
	}
	diag("%s: dead after %.1f ms (idle: %.1f), a timer is late by %.1f ms",
	     attack->name, (double)best.kill_ns / 1e6,
	     (double)idle.kill_ns / 1e6, (double)best.late_ns / 1e6);
	ok(best.kill_ns <= kill_limit, "%s: SIGKILL ends it within %.1f ms",
	   attack->name, (double)kill_limit / 1e6);
	ok(best.late_ns <= late_limit,
	   "%s: a timer on its CPU is late by less than %.1f ms", attack->name,
	   (double)late_limit / 1e6);
}

int main(int argc, char **argv)
{
	uint64_t base_late_ns;

	(void)argc;
	run = hostile_begin(sizeof(*run));
	plan(0);
	/* Adopt the feeders of killed attackers, for end_feeder(). */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		vt_bail("PR_SET_CHILD_SUBREAPER");
	hostile_pin(1);
	base_late_ns = hostile_base_late_ns(0);
	for (int round = 0; round < (hostile_full() ? 3 : 1); round++) {
		for (attack = hostile_attacks; attack->name; attack++) {
			if (!vt_wanted(attack->name, argv + 1))
				continue;
			if (!attack->rings_itself)
				check_calls();
			check_cost(base_late_ns);
		}
	}
	return done_testing();
}
