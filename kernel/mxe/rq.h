/* SPDX-License-Identifier: GPL-2.0 */
/* A receive queue holds posted requests until they are taken up (rq.c). */
#ifndef MXE_RQ_H
#define MXE_RQ_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "ring.h"

struct mxe_dev;

/* A receive work request in the kernel. */
struct mxe_recv_wr {
	u64 wr_id;
	u32 num_sge;
	u32 length;
	enum ib_wc_status error;
	struct ib_sge sge[];
};

/*
 * The queue of a queue pair, or a shared one.  consumed belongs to whoever
 * takes requests up: under recv_lock of the queue pair, or under the lock of
 * the shared queue.
 */
struct mxe_recv_queue {
	/* Immutable after creation. */
	u32 entries;			/* power of two; 0: no queue */
	u32 max_sge;
	size_t wr_size;
	void *wrs;			/* posted by kernel consumers */
	struct mxe_ring ring;		/* posted by a process */

	/* Serialises posting kernel consumers; irqsave: verbs of any context. */
	spinlock_t post_lock;
	u32 posted;

	u32 consumed;			/* index of the next one */
};

/* uctx: the process that posts, or NULL.  On failure call destroy as well. */
int mxe_rq_create(struct mxe_recv_queue *q, u32 max_wr, u32 max_sge,
		  struct ib_ucontext *uctx);
void mxe_rq_destroy(struct mxe_recv_queue *q);

/* Bytes of a request with that many scatter entries. */
size_t mxe_rq_wr_size(u32 max_sge);

/*
 * Requests that can be taken up, or more than q->entries if the index of a
 * process makes no sense.
 */
u32 mxe_rq_filled(const struct mxe_recv_queue *q);
/*
 * Copy the next request: -EAGAIN if there is none, -EIO with wr->error if it
 * cannot be used, -EPIPE if nothing of the queue can be.
 */
int mxe_rq_take(struct mxe_dev *dev, struct mxe_recv_queue *q,
		struct mxe_recv_wr *wr);
/* Add requests of a kernel consumer. */
int mxe_rq_post(struct mxe_dev *dev, struct mxe_recv_queue *q,
		const struct ib_recv_wr *ibwr,
		const struct ib_recv_wr **bad_wr);

#endif /* MXE_RQ_H */
