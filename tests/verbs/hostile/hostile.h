/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Helpers of the t_hostile_* tests: processes that attack and are killed, raw
 * access to the rings of libmxe, and meters for what an attack costs others.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <rdma/mxe-abi.h>
#include "vt.h"

enum {
	HOSTILE_BURST = 4096,	/* requests per doorbell: locking.rst */
	HOSTILE_CPUS = 2,	/* CPUs that the tests use: 0 and 1 */
	HOSTILE_QUEUES = 4,
	HOSTILE_TRIES = 3,
};

#define HOSTILE_MS	1000000ULL
#define HOSTILE_SEC	1000000000ULL

/* True with MXE_HOSTILE_FULL=1: more rounds, and all of the objects. */
bool hostile_full(void);
void hostile_sleep_ms(unsigned int ms);
/*
 * A limit in nanoseconds: that many milliseconds on the stock kernel, and
 * $MXE_FACTOR times as long where a test may take so much longer.
 */
uint64_t hostile_limit(unsigned int ms);
/*
 * False with $MXE_FACTOR: the kernel has checkers, with which some things take hundreds
 * of times as long.  Tests of the time of those only show it.
 */
bool hostile_judges_time(void);
/*
 * The first call of a test. Skips the whole program on a machine with fewer than
 * HOSTILE_CPUS CPUs. Returns hostile_shared(size).
 */
void *hostile_begin(size_t size);
/* Zeroed memory that is shared with children. */
void *hostile_shared(size_t size);
/*
 * What measure(arg) returns, the smallest of up to HOSTILE_TRIES measurements: a busy
 * machine disturbs one, so it is repeated while it is above the limit. All are in
 * nanoseconds.
 */
uint64_t hostile_least(uint64_t (*measure)(const void *arg), const void *arg,
		       uint64_t limit);
/* Waits until *flag is not 0; ends the program after VT_MS, with $MXE_FACTOR later. */
void hostile_wait(atomic_int *flag, const char *what);

/* ---- CPUs and processes -------------------------------------------------- */

void hostile_pin(int cpu);
/* The calling thread gets SCHED_FIFO with that priority; 0: SCHED_OTHER. */
void hostile_fifo(int priority);
/*
 * Lifts the share of a CPU that real-time tasks may use, or restores it. While
 * it is lifted, a SCHED_FIFO task that spins keeps every kworker off its CPU.
 */
void hostile_rt_unlimited(bool on);
/* A child that runs fn(arg), exits with 0, and dies with this process. */
pid_t hostile_fork(void (*fn)(void *arg), void *arg);
/*
 * Kills the child with SIGKILL. Returns the nanoseconds until waitpid() returned
 * it, or UINT64_MAX if it had already ended by itself.
 */
uint64_t hostile_kill(pid_t pid);
/* Waits for a child that ends by itself; its status of waitpid(). */
int hostile_join(pid_t pid);

/* ---- rings --------------------------------------------------------------- */

struct hostile_queue {
	struct mxe_ring_hdr *hdr;
	uint32_t entries;	/* 0: a completion queue */
};

/* Queues of one process that are fed without the library. */
struct hostile_rings {
	struct hostile_queue queue[HOSTILE_QUEUES];	/* the send queue first */
	int num;
	int doorbell_fd;
	struct mxe_doorbell doorbell;
	atomic_int *stop;	/* ends hostile_feed() */
	uint64_t feed_ns;	/* hostile_feed() ends by itself after that time */
};

/*
 * Adds the ring, other than those added before, that holds an entry with this
 * wr_id. `entries`: of a work queue; 0: a completion queue.
 */
void hostile_add_ring(struct hostile_rings *r, uint64_t wr_id,
		      uint32_t entries);
/* Adds all rings of at least `size` bytes as completion queues. */
void hostile_add_big_rings(struct hostile_rings *r, size_t size);
uint32_t hostile_consumer(const struct hostile_queue *q);
/* Work queues look full, completion queues look empty. */
void hostile_feed_once(struct hostile_rings *r);
/* Does so again and again, until *r->stop, or r->feed_ns have passed. */
void hostile_feed(void *rings);
/* One write() of 8 bytes to the doorbell file. Returns what write() does. */
ssize_t hostile_ring(const struct hostile_rings *r);

/* ---- meters -------------------------------------------------------------- */

/* One process at nice 0 on each CPU that computes, and says how much it could. */
struct hostile_spinners {
	struct hostile_spin {
		atomic_int begin, end, done;
		double share;
	} *shared;
	pid_t pid[HOSTILE_CPUS];
	double share[HOSTILE_CPUS];	/* of its CPU, 0 to 1 */
};

void hostile_spin_start(struct hostile_spinners *s);
/* Fills s->share. */
void hostile_spin_stop(struct hostile_spinners *s);

/*
 * A SCHED_FIFO process on one CPU that sleeps until the next millisecond, again
 * and again. It is late when the CPU runs something that cannot be preempted.
 */
struct hostile_lateness {
	struct hostile_late {
		atomic_int begin, end;
		uint32_t samples;
		/* The longest delays, longest first, in nanoseconds. */
		uint64_t top[8];
	} *shared;
	pid_t pid;
};

/* What an attacker and the test that measures it tell each other, in shared memory. */
struct hostile_steps {
	atomic_int ready, go, done;
};

/*
 * Starts an attacker that runs fn(NULL), and measures the lateness on that CPU between
 * its steps `go` and `done`. Returns the attacker, which need not have ended.
 */
pid_t hostile_late_of(struct hostile_lateness *l, int cpu, struct hostile_steps *steps,
		      void (*fn)(void *arg));
void hostile_late_start(struct hostile_lateness *l, int cpu);
void hostile_late_stop(struct hostile_lateness *l);
/*
 * The third-longest delay in nanoseconds, or an eighth of the longest if that is
 * more. An emulated CPU itself stands still now and then, but not for long, and
 * what a test repeats delays the meter each time.
 */
uint64_t hostile_late_ns(const struct hostile_lateness *l);
/*
 * The same while processes at nice 0 spin on all CPUs: what the emulation adds to
 * a CPU that is busy, but can be preempted at any time.
 */
uint64_t hostile_base_late_ns(int cpu);

#endif /* HOSTILE_H */
