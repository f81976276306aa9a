/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The loop-back connections of the self-test. */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "case.h"

struct st_completion;
struct st_options;

/* The device and this process's memory. */
struct st_loop {
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint8_t *memory;	/* ST_AREA bytes, remotely accessible */
	uint8_t *result;	/* ST_AREA bytes */
	struct ibv_mr *memory_mr;
	struct ibv_mr *result_mr;

	unsigned int port;
	struct ibv_port_attr port_attr;
	bool has_gid;
	uint32_t gid_index;
	union ibv_gid gid;
	char gid_type[16];
};

/* Two queue pairs; qp[0] is the requester.  Members are NULL until created. */
struct st_pair {
	const struct st_loop *loop;
	enum st_backend backend;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
};

/**
 * st_loop_open() - Find the port and the GID, and register the memory.
 * @loop: result; to be closed in any case
 * @context: the device, which stays the caller's
 * @options: port and GID index
 * @ports: number of the last port of the device
 * @error: ST_TEXT bytes; names the problem and, where there is one, the remedy
 *
 * Return: true if connections can be made.
 */
bool st_loop_open(struct st_loop *loop, struct ibv_context *context,
		  const struct st_options *options, unsigned int ports,
		  char *error);

/**
 * st_loop_close() - Undo st_loop_open().
 * @loop: without open pairs
 */
void st_loop_close(struct st_loop *loop);

/**
 * st_pair_open() - Create two queue pairs and connect them to each other.
 * @pair: result; to be closed in any case
 * @loop: the device
 * @c: the case: backend, largest operand and kind of queue pair
 * @m: describes the call that failed; written on failure only
 *
 * Return: true if requests can be posted.
 */
bool st_pair_open(struct st_pair *pair, const struct st_loop *loop,
		  const struct st_case *c, struct st_mismatch *m);

/**
 * st_pair_close() - Destroy the queue pairs.
 * @pair: connected or not
 *
 * Ends all access to the memory.
 */
void st_pair_close(struct st_pair *pair);

/**
 * st_pair_wait() - Wait for one completion.
 * @pair: connected
 * @ms: time limit in milliseconds
 * @wc: the completion
 *
 * Return: 0, ETIMEDOUT, or EIO if polling itself fails.
 */
int st_pair_wait(struct st_pair *pair, unsigned int ms,
		 struct st_completion *wc);

/**
 * st_now_ms() - Get the monotonic time.
 *
 * Return: milliseconds.
 */
uint64_t st_now_ms(void);

#endif /* LOOP_H */
