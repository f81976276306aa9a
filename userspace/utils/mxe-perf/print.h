/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints results as a table or as JSON. */
#ifndef PRINT_H
#define PRINT_H

#include <stdbool.h>
#include <stdio.h>

struct perf_options;
struct perf_result;

/**
 * perf_print_head() - Print the head of the table, or the start of the JSON.
 * @o: options
 * @out: where to
 */
void perf_print_head(const struct perf_options *o, FILE *out);

/**
 * perf_print_result() - Print one line of the table, or one JSON object.
 * @o: options
 * @result: with sorted samples
 * @first: true for the first result of the run
 * @out: where to
 */
void perf_print_result(const struct perf_options *o,
		       const struct perf_result *result, bool first, FILE *out);

/**
 * perf_print_end() - Print the end of the JSON.
 * @o: options
 * @out: where to
 */
void perf_print_end(const struct perf_options *o, FILE *out);

#endif /* PRINT_H */
