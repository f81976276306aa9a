// SPDX-License-Identifier: GPL-2.0
/* Completion queues: verbs, adding of completions, and moderated events. */
#include <linux/if_vlan.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "mxe.h"
#include "queues/cq.h"
#include "queues/qp.h"
#include "udata.h"
#include "wire/pkt.h"

/*
 * Class of the locks of the CQs of processes.  mxe_cq_add() takes these with
 * interrupts enabled.
 */
static struct lock_class_key mxe_cq_user_class;

/* Entries that a resize copies with interrupts disabled. */
#define MXE_CQ_COPY_SLICE	1024

/*
 * Indexed by enum mxe_wc_opcode.  MXE_WC_BIND_MW never occurs, because only
 * processes bind windows.
 */
static const u8 mxe_cq_ib_opcodes[] = {
	[MXE_WC_SEND] = IB_WC_SEND,
	[MXE_WC_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[MXE_WC_RDMA_READ] = IB_WC_RDMA_READ,
	[MXE_WC_COMP_SWAP] = IB_WC_COMP_SWAP,
	[MXE_WC_FETCH_ADD] = IB_WC_FETCH_ADD,
	[MXE_WC_BIND_MW] = IB_WC_LOCAL_INV,
	[MXE_WC_LOCAL_INV] = IB_WC_LOCAL_INV,
	[MXE_WC_FLUSH] = IB_WC_FLUSH,
	[MXE_WC_ATOMIC_WRITE] = IB_WC_ATOMIC_WRITE,
	[MXE_WC_MASKED_COMP_SWAP] = IB_WC_MASKED_COMP_SWAP,
	[MXE_WC_MASKED_FETCH_ADD] = IB_WC_MASKED_FETCH_ADD,
	[MXE_WC_REG_MR] = IB_WC_REG_MR,
	[MXE_WC_RECV] = IB_WC_RECV,
	[MXE_WC_RECV_RDMA_WITH_IMM] = IB_WC_RECV_RDMA_WITH_IMM,
};

static void mxe_cq_write_kernel(struct mxe_cq *cq, struct mxe_qp *qp,
				const struct mxe_wc *wc)
{
	struct ib_wc *ibwc = &cq->wc[cq->producer & (cq->entries - 1)];

	*ibwc = (struct ib_wc) {
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = mxe_cq_ib_opcodes[wc->opcode],
		.byte_len = wc->byte_len,
		.qp = qp->ibqp,
		.src_qp = wc->src_qp,
		.port_num = 1,
	};
	if (wc->flags & MXE_CQE_WITH_INV) {
		ibwc->wc_flags |= IB_WC_WITH_INVALIDATE;
		ibwc->ex.invalidate_rkey = wc->inv_rkey;
	}
	if (wc->flags & MXE_CQE_GRH)
		ibwc->wc_flags |= IB_WC_GRH;
	if (wc->flags & MXE_CQE_GRH && wc->vlan_id < VLAN_N_VID) {
		ibwc->wc_flags |= IB_WC_WITH_VLAN;
		ibwc->vlan_id = wc->vlan_id;
	}
	if (wc->flags & MXE_CQE_WITH_IMM) {
		ibwc->wc_flags |= IB_WC_WITH_IMM;
		ibwc->ex.imm_data = wc->imm;
	}
	cq->producer++;
}

/* The members of a CQE that few completions have. */
static void mxe_cq_write_rare(struct mxe_cqe *cqe, const struct mxe_wc *wc)
{
	if (wc->flags & MXE_CQE_WITH_INV)
		cqe->invalidated_rkey = wc->inv_rkey;
	if (wc->flags & MXE_CQE_TM_INFO) {
		cqe->tm_tag = be64_to_cpu(wc->tmh->tag);
		cqe->tm_priv = be32_to_cpu(wc->tmh->app_ctx);
	}
	if (wc->flags & MXE_CQE_INLINE) {
		cqe->recv_addr = wc->inl->addr;
		memcpy(cqe->inline_data, wc->inl->data, sizeof(cqe->inline_data));
	}
}

static void mxe_cq_write_user(struct mxe_cq *cq, struct mxe_qp *qp,
			      const struct mxe_wc *wc)
{
	struct mxe_cqe *cqe = mxe_ring_entry(&cq->ring, cq->producer);

	/* Members that the flags do not announce may keep an older value. */
	cqe->wr_id = wc->wr_id;
	cqe->status = wc->status;
	cqe->opcode = wc->opcode;
	cqe->flags = wc->flags;
	cqe->byte_len = wc->byte_len;
	cqe->qp_num = qp ? qp->qpn : 0;
	cqe->src_qp = wc->src_qp;
	cqe->imm_data = wc->imm;
	if (wc->flags & (MXE_CQE_WITH_INV | MXE_CQE_TM_INFO | MXE_CQE_INLINE))
		mxe_cq_write_rare(cqe, wc);
	if (cq->timestamps)
		cqe->timestamp = ktime_get_ns();
	cq->producer++;
	mxe_ring_set_producer(&cq->ring, cq->producer);
}

static u32 mxe_cq_consumer(const struct mxe_cq *cq)
{
	lockdep_assert_held(&cq->lock);

	return cq->is_user ? mxe_ring_consumer(&cq->ring) : cq->consumer;
}

/* Returns true if from < index <= to, for indices that wrap. */
static bool mxe_cq_is_between(u32 from, u32 index, u32 to)
{
	return index - from - 1 < to - from;
}

/* Sends an event after the period of moderation, in softirq context. */
static void mxe_cq_delay_event(struct mxe_cq *cq)
{
	cq->event_due = true;
	cq->event_count = 1;
	hrtimer_start(&cq->event_timer,
		      ns_to_ktime((u64)cq->mod_period * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_SOFT);
}

/* Counts a completion.  Returns true if the event is to be sent now. */
static bool mxe_cq_event(struct mxe_cq *cq, const struct mxe_wc *wc)
{
	bool solicited = wc->solicited || wc->status != IB_WC_SUCCESS;

	lockdep_assert_held(&cq->lock);

	if (solicited)
		cq->solicited_end = cq->producer;
	if (cq->event_due) {
		cq->event_count++;
	} else {
		if (cq->armed == MXE_CQ_IDLE ||
		    (cq->armed == MXE_CQ_ARMED_SOLICITED && !solicited))
			return false;
		cq->armed = MXE_CQ_IDLE;
		if (!cq->mod_period)
			return true;
		mxe_cq_delay_event(cq);
	}
	if (!cq->mod_count || cq->event_count < cq->mod_count)
		return false;
	cq->event_due = false;
	/* If the timer is running already, it finds event_due cleared. */
	hrtimer_try_to_cancel(&cq->event_timer);
	return true;
}

static enum hrtimer_restart mxe_cq_event_timer(struct hrtimer *timer)
{
	struct mxe_cq *cq = container_of(timer, struct mxe_cq, event_timer);
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&cq->lock, flags);
	due = cq->event_due;
	cq->event_due = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (due)
		mxe_cq_notify(cq);
	return HRTIMER_NORESTART;
}

/* Notes that a completion is lost. */
static enum mxe_cq_result mxe_cq_lose(struct mxe_cq *cq)
{
	bool first = !cq->overrun;

	cq->overrun = true;
	mxe_count(to_mdev(cq->ibcq.device), cq_overruns);
	return first ? MXE_CQ_OVERRUN_FIRST : MXE_CQ_OVERRUN;
}

/* Inlined twice with a constant @is_user. */
static __always_inline enum mxe_cq_result
mxe_cq_add_locked(struct mxe_cq *cq, struct mxe_qp *qp, const struct mxe_wc *wc,
		  bool is_user)
{
	u32 consumer = is_user ? mxe_ring_consumer(&cq->ring) : cq->consumer;

	/* An invalid consumer index of a process leaves no room either. */
	if (unlikely(cq->overrun || cq->producer - consumer >= cq->entries))
		return mxe_cq_lose(cq);
	if (is_user)
		mxe_cq_write_user(cq, qp, wc);
	else
		mxe_cq_write_kernel(cq, qp, wc);
	return mxe_cq_event(cq, wc) ? MXE_CQ_ADDED_NOTIFY : MXE_CQ_ADDED;
}

static enum mxe_cq_result mxe_cq_add_kernel(struct mxe_cq *cq, struct mxe_qp *qp,
					    const struct mxe_wc *wc)
{
	enum mxe_cq_result result;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	result = mxe_cq_add_locked(cq, qp, wc, false);
	spin_unlock_irqrestore(&cq->lock, flags);
	return result;
}

/*
 * Add a completion of @qp, or of a tag operation if @qp is NULL. A CQ that was
 * overrun takes no more completions.
 * Context: BHs disabled. Takes and releases cq->lock.
 * Return: the action that the caller takes after it has dropped its locks.
 */
enum mxe_cq_result mxe_cq_add(struct mxe_cq *cq, struct mxe_qp *qp,
			      const struct mxe_wc *wc)
{
	enum mxe_cq_result result;

	if (unlikely(!cq->is_user))
		return mxe_cq_add_kernel(cq, qp, wc);
	/* No hard interrupt takes the lock of the CQ of a process. */
	spin_lock(&cq->lock);
	result = mxe_cq_add_locked(cq, qp, wc, true);
	spin_unlock(&cq->lock);
	return result;
}

/*
 * Call the completion handler of the consumer.
 * Context: Process context or softirq, no lock of a QP held. Holds notify_lock
 * while the handler runs, with BHs disabled.
 */
void mxe_cq_notify(struct mxe_cq *cq)
{
	spin_lock_bh(&cq->notify_lock);
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	spin_unlock_bh(&cq->notify_lock);
}

/*
 * Report IB_EVENT_CQ_ERR to the consumer, because the CQ was overrun.
 * Context: Process context or softirq, no lock of a QP held.
 */
void mxe_cq_error(struct mxe_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

/*
 * Remove the completions of a QP that is being destroyed, unless the CQ is that
 * of a process.
 * Context: May sleep. Takes and releases cq->resize_mutex.
 */
void mxe_cq_clean(struct mxe_cq *cq, struct mxe_qp *qp)
{
	unsigned long flags;
	u32 from, to;

	if (cq->is_user)
		return;

	mutex_lock(&cq->resize_mutex);
	spin_lock_irqsave(&cq->lock, flags);
	for (from = to = cq->consumer; from != cq->producer; from++) {
		if (cq->wc[from & (cq->entries - 1)].qp == qp->ibqp)
			continue;
		cq->wc[to++ & (cq->entries - 1)] =
			cq->wc[from & (cq->entries - 1)];
	}
	/* One of those left may be solicited: count the last as such. */
	if (mxe_cq_is_between(to, cq->solicited_end, cq->producer))
		cq->solicited_end = to;
	cq->producer = to;
	spin_unlock_irqrestore(&cq->lock, flags);
	mutex_unlock(&cq->resize_mutex);
}

static int mxe_cq_create_user(struct mxe_cq *cq, struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(cq->ibcq.device);
	struct mxe_create_cq_resp resp = {};
	struct mxe_create_cq_req req;
	int err;

	err = mxe_udata_in(udata, &req, sizeof(req), sizeof(req));
	if (err)
		return mxe_refuse(dev, err, "bad udata");
	if (req.flags || req.reserved)
		return mxe_refuse(dev, -EINVAL, "unknown flags %#x",
				  req.flags);
	if (udata->outlen < sizeof(resp))
		return mxe_refuse(dev, -EINVAL, "no room for the response");

	err = mxe_ring_create(&cq->ring, mxe_udata_ucontext(udata),
			      cq->entries, sizeof(struct mxe_cqe));
	if (err)
		return err;
	mxe_ring_info(&cq->ring, &resp.ring);
	err = mxe_udata_out(udata, &resp, sizeof(resp));
	if (err)
		mxe_ring_destroy(&cq->ring);
	return err;
}

int mxe_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(ibcq->device);
	struct mxe_cq *cq = to_mcq(ibcq);
	int err;

	/*
	 * IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN would save nothing, because the
	 * kernel checks for room in any case.  struct ib_wc has no timestamp,
	 * so kernel consumers cannot have one.
	 */
	if (attr->flags & ~(udata ? IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION : 0))
		return mxe_refuse(dev, -EOPNOTSUPP, "unsupported flags %#x", attr->flags);
	if (!attr->cqe || attr->cqe > MXE_MAX_CQE)
		return mxe_refuse(dev, -EINVAL, "%u entries, at most %u",
				  attr->cqe, MXE_MAX_CQE);
	if (attr->comp_vector >= ibcq->device->num_comp_vectors)
		return mxe_refuse(dev, -EINVAL, "invalid completion vector %u",
				  attr->comp_vector);

	err = mxe_resource_take(dev, MXE_RESOURCE_CQ);
	if (err)
		return err;
	mutex_init(&cq->resize_mutex);
	spin_lock_init(&cq->lock);
	if (udata)
		lockdep_set_class(&cq->lock, &mxe_cq_user_class);
	spin_lock_init(&cq->notify_lock);
	mxe_hrtimer_setup(&cq->event_timer, mxe_cq_event_timer, CLOCK_MONOTONIC,
			  HRTIMER_MODE_REL_SOFT);
	cq->entries = roundup_pow_of_two(attr->cqe);

	cq->timestamps = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->is_user = udata;
	if (udata) {
		cq->mm = current->mm;
		err = mxe_cq_create_user(cq, udata);
	} else {
		cq->wc = kvcalloc(cq->entries, sizeof(*cq->wc),
				  GFP_KERNEL_ACCOUNT);
		if (!cq->wc)
			err = -ENOMEM;
	}
	if (err)
		mxe_resource_give(dev, MXE_RESOURCE_CQ);
	else
		ibcq->cqe = cq->entries;
	return err;
}

/* Copies the completions from..to to the new memory. */
static void mxe_cq_copy(const struct mxe_cq *cq, u32 from, u32 to, u32 entries,
			struct ib_wc *wc, const struct mxe_ring *ring)
{
	u32 i;

	lockdep_assert_held(&cq->lock);

	for (i = from; i != to; i++) {
		if (cq->is_user)
			memcpy(mxe_ring_entry(ring, i),
			       mxe_ring_entry(&cq->ring, i),
			       sizeof(struct mxe_cqe));
		else
			wc[i & (entries - 1)] = cq->wc[i & (cq->entries - 1)];
	}
}

/*
 * Copies up to MXE_CQ_COPY_SLICE unpolled completions, from *copied on, at the
 * same indices. After the last one, swaps the new memory with the old. Returns
 * 0 if this is done, -EAGAIN if completions remain, or -EINVAL.
 */
static int mxe_cq_swap_slice(struct mxe_cq *cq, u32 entries, struct ib_wc **wc,
			     struct mxe_ring *ring, u32 *copied)
{
	unsigned long flags;
	u32 consumer, to;
	int err = 0;

	spin_lock_irqsave(&cq->lock, flags);
	consumer = mxe_cq_consumer(cq);
	/* Too many for the new size, or an invalid index of a process. */
	if (cq->overrun || cq->producer - consumer > min(entries, cq->entries)) {
		err = -EINVAL;
		goto unlock;
	}
	/* Skip completions that were polled meanwhile. */
	if (cq->producer - *copied > cq->producer - consumer)
		*copied = consumer;
	to = *copied + min_t(u32, cq->producer - *copied, MXE_CQ_COPY_SLICE);
	mxe_cq_copy(cq, *copied, to, entries, *wc, ring);
	*copied = to;
	if (to != cq->producer) {
		err = -EAGAIN;
		goto unlock;
	}
	if (cq->is_user) {
		WRITE_ONCE(ring->hdr->consumer, consumer);
		mxe_ring_set_producer(ring, cq->producer);
	}
	swap(cq->wc, *wc);
	swap(cq->ring, *ring);
	cq->entries = entries;
	cq->ibcq.cqe = entries;
unlock:
	spin_unlock_irqrestore(&cq->lock, flags);
	return err;
}

/*
 * Completions that are added meanwhile are copied, too.  A process that keeps
 * adding them delays only itself, and can be killed.
 */
static int mxe_cq_swap(struct mxe_cq *cq, u32 entries, struct ib_wc **wc,
		       struct mxe_ring *ring)
{
	u32 copied;
	int err;

	mutex_lock(&cq->resize_mutex);
	copied = cq->is_user ? mxe_ring_consumer(&cq->ring) :
			       READ_ONCE(cq->consumer);
	for (;;) {
		err = mxe_cq_swap_slice(cq, entries, wc, ring, &copied);
		if (err != -EAGAIN)
			break;
		cond_resched();
		if (fatal_signal_pending(current)) {
			err = -EINTR;
			break;
		}
	}
	mutex_unlock(&cq->resize_mutex);
	return err;
}

/* Allocates the new ring of a process and returns its description. */
static int mxe_cq_new_ring(struct mxe_ring *ring, u32 entries,
			   struct ib_udata *udata)
{
	struct mxe_resize_cq_resp resp = {};
	int err;

	if (!mxe_udata_cleared(udata))
		return -EINVAL;
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	err = mxe_ring_create(ring, mxe_udata_ucontext(udata), entries,
			      sizeof(struct mxe_cqe));
	if (err)
		return err;
	mxe_ring_info(ring, &resp.ring);
	return mxe_udata_out(udata, &resp, sizeof(resp));
}

int mxe_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(ibcq->device);
	struct mxe_cq *cq = to_mcq(ibcq);
	struct mxe_ring ring = {};
	struct ib_wc *wc = NULL;
	u32 entries;
	int err;

	if (!cqe || cqe > MXE_MAX_CQE)
		return mxe_refuse(dev, -EINVAL, "%u entries, at most %u", cqe,
				  MXE_MAX_CQE);
	entries = roundup_pow_of_two(cqe);
	if (cq->is_user) {
		err = mxe_cq_new_ring(&ring, entries, udata);
	} else {
		wc = kvcalloc(entries, sizeof(*wc), GFP_KERNEL_ACCOUNT);
		err = wc ? 0 : -ENOMEM;
	}
	if (!err) {
		err = mxe_cq_swap(cq, entries, &wc, &ring);
		if (err)
			mxe_refuse(dev, err, "cannot move the completions to %u entries",
				   entries);
	}
	/* The old memory, or the new memory after an error. */
	mxe_ring_destroy(&ring);
	kvfree(wc);
	return err;
}

