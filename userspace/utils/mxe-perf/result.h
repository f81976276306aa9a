/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The result of measuring one operation. */
#ifndef RESULT_H
#define RESULT_H

#include <stdint.h>

#include "options.h"
#include "stats.h"

struct perf_result {
	const char *op;
	enum perf_how how;
	uint32_t tags;		/* PERF_TAGS: number that is posted */
	double ratio;		/* PERF_TAGS: rate of the device / this rate */
	uint64_t operations;
	uint64_t posts;		/* work requests; emulation posts several */
	uint64_t writes;	/* PERF_BESIDE: WRITEs completed meanwhile */
	uint64_t total;		/* clock ticks for all operations */
	uint64_t *samples;	/* of each operation, sorted */
	struct perf_stats stats;
};

#endif /* RESULT_H */
