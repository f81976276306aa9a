/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mxe-caps --selftest executes every atomic operation that a device offers on
 * memory of this process, over a loop-back connection of that device, and
 * compares the results with include/masked_atomic.h.
 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdbool.h>

struct caps_device;
struct st_options;
struct st_report;

bool st_run(const struct caps_device *dev, const struct st_options *options,
	    struct st_report *report, char *error);
void st_free(struct st_report *report);

#endif /* SELFTEST_H */
