// SPDX-License-Identifier: GPL-2.0
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "loopback.h"
#include "mxe.h"
#include "psn.h"
#include "respond.h"
#include "retry.h"
#include "send.h"
#include "sq.h"
#include "tx.h"
#include "uc.h"
#include "ud.h"
#include "wqe.h"
#include "wr.h"

/* ---- packets ----------------------------------------------------------- */

/* Of an opcode that says its transport by its upper bits: any but atomics. */
static u8 mxe_send_opcode(const struct mxe_send_wr *wr,
			  enum mxe_transport transport, bool first, bool last)
{
	unsigned int place = (first ? MXE_WR_FIRST : MXE_WR_MIDDLE) |
			     (last ? MXE_WR_LAST : 0);

	return transport << 5 | mxe_wr_rows[wr->opcode].bth_opcode[place];
}

static u8 mxe_atomic_opcode(enum mxe_atomic_op op)
{
	switch (op) {
	case MXE_ATOMIC_CMP_SWAP:
		return IB_OPCODE_RC_COMPARE_SWAP;
	case MXE_ATOMIC_FETCH_ADD:
		return IB_OPCODE_RC_FETCH_ADD;
	case MXE_ATOMIC_MASKED_CMP_SWAP:
		return MXE_OPCODE_RC_MASKED_CMP_SWAP;
	default:
		return MXE_OPCODE_RC_MASKED_FETCH_ADD;
	}
}

static void mxe_send_describe_placement(const struct mxe_send_wr *wr,
					enum mxe_transport transport,
					struct mxe_pkt_out *out)
{
	out->ack_req = true;
	out->opcode = mxe_send_opcode(wr, transport, true, true);
	if (wr->opcode == IB_WR_FLUSH) {
		out->dma_len = wr->flush.length;
		out->flush_type = wr->flush.type;
		out->flush_level = wr->flush.level;
		return;
	}
	out->dma_len = MXE_ATOMIC_WRITE_SIZE;
	out->payload_len = MXE_ATOMIC_WRITE_SIZE;
}

static bool mxe_send_may_start(struct mxe_qp *qp,
			       const struct mxe_send_wr *wr);

/* Is the next request there, and sure to be sent in the same slice? */
static bool mxe_send_is_followed(struct mxe_qp *qp)
{
	const struct mxe_send_wr *wr;
	struct mxe_sq *sq = &qp->sq;
	u32 next = sq->cur + 1;

	if (sq->budget <= 0 || (next == sq->fetched && !mxe_send_fetch(qp)))
		return false;
	if (sq->local_error && sq->local_error_at == next)
		return false;
	wr = mxe_sq_wr(sq, next);
	return wr->started ||
	       (!wr->error && !mxe_wr_is_local(wr->opcode) &&
		(!mxe_wr_is_rd_atomic(wr->opcode) ||
		 qp->attr.max_rd_atomic) &&
		mxe_send_may_start(qp, wr));
}

/*
 * One answer serves all that is sent in one go, so the last packet of that asks
 * for it; and others often enough that the window does not close unnoticed.
 */
static bool mxe_send_wants_ack(struct mxe_qp *qp, u32 psn, bool last)
{
	u32 unacked = mxe_psn_diff(psn, qp->sq.una);
	struct mxe_sq *sq = &qp->sq;
	bool ask;

	ask = unacked % (MXE_MAX_UNACKED / 4) == 0 ||
	      unacked + 1 >= sq->window;
	if (!ask && !last)
		return false;
	/* One sent again does not count on others any more. */
	ask = ask || mxe_psn_diff(psn, sq->sent_psn) < 0 ||
	      !mxe_send_is_followed(qp);
	sq->ack_left = !ask;
	return ask;
}

