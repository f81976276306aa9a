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

int mxe_rq_create(struct mxe_recv_queue *q, u32 max_wr, u32 max_sge,
		  bool is_user);
void mxe_rq_destroy(struct mxe_recv_queue *q);
size_t mxe_rq_wr_size(u32 max_sge);
u32 mxe_rq_filled(const struct mxe_recv_queue *q);
int mxe_rq_take(struct mxe_dev *dev, struct mxe_recv_queue *q,
		struct mxe_recv_wr *wr);
void mxe_rq_sum_length(struct mxe_recv_wr *wr);
int mxe_rq_post(struct mxe_dev *dev, struct mxe_recv_queue *q,
		const struct ib_recv_wr *ibwr,
		const struct ib_recv_wr **bad_wr);

#endif /* MXE_RQ_H */
