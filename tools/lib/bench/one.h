/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What bench-fabric and bench-ucx have in common: atomics one at a time, both ends
 * in this thread, printed as mxe-perf --json would.
 */
#ifndef BENCH_ONE_H
#define BENCH_ONE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bench {
	const char *test;
	const char *device;
	int tsc;
	size_t n;
	int num_results;
};

static uint64_t bench_now(const struct bench *b)
{
	struct timespec ts;

#if defined(__x86_64__)
	if (b->tsc)
		return __builtin_ia32_rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int bench_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Measures operations that count a word up from `first`, given what they find there
 * and returning what they found.  Returns what the next one finds.
 */
static uint64_t bench_run(struct bench *b, const char *op, uint64_t first,
			  uint64_t (*operation)(uint64_t expected))
{
	size_t warmup = b->n / 10 + 1, i;
	uint64_t *samples = calloc(b->n, sizeof(*samples));

	if (!samples)
		exit(2);
	/* Their pages are not to come during the measurement. */
	memset(samples, 0xff, b->n * sizeof(*samples));
	for (i = 0; i < warmup + b->n; i++) {
		uint64_t began = bench_now(b), old = operation(first + i);

		if (i >= warmup)
			samples[i - warmup] = bench_now(b) - began;
		if (old == first + i)
			continue;
		fprintf(stderr, "bench-%s: %s: the old value is %llu, not %llu\n",
			b->test, op, (unsigned long long)old,
			(unsigned long long)(first + i));
		exit(1);
	}
	qsort(samples, b->n, sizeof(*samples), bench_by_value);
	if (!b->num_results++)
		printf("{ \"schema\": 1, \"test\": \"%s\", \"device\": \"%s\", \"unit\": \"%s\", \"size\": 8,\n"
		       "  \"results\": [", b->test, b->device, b->tsc ? "ticks" : "ns");
	printf("%s\n    { \"op\": \"%s\", \"median\": %llu, \"p99\": %llu }",
	       b->num_results > 1 ? "," : "", op,
	       (unsigned long long)samples[b->n / 2],
	       (unsigned long long)samples[b->n * 99 / 100]);
	free(samples);
	return first + warmup + b->n;
}

static void bench_end(void)
{
	puts(" ] }");
}

#endif /* BENCH_ONE_H */
