// SPDX-License-Identifier: GPL-2.0
/*
 * The list of tags of a tag-matching SRQ: the operations that a process puts
 * into a ring, and the search for the tag of a message.
 */
#include <linux/jhash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>

#include "mxe.h"
#include "queues/cq.h"
#include "queues/pending.h"
#include "queues/qp.h"
#include "queues/rq.h"
#include "queues/srq.h"
#include "tm/tm.h"

DEFINE_STATIC_KEY_FALSE(mxe_tm_used);

/* ---- creation ---------------------------------------------------------- */

/* Those with a table are first in tm->free_masks. */
static void mxe_tm_init_masks(struct mxe_tm *tm)
{
	u32 i;

	INIT_LIST_HEAD(&tm->masks);
	INIT_LIST_HEAD(&tm->free_masks);
	for (i = 0; i < MXE_TM_TABLES * tm->num_buckets; i++)
		INIT_LIST_HEAD(&tm->tables[i]);
	for (i = 0; i < tm->max_tags; i++) {
		struct mxe_tm_mask *mask = &tm->mask_mem[i];

		INIT_LIST_HEAD(&mask->only_bucket);
		mask->buckets = &mask->only_bucket;
		mask->num_buckets = 1;
		if (i < MXE_TM_TABLES) {
			mask->buckets = &tm->tables[i * tm->num_buckets];
			mask->num_buckets = tm->num_buckets;
		}
		list_add_tail(&mask->entry, &tm->free_masks);
	}
}

static int mxe_tm_alloc(struct mxe_tm *tm)
{
	u32 i;

	tm->num_buckets = roundup_pow_of_two(tm->max_tags);
	tm->seed = get_random_u32();
	tm->tags = kvcalloc(tm->max_tags, sizeof(*tm->tags), GFP_KERNEL_ACCOUNT);
	tm->mask_mem = kvcalloc(tm->max_tags, sizeof(*tm->mask_mem),
				GFP_KERNEL_ACCOUNT);
	tm->tables = kvcalloc(MXE_TM_TABLES * tm->num_buckets,
			      sizeof(*tm->tables), GFP_KERNEL_ACCOUNT);
	tm->handles = kvcalloc(tm->num_buckets, sizeof(*tm->handles),
			       GFP_KERNEL_ACCOUNT);
	if (!tm->tags || !tm->mask_mem || !tm->tables || !tm->handles)
		return -ENOMEM;

	mxe_tm_init_masks(tm);
	INIT_LIST_HEAD(&tm->free_tags);
	for (i = 0; i < tm->max_tags; i++)
		list_add_tail(&tm->tags[i].entry, &tm->free_tags);
	return 0;
}

/*
 * Make an SRQ that is being created a tag-matching one. @max_tags is at least
 * 1. The caller creates the ring of operations. Call mxe_tm_destroy() after a
 * failure, too.
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_tm_create(struct mxe_srq *srq, u32 max_tags, struct ib_ucontext *uctx)
{
	struct mxe_tm *tm = kzalloc(sizeof(*tm), GFP_KERNEL_ACCOUNT);
	int err;

	if (!tm)
		return -ENOMEM;
	srq->tm = tm;
	tm->max_tags = max_tags;
	tm->uctx = uctx;
	err = mxe_tm_alloc(tm);
	if (!err)
		static_branch_enable(&mxe_tm_used);
	return err;
}

/*
 * Free the list of tags, if any, of an SRQ that no one uses any more.
 * Context: May sleep.
 */
void mxe_tm_destroy(struct mxe_srq *srq)
{
	struct mxe_tm *tm = srq->tm;

	if (!tm)
		return;
	mxe_ring_destroy(&tm->ops);
	kvfree(tm->tags);
	kvfree(tm->mask_mem);
	kvfree(tm->tables);
	kvfree(tm->handles);
	kfree(tm);
	srq->tm = NULL;
}

/* ---- the list ---------------------------------------------------------- */

