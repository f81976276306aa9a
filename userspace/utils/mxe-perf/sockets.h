/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The tests of the sockets of the kernel. */
#ifndef SOCKETS_H
#define SOCKETS_H

struct perf_options;
struct perf_result;

/**
 * perf_run_sockets() - Run the test udp or tcp.
 * @o: options
 * @result: result; the caller frees its samples
 *
 * Prints a message to stderr if it fails.
 *
 * Return: 0 or an exit status.
 */
int perf_run_sockets(const struct perf_options *o, struct perf_result *result);

#endif /* SOCKETS_H */
