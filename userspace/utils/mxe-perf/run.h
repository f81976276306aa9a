/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Measures one operation. */
#ifndef RUN_H
#define RUN_H

#include "options.h"

struct perf_address;
struct perf_endpoint;
struct perf_result;
struct session;

int perf_run(struct perf_endpoint *ep, struct perf_endpoint *responder,
	     struct session *session, const struct perf_address *peer,
	     const struct perf_options *o, enum perf_op op,
	     struct perf_result *result);

#endif /* RUN_H */