/* Describe the packet of wr that has sequence number psn. */
static void mxe_send_describe(struct mxe_qp *qp, const struct mxe_send_wr *wr,
			      u32 psn, struct mxe_pkt_out *out)
{
	u32 offset = mxe_psn_diff(psn, wr->first_psn) * qp->mtu;
	enum mxe_transport transport = mxe_qp_transport(qp);
	bool first = psn == wr->first_psn;
	bool last = psn == wr->last_psn;

	mxe_pkt_out_init(out);
	out->pkey = 0xffff;
	out->qpn = qp->dest_qpn;
	out->psn = psn;
	out->va = wr->remote_addr;
	out->rkey = wr->rkey;
	out->srqn = wr->srqn;
	if (mxe_wr_is_rd_atomic(wr->opcode))
		qp->sq.ack_left = false;	/* Its response does. */
	if (mxe_wr_is_atomic(wr->opcode)) {
		out->opcode = mxe_opcode_of(transport,
					    mxe_atomic_opcode(wr->atomic.op));
		mxe_atomic_copy(&out->atomic, &wr->atomic);
		out->ack_req = true;
		return;
	}
	if (wr->opcode == IB_WR_RDMA_READ) {
		/* A repeated READ asks for what is missing only. */
		out->opcode = mxe_send_opcode(wr, transport, true, true);
		out->va += offset;
		out->dma_len = wr->length - offset;
		out->ack_req = true;
		return;
	}

	if (mxe_wr_is_placement(wr->opcode)) {
		mxe_send_describe_placement(wr, transport, out);
		return;
	}

	out->opcode = mxe_send_opcode(wr, transport, first, last);
	out->dma_len = wr->length;
	out->payload_len = last ? wr->length - offset : qp->mtu;
	out->imm = wr->imm;
	out->inv_rkey = wr->rkey;
	out->solicited = last && wr->flags & MXE_SEND_SOLICITED;
	if (!mxe_qp_is_uc(qp))
		out->ack_req = mxe_send_wants_ack(qp, psn, last);
}

int mxe_send_gather(struct mxe_qp *qp, const struct mxe_send_wr *wr,
		    u32 offset, void *buf, u32 len)
{
	if (!len)
		return 0;
	if (wr->flags & MXE_SEND_INLINE) {
		memcpy(buf, wr->inline_data + offset, len);
		return 0;
	}
	if (wr->opcode == IB_WR_ATOMIC_WRITE && !wr->num_sge) {
		memcpy(buf, &wr->atomic_write, len);
		return 0;
	}
	return mxe_sge_copy_cached(qp->dev, qp->pd, wr->sge, wr->num_sge,
				   offset, buf, len, MXE_FROM_MEMORY,
				   &qp->sq.mr_cache);
}

int mxe_send_one(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_sq *sq = &qp->sq;
	struct mxe_pkt_out out __uninitialized;
	struct sk_buff *skb;
	u8 *payload;
	u32 offset;
	int err;

	mxe_send_describe(qp, wr, sq->psn, &out);
	skb = mxe_tx_alloc(qp, &out, NULL, &payload);
	if (!skb)
		return -ENOMEM;

	offset = mxe_psn_diff(sq->psn, wr->first_psn) * qp->mtu;
	err = mxe_send_gather(qp, wr, offset, payload, out.payload_len);
	if (err) {
		kfree_skb(skb);
		return err;
	}

	/* No route now is a loss like another: the timer tries again. */
	mxe_tx_send(qp, &sq->tx, skb);
	return 0;
}

/* ---- running ----------------------------------------------------------- */

/* May a request that was never sent begin? */
static bool mxe_send_may_start(struct mxe_qp *qp, const struct mxe_send_wr *wr)
{
	const struct mxe_sq *sq = &qp->sq;

	if (qp->state != IB_QPS_RTS)
		return false;
	if (wr->error)
		return true;
	if (wr->flags & MXE_SEND_FENCE && sq->rd_atomic)
		return false;
	/* Local operations take effect in order with what is complete. */
	if (mxe_wr_is_local(wr->opcode))
		return sq->tail == sq->cur;
	/* A limit of 0 lets nothing start: it is refused below. */
	return !mxe_wr_is_rd_atomic(wr->opcode) ||
	       !qp->attr.max_rd_atomic ||
	       sq->rd_atomic < qp->attr.max_rd_atomic;
}

