/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The clocks that measure. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#define PERF_HAS_TSC 1
static inline uint64_t perf_tsc(void)
{
	return __builtin_ia32_rdtsc();
}
#else
#define PERF_HAS_TSC 0
static inline uint64_t perf_tsc(void)
{
	return 0;
}
#endif

/* Nanoseconds of the monotonic clock. */
static inline uint64_t perf_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Ticks of the time stamp counter, or nanoseconds. */
static inline uint64_t perf_now(bool tsc)
{
	return tsc ? perf_tsc() : perf_ns();
}

#endif /* CLOCK_H */
