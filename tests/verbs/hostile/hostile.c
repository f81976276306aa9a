// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Holds the helpers of the t_hostile_* tests; see hostile.h. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "hostile.h"

enum {
	LATE_PRIORITY = 60,
	LATE_RANK = 2,
	LATE_ALONE = 8,
	BASE_MS = 800,
	BASE_FULL_MS = 8000,
};

bool hostile_full(void)
{
	const char *full = getenv("MXE_HOSTILE_FULL");

	return full && *full && strcmp(full, "0");
}

void hostile_sleep_ms(unsigned int ms)
{
	poll(NULL, 0, (int)ms);
}

static unsigned int time_factor(void)
{
	const char *factor = getenv("MXE_FACTOR");
	int times = factor ? atoi(factor) : 1;

	return times > 1 ? (unsigned int)times : 1;
}

uint64_t hostile_limit(unsigned int ms)
{
	return ms * HOSTILE_MS * time_factor();
}

bool hostile_judges_time(void)
{
	return time_factor() == 1;
}

void *hostile_begin(size_t size)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) >= HOSTILE_CPUS)
		return hostile_shared(size);
	printf("1..0 # SKIP needs %d CPUs\n", HOSTILE_CPUS);
	exit(77);
}

void *hostile_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		vt_bail("mmap of %zu shared bytes", size);
	return p;
}

uint64_t hostile_least(uint64_t (*measure)(const void *arg), const void *arg,
		       uint64_t limit)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < HOSTILE_TRIES && least > limit; i++) {
		uint64_t ns = measure(arg);

		if (ns < least)
			least = ns;
	}
	return least;
}

void hostile_wait(atomic_int *flag, const char *what)
{
	unsigned int ms = VT_MS * time_factor();
	uint64_t end = vt_now_ms() + ms;

	while (!*flag) {
		if (vt_now_ms() > end)
			vt_bail("no %s within %u ms", what, ms);
		hostile_sleep_ms(1);
	}
}

/* ---- CPUs and processes -------------------------------------------------- */

void hostile_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		vt_bail("CPU %d", cpu);
}

void hostile_fifo(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &param))
		vt_bail("scheduling priority %d", priority);
}

void hostile_rt_unlimited(bool on)
{
	static const char path[] = "/proc/sys/kernel/sched_rt_runtime_us";
	static int usual;
	FILE *f = fopen(path, on ? "r+" : "w");

	if (!f || (on && fscanf(f, "%d", &usual) != 1))
		vt_bail("%s", path);
	rewind(f);
	if (fprintf(f, "%d\n", on ? -1 : usual) < 0 || fclose(f))
		vt_bail("%s", path);
}

