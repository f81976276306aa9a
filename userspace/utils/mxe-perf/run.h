/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Measures one operation. */
#ifndef RUN_H
#define RUN_H

#include "options.h"

struct perf_address;
struct perf_endpoint;
struct perf_result;
struct session;

/**
 * perf_run() - Measure one operation as often as the options say.
 * @ep: requester, connected
 * @responder: the other endpoint if it is in this process, else NULL
 * @session: connection to the responder's process if @responder is NULL
 * @peer: address of the responder
 * @o: options
 * @op: operation
 * @result: result; the caller frees its samples
 *
 * Prints a message to stderr if it fails.
 *
 * Return: 0 or an exit status.
 */
int perf_run(struct perf_endpoint *ep, struct perf_endpoint *responder,
	     struct session *session, const struct perf_address *peer,
	     const struct perf_options *o, enum perf_op op,
	     struct perf_result *result);

#endif /* RUN_H */
