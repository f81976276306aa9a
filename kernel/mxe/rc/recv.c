// SPDX-License-Identifier: GPL-2.0
/* Takes up, completes, fails and flushes receive requests. */
#include "mxe.h"
#include "queues/qp.h"
#include "queues/srq.h"
#include "rc/inline_recv.h"
#include "rc/recv.h"
#include "tm/rndv.h"
#include "tm/tm.h"
#include "wire/pkt.h"

/*
 * Take up the next receive request into resp.cur. Do nothing if resp.cur has a
 * request that no message has used.
 * Context: recv_lock held.
 * Return: 0; -EAGAIN if there is no request; -EIO if it cannot be used. If
 * resp.cur_valid is then false, the whole queue cannot be used.
 */
int mxe_recv_take(struct mxe_qp *qp)
{
	struct mxe_responder *resp = &qp->resp;
	int err;

	lockdep_assert_held(&qp->recv_lock);

	if (resp->cur_valid)
		return resp->cur->error ? -EIO : 0;
	if (resp->srq)
		err = mxe_srq_take(resp->srq, resp->cur, &resp->pending);
	else
		err = mxe_rq_take(qp->dev, &resp->q, resp->cur);
	resp->cur_valid = !err || err == -EIO;
	return err == -EPIPE ? -EIO : err;
}

/*
 * Copy a part of a message to the request in resp.cur. Bytes before @offset
 * have been copied.
 * Context: BHs disabled, recv_lock held.
 * Return: 0; -EMSGSIZE if the part does not fit; -EIO if an SGE names memory
 * that cannot be used.
 */
int mxe_recv_scatter(struct mxe_qp *qp, u32 offset, const void *data, u32 len)
{
	struct mxe_responder *resp = &qp->resp;
	const struct mxe_recv_wr *wr = resp->cur;

	lockdep_assert_held(&qp->recv_lock);

	if (len > wr->length - offset)
		return -EMSGSIZE;
	/* The keys of an SRQ belong to its own PD. */
	if (len && mxe_mr_copy_sges(qp->dev, resp->srq ? resp->srq->ibsrq.pd : qp->pd,
				    wr->sge, wr->num_sge, offset, (void *)data, len,
				    MXE_TO_MEMORY, &resp->local_cache))
		return -EIO;
	return 0;
}

/*
 * Fills in the completion of a message to a tag-matching SRQ.  Returns true if
 * the device reads its data then.
 */
static bool mxe_recv_end_tm(struct mxe_qp *qp, struct mxe_wc *wc)
{
	struct mxe_tm_msg *msg = &qp->resp.tm_msg;
	bool is_rndv = !wc->status && msg->kind == MXE_TM_RNDV;

	/* The program does not learn what a message was that has failed. */
	if (wc->status && msg->kind == MXE_TM_UNEXPECTED)
		mxe_tm_lost(qp->resp.srq);
	mxe_tm_fill_wc(msg, wc);
	msg->kind = MXE_TM_NONE;
	return is_rndv;
}

/*
 * Complete the receive request in resp.cur. Set wc->wr_id.
 * Context: recv_lock held.
 */
void mxe_recv_end(struct mxe_qp *qp, struct mxe_wc *wc)
{
	bool is_rndv = mxe_qp_has_tm(qp) && mxe_recv_end_tm(qp, wc);
	struct mxe_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->recv_lock);

	wc->wr_id = resp->cur->wr_id;
	resp->cur_valid = false;
	if (mxe_inline_recv_is_on(qp))
		mxe_inline_recv_end(qp, wc);
	mxe_qp_complete(qp, mxe_qp_recv_cq(qp), wc, &resp->pending);
	/* The completion of the match precedes that of the data. */
	if (unlikely(is_rndv))
		mxe_rndv_queue(qp);
}

/*
 * Complete the receive request in resp.cur. resp.offset is the length of the
 * message in bytes. @pkt is its last packet, or NULL if it failed.
 * Context: recv_lock held.
 */
void mxe_recv_complete(struct mxe_qp *qp, enum ib_wc_status status,
		       const struct mxe_pkt *pkt)
{
	struct mxe_wc wc = {
		.status = status,
		.opcode = MXE_WC_RECV,
		.byte_len = qp->resp.offset,
		.src_qp = qp->dest_qpn,
	};

	if (pkt) {
		wc.solicited = mxe_pkt_is_solicited(pkt);
		if (pkt->flags & MXE_OP_WRITE)
			wc.opcode = MXE_WC_RECV_RDMA_WITH_IMM;
		if (pkt->flags & MXE_OP_IMM) {
			wc.flags |= MXE_CQE_WITH_IMM;
			wc.imm = mxe_pkt_imm(pkt);
		}
		if (pkt->flags & MXE_OP_IETH) {
			wc.flags |= MXE_CQE_WITH_INV;
			wc.inv_rkey = mxe_pkt_inv_rkey(pkt);
		}
	}
	mxe_recv_end(qp, &wc);
}

