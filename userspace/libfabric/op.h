/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Operations that the program has started. */
#ifndef MXEFI_OP_H
#define MXEFI_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <rdma/fi_atomic.h>

#include "atomic_plan.h"
#include "sizes.h"

struct ibv_mr;
struct iovec;
struct mxefi_cntr;
struct mxefi_ep;
struct mxefi_handle;
struct mxefi_peer;
struct mxefi_tx;
struct mxefi_wr;

/* How an operation reports its end, if not as its endpoint does. */
struct mxefi_report {
	bool to_cq;			/* if it succeeds */
	bool to_cntr;			/* of the report, not of the endpoint */
	struct mxefi_cntr *cntr;	/* or NULL */
};

/* For operations that report only errors. */
extern const struct mxefi_report mxefi_report_errors;

struct mxefi_op {
	struct mxefi_op *next;
	struct mxefi_ep *ep;
	struct mxefi_tx *tx;
	struct mxefi_peer *peer;
	bool used;
	bool wants_fin;
	bool completion;		/* report success to the CQ */
	bool fence;			/* waits for all earlier ones to the peer */
	bool begun;			/* a request was posted */
	uint32_t generation;
	unsigned int refs;		/* requests and FINs that are outstanding */
	int err;
	uint64_t flags;			/* of the completion */
	void *context;
	struct mxefi_cntr *cntr;
	/* Of a rendezvous: the data, and a copy if they were in pieces. */
	struct ibv_mr *mr;
	uint8_t *copy;
	/* Atomics. */
	enum fi_op atomic;
	enum fi_datatype datatype;
	struct fi_ioc results[MXEFI_IOV_LIMIT];
	size_t num_results;
	struct mxefi_unit *units;	/* NULL, one_unit, or allocated */
	struct mxefi_unit one_unit;
};

/**
 * mxefi_op_setup() - Allocate the operations of an endpoint.
 * @ep: endpoint
 *
 * Return: 0, or -FI_ENOMEM.
 */
int mxefi_op_setup(struct mxefi_ep *ep);

/**
 * mxefi_op_teardown() - Free the operations of an endpoint.
 * @ep: endpoint
 */
void mxefi_op_teardown(struct mxefi_ep *ep);

/**
 * mxefi_op_alloc() - Take an operation, without references.
 * @by: endpoint or context with the call
 * @peer: peer
 * @context: context of the program
 * @op_flags: flags of the call
 * @completion_flags: flags of the completion
 * @report: how it reports its end, or NULL
 *
 * Return: the operation, or NULL if as many as the endpoint may have are in
 * flight.
 */
struct mxefi_op *mxefi_op_alloc(const struct mxefi_handle *by,
				struct mxefi_peer *peer, void *context, uint64_t op_flags,
				uint64_t completion_flags,
				const struct mxefi_report *report);

/**
 * mxefi_op_put() - Drop a reference. The last one reports the completion.
 * @op: operation
 * @err: errno of libfabric, or 0
 */
void mxefi_op_put(struct mxefi_op *op, int err);

/**
 * mxefi_op_free() - Free an operation without reporting a completion.
 * @op: operation
 */
void mxefi_op_free(struct mxefi_op *op);

/**
 * mxefi_op_wr_complete() - Complete a request that is a part of an operation.
 * @wr: request
 * @err: errno of libfabric, or 0
 *
 * Return: true: the request is not posted again.
 */
bool mxefi_op_wr_complete(struct mxefi_wr *wr, int err);

/**
 * mxefi_op_store() - Copy fetched elements to the result vector.
 * @op: atomic
 * @first: number of the first element
 * @elements: elements
 * @count: number of elements
 */
void mxefi_op_store(const struct mxefi_op *op, size_t first,
		    const uint8_t *elements, size_t count);

/**
 * mxefi_op_num_results() - Count the elements that an operation fetches.
 * @op: operation
 *
 * Return: the number of elements, 0 for an operation that fetches none.
 */
size_t mxefi_op_num_results(const struct mxefi_op *op);

/**
 * mxefi_op_cookie() - Name an operation, for a peer to return.
 * @op: operation
 *
 * Return: its index and generation.
 */
uint64_t mxefi_op_cookie(struct mxefi_op *op);

/**
 * mxefi_op_find() - Find the operation that a peer means.
 * @ep: endpoint
 * @cookie: cookie that a peer has sent
 *
 * Return: the operation, or NULL if it has ended.
 */
struct mxefi_op *mxefi_op_find(struct mxefi_ep *ep, uint64_t cookie);

/**
 * mxefi_call_end() - End a call that starts an operation. Releases the lock.
 * @ep: endpoint
 * @ret: what the call returns; -FI_EAGAIN makes progress
 *
 * Does what counters have triggered meanwhile.
 *
 * Return: @ret, or -FI_ENOMEM instead of -FI_EAGAIN if no operation is in
 * flight whose end would make the call succeed.
 */
ssize_t mxefi_call_end(struct mxefi_ep *ep, ssize_t ret);

/**
 * mxefi_iov_len() - Add up the length of a vector.
 * @iov: vector
 * @count: number of its elements
 *
 * Return: the length in bytes, or SIZE_MAX if it exceeds MXEFI_MAX_MSG_SIZE.
 */
size_t mxefi_iov_len(const struct iovec *iov, size_t count);

#endif /* MXEFI_OP_H */
