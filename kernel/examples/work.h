/* SPDX-License-Identifier: GPL-2.0 */
/* The operations of a client on the table of the server (work.c). */
#ifndef MASKED_LOCKS_WORK_H
#define MASKED_LOCKS_WORK_H

#include <linux/completion.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_exp.h>

#include "proto.h"

/* Maximum number of additions to the counters in flight. */
#define LOCKS_COUNT_DEPTH	4

/* One request of the thread, and the additions. */
#define LOCKS_MAX_SEND_WR	(1 + LOCKS_COUNT_DEPTH)

/* Memory that the device accesses, mapped for the life of the connection. */
struct locks_buf {
	u64 old;			/* result of the thread's atomics */
	__le64 guarded;			/* buffer of READ and WRITE */
	u64 count_old[LOCKS_COUNT_DEPTH];
	struct locks_offer offer;
};

/* A request or message for which the thread waits. */
struct locks_op {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
	u32 vendor_err;
};

/* An addition to the counters. Its completion posts the next one. */
struct locks_count {
	struct ib_cqe cqe;
	struct locks_work *work;
};

/*
 * Accessed only by the thread of the client, except for error, which any
 * context may set, and the members that count_lock protects. Statistics are
 * read without a lock, and may be stale.
 */
struct locks_work {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_exp_qp *eqp;
	struct locks_buf *buf;
	u64 buf_dma;			/* DMA_BIDIRECTIONAL */
	u64 table;			/* remote address */
	u32 rkey;
	u16 owner;			/* owner ID of this client */
	struct locks_op op;

	/* The first error, or 0. No addition is posted after an error. */
	int error;
	wait_queue_head_t wait;

	/*
	 * Taken with interrupts disabled, because completion handlers take it.
	 * Additions are posted with it held.
	 */
	spinlock_t count_lock;
	unsigned int counts_left;	/* to be posted */
	unsigned int counts_in_flight;
	struct locks_count counts[LOCKS_COUNT_DEPTH];

	u64 busy;			/* tries that found the lock taken */
	u64 given_up;			/* locks not taken after all tries */
	u64 counted;			/* completed additions */
	u64 exhausted;			/* ib_exp ran out of retries */
	u64 wrong;			/* inconsistent values; must stay 0 */
};

void locks_work_init(struct locks_work *w);
void locks_work_fail(struct locks_work *w, int error);
void locks_op_init(struct locks_op *op);
int locks_op_result(const struct locks_op *op);

/**
 * locks_buf_dma() - Get the DMA address of a member of the buffer.
 * @w: the work
 * @field: address of a member of w->buf
 *
 * Context: Any.
 * Return: the DMA address.
 */
static inline u64 locks_buf_dma(const struct locks_work *w, const void *field)
{
	return w->buf_dma + (field - (const void *)w->buf);
}

void locks_buf_for_cpu(struct locks_work *w);
int locks_work_lock(struct locks_work *w, unsigned int lock, u64 *grant);
int locks_work_guarded(struct locks_work *w, unsigned int lock, u64 grant);
int locks_work_unlock(struct locks_work *w, unsigned int lock, u64 grant);
void locks_work_count_start(struct locks_work *w, unsigned int num);
void locks_work_count_finish(struct locks_work *w);

#endif /* MASKED_LOCKS_WORK_H */