void mxe_send_start(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_sq *sq = &qp->sq;

	wr->started = true;
	wr->first_psn = sq->max_psn;
	wr->last_psn = mxe_psn_add(wr->first_psn, mxe_wr_num_pkts(qp, wr) - 1);
	sq->max_psn = mxe_psn_add(wr->last_psn, 1);
	sq->psn = wr->first_psn;
	sq->next++;
	if (mxe_wr_is_rd_atomic(wr->opcode))
		sq->rd_atomic++;
}

/*
 * The request before the one at sq->cur relied on that one to be acknowledged: its
 * last packet is sent again, and asks itself.
 */
static void mxe_send_ask_again(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;

	if (!sq->ack_left || sq->tail == sq->cur)
		return;
	sq->ack_left = false;
	mxe_sq_rewind(qp, mxe_sq_wr(sq, sq->cur - 1)->last_psn);
	sq->pending |= BIT(MXE_PENDING_WORK);
}

/*
 * The request at sq->cur cannot be sent.  It is reported by the work or the
 * completer, when everything before it is complete: until then that may have
 * to be sent again, after which we are here again.
 */
static void mxe_send_local_error(struct mxe_qp *qp, enum ib_wc_status status)
{
	struct mxe_sq *sq = &qp->sq;

	sq->local_error = status;
	sq->local_error_at = sq->cur;
	if (sq->tail == sq->cur) {
		sq->pending |= BIT(MXE_PENDING_WORK);
		return;
	}
	mxe_send_ask_again(qp);
}

/* False: what it invalidates is being accessed, to be tried again. */
static bool mxe_send_local_op(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	int err;

	switch (wr->opcode) {
	case IB_WR_REG_MR:
		err = mxe_mr_reg(qp->pd, &wr->reg);
		break;
	case IB_WR_BIND_MW:
		err = mxe_mw_bind(qp->dev, qp->pd, qp->qpn,
				  wr->rkey, &wr->bind);
		break;
	default:
		err = mxe_mw_invalidate(qp->dev, qp->pd, qp->qpn,
					wr->rkey);
		if (err == -ENOENT)
			err = mxe_mr_local_inv(qp->dev, qp->pd, wr->rkey);
		break;
	}

	if (err == -EBUSY) {
		qp->sq.pending |= BIT(MXE_PENDING_WORK);
		return false;
	}

	/* It has no packets, so it never shows up as outstanding. */
	wr->started = true;
	mxe_sq_complete_cur(qp, err ? IB_WC_MW_BIND_ERR : IB_WC_SUCCESS);
	return true;
}

/*
 * Begin with wr, which was never sent.  False: not now, or not at all.
 */
static bool mxe_send_begin(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	if (!mxe_send_may_start(qp, wr))
		return false;
	if (wr->error) {
		mxe_send_local_error(qp, wr->error);
		return false;
	}
	if (mxe_wr_is_rd_atomic(wr->opcode) && !qp->attr.max_rd_atomic) {
		mxe_send_local_error(qp, IB_WC_LOC_QP_OP_ERR);
		return false;
	}
	if (mxe_wr_is_local(wr->opcode))
		return mxe_send_local_op(qp, wr);
	mxe_send_start(qp, wr);
	return true;
}

void mxe_send_advance(struct mxe_sq *sq, const struct mxe_send_wr *wr)
{
	if (wr->opcode == IB_WR_RDMA_READ)
		sq->psn = mxe_psn_add(wr->last_psn, 1);
	else
		sq->psn = mxe_psn_add(sq->psn, 1);
	if (mxe_psn_diff(sq->psn, sq->sent_psn) > 0)
		sq->sent_psn = sq->psn;
	if (sq->psn == mxe_psn_add(wr->last_psn, 1))
		sq->cur++;
}