/* Affects later events only.  An event that is due keeps its timer. */
int mxe_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct mxe_cq *cq = to_mcq(ibcq);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->mod_count = count;
	cq->mod_period = period;
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

int mxe_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct mxe_cq *cq = to_mcq(ibcq);

	hrtimer_cancel(&cq->event_timer);

	/*
	 * No QP uses the CQ any more, but the handler may still be running.
	 * Wait for it.
	 */
	spin_lock_bh(&cq->notify_lock);
	spin_unlock_bh(&cq->notify_lock);
	mxe_ring_destroy(&cq->ring);
	kvfree(cq->wc);
	mutex_destroy(&cq->resize_mutex);
	mxe_resource_give(to_mdev(ibcq->device), MXE_RESOURCE_CQ);
	return 0;
}

int mxe_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct mxe_cq *cq = to_mcq(ibcq);
	unsigned long flags;
	int i;

	/* Processes poll the ring, not by the legacy uverbs command. */
	if (cq->is_user)
		return mxe_refuse(to_mdev(ibcq->device), -EOPNOTSUPP,
				  "queue of a process");

	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < num_entries && cq->consumer != cq->producer; i++)
		wc[i] = cq->wc[cq->consumer++ & (cq->entries - 1)];
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

/* Returns true if the CQ has a completion of the kind that it is armed for. */
static bool mxe_cq_has_missed(const struct mxe_cq *cq, u32 consumer)
{
	if (cq->armed == MXE_CQ_ARMED)
		return consumer != cq->producer;
	return mxe_cq_is_between(consumer, cq->solicited_end, cq->producer);
}

