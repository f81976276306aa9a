/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Several processes that measure at once. */
#ifndef MULTI_H
#define MULTI_H

#include <stdbool.h>

struct perf_options;
struct perf_result;

int multi_start(const struct perf_options *o);
int multi_finish(int status);
bool multi_prints(void);
bool multi_measures(void);
void multi_ready(void);
bool multi_is_gathering(void);
void multi_measured(void);
bool multi_is_measuring(void);
int multi_gather(const struct perf_options *o, struct perf_result *result);

#endif /* MULTI_H */