static void mxe_send_check_drained(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;

	if (qp->state != IB_QPS_SQD || sq->sqd_notified ||
	    mxe_sq_outstanding(sq))
		return;
	sq->sqd_notified = true;
	if (qp->attr.en_sqd_async_notify)
		sq->pending |= BIT(MXE_PENDING_EV_SQ_DRAINED);
}

u32 mxe_wr_long_pkt_cost(struct mxe_qp *qp, const struct mxe_send_wr *wr)
{
	u32 cost = mxe_pkt_cost(min(wr->length, qp->mtu), wr->num_sge);
	struct mxe_sq *sq = &qp->sq;

	lockdep_assert_held(&qp->send_lock);

	if (wr->opcode != IB_WR_RDMA_READ)
		return cost;
	/* It costs what its responses cost. */
	cost = min_t(u64, (u64)cost * mxe_wr_num_pkts(qp, wr), MXE_SLICE);
	if (cost == MXE_SLICE && in_task() && !(current->flags & PF_KTHREAD)) {
		sq->read_cpu = smp_processor_id();
		sq->reads_left = __this_cpu_read(mxe_reads_left);
	}
	return cost;
}

static void mxe_send_run_rc(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;

	while (mxe_qp_can_send(qp->state) && !sq->halted && !sq->rnr_wait) {
		enum mxe_loopback_result loop;
		struct mxe_send_wr *wr;
		bool ack_left;
		int err;

		if (sq->cur == sq->fetched && !mxe_send_fetch(qp))
			break;
		if (sq->budget <= 0)
			break;
		wr = mxe_sq_wr(sq, sq->cur);
		if (!wr->started) {
			u32 cur = sq->cur;

			loop = mxe_loopback_request(qp, wr);
			if (loop == MXE_LOOPBACK_DONE)
				continue;
			if (loop == MXE_LOOPBACK_LATER) {
				mxe_send_ask_again(qp);
				break;
			}
			if (!mxe_send_begin(qp, wr))
				break;
			/* It has completed: wr may be another request by now. */
			if (sq->cur != cur) {
				sq->budget--;
				continue;
			}
		}
		if (mxe_psn_diff(sq->psn, sq->una) >= (s32)sq->window)
			break;
		sq->budget -= mxe_wr_pkt_cost(qp, wr);
		ack_left = sq->ack_left;
		err = mxe_send_one(qp, wr);
		if (err)
			sq->ack_left = ack_left;
		if (err == -ENOMEM) {
			/* The timer goes on, not the work. */
			sq->budget = max(sq->budget, 1);
			mxe_retry_later(qp, 1);
			break;
		}
		if (err) {
			mxe_count(qp->dev, local_access_errors);
			mxe_send_local_error(qp, IB_WC_LOC_PROT_ERR);
			break;
		}
		mxe_send_advance(sq, wr);
		mxe_retry_start(qp);
	}
}

/* Up to the end of the slice, which has come if sq->budget is spent. */
static __always_inline void mxe_send_slice(struct mxe_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);

	if (likely(qp->type == IB_QPT_RC))
		mxe_send_run_rc(qp);
	else if (mxe_qp_is_ud(qp))
		mxe_ud_send_run(qp);
	else if (mxe_qp_is_uc(qp))
		mxe_uc_send_run(qp);
	else
		mxe_send_run_rc(qp);
	mxe_send_check_drained(qp);
}

void mxe_send_run(struct mxe_qp *qp)
{
	mxe_send_slice(qp);
	if (qp->sq.budget <= 0)
		qp->sq.pending |= BIT(MXE_PENDING_WORK);
}

