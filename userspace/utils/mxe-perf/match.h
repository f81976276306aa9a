/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Matches messages to tags in this program. */
#ifndef MATCH_H
#define MATCH_H

#include <stdbool.h>
#include <stdint.h>

#define PERF_MATCH_BUCKETS 1024

struct perf_tag {
	struct perf_tag *next;
	uint64_t tag;
	uint64_t mask;
};

/* Posted tags in the order of posting: in one list, or in one for each hash. */
struct perf_match {
	uint32_t num_buckets;
	struct {
		struct perf_tag *first;
		struct perf_tag **end;
	} buckets[PERF_MATCH_BUCKETS];
};

void perf_match_init(struct perf_match *m, bool hash);
void perf_match_add(struct perf_match *m, struct perf_tag *tag);
struct perf_tag *perf_match_take(struct perf_match *m, uint64_t value);

#endif /* MATCH_H */
