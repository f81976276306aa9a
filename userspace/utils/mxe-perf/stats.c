// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Computes percentiles and histograms of samples. */
#include <stdlib.h>
#include <string.h>

#include "stats.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/**
 * perf_percentile() - Get a percentile by the nearest-rank method.
 * @sorted: samples in ascending order
 * @n: number of samples
 * @permille: 1 to 1000
 *
 * Return: one of the samples, or 0 if there are none.
 */
uint64_t perf_percentile(const uint64_t *sorted, uint64_t n,
			 unsigned int permille)
{
	uint64_t rank;

	if (!n)
		return 0;
	/* Rounded up, without an overflow of n * permille. */
	rank = n / 1000 * permille + (n % 1000 * permille + 999) / 1000;
	return sorted[(rank ? rank : 1) - 1];
}

/**
 * perf_summarize() - Sort samples and compute their statistics.
 * @samples: any unit
 * @n: number of samples; without samples all statistics are 0
 * @stats: result, in the unit of the samples
 */
void perf_summarize(uint64_t *samples, uint64_t n, struct perf_stats *stats)
{
	double sum = 0;

	memset(stats, 0, sizeof(*stats));
	if (!n)
		return;
	qsort(samples, n, sizeof(*samples), by_value);
	for (uint64_t i = 0; i < n; i++)
		sum += (double)samples[i];
	stats->n = n;
	stats->min = samples[0];
	stats->median = perf_percentile(samples, n, 500);
	stats->p90 = perf_percentile(samples, n, 900);
	stats->p99 = perf_percentile(samples, n, 990);
	stats->p999 = perf_percentile(samples, n, 999);
	stats->max = samples[n - 1];
	stats->mean = sum / (double)n;
}

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
			    struct perf_bucket buckets[PERF_BUCKETS])
{
	uint64_t least, most, step, i = 0;
	unsigned int num = 0;

	if (!n)
		return 0;
	least = sorted[0];
	most = perf_percentile(sorted, n, 990);
	step = (most - least) / (PERF_BUCKETS - 1) + 1;
	for (uint64_t from = least; from <= most; from += step) {
		struct perf_bucket *b = &buckets[num++];

		b->from = from;
		b->to = from + step - 1;
		b->count = 0;
		for (; i < n && sorted[i] <= b->to; i++)
			b->count++;
		if (UINT64_MAX - from < step)
			break;
	}
	if (i < n) {
		buckets[num].from = buckets[num - 1].to + 1;
		buckets[num].to = sorted[n - 1];
		buckets[num].count = n - i;
		num++;
	}
	return num;
}