/* The seed keeps tags from sharing a bucket in each SRQ of a program. */
static struct list_head *mxe_tm_bucket(const struct mxe_tm *tm, u64 tag,
				       const struct mxe_tm_mask *mask)
{
	u32 hash;

	if (mask->num_buckets == 1)
		return mask->buckets;
	hash = jhash_2words(lower_32_bits(tag), upper_32_bits(tag), tm->seed);
	return &mask->buckets[hash & (mask->num_buckets - 1)];
}

static struct hlist_head *mxe_tm_handles(const struct mxe_tm *tm, u32 handle)
{
	return &tm->handles[handle & (tm->num_buckets - 1)];
}

static void mxe_tm_move(struct list_head *entry, struct list_head *to)
{
	list_del(entry);
	list_add(entry, to);
}

/* Returns the mask that is in use, or takes it into use. */
static struct mxe_tm_mask *mxe_tm_get_mask(struct mxe_tm *tm, u64 value)
{
	struct mxe_tm_mask *mask;

	list_for_each_entry(mask, &tm->masks, entry) {
		if (mask->mask == value)
			return mask;
		tm->steps++;
	}
	/* There are as many as tags, so one is free. */
	mask = list_first_entry(&tm->free_masks, struct mxe_tm_mask, entry);
	mxe_tm_move(&mask->entry, &tm->masks);
	WRITE_ONCE(tm->num_masks, tm->num_masks + 1);
	mask->mask = value;
	return mask;
}

static void mxe_tm_remove(struct mxe_tm *tm, struct mxe_tm_tag *tag)
{
	struct mxe_tm_mask *mask = tag->mask;

	if (!--mask->num_tags) {
		if (mask->num_buckets > 1)
			list_move(&mask->entry, &tm->free_masks);
		else
			list_move_tail(&mask->entry, &tm->free_masks);
		WRITE_ONCE(tm->num_masks, tm->num_masks - 1);
	}
	hlist_del(&tag->by_handle);
	mxe_tm_move(&tag->entry, &tm->free_tags);
	tm->freed++;
}

/* Returns the tag with these values that was posted first. */
static struct mxe_tm_tag *mxe_tm_first(struct mxe_tm *tm, u64 value,
				       const struct mxe_tm_mask *mask)
{
	struct mxe_tm_tag *tag;

	list_for_each_entry(tag, mxe_tm_bucket(tm, value, mask), entry) {
		if (tag->tag == value)
			return tag;
		tm->steps++;
	}
	return NULL;
}

static struct mxe_tm_tag *mxe_tm_match(struct mxe_tm *tm, u64 value)
{
	struct mxe_tm_tag *best = NULL, *tag;
	struct mxe_tm_mask *mask;

	list_for_each_entry(mask, &tm->masks, entry) {
		tag = mxe_tm_first(tm, value & mask->mask, mask);
		if (tag && (!best || tag->seq < best->seq))
			best = tag;
	}
	/* Tags are enabled in their order, so no later one is. */
	return best && best->seq < tm->enabled ? best : NULL;
}

static struct mxe_tm_tag *mxe_tm_by_handle(struct mxe_tm *tm, u32 handle)
{
	struct mxe_tm_tag *tag;

	hlist_for_each_entry(tag, mxe_tm_handles(tm, handle), by_handle) {
		if (tag->handle == handle)
			return tag;
		tm->steps++;
	}
	return NULL;
}

/* Enables all tags if the program has handled every unexpected message. */
static void mxe_tm_enable(struct mxe_tm *tm)
{
	if (tm->reported == tm->unexpected)
		tm->enabled = tm->seq;
}

static void mxe_tm_publish_freed(const struct mxe_tm *tm)
{
	WRITE_ONCE(tm->ops.hdr->tags_freed, tm->freed);
}

/* ---- operations -------------------------------------------------------- */

