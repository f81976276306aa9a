/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The TCP connection between the processes of requester and responder. */
#ifndef SESSION_H
#define SESSION_H

#include <stdint.h>

#include "options.h"

struct perf_address;
struct session;

/*
 * All of these print a message to stderr if they fail.  They block until the
 * other side answers.
 */

struct session *session_connect(const struct perf_options *o,
				const struct perf_address *own,
				struct perf_address *peer);
int session_begin(struct session *s, enum perf_op op);
int session_end(struct session *s, uint64_t messages, uint64_t *wrong);
void session_close(struct session *s);
int session_serve(const struct perf_options *o);

#endif /* SESSION_H */
