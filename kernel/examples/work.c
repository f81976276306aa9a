// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of a client. The thread takes one lock at a time, and waits
 * for each of its requests. In each round additions to the counters run
 * concurrently, posted by their completion handler. client.c calls these
 * functions. They call ib_exp and the verbs.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <rdma/ib_exp.h>

#include "work.h"

/* Number of tries to take a lock, and the pause between them. */
#define LOCK_TRIES		2000
#define LOCK_PAUSE_US		100

/**
 * locks_work_fail() - Record an error, and wake the thread.
 * @w: the work
 * @error: negative errno; ignored if there was an error before
 *
 * Context: Any.
 */
void locks_work_fail(struct locks_work *w, int error)
{
	cmpxchg(&w->error, 0, error);
	wake_up_all(&w->wait);
}

/* ---- requests ---------------------------------------------------------- */

static void locks_op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct locks_op *op = container_of(wc->wr_cqe, struct locks_op, cqe);

	op->status = wc->status;
	op->vendor_err = wc->vendor_err;
	complete(&op->done);
}

/**
 * locks_op_init() - Prepare an operation before its request is posted.
 * @op: the operation
 *
 * Context: Any.
 */
void locks_op_init(struct locks_op *op)
{
	op->cqe.done = locks_op_done;
	init_completion(&op->done);
}

/**
 * locks_op_result() - Get the result of a completed operation.
 * @op: the operation
 *
 * Context: Any.
 * Return: 0, or -EAGAIN if the request may be posted again. After -ECONNRESET
 * or -EIO the connection cannot be used any more.
 */
int locks_op_result(const struct locks_op *op)
{
	if (op->status == IB_WC_SUCCESS)
		return 0;
	if (op->status == IB_WC_GENERAL_ERR &&
	    op->vendor_err == IB_EXP_VENDOR_ERR_RETRIES)
		return -EAGAIN;
	return op->status == IB_WC_WR_FLUSH_ERR ? -ECONNRESET : -EIO;
}

/**
 * locks_buf_for_cpu() - Sync the buffer for the CPU.
 * @w: the work
 *
 * Context: Any.
 */
void locks_buf_for_cpu(struct locks_work *w)
{
	ib_dma_sync_single_for_cpu(w->dev, w->buf_dma, sizeof(*w->buf),
				   DMA_BIDIRECTIONAL);
}

/*
 * Executes a masked atomic on the word at offset in the table, and returns the
 * old value in *old. The wait needs no timeout, because the QP enters the error
 * state if the server does not respond.
 */
static int remote_atomic(struct locks_work *w, struct ib_atomic_wr *wr,
			 size_t offset, u64 *old)
{
	struct locks_op *op = &w->op;
	struct ib_sge sge = {
		.addr = locks_buf_dma(w, &w->buf->old),
		.length = sizeof(w->buf->old),
		.lkey = w->pd->local_dma_lkey,
	};
	unsigned int tries;
	int err;

	wr->wr.wr_cqe = &op->cqe;
	wr->wr.sg_list = &sge;
	wr->wr.num_sge = 1;
	wr->wr.send_flags = IB_SEND_SIGNALED;
	wr->remote_addr = w->table + offset;
	wr->rkey = w->rkey;

	for (tries = 0; tries < LOCK_TRIES; tries++) {
		locks_op_init(op);
		err = ib_exp_post_send(w->eqp, wr, &w->buf->old);
		if (err)
			return err;
		wait_for_completion(&op->done);
		err = locks_op_result(op);
		if (err != -EAGAIN)
			break;
		w->exhausted++;
	}
	if (err)
		return err;
	locks_buf_for_cpu(w);
	*old = w->buf->old;
	return 0;
}

/* Executes an IB_WR_RDMA_READ to, or an IB_WR_RDMA_WRITE from, buf->guarded. */
static int remote_copy(struct locks_work *w, enum ib_wr_opcode opcode,
		       size_t offset)
{
	struct locks_op *op = &w->op;
	struct ib_sge sge = {
		.addr = locks_buf_dma(w, &w->buf->guarded),
		.length = sizeof(w->buf->guarded),
		.lkey = w->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &op->cqe,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = opcode,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = w->table + offset,
		.rkey = w->rkey,
	};
	int err;

	locks_op_init(op);
	err = ib_post_send(w->eqp->qp, &wr.wr, NULL);
	if (err)
		return err;
	wait_for_completion(&op->done);
	return locks_op_result(op);
}

/* ---- locks ------------------------------------------------------------- */

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
int locks_work_lock(struct locks_work *w, unsigned int lock, u64 *grant)
{
	unsigned int tries;
	u64 old;
	int err;

	for (tries = 0; tries < LOCK_TRIES; tries++) {
		struct ib_atomic_wr wr = {
			.wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
			.compare_add = 0,
			.compare_add_mask = LOCKS_OWNER_MASK,
			.swap = w->owner,
			.swap_mask = LOCKS_OWNER_MASK,
		};

		err = remote_atomic(w, &wr,
				    offsetof(struct locks_table, locks[lock]),
				    &old);
		if (err)
			return err;
		if (!(old & LOCKS_OWNER_MASK)) {
			*grant = old >> LOCKS_GRANTS_SHIFT;
			return 0;
		}
		w->busy++;
		if (kthread_should_stop())
			break;
		usleep_range(LOCK_PAUSE_US, 2 * LOCK_PAUSE_US);
	}
	w->given_up++;
	return -EBUSY;
}

