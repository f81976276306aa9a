// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Operations that the program has started at an endpoint. Those of messages,
 * RMA and atomics are made of requests (wr.c) and maybe of an answer of the
 * peer; when all of that has come, the operation writes its completion.
 */
#include <stdlib.h>
#include <string.h>

#include "atomic_op.h"
#include "cntr.h"
#include "cq.h"
#include "domain.h"
#include "ep.h"
#include "op.h"
#include "peer.h"
#include "progress.h"
#include "sizes.h"
#include "trigger.h"
#include "wr.h"

const struct mxefi_report mxefi_report_errors;

static void op_lost(struct mxefi_op *op, int err)
{
	mxefi_op_put(op, err);
}

/**
 * mxefi_op_setup() - Allocate the operations of an endpoint.
 * @ep: endpoint
 *
 * Return: 0, or -FI_ENOMEM.
 */
int mxefi_op_setup(struct mxefi_ep *ep)
{
	ep->ops = calloc(MXEFI_TX_SIZE, sizeof(*ep->ops));
	if (!ep->ops)
		return -FI_ENOMEM;
	for (int i = 0; i < MXEFI_TX_SIZE; i++) {
		ep->ops[i].ep = ep;
		ep->ops[i].next = ep->free_ops;
		ep->free_ops = &ep->ops[i];
	}
	ep->on_lost = op_lost;
	return 0;
}

/**
 * mxefi_op_teardown() - Free the operations of an endpoint.
 * @ep: endpoint
 *
 * After mxefi_queues_teardown(), so no request refers to an operation.
 */
void mxefi_op_teardown(struct mxefi_ep *ep)
{
	for (int i = 0; ep->ops && i < MXEFI_TX_SIZE; i++)
		if (ep->ops[i].used)
			mxefi_op_free(&ep->ops[i]);
	free(ep->ops);
}

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
				struct mxefi_peer *peer, void *context,
				uint64_t op_flags,
				uint64_t completion_flags,
				const struct mxefi_report *report)
{
	struct mxefi_ep *ep = by->ep;
	struct mxefi_op *op = ep->free_ops;

	if (!op)
		return NULL;
	ep->free_ops = op->next;
	op->used = true;
	op->tx = by->tx;
	op->peer = peer;
	op->refs = 0;
	op->err = 0;
	op->wants_fin = false;
	op->fence = op_flags & FI_FENCE;
	op->begun = false;
	op->completion = report ? report->to_cq :
				  !by->tx->selective || op_flags & FI_COMPLETION;
	op->flags = completion_flags;
	op->context = context;
	op->num_results = 0;
	op->units = NULL;
	op->cntr = report && report->to_cntr ? report->cntr :
		   mxefi_context_cntr(by, completion_flags);
	/* Its context may be closed before it ends. */
	if (op->cntr)
		op->cntr->users++;
	return op;
}

/**
 * mxefi_op_free() - Free an operation without reporting a completion.
 * @op: operation
 */
void mxefi_op_free(struct mxefi_op *op)
{
	if (op->mr)
		ibv_dereg_mr(op->mr);
	op->mr = NULL;
	free(op->copy);
	op->copy = NULL;
	if (op->units != &op->one_unit)
		free(op->units);
	op->units = NULL;
	if (op->cntr)
		op->cntr->users--;
	op->used = false;
	op->generation++;
	op->next = op->ep->free_ops;
	op->ep->free_ops = op;
}

/**
 * mxefi_op_put() - Drop a reference. The last one reports the completion.
 * @op: operation
 * @err: errno of libfabric, or 0
 */
void mxefi_op_put(struct mxefi_op *op, int err)
{
	struct mxefi_ep *ep = op->ep;
	struct mxefi_cq *cq = op->tx->cq;

	/* The first error says what happened, the others follow from it. */
	if (err && !op->err)
		op->err = err;
	if (--op->refs)
		return;
	if (op->begun)
		op->peer->begun--;
	if (!ep->closing) {
		mxefi_cntr_count(op->cntr, op->err);
		if (cq && (op->completion || op->err) &&
		    mxefi_cq_begin(cq, op->context, op->flags, op->err))
			mxefi_cq_add(cq);
	}
	mxefi_op_free(op);
}

