/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures and prints for the programs that execute operations one at a time.
 * The output has the form of mxe-perf --json.
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

/**
 * bench_now() - Read the clock that the run uses.
 * @b: the run
 *
 * Return: ticks of the time stamp counter, or nanoseconds.
 */
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

/**
 * bench_by_value() - Compare two samples for qsort().
 * @a: sample
 * @b: sample
 *
 * Return: a negative number, 0 or a positive number.
 */
static int bench_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/**
 * bench_run() - Measure operations that increment a word, and print the result.
 * @b: the run
 * @op: name of the operation
 * @first: value of the word before the first operation
 * @operation: gets the expected value of the word and returns the old value
 *
 * Exits if an old value is wrong.
 *
 * Return: the final value of the word.
 */
static uint64_t bench_run(struct bench *b, const char *op, uint64_t first,
			  uint64_t (*operation)(uint64_t expected))
{
	size_t warmup = b->n / 10 + 1, i;
	uint64_t *samples = calloc(b->n, sizeof(*samples));

	if (!samples)
		exit(2);
	/* Avoids page faults during the measurement. */
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

/**
 * bench_end() - Print the end of the output.
 */
static void bench_end(void)
{
	puts(" ] }");
}

#endif /* BENCH_ONE_H */
