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

/**
 * locks_work_init() - Initialise a zeroed struct locks_work.
 * @w: the work
 *
 * Context: Any.
 */
void locks_work_init(struct locks_work *w);

/**
 * locks_work_fail() - Record an error, and wake the thread.
 * @w: the work
 * @error: negative errno; ignored if there was an error before
 *
 * Context: Any.
 */
void locks_work_fail(struct locks_work *w, int error);

/**
 * locks_op_init() - Prepare an operation before its request is posted.
 * @op: the operation
 *
 * Context: Any.
 */
void locks_op_init(struct locks_op *op);

/**
 * locks_op_result() - Get the result of a completed operation.
 * @op: the operation
 *
 * Context: Any.
 * Return: 0, or -EAGAIN if the request may be posted again. After -ECONNRESET
 * or -EIO the connection cannot be used any more.
 */
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

/**
 * locks_buf_for_cpu() - Sync the buffer for the CPU.
 * @w: the work
 *
 * Context: Any.
 */
void locks_buf_for_cpu(struct locks_work *w);

/**
 * locks_work_lock() - Take a lock.
 * @w: the work
 * @lock: number of the lock
 * @grant: set to the number of the grant
 *
 * Context: A kthread. May sleep.
 * Return: 0, -EBUSY if other clients held the lock at every try or the kthread
 * should stop, or another negative errno.
 */
int locks_work_lock(struct locks_work *w, unsigned int lock, u64 *grant);

/**
 * locks_work_guarded() - Increment the word that a lock protects.
 * @w: the work
 * @lock: number of the lock, which is held
 * @grant: from locks_work_lock()
 *
 * Not atomic by itself: an RDMA READ and an RDMA WRITE.
 *
 * Context: Process context. May sleep.
 * Return: 0 or a negative errno.
 */
int locks_work_guarded(struct locks_work *w, unsigned int lock, u64 grant);

/**
 * locks_work_unlock() - Release a lock.
 * @w: the work
 * @lock: number of the lock, which is held
 * @grant: from locks_work_lock()
 *
 * Context: Process context. May sleep.
 * Return: 0 or a negative errno.
 */
int locks_work_unlock(struct locks_work *w, unsigned int lock, u64 grant);

/**
 * locks_work_count_start() - Start additions to the counters in the background.
 * @w: the work
 * @num: number of additions
 *
 * Context: Process context.
 */
void locks_work_count_start(struct locks_work *w, unsigned int num);

/**
 * locks_work_count_finish() - Wait for the additions.
 * @w: the work
 *
 * Waits for all of them, or only for those in flight if the kthread should
 * stop. If the connection is broken, the QP is in the error state and flushes
 * them.
 *
 * Context: A kthread. May sleep.
 */
void locks_work_count_finish(struct locks_work *w);

#endif /* MASKED_LOCKS_WORK_H */