/**
 * mxefi_op_wr_complete() - Complete a request that is a part of an operation.
 * @wr: request
 * @err: errno of libfabric, or 0
 *
 * Return: true: the request is not posted again.
 */
bool mxefi_op_wr_complete(struct mxefi_wr *wr, int err)
{
	struct mxefi_op *op = wr->op;

	/* The peer will not answer a request that it did not get. */
	if (err && op->wants_fin) {
		op->wants_fin = false;
		op->refs--;
	}
	mxefi_op_put(op, err);
	return true;
}

/* The compiler makes moves of the most frequent length. */
static void copy(void *to, const uint8_t *from, size_t len)
{
	if (len == 8)
		memcpy(to, from, 8);
	else
		memcpy(to, from, len);
}

/**
 * mxefi_op_store() - Copy fetched elements to the result vector.
 * @op: atomic
 * @first: number of the first element
 * @elements: elements
 * @count: number of elements
 */
void mxefi_op_store(const struct mxefi_op *op, size_t first,
		    const uint8_t *elements, size_t count)
{
	size_t size = mxefi_type_size(op->datatype);

	if (op->num_results == 1) {
		copy((uint8_t *)op->results[0].addr + first * size, elements,
		     count * size);
		return;
	}
	for (size_t i = 0; i < op->num_results && count; i++) {
		size_t n = op->results[i].count;

		if (first >= n) {
			first -= n;
			continue;
		}
		n -= first;
		if (n > count)
			n = count;
		copy((uint8_t *)op->results[i].addr + first * size, elements,
		     n * size);
		elements += n * size;
		count -= n;
		first = 0;
	}
}

/**
 * mxefi_op_num_results() - Count the elements that an operation fetches.
 * @op: operation
 *
 * Return: the number of elements, 0 for an operation that fetches none.
 */
size_t mxefi_op_num_results(const struct mxefi_op *op)
{
	size_t sum = 0;

	for (size_t i = 0; i < op->num_results; i++)
		sum += op->results[i].count;
	return sum;
}

/**
 * mxefi_op_cookie() - Name an operation, for a peer to return.
 * @op: operation
 *
 * Return: its index and generation.
 */
uint64_t mxefi_op_cookie(struct mxefi_op *op)
{
	uint64_t index = (uint64_t)(op - op->ep->ops);

	return (uint64_t)op->generation << 32 | index;
}

/**
 * mxefi_op_find() - Find the operation that a peer means.
 * @ep: endpoint
 * @cookie: cookie that a peer has sent
 *
 * Return: the operation, or NULL if it has ended.
 */
struct mxefi_op *mxefi_op_find(struct mxefi_ep *ep, uint64_t cookie)
{
	uint32_t index = (uint32_t)cookie;
	struct mxefi_op *op;

	if (index >= MXEFI_TX_SIZE)
		return NULL;
	op = &ep->ops[index];
	if (!op->used || op->generation != cookie >> 32)
		return NULL;
	return op;
}

static bool in_flight(const struct mxefi_ep *ep)
{
	for (int i = 0; i < MXEFI_TX_SIZE; i++)
		if (ep->ops[i].used)
			return true;
	return false;
}

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
ssize_t mxefi_call_end(struct mxefi_ep *ep, ssize_t ret)
{
	if (ret == -FI_EAGAIN) {
		if (in_flight(ep))
			mxefi_progress(ep->dom);
		else
			ret = -FI_ENOMEM;
	}
	mxefi_trigger_fire(ep->dom);
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

/**
 * mxefi_iov_len() - Add up the length of a vector.
 * @iov: vector
 * @count: number of its elements
 *
 * Return: the length in bytes, or SIZE_MAX if it exceeds MXEFI_MAX_MSG_SIZE.
 */
size_t mxefi_iov_len(const struct iovec *iov, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (iov[i].iov_len > MXEFI_MAX_MSG_SIZE - sum)
			return SIZE_MAX;
		sum += iov[i].iov_len;
	}
	return sum;
}
