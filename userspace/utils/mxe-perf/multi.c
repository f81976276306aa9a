// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lets several processes measure at the same time.  Each has its own endpoints
 * and, as long as there are enough, its own CPU.  The first process forks the
 * others and prints.
 *
 * A process that is ready keeps operations in flight, measures when all
 * processes are ready, and keeps operations in flight until all have measured.
 * So each of them is measured while all others are busy.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "multi.h"
#include "options.h"
#include "result.h"
#include "stats.h"
#include "status.h"

struct member {
	uint64_t total;
	uint64_t posts;
	uint64_t writes;
};

/* Memory that the processes share.  The counters are atomic and only grow. */
struct shared {
	uint32_t met;
	uint32_t ready;
	uint32_t measured;
	uint32_t failed;
	struct member members[PERF_MAX_PROCESSES];
	uint64_t samples[];	/* in the order of the processes */
};

/* State of this process.  `shared` is NULL if it is the only one. */
static struct shared *shared;
static uint32_t size, self;	/* number of processes, index of this one */
static uint32_t joined;		/* processes that exist, in the first one */
static uint32_t measuring;	/* processes that measure: those before */
static uint32_t meetings, rounds;
static pid_t pids[PERF_MAX_PROCESSES];

static uint32_t load(const uint32_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static void add(uint32_t *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_ACQ_REL);
}

static int complain(const char *what)
{
	fprintf(stderr, "mxe-perf: %s: %s\n", what, strerror(errno));
	return STATUS_FAILED;
}

/* ---- processes ----------------------------------------------------------- */

/* Binds this process to one of its allowed CPUs, in turn. */
static int bind_to_processor(void)
{
	cpu_set_t allowed, one;
	int turn, cpu;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return complain("sched_getaffinity");
	turn = (int)self % CPU_COUNT(&allowed);
	for (cpu = 0; !CPU_ISSET(cpu, &allowed) || turn--; cpu++)
		;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return complain("sched_setaffinity");
	return 0;
}

/**
 * multi_start() - Fork the other processes if the options ask for several.
 * @o: options
 *
 * Returns in every process.  Each of them calls multi_finish() at its end, also
 * after a failure.
 *
 * Return: 0, or STATUS_FAILED after a message to stderr.
 */
int multi_start(const struct perf_options *o)
{
	size_t len = sizeof(*shared) + o->processes * o->iterations * 8;
	pid_t parent = getpid();

	if (!o->processes)
		return 0;
	shared = mmap(NULL, len, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		shared = NULL;
		return complain("mmap");
	}
	size = o->processes;
	measuring = o->test == PERF_BESIDE ? 1 : size;
	for (joined = 1; joined < size; joined++) {
		pids[joined] = fork();
		if (pids[joined] < 0)
			return complain("fork");
		if (!pids[joined]) {
			self = joined;
			if (prctl(PR_SET_PDEATHSIG, SIGKILL))
				return complain("prctl");
			/* The parent may have exited before prctl(). */
			if (getppid() != parent)
				_exit(STATUS_FAILED);
			break;
		}
	}
	return bind_to_processor() ? STATUS_FAILED : 0;
}

/**
 * multi_prints() - Check if this process prints the results.
 *
 * Return: true in the first process, and in one that is alone.
 */
bool multi_prints(void)
{
	return !self;
}

/**
 * multi_measures() - Check if this process measures operations.
 *
 * Return: false in those processes of PERF_BESIDE that only have WRITEs.
 */
bool multi_measures(void)
{
	return !shared || self < measuring;
}

/*
 * In the first process, notes if another one has exited with an error, because
 * waiting for its counters would never end.
 */
static void look_after(void)
{
	siginfo_t info = { };

	if (!self && !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) &&
	    info.si_pid && (info.si_code != CLD_EXITED || info.si_status))
		add(&shared->failed);
}

