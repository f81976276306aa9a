/* SPDX-License-Identifier: GPL-2.0 */
/*
 * work.c does what a client does with the server's table, on a connection that is up.
 */
#ifndef MASKED_LOCKS_WORK_H
#define MASKED_LOCKS_WORK_H

#include <linux/completion.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_exp.h>

#include "proto.h"

/* Additions to the counters in flight. */
#define LOCKS_COUNT_DEPTH	4

/* What is posted at a time: the thread's request and the additions. */
#define LOCKS_MAX_SEND_WR	(1 + LOCKS_COUNT_DEPTH)

/* What the device writes and reads: mapped once, for as long as it lasts. */
struct locks_buf {
	u64 old;			/* result of the thread's atomics */
	__le64 guarded;			/* as read, and as written back */
	u64 count_old[LOCKS_COUNT_DEPTH];
	struct locks_offer offer;
};

/* A request or a message that the thread waits for. */
struct locks_op {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
	u32 vendor_err;
};

/* An addition to the counters, posted again by its completion. */
struct locks_count {
	struct ib_cqe cqe;
	struct locks_work *work;
};

/*
 * Belongs to one thread, but for `error`, which anybody may set, and what
 * count_lock covers.  Who reads statistics meanwhile may see those of a moment
 * ago.
 */
struct locks_work {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_exp_qp *eqp;
	struct locks_buf *buf;
	u64 buf_dma;			/* DMA_BIDIRECTIONAL */
	u64 table;			/* where it is in the server */
	u32 rkey;
	u16 owner;			/* how this client marks its locks */
	struct locks_op op;

	/* The first error stays; no addition is posted after it. */
	int error;
	wait_queue_head_t wait;

	/*
	 * Taken in completions, so with interrupts off, and additions are posted
	 * under it.
	 */
	spinlock_t count_lock;
	unsigned int counts_left;	/* to be posted */
	unsigned int counts_in_flight;
	struct locks_count counts[LOCKS_COUNT_DEPTH];

	u64 busy;			/* somebody else had the lock */
	u64 given_up;			/* ... all the time */
	u64 counted;			/* additions */
	u64 exhausted;			/* ib_exp tried in vain; posted again */
	u64 wrong;			/* values that must not be; 0 */
};

void locks_work_init(struct locks_work *w);

/* The work cannot go on.  Any context. */
void locks_work_fail(struct locks_work *w, int error);

/* For requests that others post and wait for. */
void locks_op_init(struct locks_op *op);

/* 0, -EAGAIN if the same may be posted again, or the connection is over. */
int locks_op_result(const struct locks_op *op);

/* Where that field of the buffer is for the device. */
static inline u64 locks_buf_dma(const struct locks_work *w, const void *field)
{
	return w->buf_dma + (field - (const void *)w->buf);
}

void locks_buf_for_cpu(struct locks_work *w);

/*
 * Take the lock: 0 and the number of this grant, or -EBUSY if others had it each
 * time that it was tried.  To be called, as all below, from a kthread.
 */
int locks_work_lock(struct locks_work *w, unsigned int lock, u64 *grant);

/* What the lock is for, and is not atomic by itself. */
int locks_work_guarded(struct locks_work *w, unsigned int lock, u64 grant);

int locks_work_unlock(struct locks_work *w, unsigned int lock, u64 grant);

/* Begin with num additions to the counters, beside everything else. */
void locks_work_count_start(struct locks_work *w, unsigned int num);

/*
 * Wait for all, or, when the thread has to stop, for those in flight.  They end
 * by themselves where the connection is broken: its queue pair is in the error
 * state.
 */
void locks_work_count_finish(struct locks_work *w);

#endif /* MASKED_LOCKS_WORK_H */
