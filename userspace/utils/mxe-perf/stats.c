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
