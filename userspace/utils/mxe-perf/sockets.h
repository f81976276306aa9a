/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The tests of the sockets of the kernel. */
#ifndef SOCKETS_H
#define SOCKETS_H

struct perf_options;
struct perf_result;

int perf_run_sockets(const struct perf_options *o, struct perf_result *result);

#endif /* SOCKETS_H */
