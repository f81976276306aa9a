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

void perf_summarize(uint64_t *samples, uint64_t n, struct perf_stats *stats);
uint64_t perf_percentile(const uint64_t *sorted, uint64_t n,
			 unsigned int permille);

#define PERF_BUCKETS 16

struct perf_bucket {
	uint64_t from;
	uint64_t to;		/* inclusive */
	uint64_t count;
};

unsigned int perf_histogram(const uint64_t *sorted, uint64_t n,
			    struct perf_bucket buckets[PERF_BUCKETS]);

#endif /* STATS_H */
