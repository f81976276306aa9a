// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>

#include "complete.h"
#include "mxe.h"
#include "net.h"
#include "psn.h"
#include "retry.h"
#include "send.h"
#include "ud.h"

/* ---- taking up work requests ------------------------------------------- */

static bool mxe_opcode_is_atomic(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		return true;
	default:
		return false;
	}
}

/* READs and atomics: what max_rd_atomic limits and fences wait for. */
static bool mxe_opcode_is_rd_atomic(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_RDMA_READ || mxe_opcode_is_atomic(opcode);
}

static bool mxe_opcode_is_send(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM;
}

static bool mxe_opcode_is_local(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_REG_MR || opcode == IB_WR_LOCAL_INV;
}

static bool mxe_opcode_has_remote_addr(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_RDMA_WRITE ||
	       opcode == IB_WR_RDMA_WRITE_WITH_IMM ||
	       mxe_opcode_is_rd_atomic(opcode);
}

static bool mxe_opcode_takes_inline(enum ib_wr_opcode opcode)
{
	return mxe_opcode_is_send(opcode) || opcode == IB_WR_RDMA_WRITE ||
	       opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/* Operands as posted to operands as sent. */
static void mxe_wr_set_atomic(struct mxe_send_wr *wr, u64 compare_add,
			      u64 swap, u64 compare_add_mask, u64 swap_mask)
{
	struct mxe_atomic_args *a = &wr->atomic;

	memset(a, 0, sizeof(*a));
	switch (wr->opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
		a->op = MXE_ATOMIC_CMP_SWAP;
		a->compare = compare_add;
		a->swap_add = swap;
		break;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		a->op = MXE_ATOMIC_FETCH_ADD;
		a->swap_add = compare_add;
		break;
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
		a->op = MXE_ATOMIC_MASKED_CMP_SWAP;
		a->compare = compare_add;
		a->swap_add = swap;
		a->compare_mask = compare_add_mask;
		a->swap_mask = swap_mask;
		break;
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		a->op = MXE_ATOMIC_MASKED_FETCH_ADD;
		a->swap_add = compare_add;
		a->compare_mask = compare_add_mask;
		break;
	default:
		break;
	}
	mxe_atomic_lower(a);
}

/* Sum of the gather list, or more than a message can have. */
static u64 mxe_sge_length(const struct ib_sge *sge, unsigned int num_sge)
{
	u64 length = 0;
	unsigned int i;

	for (i = 0; i < num_sge; i++)
		length += sge[i].length;
	return length;
}

/* May this atomic be used on this queue pair at all? */
static bool mxe_qp_atomics_ok(const struct mxe_qp *qp)
{
	return qp->be_reply || !qp->dev->reply_be;
}

static enum ib_wc_status mxe_wr_check_length(struct mxe_send_wr *wr, u64 length)
{
	if (length > MXE_MAX_MSG_SIZE)
		return IB_WC_LOC_LEN_ERR;
	if (mxe_opcode_is_atomic(wr->opcode) && length < sizeof(u64))
		return IB_WC_LOC_LEN_ERR;
	wr->length = length;
	return IB_WC_SUCCESS;
}

/*
 * Check the copy of a process's request; wqe is that copy, `data` what stands
 * behind it in the ring and is read here once.
 */
static enum ib_wc_status mxe_wr_from_wqe(struct mxe_qp *qp,
					 struct mxe_send_wr *wr,
					 const struct mxe_send_wqe *wqe,
					 const void *data)
{
	const u8 known = MXE_SEND_FENCE | MXE_SEND_SIGNALED |
			 MXE_SEND_SOLICITED | MXE_SEND_INLINE | MXE_SEND_USER;
	enum ib_wc_status status;
	bool masked = wr->opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP ||
		      wr->opcode == IB_WR_MASKED_ATOMIC_FETCH_AND_ADD;

	if (wr->opcode > IB_WR_ATOMIC_FETCH_AND_ADD && !masked)
		return IB_WC_LOC_QP_OP_ERR;
	if (wqe->flags & ~known || wqe->log_arg_sz != (masked ? 3 : 0))
		return IB_WC_LOC_QP_OP_ERR;
	if (mxe_qp_is_ud(qp)) {
		if (!mxe_opcode_is_send(wr->opcode))
			return IB_WC_LOC_QP_OP_ERR;
		status = mxe_ud_dest_from_wqe(qp, wr, wqe);
		if (status)
			return status;
	}
	if (mxe_opcode_is_atomic(wr->opcode)) {
		if (!mxe_qp_atomics_ok(qp))
			return IB_WC_LOC_QP_OP_ERR;
		mxe_wr_set_atomic(wr, wqe->atomic.compare_add,
				  wqe->atomic.swap,
				  wqe->atomic.compare_add_mask,
				  wqe->atomic.swap_mask);
	}

	if (wqe->flags & MXE_SEND_INLINE) {
		if (!mxe_opcode_takes_inline(wr->opcode) || wqe->num_sge)
			return IB_WC_LOC_QP_OP_ERR;
		if (wqe->inline_len > qp->sq.max_inline)
			return IB_WC_LOC_LEN_ERR;
		memcpy(wr->inline_data, data, wqe->inline_len);
		wr->length = wqe->inline_len;
		return IB_WC_SUCCESS;
	}

	if (wqe->num_sge > qp->sq.max_sge)
		return IB_WC_LOC_QP_OP_ERR;
	static_assert(sizeof(struct mxe_sge) == sizeof(struct ib_sge));
	memcpy(wr->sge, data, wqe->num_sge * sizeof(struct ib_sge));
	wr->num_sge = wqe->num_sge;
	return mxe_wr_check_length(wr, mxe_sge_length(wr->sge, wr->num_sge));
}

static void mxe_send_fetch_user(struct mxe_qp *qp, u32 index)
{
	struct mxe_send_wr *wr = mxe_sq_wr(&qp->sq, index);
	const void *entry = mxe_ring_entry(&qp->sq.ring, index);
	struct mxe_send_wqe wqe;

	/* The process may write it meanwhile: one copy, then only the copy. */
	memcpy(&wqe, entry, sizeof(wqe));
	barrier();

	memset(wr, 0, sizeof(*wr));
	wr->wr_id = wqe.wr_id;
	wr->opcode = wqe.opcode;
	wr->flags = wqe.flags;
	wr->remote_addr = wqe.remote_addr;
	wr->rkey = wqe.rkey;
	wr->imm = wqe.imm_data;
	wr->error = mxe_wr_from_wqe(qp, wr, &wqe,
				    entry + sizeof(struct mxe_send_wqe));
	if (wr->error)
		mxe_count(qp->dev, bad_wqe);
}

/* How far the queue is filled. */
static u32 mxe_send_produced(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;

	if (qp->is_user)
		return mxe_ring_producer(&sq->ring);
	/* Pairs with the release in mxe_post_send(). */
	return smp_load_acquire(&sq->posted);
}

bool mxe_send_fetch(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;
	u32 produced = mxe_send_produced(qp);

	if (produced == sq->fetched)
		return false;
	/* More than fits: the index is not one that a sane process writes. */
	if (produced - sq->tail > sq->entries) {
		mxe_count(qp->dev, bad_wqe);
		sq->halted = true;
		sq->todo |= BIT(MXE_TODO_ERROR) | BIT(MXE_TODO_EV_FATAL);
		return false;
	}
	if (qp->is_user)
		mxe_send_fetch_user(qp, sq->fetched);
	sq->fetched++;
	return true;
}

/* ---- packets ----------------------------------------------------------- */

static u32 mxe_wr_num_pkts(const struct mxe_qp *qp,
			   const struct mxe_send_wr *wr)
{
	if (mxe_opcode_is_atomic(wr->opcode))
		return 1;
	return max(DIV_ROUND_UP(wr->length, qp->mtu), 1U);
}

static u8 mxe_send_opcode(const struct mxe_send_wr *wr, bool first, bool last)
{
	bool imm = wr->opcode == IB_WR_SEND_WITH_IMM ||
		   wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM;

	if (mxe_opcode_is_send(wr->opcode)) {
		if (!last)
			return first ? IB_OPCODE_RC_SEND_FIRST :
				       IB_OPCODE_RC_SEND_MIDDLE;
		if (first)
			return imm ? IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE :
				     IB_OPCODE_RC_SEND_ONLY;
		return imm ? IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE :
			     IB_OPCODE_RC_SEND_LAST;
	}

	if (!last)
		return first ? IB_OPCODE_RC_RDMA_WRITE_FIRST :
			       IB_OPCODE_RC_RDMA_WRITE_MIDDLE;
	if (first)
		return imm ? IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE :
			     IB_OPCODE_RC_RDMA_WRITE_ONLY;
	return imm ? IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE :
		     IB_OPCODE_RC_RDMA_WRITE_LAST;
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

/* Describe the packet of wr that has sequence number psn. */
static void mxe_send_describe(struct mxe_qp *qp, const struct mxe_send_wr *wr,
			      u32 psn, struct mxe_pkt_out *out)
{
	u32 offset = mxe_psn_diff(psn, wr->first_psn) * qp->mtu;
	u32 unacked = mxe_psn_diff(psn, qp->sq.una);
	bool first = psn == wr->first_psn;
	bool last = psn == wr->last_psn;

	*out = (struct mxe_pkt_out) {
		.pkey = 0xffff,
		.qpn = qp->dest_qpn,
		.psn = psn,
		.va = wr->remote_addr,
		.rkey = wr->rkey,
	};
	if (mxe_opcode_is_atomic(wr->opcode)) {
		out->opcode = mxe_atomic_opcode(wr->atomic.op);
		out->atomic = wr->atomic;
		out->ack_req = true;
		return;
	}
	if (wr->opcode == IB_WR_RDMA_READ) {
		/* A repeated READ asks for what is missing only. */
		out->opcode = IB_OPCODE_RC_RDMA_READ_REQUEST;
		out->va += offset;
		out->dma_len = wr->length - offset;
		out->ack_req = true;
		return;
	}

	out->opcode = mxe_send_opcode(wr, first, last);
	out->dma_len = wr->length;
	out->payload_len = last ? wr->length - offset : qp->mtu;
	out->imm = wr->imm;
	out->solicited = last && wr->flags & MXE_SEND_SOLICITED;
	/* Often enough that the window does not close unnoticed. */
	out->ack_req = last || unacked % (MXE_MAX_UNACKED / 4) == 0;
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
	return mxe_sge_copy(qp->dev, qp->ibqp.pd, wr->sge, wr->num_sge, offset,
			    buf, len, MXE_FROM_MEMORY);
}

static int mxe_send_one(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_sq *sq = &qp->sq;
	struct mxe_pkt_out out;
	struct sk_buff *skb;
	u8 *payload;
	u32 offset;
	int err;

	mxe_send_describe(qp, wr, sq->psn, &out);
	skb = mxe_net_alloc(qp, &out, &payload);
	if (!skb)
		return -ENOMEM;

	offset = mxe_psn_diff(sq->psn, wr->first_psn) * qp->mtu;
	err = mxe_send_gather(qp, wr, offset, payload, out.payload_len);
	if (err) {
		kfree_skb(skb);
		return err;
	}

	/* No route now is a loss like another: the timer tries again. */
	mxe_net_send(qp, skb);
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
	if (mxe_opcode_is_local(wr->opcode))
		return sq->tail == sq->cur;
	/* A limit of 0 lets nothing start: it is refused below. */
	return !mxe_opcode_is_rd_atomic(wr->opcode) ||
	       !qp->attr.max_rd_atomic ||
	       sq->rd_atomic < qp->attr.max_rd_atomic;
}

static void mxe_send_start(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_sq *sq = &qp->sq;

	wr->started = true;
	wr->first_psn = sq->max_psn;
	wr->last_psn = mxe_psn_add(wr->first_psn, mxe_wr_num_pkts(qp, wr) - 1);
	sq->max_psn = mxe_psn_add(wr->last_psn, 1);
	sq->psn = wr->first_psn;
	sq->next++;
	if (mxe_opcode_is_rd_atomic(wr->opcode))
		sq->rd_atomic++;
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
	if (sq->tail == sq->cur)
		sq->todo |= BIT(MXE_TODO_WORK);
}

static void mxe_send_local_op(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_sq *sq = &qp->sq;
	int err;

	if (wr->opcode == IB_WR_REG_MR)
		err = mxe_mr_reg(wr->mr, qp->ibqp.pd, wr->mr_key,
				 wr->mr_access);
	else
		err = mxe_mr_local_inv(qp->dev, qp->ibqp.pd, wr->rkey);

	/* It has no packets, so it never shows up as outstanding. */
	wr->started = true;
	sq->next++;
	sq->cur++;
	mxe_complete_wr(qp, err ? IB_WC_MW_BIND_ERR : IB_WC_SUCCESS);
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
	if (mxe_opcode_is_rd_atomic(wr->opcode) && !qp->attr.max_rd_atomic) {
		mxe_send_local_error(qp, IB_WC_LOC_QP_OP_ERR);
		return false;
	}
	if (mxe_opcode_is_local(wr->opcode)) {
		mxe_send_local_op(qp, wr);
		return true;
	}
	mxe_send_start(qp, wr);
	return true;
}

/* The packet at sq->psn was sent: on to the next. */
static void mxe_send_advance(struct mxe_sq *sq, const struct mxe_send_wr *wr)
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
	    mxe_complete_outstanding(sq))
		return;
	sq->sqd_notified = true;
	if (qp->attr.en_sqd_async_notify)
		sq->todo |= BIT(MXE_TODO_EV_SQ_DRAINED);
}