pid_t hostile_fork(void (*fn)(void *arg), void *arg)
{
	pid_t parent = getpid(), pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		vt_bail("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	fn(arg);
	fflush(stdout);
	_exit(EXIT_SUCCESS);
}

uint64_t hostile_kill(pid_t pid)
{
	uint64_t start;
	int status;

	if (waitpid(pid, &status, WNOHANG))
		return UINT64_MAX;
	start = vt_now_ns();
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		vt_bail("waitpid");
	if (!WIFSIGNALED(status))
		return UINT64_MAX;
	return vt_now_ns() - start;
}

int hostile_join(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		vt_bail("waitpid");
	return status;
}

/* ---- rings --------------------------------------------------------------- */

static bool is_added(const struct hostile_rings *r, const void *addr)
{
	for (int i = 0; i < r->num; i++)
		if (r->queue[i].hdr == addr)
			return true;
	return false;
}

static void add(struct hostile_rings *r, void *hdr, uint32_t entries)
{
	if (r->num == HOSTILE_QUEUES)
		vt_bail("more than %d rings", HOSTILE_QUEUES);
	r->queue[r->num++] = (struct hostile_queue){ hdr, entries };
}

/*
 * Returns the header of the ring whose first entry has this wr_id, or NULL.
 * The entries of all rings start with their wr_id, at a multiple of 8 bytes.
 */
static void *ring_with(const struct vt_mapping *map, uint64_t wr_id)
{
	const size_t hdr = sizeof(struct mxe_ring_hdr);

	for (size_t at = hdr; at < map->size; at += sizeof(wr_id))
		if (*(uint64_t *)(void *)(map->addr + at) == wr_id)
			return map->addr + at - hdr;
	return NULL;
}

void hostile_add_ring(struct hostile_rings *r, uint64_t wr_id,
		      uint32_t entries)
{
	struct vt_mapping maps[64];
	int n = vt_find_rings(maps, 64);

	for (int i = 0; i < n; i++) {
		void *hdr = ring_with(&maps[i], wr_id);

		if (!hdr || is_added(r, hdr))
			continue;
		add(r, hdr, entries);
		return;
	}
	vt_bail("no ring begins with an entry %#llx", (unsigned long long)wr_id);
}

void hostile_add_big_rings(struct hostile_rings *r, size_t size)
{
	struct vt_mapping maps[64];
	int n = vt_find_rings(maps, 64);

	for (int i = 0; i < n; i++)
		if (maps[i].size >= size)
			add(r, maps[i].addr, 0);
}

uint32_t hostile_consumer(const struct hostile_queue *q)
{
	return __atomic_load_n(&q->hdr->consumer, __ATOMIC_ACQUIRE);
}

void hostile_feed_once(struct hostile_rings *r)
{
	for (int i = 0; i < r->num; i++) {
		struct hostile_queue *q = &r->queue[i];

		if (q->entries)
			__atomic_store_n(&q->hdr->producer,
					 hostile_consumer(q) + q->entries,
					 __ATOMIC_RELEASE);
		else
			__atomic_store_n(&q->hdr->consumer,
					 __atomic_load_n(&q->hdr->producer,
							 __ATOMIC_ACQUIRE),
					 __ATOMIC_RELEASE);
	}
}

void hostile_feed(void *rings)
{
	struct hostile_rings *r = rings;
	uint64_t end = vt_now_ns() + r->feed_ns;

	while (!*r->stop && vt_now_ns() < end)
		for (int i = 0; i < 64; i++)
			hostile_feed_once(r);
}

ssize_t hostile_ring(const struct hostile_rings *r)
{
	return write(r->doorbell_fd, &r->doorbell, sizeof(r->doorbell));
}

/* ---- spinners ------------------------------------------------------------ */

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void spin(struct hostile_spin *s)
{
	double cpu, wall;

	s->begin = 1;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	wall = seconds(CLOCK_MONOTONIC);
	while (!atomic_load_explicit(&s->end, memory_order_relaxed))
		;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	s->share = cpu / wall;
	s->done = 1;
}

static void spin_on_0(void *shared)
{
	hostile_pin(0);
	spin(shared);
}

static void spin_on_1(void *shared)
{
	hostile_pin(1);
	spin(shared);
}

void hostile_spin_start(struct hostile_spinners *s)
{
	static void (*const fn[HOSTILE_CPUS])(void *) = {
		spin_on_0, spin_on_1,
	};

	s->shared = hostile_shared(HOSTILE_CPUS * sizeof(*s->shared));
	for (int i = 0; i < HOSTILE_CPUS; i++)
		s->pid[i] = hostile_fork(fn[i], &s->shared[i]);
	for (int i = 0; i < HOSTILE_CPUS; i++)
		hostile_wait(&s->shared[i].begin, "process that spins");
}

void hostile_spin_stop(struct hostile_spinners *s)
{
	for (int i = 0; i < HOSTILE_CPUS; i++)
		s->shared[i].end = 1;
	for (int i = 0; i < HOSTILE_CPUS; i++) {
		hostile_wait(&s->shared[i].done, "end of a process that spins");
		hostile_join(s->pid[i]);
		s->share[i] = s->shared[i].share;
	}
	munmap(s->shared, HOSTILE_CPUS * sizeof(*s->shared));
}

/* ---- lateness ------------------------------------------------------------ */

static void keep_longest(struct hostile_late *s, uint64_t late)
{
	size_t n = sizeof(s->top) / sizeof(s->top[0]);

	for (size_t i = 0; i < n; i++) {
		uint64_t other = s->top[i];

		if (late <= other)
			continue;
		s->top[i] = late;
		late = other;
	}
	s->samples++;
}

static void be_late(struct hostile_late *s)
{
	uint64_t next;

	hostile_fifo(LATE_PRIORITY);
	s->begin = 1;
	next = vt_now_ns();
	while (!s->end) {
		struct timespec ts;
		uint64_t now;

		next += HOSTILE_MS;
		ts.tv_sec = (time_t)(next / HOSTILE_SEC);
		ts.tv_nsec = (long)(next % HOSTILE_SEC);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		now = vt_now_ns();
		keep_longest(s, now - next);
		/*
		 * Count a stall as one delay, not as one for each millisecond.
		 */
		if (now - next > HOSTILE_MS)
			next = now;
	}
}

static void be_late_on_0(void *shared)
{
	hostile_pin(0);
	be_late(shared);
}

static void be_late_on_1(void *shared)
{
	hostile_pin(1);
	be_late(shared);
}

void hostile_late_start(struct hostile_lateness *l, int cpu)
{
	l->shared = hostile_shared(sizeof(*l->shared));
	l->pid = hostile_fork(cpu ? be_late_on_1 : be_late_on_0, l->shared);
	hostile_wait(&l->shared->begin, "meter of delays");
}

void hostile_late_stop(struct hostile_lateness *l)
{
	l->shared->end = 1;
	hostile_join(l->pid);
}

pid_t hostile_late_of(struct hostile_lateness *l, int cpu, struct hostile_steps *steps,
		      void (*fn)(void *arg))
{
	pid_t pid = hostile_fork(fn, NULL);

	hostile_wait(&steps->ready, "attacker that is ready");
	hostile_late_start(l, cpu);
	steps->go = 1;
	hostile_wait(&steps->done, "end of the attack");
	hostile_late_stop(l);
	return pid;
}

uint64_t hostile_late_ns(const struct hostile_lateness *l)
{
	const uint64_t *top = l->shared->top;

	return top[LATE_RANK] > top[0] / LATE_ALONE ? top[LATE_RANK] :
						      top[0] / LATE_ALONE;
}

uint64_t hostile_base_late_ns(int cpu)
{
	struct hostile_spinners s;
	struct hostile_lateness l;
	uint64_t late;

	hostile_spin_start(&s);
	hostile_late_start(&l, cpu);
	/*
	 * The longer a test runs, the more often the emulation stops for a
	 * moment.
	 */
	hostile_sleep_ms(hostile_full() ? BASE_FULL_MS : BASE_MS);
	hostile_late_stop(&l);
	hostile_spin_stop(&s);
	late = hostile_late_ns(&l);
	munmap(l.shared, sizeof(*l.shared));
	printf("# a timer on a CPU that spins is late by %.1f ms\n",
	       (double)late / HOSTILE_MS);
	fflush(stdout);
	return late;
}