static bool mxe_tm_op_ok(const struct mxe_tm_wqe *op)
{
	return op->opcode <= MXE_TM_SYNC &&
	       !(op->flags & ~(MXE_TM_OP_SIGNALED | MXE_TM_OP_SYNC)) &&
	       op->num_sge <= (op->opcode == MXE_TM_ADD ? MXE_TM_MAX_SGE : 0) &&
	       !memchr_inv(op->reserved, 0, sizeof(op->reserved));
}

static int mxe_tm_add(struct mxe_tm *tm, const struct mxe_tm_wqe *op,
		      const void *sges)
{
	struct mxe_tm_tag *tag;

	tag = list_first_entry_or_null(&tm->free_tags, struct mxe_tm_tag, entry);
	if (!tag)
		return -ENOSPC;
	tag->mask = mxe_tm_get_mask(tm, op->mask);
	tag->mask->num_tags++;
	tag->tag = op->tag;
	tag->recv_wr_id = op->recv_wr_id;
	tag->handle = op->handle;
	tag->num_sge = op->num_sge;
	memcpy(tag->sge, sges, op->num_sge * sizeof(tag->sge[0]));
	tag->seq = tm->seq++;
	hlist_add_head(&tag->by_handle, mxe_tm_handles(tm, op->handle));
	list_move_tail(&tag->entry, mxe_tm_bucket(tm, op->tag, tag->mask));
	return 0;
}

static int mxe_tm_del(struct mxe_tm *tm, u32 handle)
{
	struct mxe_tm_tag *tag = mxe_tm_by_handle(tm, handle);

	if (!tag)
		return -ENOENT;
	mxe_tm_remove(tm, tag);
	return 0;
}

/* Executes an operation.  Returns the status of its completion. */
static int mxe_tm_exec(struct mxe_srq *srq, const struct mxe_tm_wqe *op,
		       const void *sges)
{
	struct mxe_tm *tm = srq->tm;
	int err = mxe_tm_op_ok(op) ? 0 : -EINVAL;

	if (!err && op->opcode == MXE_TM_ADD)
		err = mxe_tm_add(tm, op, sges);
	else if (!err && op->opcode == MXE_TM_DEL)
		err = mxe_tm_del(tm, op->handle);
	if (err && op->opcode == MXE_TM_ADD)
		tm->freed++;
	if (err == -ENOENT)
		return MXE_WC_TM_ERR;
	if (err) {
		mxe_count(to_mdev(srq->ibsrq.device), bad_wqe);
		return IB_WC_LOC_QP_OP_ERR;
	}
	return IB_WC_SUCCESS;
}

static enum mxe_cq_result mxe_tm_execute(struct mxe_srq *srq, const void *entry)
{
	struct mxe_tm *tm = srq->tm;
	struct mxe_tm_wqe op;
	struct mxe_wc wc;
	int status;

	/* The process may change the entry, so only this copy is used. */
	memcpy(&op, entry, sizeof(op));
	barrier();

	status = mxe_tm_exec(srq, &op, entry + sizeof(op));
	if (status != IB_WC_LOC_QP_OP_ERR) {
		if (op.flags & MXE_TM_OP_SYNC || op.opcode == MXE_TM_SYNC)
			tm->reported = op.unexpected_cnt;
		mxe_tm_enable(tm);
		if (!(op.flags & MXE_TM_OP_SIGNALED))
			return MXE_CQ_ADDED;
	}
	wc = (struct mxe_wc) {
		.wr_id = op.wr_id,
		.status = (enum ib_wc_status)status,
		.opcode = MXE_WC_TM_ADD + min_t(u8, op.opcode, MXE_TM_SYNC),
		.flags = tm->reported == tm->unexpected ? 0 : MXE_CQE_TM_SYNC_REQ,
	};
	return mxe_cq_add(to_mcq(srq->ibsrq.ext.cq), NULL, &wc);
}

/*
 * Executes up to @max operations while @budget lasts.  Returns the events that
 * follow, as bits of enum mxe_pending.
 */
