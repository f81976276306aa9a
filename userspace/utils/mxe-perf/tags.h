/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The test of messages that are matched to tags. */
#ifndef TAGS_H
#define TAGS_H

#include <stdint.h>

#include "options.h"

struct perf_result;

/* Tags that the test posts, at most. */
#define PERF_MAX_TAGS 1000

int perf_run_tags(const struct perf_options *o, uint32_t tags,
		  enum perf_how how, struct perf_result *result);

#endif /* TAGS_H */
