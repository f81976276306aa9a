/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Helpers of the t_hostile_* tests: processes that attack and are killed, raw
 * access to the rings of libmxe, and meters of the cost of an attack to others.
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
	HOSTILE_SLICE = 64,	/* requests per slice of late_timer */
	HOSTILE_CPUS = 2,	/* CPUs that the tests use: 0 and 1 */
	HOSTILE_QUEUES = 4,
	HOSTILE_TRIES = 3,
};

#define HOSTILE_MS	1000000ULL
#define HOSTILE_SEC	1000000000ULL

/**
 * hostile_full() - Check whether $MXE_HOSTILE_FULL is 1.
 *
 * Return: true if the test runs more rounds and uses all objects.
 */
bool hostile_full(void);

/**
 * hostile_sleep_ms() - Sleep.
 * @ms: duration in ms
 */
void hostile_sleep_ms(unsigned int ms);

/**
 * hostile_limit() - Return a time limit.
 * @ms: limit on the stock kernel in ms
 *
 * Return: the limit in ns, multiplied by $MXE_FACTOR.
 */
uint64_t hostile_limit(unsigned int ms);

/**
 * hostile_judges_time() - Check whether measured times decide about a test.
 *
 * Return: false if $MXE_FACTOR is above 1. The kernel then has checkers, which
 *	slow down some operations by a factor of hundreds, so tests only print
 *	the times.
 */
bool hostile_judges_time(void);

/**
 * hostile_begin() - Prepare a test program.
 * @size: size of the shared memory in bytes
 *
 * The first call of a test. Skips the whole program on a machine with fewer
 * than HOSTILE_CPUS CPUs.
 *
 * Return: the memory from hostile_shared().
 */
void *hostile_begin(size_t size);

/**
 * hostile_shared() - Allocate zeroed memory that is shared with children.
 * @size: size in bytes
 *
 * Return: the memory.
 */
void *hostile_shared(size_t size);

/**
 * hostile_least() - Repeat a measurement and return the smallest result.
 * @measure: returns one measurement in ns
 * @arg: argument of @measure
 * @limit: largest acceptable result in ns
 *
 * Measures up to HOSTILE_TRIES times while the result is above the limit,
 * because other load on the machine can disturb one measurement.
 *
 * Return: the smallest measurement in ns.
 */
uint64_t hostile_least(uint64_t (*measure)(const void *arg), const void *arg,
		       uint64_t limit);

/**
 * hostile_wait() - Wait until a flag is set.
 * @flag: flag in shared memory
 * @what: name of the event, for the message
 *
 * Ends the program after VT_MS, multiplied by $MXE_FACTOR.
 */
void hostile_wait(atomic_int *flag, const char *what);

/* ---- CPUs and processes -------------------------------------------------- */

/**
 * hostile_pin() - Pin the calling thread to a CPU.
 * @cpu: CPU
 */
void hostile_pin(int cpu);

/**
 * hostile_fifo() - Change the real-time priority of the calling thread.
 * @priority: SCHED_FIFO priority, or 0 for SCHED_OTHER
 */
void hostile_fifo(int priority);

/**
 * hostile_rt_unlimited() - Lift or restore the limit on the CPU time of
 *	real-time tasks.
 * @on: true to lift the limit, false to restore it
 *
 * While it is lifted, a SCHED_FIFO task that spins keeps every kworker off its
 * CPU.
 */
void hostile_rt_unlimited(bool on);

/**
 * hostile_fork() - Start a child, which is killed when this process ends.
 * @fn: function that the child runs before it exits with 0
 * @arg: argument of @fn
 *
 * Return: the PID.
 */
pid_t hostile_fork(void (*fn)(void *arg), void *arg);

/**
 * hostile_kill() - Kill a child with SIGKILL and wait for it.
 * @pid: child
 *
 * Return: the time until waitpid() returned in ns, or UINT64_MAX if the child
 *	had already exited.
 */
uint64_t hostile_kill(pid_t pid);

/**
 * hostile_join() - Wait for a child that exits by itself.
 * @pid: child
 *
 * Return: the status from waitpid().
 */
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