static unsigned long mxe_tm_run(struct mxe_srq *srq, u32 max, s32 *budget)
{
	struct mxe_tm *tm = srq->tm;
	unsigned long pending = 0;
	const void *entry;
	u32 left;

	lockdep_assert_held(&srq->lock);

	left = mxe_ring_producer(&tm->ops) - tm->consumed;
	if (!left || tm->halted)
		return 0;
	if (left > tm->ops.entries) {
		mxe_count(to_mdev(srq->ibsrq.device), bad_wqe);
		tm->halted = true;
		return BIT(MXE_PENDING_EV_SRQ_ERR);
	}
	for (left = min(left, max); left && *budget > 0; left--) {
		tm->steps = 0;
		entry = mxe_ring_entry(&tm->ops, tm->consumed);
		/* mxe_tm_cost() reads it without the lock. */
		WRITE_ONCE(tm->consumed, tm->consumed + 1);
		switch (mxe_tm_execute(srq, entry)) {
		case MXE_CQ_ADDED_NOTIFY:
			pending |= BIT(MXE_PENDING_NOTIFY);
			break;
		case MXE_CQ_OVERRUN_FIRST:
			pending |= BIT(MXE_PENDING_CQ_ERROR);
			break;
		default:
			break;
		}
		*budget -= MXE_TM_OP_COST + tm->steps / MXE_TM_STEPS_PER_UNIT;
	}
	mxe_tm_publish_freed(tm);
	mxe_ring_set_consumer(&tm->ops, tm->consumed);
	return pending;
}

/*
 * Execute a slice of the operations in the ring. Return true if operations
 * remain.
 * Context: BHs disabled. Takes and releases the lock of the SRQ, and calls the
 * handlers of its CQ.
 */
bool mxe_tm_ring(struct mxe_srq *srq)
{
	struct mxe_cq *cq = to_mcq(srq->ibsrq.ext.cq);
	struct mxe_tm *tm = srq->tm;
	s32 budget = MXE_TM_SLICE;
	unsigned long pending;
	bool more;

	spin_lock(&srq->lock);
	pending = mxe_tm_run(srq, U32_MAX, &budget);
	more = budget <= 0 && mxe_ring_producer(&tm->ops) != tm->consumed;
	spin_unlock(&srq->lock);

	if (pending & BIT(MXE_PENDING_NOTIFY))
		mxe_cq_notify(cq);
	if (pending & BIT(MXE_PENDING_CQ_ERROR))
		mxe_cq_error(cq);
	if (pending & BIT(MXE_PENDING_EV_SRQ_ERR))
		mxe_srq_event(srq, IB_EVENT_SRQ_ERR);
	return more;
}

/* ---- messages ---------------------------------------------------------- */

/*
 * Estimate what the search for the tag of a message costs, in units of the
 * receive budget. The result is at most MXE_SLICE.
 * Context: Any. Takes no lock.
 */
u32 mxe_tm_cost(const struct mxe_tm *tm)
{
	u32 ops = mxe_ring_producer(&tm->ops) - READ_ONCE(tm->consumed);
	u32 masks = READ_ONCE(tm->num_masks);

	ops = min_t(u32, ops, MXE_TM_MAX_UNRUNG);
	return min_t(u32, masks / MXE_TM_MASKS_PER_UNIT +
		     ops * (MXE_TM_OP_COST + masks / MXE_TM_STEPS_PER_UNIT),
		     MXE_SLICE);
}

/* Takes the request of the tag that matches, if there is one. */
static bool mxe_tm_take_tag(struct mxe_tm *tm, const struct mxe_tm_msg *msg,
			    struct mxe_recv_wr *wr)
{
	struct mxe_tm_tag *tag = mxe_tm_match(tm, be64_to_cpu(msg->hdr.tmh.tag));