/**
 * multi_finish() - End the common work of the processes.
 * @status: exit status of this process
 *
 * The first process waits for the others.
 *
 * Return: the exit status of this process; in the first one, if that is 0, the
 * status of one that failed.
 */
int multi_finish(int status)
{
	if (!shared)
		return status;
	if (status)
		add(&shared->failed);
	for (uint32_t i = 1; !self && i < joined; i++) {
		int theirs = 0;

		if (waitpid(pids[i], &theirs, 0) < 0 || !WIFEXITED(theirs))
			theirs = STATUS_FAILED;
		else
			theirs = WEXITSTATUS(theirs);
		status = status ? status : theirs;
	}
	return status;
}

/* ---- synchronization ----------------------------------------------------- */

static bool is_below(const uint32_t *counter, uint32_t want)
{
	if (load(counter) >= want || load(&shared->failed))
		return false;
	look_after();
	return true;
}

/*
 * A barrier for all processes.  Returns 0, or STATUS_FAILED if one has failed.
 */
static int meet(void)
{
	uint32_t want = ++meetings * size;

	add(&shared->met);
	while (is_below(&shared->met, want))
		sched_yield();
	return load(&shared->met) < want ? STATUS_FAILED : 0;
}

/**
 * multi_ready() - Tell the other processes that this one can measure.
 *
 * Called once for each operation.
 */
void multi_ready(void)
{
	rounds++;
	if (shared)
		add(&shared->ready);
}

/**
 * multi_is_gathering() - Check if another process is not ready.
 *
 * Return: true if one is not ready, and no process has failed.
 */
bool multi_is_gathering(void)
{
	return shared && is_below(&shared->ready, rounds * size);
}

/**
 * multi_measured() - Tell the other processes that this one has measured.
 *
 * Called once for each operation.
 */
void multi_measured(void)
{
	if (shared)
		add(&shared->measured);
}

/**
 * multi_is_measuring() - Check if another process still measures.
 *
 * Return: true if one measures, and no process has failed.
 */
bool multi_is_measuring(void)
{
	return shared && is_below(&shared->measured, rounds * measuring);
}

/*
 * Replaces the result of the first process by that of all: the samples
 * together, and a total such that operations / total is the sum of the rates of
 * the processes.
 */
static int merge(const struct perf_options *o, struct perf_result *result)
{
	uint64_t n = o->iterations * size, *samples;
	double rate = 0;

	samples = malloc(n * sizeof(*samples));
	if (!samples)
		return complain("malloc");
	memcpy(samples, shared->samples, n * sizeof(*samples));
	free(result->samples);
	result->samples = samples;
	result->operations = n;
	result->posts = 0;
	for (uint32_t i = 0; i < size; i++) {
		const struct member *m = &shared->members[i];

		rate += (double)o->iterations / (double)(m->total ? m->total : 1);
		result->posts += m->posts;
	}
	result->total = (uint64_t)((double)n / rate);
	perf_summarize(result->samples, n, &result->stats);
	return 0;
}

/**
 * multi_gather() - Merge the results of all processes in the first one.
 * @o: options
 * @result: result of this process; in the first one, that of all afterwards
 *
 * Waits for all processes.
 *
 * Return: 0, or STATUS_FAILED if a process has failed.
 */
int multi_gather(const struct perf_options *o, struct perf_result *result)
{
	int status;

	if (!shared)
		return 0;
	shared->members[self] = (struct member){
		.total = result->total,
		.posts = result->posts,
		.writes = result->writes,
	};
	if (self < measuring)
		memcpy(shared->samples + self * o->iterations, result->samples,
		       o->iterations * sizeof(*result->samples));
	status = meet();
	if (!status && !self && measuring == size)
		status = merge(o, result);
	for (uint32_t i = measuring; !status && !self && i < size; i++)
		result->writes += shared->members[i].writes;
	/* No process may overwrite its result before the first has read it. */
	return status ? status : meet();
}
