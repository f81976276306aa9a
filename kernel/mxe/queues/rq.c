// SPDX-License-Identifier: GPL-2.0
/*
 * Queues of posted receive requests, each of which belongs to a QP or to an
 * SRQ.
 */
#include <linux/log2.h>
#include <linux/mm.h>

#include "memory/ring.h"
#include "mxe.h"
#include "queues/rq.h"

/* ---- queues ------------------------------------------------------------ */

/* Return the bytes of struct mxe_recv_wr with @max_sge entries. */
size_t mxe_rq_wr_size(u32 max_sge)
{
	return struct_size((struct mxe_recv_wr *)NULL, sge, max_sge);
}

/*
 * Initialise a zeroed queue. @max_wr is rounded up to a power of two. If
 * @is_user, the caller then allocates q->ring, whose shape is set. Call
 * mxe_rq_destroy() after a failure, too.
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_rq_create(struct mxe_recv_queue *q, u32 max_wr, u32 max_sge,
		  bool is_user)
{
	spin_lock_init(&q->post_lock);
	q->entries = roundup_pow_of_two(max_wr);
	q->max_sge = max(max_sge, 1U);
	q->wr_size = mxe_rq_wr_size(q->max_sge);
	if (is_user) {
		mxe_ring_shape(&q->ring, q->entries,
			       ALIGN(sizeof(struct mxe_recv_wqe) +
				     q->max_sge * sizeof(struct mxe_sge), 32));
		return 0;
	}
	q->wrs = kvcalloc(q->entries, q->wr_size, GFP_KERNEL_ACCOUNT);
	return q->wrs ? 0 : -ENOMEM;
}

/*
 * Call it when no one takes requests from the queue any more.
 * Context: May sleep.
 */
void mxe_rq_destroy(struct mxe_recv_queue *q)
{
	mxe_ring_destroy(&q->ring);
	kvfree(q->wrs);
}

static struct mxe_recv_wr *mxe_rq_wr(const struct mxe_recv_queue *q, u32 index)
{
	return q->wrs + (index & (q->entries - 1)) * q->wr_size;
}

/*
 * Count the requests in a queue. There are more than q->entries if a process
 * has written an invalid producer index.
 * Context: The lock that protects q->consumed is held.
 */
u32 mxe_rq_filled(const struct mxe_recv_queue *q)
{
	u32 produced;

	if (!q->entries)
		return 0;
	if (q->ring.hdr)
		produced = mxe_ring_producer(&q->ring);
	else
		/* Pairs with the release in mxe_rq_post(). */
		produced = smp_load_acquire(&q->posted);
	return produced - q->consumed;
}

static void mxe_rq_copy_user(struct mxe_dev *dev,
			     const struct mxe_recv_queue *q,
			     struct mxe_recv_wr *wr)
{
	const void *entry = mxe_ring_entry(&q->ring, q->consumed);
	struct mxe_recv_wqe wqe;

	/* The process may change the entry, so only this copy is used. */
	memcpy(&wqe, entry, sizeof(wqe));
	barrier();

	wr->wr_id = wqe.wr_id;
	wr->num_sge = 0;
	wr->error = IB_WC_SUCCESS;
	if (wqe.num_sge > q->max_sge || wqe.reserved) {
		mxe_count(dev, bad_wqe);
		wr->error = IB_WC_LOC_QP_OP_ERR;
		return;
	}
	memcpy(wr->sge, entry + sizeof(wqe),
	       wqe.num_sge * sizeof(struct ib_sge));
	wr->num_sge = wqe.num_sge;
}

void mxe_rq_sum_length(struct mxe_recv_wr *wr)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sge[i].length;
	wr->length = min_t(u64, length, U32_MAX);
}

/*
 * Take the next request from a queue, as a validated copy in @wr, in which
 * q->max_sge scatter entries fit.
 * Context: The lock that protects q->consumed is held.
 * Return: 0; -EAGAIN if the queue is empty; -EIO if the request is invalid,
 * with the completion status in wr->error; -EPIPE if the producer index is
 * invalid.
 */
int mxe_rq_take(struct mxe_dev *dev, struct mxe_recv_queue *q,
		struct mxe_recv_wr *wr)
{
	u32 filled = mxe_rq_filled(q);

	if (!filled)
		return -EAGAIN;
	if (filled > q->entries) {
		mxe_count(dev, bad_wqe);
		return -EPIPE;
	}

	if (q->ring.hdr)
		mxe_rq_copy_user(dev, q, wr);
	else
		memcpy(wr, mxe_rq_wr(q, q->consumed), q->wr_size);
	mxe_rq_sum_length(wr);
	WRITE_ONCE(q->consumed, q->consumed + 1);
	mxe_ring_set_consumer(&q->ring, q->consumed);
	return wr->error ? -EIO : 0;
}

/*
 * Post requests of a kernel consumer. On error, @bad_wr is the first request
 * that was not posted.
 * Context: Any. Takes post_lock with interrupts disabled.
 * Return: 0; -EINVAL if a scatter list is too long; -ENOMEM if the queue is
 * full.
 */
int mxe_rq_post(struct mxe_dev *dev, struct mxe_recv_queue *q,
		const struct ib_recv_wr *ibwr,
		const struct ib_recv_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&q->post_lock, flags);
	for (; ibwr; ibwr = ibwr->next) {
		struct mxe_recv_wr *wr;

		if (ibwr->num_sge < 0 || ibwr->num_sge > q->max_sge)
			err = -EINVAL;
		else if (q->posted - READ_ONCE(q->consumed) >= q->entries)
			err = -ENOMEM;
		if (err) {
			mxe_refuse(dev, err, "cannot post a request with %d SGEs",
				   ibwr->num_sge);
			*bad_wr = ibwr;
			break;
		}
		wr = mxe_rq_wr(q, q->posted);
		wr->wr_id = ibwr->wr_id;
		wr->error = IB_WC_SUCCESS;
		wr->num_sge = ibwr->num_sge;
		memcpy(wr->sge, ibwr->sg_list,
		       ibwr->num_sge * sizeof(wr->sge[0]));
		/* Pairs with the acquire in mxe_rq_filled(). */
		smp_store_release(&q->posted, q->posted + 1);
	}
	spin_unlock_irqrestore(&q->post_lock, flags);
	return err;
}
