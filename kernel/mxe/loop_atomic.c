// SPDX-License-Identifier: GPL-2.0
/*
 * A shortcut of the loopback path for the atomics of 8 bytes of processes.
 * send.c calls it for a doorbell.
 *
 * It executes the requests directly from the ring, without a struct
 * mxe_send_wr, all in one section of the peer's receive side.  It checks for
 * the plain case only.  Any other request, including every invalid one, is left
 * in the ring for wqe.c and loopback.c, so that only they handle special cases
 * and errors.
 */
#include "loopback.h"
#include "loop_atomic.h"
#include "loopback_path.h"
#include "mxe.h"
#include "qpn.h"
#include "respond.h"
#include "sq.h"
#include "trace.h"
#include "wqe.h"
#include "wr.h"

/* The tracepoints of a request need a struct mxe_send_wr. */
static bool mxe_loop_atomic_is_traced(void)
{
	return trace_mxe_post_enabled() || trace_mxe_loop_enabled() ||
	       trace_mxe_atomic_enabled();
}

/*
 * Returns true if the next request of the ring would be executed at once.  What
 * cannot change after creation is part of sq.loopback.atomics.
 */
static bool mxe_loop_atomic_may_begin(struct mxe_qp *qp)
{
	const struct mxe_sq *sq = &qp->sq;

	return READ_ONCE(mxe_loopback_direct) && qp->state == IB_QPS_RTS &&
	       sq->tail == sq->fetched && !sq->halted && qp->attr.max_rd_atomic &&
	       !mxe_loop_atomic_is_traced() && mxe_loopback_path_is_local(qp);
}

/* Returns true if the peer accepts the next request, and executes atomics. */
static bool mxe_loop_atomic_peer_ready(const struct mxe_qp *qp,
				       const struct mxe_qp *peer)
{
	return mxe_loopback_path_is_between(qp, peer) &&
	       mxe_respond_is_ready(peer, qp->sq.max_psn) && peer->rq.num_res &&
	       peer->attr.qp_access_flags & IB_ACCESS_REMOTE_ATOMIC;
}

/*
 * Executes an atomic on the word at @va of the region of @rkey, and stores the
 * old value where @sge points.  Returns false if nothing was changed.
 */
static bool mxe_loop_atomic_exec(struct mxe_qp *qp, struct mxe_qp *peer, u32 rkey,
				 u64 va, const struct mxe_atomic_args *args,
				 const struct mxe_sge *sge)
{
	u32 length = READ_ONCE(sge->length);
	u64 orig, result = READ_ONCE(sge->addr);
	struct mxe_mr *local, *remote;
	bool done = false;

	if (length < sizeof(u64) || length > MXE_MAX_MSG_SIZE ||
	    !IS_ALIGNED(va, sizeof(u64)))
		return false;
	local = mxe_mr_get(qp->dev, READ_ONCE(sge->lkey), &qp->sq.mr_cache);
	if (!local)
		return false;
	if (mxe_mr_check(local, qp->pd, IB_ACCESS_LOCAL_WRITE, result, sizeof(u64)))
		goto put_local;
	/* NULL for the key of a window, which loopback.c handles. */
	remote = mxe_mr_get(peer->dev, rkey, &peer->rq.mr_cache);
	if (!remote)
		goto put_local;
	if (mxe_mr_check(remote, peer->pd, IB_ACCESS_REMOTE_ATOMIC, va, sizeof(u64)))
		goto put_remote;
	if (!mxe_mr_atomic_8(remote, va, args, &orig))
		goto put_remote;
	mxe_mr_copy(local, result, &orig, sizeof(u64), MXE_TO_MEMORY);
	done = true;
put_remote:
	mxe_mr_put(remote);
put_local:
	mxe_mr_put(local);
	return done;
}

/* Does what the responder and the completer do after a request. */
static void mxe_loop_atomic_complete(struct mxe_qp *qp, struct mxe_qp *peer, u64 wr_id,
				     u8 opcode, u8 flags, enum mxe_atomic_op op)
{
	const struct mxe_dev *responder = peer->dev;
	struct mxe_sq *sq = &qp->sq;
	struct mxe_wc wc = {
		.wr_id = wr_id,
		.opcode = mxe_wr_rows[opcode].wc_opcode,
		.byte_len = sizeof(u64),
		.flags = flags & MXE_SEND_USER ? MXE_CQE_USER : 0,
		.src_qp = qp->dest_qpn,
	};

	mxe_count(responder, atomics_executed);
	if (mxe_atomic_is_masked(op))
		mxe_count(responder, masked_atomics_executed);
	mxe_count(qp->dev, loop_requests);
	mxe_respond_advance(peer, 1);
	sq->budget--;
	sq->fetched++;
	mxe_sq_pass_executed(sq, 1);
	/* Before the CQE is written, as in mxe_sq_complete(). */
	mxe_sq_free_slot(sq);
	if (flags & MXE_SEND_SIGNALED || qp->sig_all)
		mxe_qp_complete(qp, qp->send_cq, &wc, &sq->pending);
}

/* Executes the next request of the ring.  Returns false if it is left there. */
static bool mxe_loop_atomic_one(struct mxe_qp *qp, struct mxe_qp *peer)
{
	const struct mxe_send_wqe *wqe = mxe_ring_entry(&qp->sq.ring, qp->sq.fetched);
	struct mxe_atomic_args args __uninitialized;
	u64 wr_id = READ_ONCE(wqe->wr_id);
	u8 opcode = READ_ONCE(wqe->opcode);
	u8 flags = READ_ONCE(wqe->flags);

	/* Nothing is outstanding, so MXE_SEND_FENCE has nothing to wait for. */
	if (!mxe_wqe_fetch_atomic_8(qp, wqe, opcode, flags, &args) ||
	    !mxe_loop_atomic_exec(qp, peer, READ_ONCE(wqe->rkey),
				      READ_ONCE(wqe->remote_addr), &args,
				      (const struct mxe_sge *)(wqe + 1)))
		return false;
	mxe_loop_atomic_complete(qp, peer, wr_id, opcode, flags, args.op);
	return true;
}

bool mxe_loop_atomic_run(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;
	struct mxe_qp *peer;
	u32 produced;

	lockdep_assert_held(&qp->send_lock);

	if (!mxe_loop_atomic_may_begin(qp))
		return false;
	/* mxe_wqe_fetch_one() reports an invalid index. */
	produced = mxe_wqe_produced(qp);
	if (produced - sq->fetched > sq->entries)
		return false;
	peer = mxe_qpn_find_cached(qp->dev->mnet, qp->dest_qpn, &sq->loopback.peer_cache);
	if (!peer)
		return false;
	mxe_rq_begin_bh_off(peer);
	if (mxe_loop_atomic_peer_ready(qp, peer))
		while (sq->fetched != produced && sq->budget > 0 && !sq->halted &&
		       mxe_loop_atomic_one(qp, peer))
			;
	mxe_rq_end_deferred(peer);
	return sq->fetched == produced;
}