/**
 * locks_work_unlock() - Release a lock.
 * @w: the work
 * @lock: number of the lock, which is held
 * @grant: from locks_work_lock()
 *
 * Context: Process context. May sleep.
 * Return: 0 or a negative errno.
 */
int locks_work_unlock(struct locks_work *w, unsigned int lock, u64 grant)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.compare_add = BIT_ULL(LOCKS_GRANTS_SHIFT) |
			       (-(u64)w->owner & LOCKS_OWNER_MASK),
		.compare_add_mask = LOCKS_TOPS,
	};
	u64 old;
	int err;

	err = remote_atomic(w, &wr, offsetof(struct locks_table, locks[lock]),
			    &old);
	if (err)
		return err;
	if (old != (grant << LOCKS_GRANTS_SHIFT | w->owner))
		w->wrong++;
	return 0;
}

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
int locks_work_guarded(struct locks_work *w, unsigned int lock, u64 grant)
{
	size_t offset = offsetof(struct locks_table, guarded[lock]);
	int err;

	err = remote_copy(w, IB_WR_RDMA_READ, offset);
	if (err)
		return err;
	locks_buf_for_cpu(w);
	if (le64_to_cpu(w->buf->guarded) != grant)
		w->wrong++;
	w->buf->guarded = cpu_to_le64(grant + 1);
	ib_dma_sync_single_for_device(w->dev, w->buf_dma,
				      sizeof(*w->buf), DMA_BIDIRECTIONAL);
	return remote_copy(w, IB_WR_RDMA_WRITE, offset);
}

/* ---- counters ---------------------------------------------------------- */

/* Adds 1, 2, 3 and 4 to the four counters of a word. */
static int count_post(struct locks_work *w, unsigned int slot)
{
	struct ib_sge sge = {
		.addr = locks_buf_dma(w, &w->buf->count_old[slot]),
		.length = sizeof(w->buf->count_old[slot]),
		.lkey = w->pd->local_dma_lkey,
	};
	unsigned int word = (w->counts_left + w->owner) % LOCKS_NUM_COUNTERS;
	struct ib_atomic_wr wr = {
		.wr.wr_cqe = &w->counts[slot].cqe,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = w->table +
			       offsetof(struct locks_table, counters[word]),
		.rkey = w->rkey,
		.compare_add = 0x0004000300020001ULL,
		.compare_add_mask = LOCKS_COUNTER_TOPS,
	};

	lockdep_assert_held(&w->count_lock);
	return ib_exp_post_send(w->eqp, &wr, &w->buf->count_old[slot]);
}

/* Posts the next addition in a free slot, unless all are done or one failed. */
static void count_next(struct locks_work *w, unsigned int slot)
{
	int err;

	lockdep_assert_held(&w->count_lock);
	if (w->counts_left && !READ_ONCE(w->error)) {
		w->counts_left--;
		err = count_post(w, slot);
		if (!err)
			return;
		locks_work_fail(w, err);
	}
	if (!--w->counts_in_flight)
		wake_up_all(&w->wait);
}

static void count_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct locks_count *count =
		container_of(wc->wr_cqe, struct locks_count, cqe);
	struct locks_work *w = count->work;
	unsigned long flags;

	spin_lock_irqsave(&w->count_lock, flags);
	if (wc->status == IB_WC_SUCCESS) {
		w->counted++;
	} else if (wc->status == IB_WC_GENERAL_ERR &&
		   wc->vendor_err == IB_EXP_VENDOR_ERR_RETRIES) {
		w->exhausted++;
		w->counts_left++;
	} else {
		locks_work_fail(w, wc->status == IB_WC_WR_FLUSH_ERR ?
				-ECONNRESET : -EIO);
	}
	count_next(w, count - w->counts);
	spin_unlock_irqrestore(&w->count_lock, flags);
}

/**
 * locks_work_count_start() - Start additions to the counters in the background.
 * @w: the work
 * @num: number of additions
 *
 * Context: Process context.
 */
void locks_work_count_start(struct locks_work *w, unsigned int num)
{
	unsigned int slot;

	spin_lock_irq(&w->count_lock);
	w->counts_left = num;
	w->counts_in_flight = LOCKS_COUNT_DEPTH;
	for (slot = 0; slot < LOCKS_COUNT_DEPTH; slot++)
		count_next(w, slot);
	spin_unlock_irq(&w->count_lock);
}

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
void locks_work_count_finish(struct locks_work *w)
{
	wait_event_idle(w->wait, !READ_ONCE(w->counts_in_flight) ||
			kthread_should_stop());
	spin_lock_irq(&w->count_lock);
	w->counts_left = 0;
	spin_unlock_irq(&w->count_lock);
	wait_event_idle(w->wait, !READ_ONCE(w->counts_in_flight));
}

/**
 * locks_work_init() - Initialise a zeroed struct locks_work.
 * @w: the work
 *
 * Context: Any.
 */
void locks_work_init(struct locks_work *w)
{
	unsigned int slot;

	init_waitqueue_head(&w->wait);
	spin_lock_init(&w->count_lock);
	for (slot = 0; slot < LOCKS_COUNT_DEPTH; slot++) {
		w->counts[slot].cqe.done = count_done;
		w->counts[slot].work = w;
	}
}
