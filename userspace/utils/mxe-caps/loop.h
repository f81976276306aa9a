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

bool st_loop_open(struct st_loop *loop, struct ibv_context *context,
		  const struct st_options *options, unsigned int ports,
		  char *error);
void st_loop_close(struct st_loop *loop);
bool st_pair_open(struct st_pair *pair, const struct st_loop *loop,
		  const struct st_case *c, struct st_mismatch *m);
void st_pair_close(struct st_pair *pair);
int st_pair_wait(struct st_pair *pair, unsigned int ms,
		 struct st_completion *wc);
uint64_t st_now_ms(void);

#endif /* LOOP_H */