	if (!tag)
		return false;
	wr->wr_id = tag->recv_wr_id;
	wr->error = IB_WC_SUCCESS;
	wr->num_sge = tag->num_sge;
	memcpy(wr->sge, tag->sge, tag->num_sge * sizeof(tag->sge[0]));
	mxe_tm_remove(tm, tag);
	mxe_tm_publish_freed(tm);
	return true;
}

/**
 * mxe_tm_take() - Find the receive request for a message.
 * @srq: tag-matching SRQ
 * @msg: the message.  Its kind is MXE_TM_EAGER or MXE_TM_RNDV, which becomes
 *	MXE_TM_UNEXPECTED if no tag matches, or MXE_TM_NO_TAG.  Its cost is set.
 * @wr: set to the request of the tag, or to the next request of the SRQ
 * @pending: as for mxe_srq_take(), and the events of operations
 *
 * First executes operations that the process posted without a doorbell.  A tag
 * that matches leaves the list.
 *
 * Context: BHs disabled.  Takes and releases the lock of the SRQ.
 * Return: 0, or an error of mxe_rq_take(), after which nothing was taken except
 * with -EIO.
 */
int mxe_tm_take(struct mxe_srq *srq, struct mxe_tm_msg *msg,
		struct mxe_recv_wr *wr, unsigned long *pending)
{
	struct mxe_tm *tm = srq->tm;
	s32 budget = MXE_TM_SLICE;
	bool has_tag = false;
	int err = 0;

	/*
	 * The search, and the count of an unexpected message, are one step.
	 * Otherwise a tag could be posted in between, and match a later
	 * message.
	 */
	spin_lock(&srq->lock);
	*pending |= mxe_tm_run(srq, MXE_TM_MAX_UNRUNG, &budget);
	tm->steps = 0;
	if (msg->kind != MXE_TM_NO_TAG) {
		budget -= tm->num_masks / MXE_TM_MASKS_PER_UNIT;
		has_tag = mxe_tm_take_tag(tm, msg, wr);
	}
	if (!has_tag) {
		err = mxe_srq_take_locked(srq, wr, pending);
		if (!err && msg->kind != MXE_TM_NO_TAG) {
			msg->kind = MXE_TM_UNEXPECTED;
			tm->unexpected++;
		}
	}
	msg->cost = MXE_TM_SLICE - budget + tm->steps / MXE_TM_STEPS_PER_UNIT;
	spin_unlock(&srq->lock);
	if (has_tag)
		mxe_rq_sum_length(wr);
	return err;
}

/*
 * Set what a completion says about a message. It keeps a pointer to @msg. Leave
 * a completion in error unchanged.
 */
void mxe_tm_fill_wc(struct mxe_tm_msg *msg, struct mxe_wc *wc)
{
	if (msg->kind == MXE_TM_NONE || wc->status)
		return;
	wc->opcode = msg->kind == MXE_TM_NO_TAG ? MXE_WC_TM_NO_TAG :
						  MXE_WC_TM_RECV;
	switch (msg->kind) {
	case MXE_TM_EAGER:
		wc->flags |= MXE_CQE_TM_DATA_VALID;
		break;
	case MXE_TM_RNDV_INCOMPLETE:
		wc->status = (enum ib_wc_status)MXE_WC_TM_RNDV_INCOMPLETE;
		break;
	case MXE_TM_RNDV:
		break;
	default:
		return;
	}
	if (msg->match_reported)
		return;
	msg->match_reported = true;
	wc->flags |= MXE_CQE_TM_INFO | MXE_CQE_TM_MATCH;
	wc->tmh = &msg->hdr.tmh;
}

/*
 * Take back that a message was unexpected. It did not arrive completely, so the
 * program never counts it.
 * Context: BHs disabled. Takes and releases the lock of the SRQ.
 */
void mxe_tm_lost(struct mxe_srq *srq)
{
	spin_lock(&srq->lock);
	srq->tm->unexpected--;
	mxe_tm_enable(srq->tm);
	spin_unlock(&srq->lock);
}
