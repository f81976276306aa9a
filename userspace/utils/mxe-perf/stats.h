/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Percentiles and histograms of samples. */
#ifndef STATS_H
#define STATS_H

#include <stdint.h>

struct perf_stats {
	uint64_t n;
	uint64_t min;
	uint64_t median;
	uint64_t p90;
	uint64_t p99;
	uint64_t p999;
	uint64_t max;
	double mean;
};

/**
 * perf_summarize() - Sort samples and compute their statistics.
 * @samples: any unit
 * @n: number of samples; without samples all statistics are 0
 * @stats: result, in the unit of the samples
 */
void perf_summarize(uint64_t *samples, uint64_t n, struct perf_stats *stats);

/**
 * perf_percentile() - Get a percentile by the nearest-rank method.
 * @sorted: samples in ascending order
 * @n: number of samples
 * @permille: 1 to 1000
 *
 * Return: one of the samples, or 0 if there are none.
 */
uint64_t perf_percentile(const uint64_t *sorted, uint64_t n,
			 unsigned int permille);

#define PERF_BUCKETS 16

struct perf_bucket {
	uint64_t from;
	uint64_t to;		/* inclusive */
	uint64_t count;
};

/**
 * perf_histogram() - Count samples in buckets.
 * @sorted: samples in ascending order
 * @n: number of samples
 * @buckets: result: buckets of equal width up to the 99th percentile, and one
 *	for the samples above it
 *
 * Return: the number of buckets that are used.
 */
unsigned int perf_histogram(const uint64_t *sorted, uint64_t n,
			    struct perf_bucket buckets[PERF_BUCKETS]);

#endif /* STATS_H */