/*
 * Check whether a request may be accepted in this state of the QP, which may be
 * dying. Count the drop if not. The first request in RTR raises COMM_EST (IBTA
 * 11.6.3.1), except on a UD QP, which has no peer.
 * Context: recv_lock held.
 */
bool mxe_recv_admit(struct mxe_qp *qp)
{
	struct mxe_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->recv_lock);

	if (qp->dying || resp->halted || !mxe_qp_can_receive(qp->state)) {
		mxe_count(qp->dev, drop_state);
		return false;
	}
	if (qp->state == IB_QPS_RTR && !resp->comm_est && qp->ops->is_connected) {
		resp->comm_est = true;
		resp->pending |= BIT(MXE_PENDING_EV_COMM_EST);
	}
	return true;
}

/*
 * Move a QP to ERR because it cannot receive. Complete the request in resp.cur,
 * if there is one, with @status or an error of its own, and raise QP_FATAL.
 * Context: recv_lock held.
 */
void mxe_recv_fatal(struct mxe_qp *qp, enum ib_wc_status status)
{
	struct mxe_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->recv_lock);

	if (resp->cur_valid)
		mxe_recv_complete(qp, resp->cur->error ?: status, NULL);
	resp->halted = true;
	resp->pending |= BIT(MXE_PENDING_ERROR) | BIT(MXE_PENDING_EV_FATAL);
}

/*
 * Complete a slice of requests of a QP in ERR with IB_WC_WR_FLUSH_ERR. Return
 * true if requests remain, with which qp->work continues. The requests of an
 * SRQ remain there.
 * Context: recv_lock held.
 */
bool mxe_recv_flush(struct mxe_qp *qp)
{
	struct mxe_responder *resp = &qp->resp;
	u32 limit = MXE_FLUSH_SLICE;

	lockdep_assert_held(&qp->recv_lock);

	resp->offset = 0;
	if (resp->cur_valid)
		mxe_recv_complete(qp, IB_WC_WR_FLUSH_ERR, NULL);
	if (qp->ibqp->srq) {
		/* Requests of an SRQ are not flushed (IBTA 10.2.9.4). */
		if (!resp->last_wqe)
			resp->pending |= BIT(MXE_PENDING_EV_LAST_WQE);
		resp->last_wqe = true;
		return false;
	}
	/* An XRC target has no queue of its own. */
	if (!resp->q.entries)
		return false;
	for (; limit; limit--) {
		mxe_recv_take(qp);
		if (!resp->cur_valid)
			return false;
		mxe_recv_complete(qp, IB_WC_WR_FLUSH_ERR, NULL);
	}
	resp->pending |= BIT(MXE_PENDING_WORK);
	return true;
}

/*
 * Flush a slice of receive requests after a doorbell. The QP may be dying. Do
 * nothing unless it is in ERR: in other states the responder reads the ring
 * when a message arrives.
 * Context: BHs disabled, RCU read-side section. Takes and releases recv_lock.
 */
void mxe_recv_ring(struct mxe_qp *qp)
{
	/* An XRC target has no queue of its own. */
	if (READ_ONCE(qp->state) != IB_QPS_ERR || mxe_qp_is_xrc_tgt(qp))
		return;
	mxe_qp_recv_begin_bh_off(qp);
	/* A dying QP is in RESET. */
	if (qp->state == IB_QPS_ERR)
		mxe_recv_flush(qp);
	mxe_qp_recv_end_deferred(qp);
}

/*
 * Do the same as mxe_recv_ring() for a kernel consumer. With interrupts
 * disabled, qp->work flushes instead.
 * Context: Any, in a verb. Takes and releases recv_lock.
 */
void mxe_recv_doorbell(struct mxe_qp *qp)
{
	/* Pairs with the barrier in mxe_qp_set_error(). */
	smp_mb();
	if (likely(READ_ONCE(qp->state) != IB_QPS_ERR))
		return;
	/* BHs must not be enabled again with interrupts disabled. */
	if (irqs_disabled()) {
		mxe_qp_kick(qp);
		return;
	}
	local_bh_disable();
	mxe_recv_ring(qp);
	local_bh_enable();
}
