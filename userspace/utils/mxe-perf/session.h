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

/**
 * session_connect() - Connect to the server and exchange addresses.
 * @o: options, with the host
 * @own: address of this endpoint
 * @peer: result: address of the server's endpoint
 *
 * Return: the session, or NULL.
 */
struct session *session_connect(const struct perf_options *o,
				const struct perf_address *own,
				struct perf_address *peer);

/**
 * session_begin() - Have the responder prepare for an operation.
 * @session: of session_connect()
 * @op: operation
 *
 * Return: 0 or STATUS_FAILED.
 */
int session_begin(struct session *session, enum perf_op op);

/**
 * session_end() - Have the responder finish an operation.
 * @session: of session_connect()
 * @messages: number of messages that were sent; the responder waits for them
 * @wrong: result: number of messages with wrong contents
 *
 * Return: 0 or STATUS_FAILED.
 */
int session_end(struct session *session, uint64_t messages, uint64_t *wrong);

/**
 * session_close() - Close the connection.
 * @session: of session_connect(), or NULL
 */
void session_close(struct session *session);

/**
 * session_serve() - Be the responder for one client.
 * @o: options of this side; the client's replace some of them
 *
 * Return: the exit status.
 */
int session_serve(const struct perf_options *o);

#endif /* SESSION_H */
