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

/*
 * Initialise a zeroed queue. @max_wr is rounded up to a power of two. If
 * @is_user, the caller then allocates q->ring, whose shape is set. Call
 * mxe_rq_destroy() after a failure, too.
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_rq_create(struct mxe_recv_queue *q, u32 max_wr, u32 max_sge,
		  bool is_user);

/*
 * Call it when no one takes requests from the queue any more.
 * Context: May sleep.
 */
void mxe_rq_destroy(struct mxe_recv_queue *q);

/* Return the bytes of struct mxe_recv_wr with @max_sge entries. */
size_t mxe_rq_wr_size(u32 max_sge);

/*
 * Count the requests in a queue. There are more than q->entries if a process
 * has written an invalid producer index.
 * Context: The lock that protects q->consumed is held.
 */
u32 mxe_rq_filled(const struct mxe_recv_queue *q);

/*
 * Take the next request from a queue, as a validated copy in @wr, in which
 * q->max_sge scatter entries fit.
 * Context: The lock that protects q->consumed is held.
 * Return: 0; -EAGAIN if the queue is empty; -EIO if the request is invalid,
 * with the completion status in wr->error; -EPIPE if the producer index is
 * invalid.
 */
int mxe_rq_take(struct mxe_dev *dev, struct mxe_recv_queue *q,
		struct mxe_recv_wr *wr);

void mxe_rq_sum_length(struct mxe_recv_wr *wr);

/*
 * Post requests of a kernel consumer. On error, @bad_wr is the first request
 * that was not posted.
 * Context: Any. Takes post_lock with interrupts disabled.
 * Return: 0; -EINVAL if a scatter list is too long; -ENOMEM if the queue is
 * full.
 */
int mxe_rq_post(struct mxe_dev *dev, struct mxe_recv_queue *q,
		const struct ib_recv_wr *ibwr,
		const struct ib_recv_wr **bad_wr);

#endif /* MXE_RQ_H */