/**
 * hostile_add_ring() - Add the ring whose first entry has a wr_id.
 * @r: rings, whose present members are not searched again
 * @wr_id: wr_id in the entry, and in no ring before it in the same mapping
 * @entries: number of entries of a work queue, or 0 for a completion queue
 */
void hostile_add_ring(struct hostile_rings *r, uint64_t wr_id,
		      uint32_t entries);

/**
 * hostile_add_big_rings() - Add all rings of a minimum size as
 *	completion queues.
 * @r: rings
 * @size: smallest size in bytes
 */
void hostile_add_big_rings(struct hostile_rings *r, size_t size);

/**
 * hostile_consumer() - Read the consumer index of a queue.
 * @q: queue
 *
 * Return: the index.
 */
uint32_t hostile_consumer(const struct hostile_queue *q);

/**
 * hostile_feed_once() - Make work queues look full and completion queues look
 *	empty.
 * @r: rings
 */
void hostile_feed_once(struct hostile_rings *r);

/**
 * hostile_feed() - Repeat hostile_feed_once() until a stop condition.
 * @rings: struct hostile_rings, whose members stop and feed_ns end the loop
 */
void hostile_feed(void *rings);

/**
 * hostile_ring() - Write one doorbell to the doorbell file.
 * @r: rings with the doorbell
 *
 * Return: the result of write().
 */
ssize_t hostile_ring(const struct hostile_rings *r);

/* ---- meters -------------------------------------------------------------- */

/*
 * One process at nice 0 on each CPU, which computes and measures its CPU share.
 */
struct hostile_spinners {
	struct hostile_spin {
		atomic_int begin, end, done;
		double share;
	} *shared;
	pid_t pid[HOSTILE_CPUS];
	double share[HOSTILE_CPUS];	/* of its CPU, 0 to 1 */
};

/**
 * hostile_spin_start() - Start a process that spins on each CPU.
 * @s: spinners to fill in
 */
void hostile_spin_start(struct hostile_spinners *s);

/**
 * hostile_spin_stop() - End the spinners and set s->share.
 * @s: spinners
 */
void hostile_spin_stop(struct hostile_spinners *s);

/*
 * A SCHED_FIFO process on one CPU that sleeps until the next millisecond in a
 * loop. It wakes up late if the CPU runs something that cannot be preempted.
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

/* Flags in shared memory that synchronize an attacker and the test. */
struct hostile_steps {
	atomic_int ready, go, done;
};

/**
 * hostile_late_of() - Measure the lateness on a CPU while an attacker runs.
 * @l: meter to fill in
 * @cpu: CPU to measure
 * @steps: shared memory of the attacker
 * @fn: function of the attacker, called with NULL
 *
 * Measures between the steps go and done.
 *
 * Return: the PID of the attacker, which may still be running.
 */
pid_t hostile_late_of(struct hostile_lateness *l, int cpu, struct hostile_steps *steps,
		      void (*fn)(void *arg));

/**
 * hostile_late_start() - Start the meter of the lateness.
 * @l: meter to fill in
 * @cpu: CPU to measure, 0 or 1
 */
void hostile_late_start(struct hostile_lateness *l, int cpu);

/**
 * hostile_late_stop() - Stop the meter of the lateness.
 * @l: meter
 */
void hostile_late_stop(struct hostile_lateness *l);

/**
 * hostile_late_ns() - Return the lateness that a meter has measured.
 * @l: meter that was stopped
 *
 * The result is the third-longest delay, or an eighth of the longest if that is
 * more. An emulated CPU stops now and then, but not for long, while an
 * operation that a test repeats delays the meter each time.
 *
 * Return: the lateness in ns.
 */
uint64_t hostile_late_ns(const struct hostile_lateness *l);

/**
 * hostile_base_late_ns() - Measure the lateness while processes spin on all
 *	CPUs.
 * @cpu: CPU to measure
 *
 * The processes can be preempted at any time, so the result is the contribution
 * of the emulation.
 *
 * Return: the lateness in ns.
 */
uint64_t hostile_base_late_ns(int cpu);

#endif /* HOSTILE_H */