bool mxe_send_flush(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;
	u32 limit = MXE_FLUSH_SLICE;
	bool more = false;

	lockdep_assert_held(&qp->send_lock);

	/* The one that caused it is reported first. */
	if (sq->local_error)
		mxe_sq_report_error(qp);
	for (;;) {
		if (sq->tail == sq->fetched) {
			u32 produced = mxe_send_produced(qp);

			if (produced - sq->tail > sq->entries ||
			    !mxe_send_fetch(qp))
				break;
		}
		if (!limit--) {
			sq->pending |= BIT(MXE_PENDING_WORK);
			more = true;
			break;
		}
		mxe_sq_complete(qp, IB_WC_WR_FLUSH_ERR);
	}
	sq->cur = sq->tail;
	sq->next = sq->tail;
	sq->rd_atomic = 0;
	mxe_retry_restart(qp);
	return more;
}

/* Send a slice; `last` and the result as for mxe_send_ring(). */
static __always_inline bool mxe_send_ring_locked(struct mxe_qp *qp, bool last)
{
	struct mxe_sq *sq = &qp->sq;

	lockdep_assert_held(&qp->send_lock);

	/* One that is dying was found under RCU, and has no ring any more. */
	if (sq->is_polled && !qp->dying)
		WRITE_ONCE(sq->seen, mxe_ring_producer(&sq->ring));
	if (unlikely(qp->state >= IB_QPS_SQE)) {
		mxe_qp_kick(qp);
		return false;
	}
	mxe_send_slice(qp);
	if (likely(sq->budget > 0))
		return false;
	if (last)
		sq->pending |= BIT(MXE_PENDING_WORK);
	return true;
}

bool mxe_send_ring(struct mxe_qp *qp, bool last)
{
	bool more;

	spin_lock(&qp->send_lock);
	more = mxe_send_ring_locked(qp, last);
	mxe_sq_end_deferred(qp);
	return more;
}

bool mxe_send_is_answered_here(struct mxe_qp *qp, u32 *una, bool again)
{
	struct mxe_sq *sq = &qp->sq;
	bool here = false;
	u32 left;

	spin_lock(&qp->send_lock);
	if (sq->read_cpu == smp_processor_id()) {
		left = __this_cpu_read(mxe_reads_left);
		here = left != sq->reads_left && mxe_sq_outstanding(sq) &&
		       !(again && sq->una == *una);
		sq->reads_left = left;
	}
	if (!here)
		sq->read_cpu = -1;
	*una = sq->una;
	spin_unlock(&qp->send_lock);
	return here;
}

void mxe_send_set_need_doorbell(struct mxe_qp *qp)
{
	struct mxe_ring_hdr *hdr = qp->sq.ring.hdr;

	lockdep_assert_held(&qp->send_lock);

	if (hdr)
		WRITE_ONCE(hdr->flags, qp->state == IB_QPS_ERR ||
			   (qp->sq.is_polled && !qp->sq.watched) ?
			   MXE_RING_NEED_DOORBELL : 0);
}

static bool mxe_send_is_posted(const struct mxe_qp *qp)
{
	return mxe_ring_producer(&qp->sq.ring) != READ_ONCE(qp->sq.seen);
}

bool mxe_send_poll(struct mxe_qp *qp, bool watch)
{
	struct mxe_sq *sq = &qp->sq;
	bool posted;

	if (READ_ONCE(sq->watched) == watch && !mxe_send_is_posted(qp))
		return false;

	spin_lock(&qp->send_lock);
	if (sq->watched != watch) {
		WRITE_ONCE(sq->watched, watch);
		mxe_send_set_need_doorbell(qp);
		/*
		 * A process stores its index, then reads the flag; we store
		 * the flag, then read the index.
		 */
		smp_mb();
	}
	posted = mxe_send_is_posted(qp);
	if (posted)
		mxe_send_ring_locked(qp, true);
	mxe_sq_end_deferred(qp);
	return posted;
}

void mxe_send_doorbell(struct mxe_qp *qp)
{
	/*
	 * With interrupts off bottom halves cannot be switched on again, and
	 * the network stack must not be entered.
	 */
	if (irqs_disabled()) {
		mxe_qp_kick(qp);
		return;
	}
	local_bh_disable();
	mxe_send_ring(qp, true);
	local_bh_enable();
}