static void mxe_send_run_rc(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;
	unsigned int budget = MXE_BURST;

	while (mxe_qp_can_send(qp->state) && !sq->halted && !sq->rnr_wait) {
		struct mxe_send_wr *wr;
		int err;

		if (sq->cur == sq->fetched && !mxe_send_fetch(qp))
			break;
		wr = mxe_sq_wr(sq, sq->cur);
		if (!wr->started) {
			if (!mxe_send_begin(qp, wr))
				break;
			if (mxe_opcode_is_local(wr->opcode))
				continue;
		}
		if (mxe_psn_diff(sq->psn, sq->una) >= MXE_MAX_UNACKED)
			break;
		if (!budget--) {
			sq->todo |= BIT(MXE_TODO_WORK);
			break;
		}

		err = mxe_send_one(qp, wr);
		if (err == -ENOMEM) {
			mxe_retry_start(qp);
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

void mxe_send_run(struct mxe_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);

	if (mxe_qp_is_ud(qp))
		mxe_ud_send_run(qp);
	else
		mxe_send_run_rc(qp);
	mxe_send_check_drained(qp);
}

void mxe_send_rewind(struct mxe_qp *qp, u32 psn)
{
	struct mxe_sq *sq = &qp->sq;
	u32 i;

	lockdep_assert_held(&qp->send_lock);

	for (i = sq->tail; i != sq->next; i++) {
		const struct mxe_send_wr *wr = mxe_sq_wr(sq, i);

		if (mxe_psn_diff(psn, wr->last_psn) <= 0) {
			sq->cur = i;
			sq->psn = psn;
			return;
		}
	}
}

void mxe_send_flush(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;

	lockdep_assert_held(&qp->send_lock);

	/* The one that caused it is reported first. */
	if (sq->local_error)
		mxe_complete_local_error(qp);
	for (;;) {
		if (sq->tail == sq->fetched) {
			u32 produced = mxe_send_produced(qp);

			if (produced - sq->tail > sq->entries ||
			    !mxe_send_fetch(qp))
				break;
		}
		mxe_complete_wr(qp, IB_WC_WR_FLUSH_ERR);
	}
	sq->cur = sq->tail;
	sq->next = sq->tail;
	sq->rd_atomic = 0;
	mxe_retry_restart(qp);
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
	mxe_send_lock(qp);
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE)
		mxe_qp_kick(qp);
	else
		mxe_send_run(qp);
	mxe_send_unlock(qp, true);
}

/* ---- kernel consumers -------------------------------------------------- */

static int mxe_post_check(struct mxe_qp *qp, const struct ib_send_wr *ibwr)
{
	if (mxe_qp_is_ud(qp)) {
		if (!mxe_opcode_is_send(ibwr->opcode))
			return -EOPNOTSUPP;
		if (!ud_wr(ibwr)->ah)
			return -EINVAL;
	}
	switch (ibwr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
	case IB_WR_REG_MR:
	case IB_WR_LOCAL_INV:
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		if (!mxe_qp_atomics_ok(qp))
			return -EOPNOTSUPP;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (ibwr->num_sge < 0 || ibwr->num_sge > qp->sq.max_sge)
		return -EINVAL;
	if (ibwr->send_flags & IB_SEND_INLINE &&
	    (!mxe_opcode_takes_inline(ibwr->opcode) ||
	     mxe_sge_length(ibwr->sg_list, ibwr->num_sge) > qp->sq.max_inline))
		return -EINVAL;
	return 0;
}

static void mxe_wr_copy_inline(struct mxe_send_wr *wr,
			       const struct ib_send_wr *ibwr)
{
	int i;

	for (i = 0; i < ibwr->num_sge; i++) {
		memcpy(wr->inline_data + wr->length,
		       (void *)(uintptr_t)ibwr->sg_list[i].addr,
		       ibwr->sg_list[i].length);
		wr->length += ibwr->sg_list[i].length;
	}
	wr->flags |= MXE_SEND_INLINE;
}

static void mxe_wr_from_ib(struct mxe_qp *qp, struct mxe_send_wr *wr,
			   const struct ib_send_wr *ibwr)
{
	memset(wr, 0, sizeof(*wr));
	wr->wr_id = ibwr->wr_id;
	wr->opcode = ibwr->opcode;
	wr->imm = ibwr->ex.imm_data;
	if (ibwr->send_flags & IB_SEND_FENCE)
		wr->flags |= MXE_SEND_FENCE;
	if (ibwr->send_flags & IB_SEND_SIGNALED)
		wr->flags |= MXE_SEND_SIGNALED;
	if (ibwr->send_flags & IB_SEND_SOLICITED)
		wr->flags |= MXE_SEND_SOLICITED;

	if (ibwr->opcode == IB_WR_REG_MR) {
		wr->mr = reg_wr(ibwr)->mr;
		wr->mr_key = reg_wr(ibwr)->key;
		wr->mr_access = reg_wr(ibwr)->access;
		return;
	}
	if (ibwr->opcode == IB_WR_LOCAL_INV) {
		wr->rkey = ibwr->ex.invalidate_rkey;
		return;
	}
	if (mxe_qp_is_ud(qp)) {
		mxe_ud_dest_from_ib(wr, ud_wr(ibwr));
	} else if (mxe_opcode_is_atomic(ibwr->opcode)) {
		const struct ib_atomic_wr *awr = atomic_wr(ibwr);

		wr->remote_addr = awr->remote_addr;
		wr->rkey = awr->rkey;
		mxe_wr_set_atomic(wr, awr->compare_add, awr->swap,
				  awr->compare_add_mask, awr->swap_mask);
	} else if (mxe_opcode_has_remote_addr(ibwr->opcode)) {
		wr->remote_addr = rdma_wr(ibwr)->remote_addr;
		wr->rkey = rdma_wr(ibwr)->rkey;
	}

	if (ibwr->send_flags & IB_SEND_INLINE) {
		mxe_wr_copy_inline(wr, ibwr);
		return;
	}
	memcpy(wr->sge, ibwr->sg_list, ibwr->num_sge * sizeof(wr->sge[0]));
	wr->num_sge = ibwr->num_sge;
	wr->error = mxe_wr_check_length(wr, mxe_sge_length(wr->sge,
							   wr->num_sge));
}

int mxe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *ibwr,
		  const struct ib_send_wr **bad_wr)
{
	struct mxe_qp *qp = to_mqp(ibqp);
	struct mxe_sq *sq = &qp->sq;
	unsigned long flags;
	int err = 0;

	/* A process rings its doorbell; the legacy command is not for it. */
	if (qp->is_user) {
		*bad_wr = ibwr;
		return mxe_refuse(qp->dev, -EOPNOTSUPP, "queue of a process");
	}
	if (READ_ONCE(qp->state) < IB_QPS_RTS) {
		*bad_wr = ibwr;
		return mxe_refuse(qp->dev, -EINVAL, "state %d", qp->state);
	}

	spin_lock_irqsave(&sq->post_lock, flags);
	for (; ibwr; ibwr = ibwr->next) {
		err = mxe_post_check(qp, ibwr);
		/* tail moves under send_lock; an old value is only stricter. */
		if (!err && sq->posted - READ_ONCE(sq->tail) >= sq->entries)
			err = -ENOMEM;
		if (err) {
			mxe_refuse(qp->dev, err, "opcode %d", ibwr->opcode);
			*bad_wr = ibwr;
			break;
		}
		mxe_wr_from_ib(qp, mxe_sq_wr(sq, sq->posted), ibwr);
		/* Pairs with the acquire in mxe_send_produced(). */
		smp_store_release(&sq->posted, sq->posted + 1);
	}
	spin_unlock_irqrestore(&sq->post_lock, flags);

	mxe_send_doorbell(qp);
	return err;
}
