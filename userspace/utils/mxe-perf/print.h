/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints results as a table or as JSON. */
#ifndef PRINT_H
#define PRINT_H

#include <stdbool.h>
#include <stdio.h>

struct perf_options;
struct perf_result;

void perf_print_head(const struct perf_options *o, FILE *out);
void perf_print_result(const struct perf_options *o,
		       const struct perf_result *r, bool first, FILE *out);
void perf_print_end(const struct perf_options *o, FILE *out);

#endif /* PRINT_H */