/*
 * As on adapters, arming carries the consumer index: the event is sent at once
 * if the CQ has completions that the consumer has not polled.  A kernel
 * consumer that asks for IB_CQ_REPORT_MISSED_EVENTS is told instead.
 */
int mxe_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags notify)
{
	struct mxe_cq *cq = to_mcq(ibcq);
	bool missed, now = false;
	unsigned long flags;
	u32 consumer;

	spin_lock_irqsave(&cq->lock, flags);
	if ((notify & IB_CQ_SOLICITED_MASK) == IB_CQ_NEXT_COMP)
		cq->armed = MXE_CQ_ARMED;
	else if (cq->armed == MXE_CQ_IDLE)
		cq->armed = MXE_CQ_ARMED_SOLICITED;

	consumer = mxe_cq_consumer(cq);
	missed = mxe_cq_has_missed(cq, consumer);
	if (notify & IB_CQ_REPORT_MISSED_EVENTS) {
		missed = consumer != cq->producer;
	} else if (missed && !cq->event_due) {
		cq->armed = MXE_CQ_IDLE;
		/* The handler of a kernel consumer may be what arms the CQ. */
		now = cq->is_user && !cq->mod_period;
		if (!now)
			mxe_cq_delay_event(cq);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (now)
		mxe_cq_notify(cq);
	return notify & IB_CQ_REPORT_MISSED_EVENTS && missed;
}
