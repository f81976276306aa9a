// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues from the side of the responder: taking requests,
 * numbers, references, and events.
 */
#include "mxe.h"
#include "queues/pending.h"
#include "queues/rq.h"
#include "queues/srq.h"
#include "wire/pkt.h"

/*
 * As mxe_srq_take().
 * Context: BHs disabled, lock of the SRQ held.
 */
int mxe_srq_take_locked(struct mxe_srq *srq, struct mxe_recv_wr *wr,
			unsigned long *pending)
{
	int err;

	lockdep_assert_held(&srq->lock);

	err = mxe_rq_take(to_mdev(srq->ibsrq.device), &srq->q, wr);
	if (err == -EPIPE)
		*pending |= BIT(MXE_PENDING_EV_SRQ_ERR);
	if (!err && srq->limit &&
	    mxe_rq_filled(&srq->q) < srq->limit) {
		/*
		 * The limit is disarmed until it is set again (IBTA 10.2.9.3).
		 */
		srq->limit = 0;
		*pending |= BIT(MXE_PENDING_EV_SRQ_LIMIT);
	}
	return err;
}

/*
 * As mxe_rq_take(). Add MXE_PENDING_EV_SRQ_* bits for events of the SRQ to
 * @pending.
 * Context: BHs disabled. Takes the lock of the SRQ.
 */
int mxe_srq_take(struct mxe_srq *srq, struct mxe_recv_wr *wr,
		 unsigned long *pending)
{
	int err;

	spin_lock(&srq->lock);
	err = mxe_srq_take_locked(srq, wr, pending);
	spin_unlock(&srq->lock);
	return err;
}

/*
 * Give an SRQ that is completely initialised its number, so that it can be
 * found.
 * Context: May sleep.
 * Return: 0 or a negative errno of xa_alloc_cyclic_bh().
 */
int mxe_srq_publish(struct mxe_srq *srq)
{
	struct mxe_dev *dev = to_mdev(srq->ibsrq.device);
	struct xa_limit limit = XA_LIMIT(1, MXE_XRC_SRQN_MASK);
	int err;

	kref_init(&srq->ref);
	init_completion(&srq->released);
	/* Cyclic, so that a late packet rarely names a reused number. */
	err = xa_alloc_cyclic_bh(&dev->srqs, &srq->num, srq, limit,
				 &dev->next_srqn, GFP_KERNEL_ACCOUNT);
	return min(err, 0);
}

/*
 * Take its number from an SRQ, so that no one finds it.
 * Context: Process context.
 */
void mxe_srq_withdraw(struct mxe_srq *srq)
{
	xa_erase_bh(&to_mdev(srq->ibsrq.device)->srqs, srq->num);
}

/*
 * Drop the own reference to an SRQ that was withdrawn, and wait until there is
 * no other.
 * Context: May sleep.
 */
void mxe_srq_wait(struct mxe_srq *srq)
{
	mxe_srq_put(srq);
	wait_for_completion(&srq->released);
}

static void mxe_srq_release(struct kref *ref)
{
	complete(&container_of(ref, struct mxe_srq, ref)->released);
}

/*
 * Keep an SRQ with a number alive until mxe_srq_put().
 * Context: recv_lock of a target that found the SRQ, or the lock of dev->srqs,
 * is held.
 */
void mxe_srq_hold(struct mxe_srq *srq)
{
	kref_get(&srq->ref);
}

/* Context: Any. */
void mxe_srq_put(struct mxe_srq *srq)
{
	kref_put(&srq->ref, mxe_srq_release);
}

/* Context: No lock is held, because the consumer's handler is called. */
void mxe_srq_event(struct mxe_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = type,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}
