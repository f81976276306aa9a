/* SPDX-License-Identifier: GPL-2.0 */
/* Receive queues: what was posted, taking it up and completing it. */
#ifndef MXE_RECV_H
#define MXE_RECV_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "ring.h"

struct mxe_cq;
struct mxe_dev;
struct mxe_pkt;
struct mxe_qp;
struct mxe_wc;

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
size_t mxe_recv_wr_size(u32 max_sge);

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

/*
 * May a packet that has come be taken in this state?  If not it is counted, and
 * remains the caller's.  The first one in RTR is told of (IBTA 11.6.3.1) but on
 * datagram queue pairs, which have no peer.  Context: recv_lock held.
 */
bool mxe_recv_admit(struct mxe_qp *qp);
/*
 * Take up the next receive request into rq->cur, unless one that no message
 * has used is there still: -EAGAIN if there is none, -EIO if it
 * (rq->cur_valid) or the whole queue cannot be used.
 * Context: recv_lock held.
 */
int mxe_recv_take(struct mxe_qp *qp);
/*
 * Where it is completed; NULL: nothing is taken up, by a target of XRC.
 * Context: recv_lock held.
 */
struct mxe_cq *mxe_recv_cq(const struct mxe_qp *qp);
/*
 * By whose rights the keys of its requests are used: a shared queue has a
 * protection domain of its own.  Context: recv_lock held.
 */
const struct ib_pd *mxe_recv_pd(const struct mxe_qp *qp);
/*
 * Complete the request in rq->cur, whose wr_id and length it gets.
 * Context: recv_lock held.
 */
void mxe_recv_end(struct mxe_qp *qp, struct mxe_wc *wc);
/*
 * The same.  pkt: the last packet of its message, or
 * NULL if it fails.  Context: recv_lock held.
 */
void mxe_recv_complete(struct mxe_qp *qp, enum ib_wc_status status,
		       const struct mxe_pkt *pkt);
/*
 * The receive queue, or the request in use, cannot be used: complete that one
 * with its error or, if it has none, status; the queue pair goes to ERR.
 * Context: recv_lock held.
 */
void mxe_recv_fatal(struct mxe_qp *qp, enum ib_wc_status status);
/*
 * Complete what is posted with WR_FLUSH_ERR, a slice of it; the work goes on.
 * Context: recv_lock held.
 */
void mxe_recv_flush(struct mxe_qp *qp);
/* A process has posted: flush it if in ERR.  Context: BHs off, RCU. */
void mxe_recv_ring(struct mxe_qp *qp);

int mxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *ibwr,
		  const struct ib_recv_wr **bad_wr);

#endif /* MXE_RECV_H */
