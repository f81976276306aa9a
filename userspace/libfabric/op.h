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

int mxefi_op_setup(struct mxefi_ep *ep);
void mxefi_op_teardown(struct mxefi_ep *ep);
struct mxefi_op *mxefi_op_alloc(const struct mxefi_handle *by,
				struct mxefi_peer *peer, void *context, uint64_t op_flags,
				uint64_t completion_flags,
				const struct mxefi_report *report);
void mxefi_op_put(struct mxefi_op *op, int err);
void mxefi_op_free(struct mxefi_op *op);
bool mxefi_op_wr_complete(struct mxefi_wr *wr, int err);
void mxefi_op_store(const struct mxefi_op *op, size_t first,
		    const uint8_t *elements, size_t count);
size_t mxefi_op_num_results(const struct mxefi_op *op);
uint64_t mxefi_op_cookie(struct mxefi_op *op);
struct mxefi_op *mxefi_op_find(struct mxefi_ep *ep, uint64_t cookie);
ssize_t mxefi_call_end(struct mxefi_ep *ep, ssize_t ret);
size_t mxefi_iov_len(const struct iovec *iov, size_t count);

#endif /* MXEFI_OP_H */
