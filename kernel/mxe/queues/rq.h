/* SPDX-License-Identifier: GPL-2.0 */
/* Queues of posted receive requests (rq.c). */
#ifndef MXE_RQ_H
#define MXE_RQ_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "memory/ring.h"

struct mxe_dev;

/* A receive request, copied into kernel memory. */
struct mxe_recv_wr {
	u64 wr_id;
	u32 num_sge;
	u32 length;			/* bytes, sum of the scatter list */
	enum ib_wc_status error;
	struct ib_sge sge[];
};

/*
 * The receive queue of a QP, or that of an SRQ. recv_lock of the QP or the lock
 * of the SRQ protects consumed.
 */
struct mxe_recv_queue {
	/*
	 * Immutable after creation, but qp_resize.c replaces these two of a QP
	 * with both of its locks held.
	 */
	u32 entries;			/* power of two; 0: no queue */
	struct mxe_ring ring;		/* entries of a process */

	u32 max_sge;
	size_t wr_size;
	void *wrs;			/* entries of a kernel consumer */

	/*
	 * Serialises kernel consumers. irqsave: post verbs run in any context.
	 */
	spinlock_t post_lock;
	u32 posted;			/* producer index */

	u32 consumed;			/* consumer index */
};

/**
 * mxe_rq_create() - Initialise a queue.
 * @q: zeroed queue
 * @max_wr: entries, rounded up to a power of two
 * @max_sge: scatter entries of a request
 * @is_user: a process posts to the queue; the caller then allocates q->ring,
 *	whose shape is set
 *
 * Call mxe_rq_destroy() after a failure, too.
 *
 * Context: Process context. May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_rq_create(struct mxe_recv_queue *q, u32 max_wr, u32 max_sge,
		  bool is_user);

/**
 * mxe_rq_destroy() - Free the memory of a queue.
 * @q: the queue, from which no one takes requests any more
 *
 * Context: Process context. May sleep.
 */
void mxe_rq_destroy(struct mxe_recv_queue *q);

/**
 * mxe_rq_wr_size() - Calculate the size of a receive request.
 * @max_sge: scatter entries
 *
 * Return: bytes of struct mxe_recv_wr with these entries.
 */
size_t mxe_rq_wr_size(u32 max_sge);

/**
 * mxe_rq_filled() - Count the requests in a queue.
 * @q: the queue
 *
 * Context: The lock that protects q->consumed is held.
 * Return: number of requests. More than q->entries if a process has written an
 * invalid producer index.
 */
u32 mxe_rq_filled(const struct mxe_recv_queue *q);

/**
 * mxe_rq_take() - Take the next request from a queue.
 * @dev: device of the queue
 * @q: the queue
 * @wr: a validated copy of the request; q->max_sge scatter entries fit
 *
 * Context: The lock that protects q->consumed is held.
 * Return: 0; -EAGAIN if the queue is empty; -EIO if the request is invalid,
 * with the completion status in wr->error; -EPIPE if the producer index is
 * invalid.
 */
int mxe_rq_take(struct mxe_dev *dev, struct mxe_recv_queue *q,
		struct mxe_recv_wr *wr);

/**
 * mxe_rq_sum_length() - Set the length of a request from its scatter list.
 * @wr: the request
 */
void mxe_rq_sum_length(struct mxe_recv_wr *wr);

/**
 * mxe_rq_post() - Post requests of a kernel consumer.
 * @dev: device of the queue
 * @q: the queue
 * @ibwr: list of requests
 * @bad_wr: on error, the first request that was not posted
 *
 * Context: Any. Takes post_lock with interrupts disabled.
 * Return: 0; -EINVAL if a scatter list is too long; -ENOMEM if the queue is
 * full.
 */
int mxe_rq_post(struct mxe_dev *dev, struct mxe_recv_queue *q,
		const struct ib_recv_wr *ibwr,
		const struct ib_recv_wr **bad_wr);

#endif /* MXE_RQ_H */
