/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An endpoint is a device with queue pairs, which are connected one to one to
 * those of the other endpoint.  The requester measures.  The responder provides
 * memory and receives messages.  Both are in this process, or the responder is
 * in another process that is reached by TCP (session.c).
 */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/mxedv.h>
#include <infiniband/verbs.h>

#include "options.h"

struct perf_device {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	bool masked_cas;	/* native masked operations */
	bool masked_fadd;
	bool atomics;
	int gid_index;
	union ibv_gid gid;
	uint32_t mtu;		/* bytes */
	uint8_t rd_atomic;
};

/* The data of an endpoint that the other one needs. */
struct perf_address {
	union ibv_gid gid;
	uint32_t mtu;		/* bytes */
	uint32_t rd_atomic;
	uint32_t rkey;
	uint64_t addr;
	uint32_t qpn[PERF_MAX_QPS];
};

struct perf_endpoint {
	struct perf_device dev;
	struct ibv_cq *cq;	/* of sends, of all queue pairs */
	struct ibv_cq *rcq;
	/* Only with num_tags.  rcqx is rcq. */
	struct ibv_cq_ex *rcqx;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t len;
	uint32_t stride;	/* bytes of a slot in buf */
	uint32_t num_qps;
	uint32_t depth;
	uint32_t size;		/* bytes of a message */
	struct ibv_qp *qp[PERF_MAX_QPS];
	struct ibv_qp_ex *qpx[PERF_MAX_QPS];	/* NULL: no builders */
	struct mxedv_qp_ex *mqp[PERF_MAX_QPS];
	uint64_t received[PERF_MAX_QPS];
	uint64_t wrong;		/* received messages with wrong contents */
	bool two_sided;		/* receives are posted */
	uint32_t num_tags;	/* 0: there is no SRQ */
	bool matches;		/* the SRQ matches tags */
};

/*
 * Functions that return an exit status print a message to stderr if they fail.
 */

int perf_endpoint_open(struct perf_endpoint *ep, const char *device, int gid,
		       const struct perf_options *o);
int perf_endpoint_connect(struct perf_endpoint *ep,
			  const struct perf_address *peer,
			  const struct perf_options *o);
void perf_endpoint_close(struct perf_endpoint *ep);
void perf_endpoint_address(const struct perf_endpoint *ep,
			   struct perf_address *address);
int perf_endpoint_receive(struct perf_endpoint *ep);
void perf_endpoint_fill(struct perf_endpoint *ep);

/* The byte that READ expects at an offset from the start of the slot. */
static inline uint8_t perf_pattern(uint64_t offset)
{
	return (uint8_t)(offset * 167 + (offset >> 8) * 13 + 5);
}

#endif /* ENDPOINT_H */
