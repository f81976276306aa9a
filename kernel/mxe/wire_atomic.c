// SPDX-License-Identifier: GPL-2.0
/*
 * A shortcut for RC atomics of 8 bytes that are sent as packets.  send.c calls
 * it for a doorbell, and rx.c for a packet.
 *
 * It handles the plain case only: requests that can be sent at once, a request
 * that is the next one and can be executed at once, and the response to the
 * oldest request.  Before it changes anything, it leaves every other request
 * and packet, including every invalid one, to the general path.  Thus only the
 * general path handles special cases and errors.
 *
 * It makes all checks of the general path:
 *
 *  - of mxe_rx_check(), mxe_pkt_parse(), mxe_rx_lookup() and mxe_rx_admit() in
 *    mxe_wire_atomic_is_valid() and mxe_wire_atomic_parse()
 *  - of mxe_rx_of_connection(), mxe_deliver() and mxe_respond_request() in
 *    mxe_wire_atomic_request(), under the lock
 *  - of mxe_rx_of_connection() and mxe_complete_pkt() in
 *    mxe_wire_atomic_response(), under the lock
 *  - of mxe_send_loop(), mxe_wqe_fetch() and mxe_request_may_start() in
 *    mxe_wire_atomic_may_send(), mxe_wire_atomic_has_room() and
 *    mxe_wire_atomic_fetch()
 */
#include "cnp.h"
#include "complete.h"
#include "icrc.h"
#include "loopback_path.h"
#include "mxe.h"
#include "psn.h"
#include "qp.h"
#include "respond.h"
#include "retry.h"
#include "sq.h"
#include "trace.h"
#include "tx.h"
#include "wire_atomic.h"
#include "wqe.h"
#include "wr.h"

/* The tracepoints of a received packet need a struct mxe_pkt. */
static bool mxe_wire_atomic_is_traced(void)
{
	return trace_mxe_receive_enabled() || trace_mxe_atomic_enabled();
}

static const struct mxe_bth *mxe_wire_atomic_bth(const struct sk_buff *skb)
{
	return (const void *)(udp_hdr(skb) + 1);
}

static u32 mxe_wire_atomic_psn(const struct mxe_bth *bth)
{
	return be32_to_cpu(bth->apsn) & MXE_PSN_MASK;
}

static void mxe_wire_atomic_put_bth(const struct mxe_qp *qp, struct mxe_bth *bth,
				    u8 opcode, u32 apsn)
{
	bth->opcode = opcode;
	bth->flags = MXE_BTH_MIGREQ;
	bth->pkey = cpu_to_be16(0xffff);
	bth->qpn = cpu_to_be32(qp->dest_qpn);
	bth->apsn = cpu_to_be32(apsn);
}

/* ---- checks that need no lock ------------------------------------------- */

/*
 * Returns mxe_opcode_hdr_len(), which as a call would cost up to 26
 * instructions for each operation.
 */
static __always_inline size_t mxe_wire_atomic_len(u8 opcode)
{
	switch (opcode) {
	case IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE:
		return sizeof(struct mxe_bth) + sizeof(struct mxe_aeth) + sizeof(__be64);
	case IB_OPCODE_RC_COMPARE_SWAP:
	case IB_OPCODE_RC_FETCH_ADD:
		return sizeof(struct mxe_bth) + sizeof(struct mxe_atomiceth);
	default:
		return sizeof(struct mxe_bth) + sizeof(struct mxe_mskatomiceth) +
		       MXE_MSKATOMIC_OPERANDS * sizeof(__be64);
	}
}

bool mxe_wire_atomic_is_valid(const struct mxe_qp *qp, struct sk_buff *skb)
{
	const struct mxe_bth *bth = mxe_wire_atomic_bth(skb);
	size_t len = mxe_wire_atomic_len(bth->opcode);
	bool is_ipv4 = ip_hdr(skb)->version == 4;

	if (!mxe_icrc_is_defined(skb, is_ipv4))
		return false;
	if (skb_tail_pointer(skb) - (const u8 *)bth != len + MXE_ICRC_SIZE)
		return false;
	/* These packets have no payload, and therefore no padding. */
	if (bth->flags & (MXE_BTH_TVER_MASK | MXE_BTH_PAD_MASK) ||
	    (bth->pkey | cpu_to_be16(0x8000)) != cpu_to_be16(0xffff) ||
	    (be32_to_cpu(bth->qpn) & MXE_BTH_QPN_MASK) != qp->qpn)
		return false;
	return qp->type == IB_QPT_RC && !mxe_qp_has_dc(qp) &&
	       !mxe_wire_atomic_is_traced() &&
	       mxe_icrc_is_correct(skb, is_ipv4, (const u8 *)bth, len) &&
	       !mxe_cnp_is_due(skb);
}

/* ---- requester ---------------------------------------------------------- */

/*
 * Returns true if requests of the ring may be sent by the shortcut.  The caller
 * has checked the state, and that no request waits to be sent.
 */
static bool mxe_wire_atomic_may_send(struct mxe_qp *qp)
{
	const struct mxe_sq *sq = &qp->sq;

	return qp->type == IB_QPT_RC && !mxe_qp_has_dc(qp) && !mxe_qp_has_tm(qp) &&
	       !sq->halted && !sq->rnr_wait && !sq->local_error && sq->max_sge &&
	       sq->atomic_log_sizes & BIT(3) && !trace_mxe_post_enabled() &&
	       !mxe_loopback_path_is_used(qp);
}

/* Returns true if the budget and the limits of the QP allow another request. */
static bool mxe_wire_atomic_has_room(const struct mxe_qp *qp)
{
	const struct mxe_sq *sq = &qp->sq;

	return sq->budget > 0 && sq->fetched - sq->tail <= sq->wr_mask &&
	       sq->rd_atomic < qp->attr.max_rd_atomic &&
	       mxe_psn_diff(sq->max_psn, sq->una) < (s32)sq->window;
}

/*
 * Copies the next request of the ring to @wr, from which it can be sent again.
 * Returns false for a request that is left to the general path.
 */
static bool mxe_wire_atomic_fetch(const struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	const struct mxe_send_wqe *wqe = mxe_ring_entry(&qp->sq.ring, qp->sq.fetched);
	const struct mxe_sge *sge = (const struct mxe_sge *)(wqe + 1);
	u32 length = READ_ONCE(sge->length);
	u8 opcode = READ_ONCE(wqe->opcode);
	u8 flags = READ_ONCE(wqe->flags);

	/* A longer SGE costs more of the budget: mxe_request_pkt_cost(). */
	if ((flags & MXE_SEND_FENCE && qp->sq.rd_atomic) ||
	    length < sizeof(u64) || length >= 2048 ||
	    !mxe_wqe_fetch_atomic_8(qp, wqe, opcode, flags, &wr->atomic))
		return false;
	wr->wr_id = READ_ONCE(wqe->wr_id);
	wr->opcode = opcode;
	wr->flags = flags;
	wr->started = true;
	wr->done = false;
	wr->num_sge = 1;
	wr->error = IB_WC_SUCCESS;
	wr->length = length;
	wr->remote_addr = READ_ONCE(wqe->remote_addr);
	wr->rkey = READ_ONCE(wqe->rkey);
	wr->imm = 0;
	wr->srqn = 0;
	wr->first_psn = qp->sq.max_psn;
	wr->last_psn = qp->sq.max_psn;
	wr->sge[0] = (struct ib_sge) {
		.addr = READ_ONCE(sge->addr),
		.length = length,
		.lkey = READ_ONCE(sge->lkey),
	};
	return true;
}

/* Writes the header of an atomic behind the BTH. */
static void mxe_wire_atomic_put(void *p, const struct mxe_send_wr *wr)
{
	const struct mxe_atomic_args *args = &wr->atomic;
	struct mxe_mskatomiceth *masked = p;
	struct mxe_atomiceth *eth = p;

	if (!mxe_atomic_is_masked(args->op)) {
		eth->va = cpu_to_be64(wr->remote_addr);
		eth->rkey = cpu_to_be32(wr->rkey);
		eth->swap_add = cpu_to_be64(args->swap_add);
		eth->compare = cpu_to_be64(args->compare);
		return;
	}
	masked->va = cpu_to_be64(wr->remote_addr);
	masked->rkey = cpu_to_be32(wr->rkey);
	masked->version = MXE_MSKATOMIC_VERSION;
	masked->log_arg_sz = 3;
	masked->reserved = 0;
	p = masked + 1;
	put_unaligned_be64(args->swap_add, p);
	put_unaligned_be64(args->compare, p + 8);
	put_unaligned_be64(args->swap_mask, p + 16);
	put_unaligned_be64(args->compare_mask, p + 24);
}

/* Sends the next request of the ring.  Returns false if it is left there. */
static bool mxe_wire_atomic_send(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;
	struct mxe_send_wr *wr = mxe_sq_wr(sq, sq->fetched);
	struct mxe_bth *bth;
	struct sk_buff *skb;
	size_t len;
	u8 opcode;

	if (!mxe_wire_atomic_has_room(qp) || !mxe_wire_atomic_fetch(qp, wr))
		return false;
	opcode = mxe_opcode_of_atomic(wr->atomic.op);
	len = mxe_wire_atomic_len(opcode);
	/* Without memory, the general path tries again later. */
	skb = mxe_tx_alloc_empty(qp, len);
	if (unlikely(!skb))
		return false;
	bth = __skb_put(skb, len);
	mxe_wire_atomic_put_bth(qp, bth, opcode, wr->first_psn | MXE_BTH_ACK_REQ);
	mxe_wire_atomic_put(bth + 1, wr);

	sq->budget -= mxe_pkt_cost(0, 0);
	sq->max_psn = mxe_psn_add(sq->max_psn, 1);
	sq->psn = sq->max_psn;
	sq->sent_psn = sq->max_psn;
	sq->fetched++;
	sq->next++;
	sq->cur++;
	sq->rd_atomic++;
	/* The response acknowledges. */
	sq->ack_left = false;
	mxe_tx_send(qp, &sq->tx, skb);
	mxe_retry_start(qp);
	return true;
}

bool mxe_wire_atomic_run(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;
	u32 produced;

	lockdep_assert_held(&qp->send_lock);

	if (!mxe_wire_atomic_may_send(qp))
		return false;
	/* mxe_wqe_fetch_one() reports an invalid index. */
	produced = mxe_wqe_produced(qp);
	if (!mxe_wqe_index_ok(qp, produced))
		return false;
	while (sq->fetched != produced && mxe_wire_atomic_send(qp))
		;
	return sq->fetched == produced;
}

/* ---- responder ---------------------------------------------------------- */

/* What a request names. */
struct mxe_wire_atomic_target {
	u64 va;
	u32 rkey;
};

static void mxe_wire_atomic_parse_standard(const struct mxe_bth *bth,
					   struct mxe_wire_atomic_target *target,
					   struct mxe_atomic_args *args)
{
	const struct mxe_atomiceth *eth = (const void *)(bth + 1);
	bool is_swap = bth->opcode == IB_OPCODE_RC_COMPARE_SWAP;

	target->va = be64_to_cpu(eth->va);
	target->rkey = be32_to_cpu(eth->rkey);
	args->op = is_swap ? MXE_ATOMIC_CMP_SWAP : MXE_ATOMIC_FETCH_ADD;
	args->swap_add = be64_to_cpu(eth->swap_add);
	args->compare = is_swap ? be64_to_cpu(eth->compare) : 0;
	args->swap_mask = 0;
	args->compare_mask = 0;
}

/* Returns false for a request that the responder has to refuse. */
static bool mxe_wire_atomic_parse_masked(const struct mxe_bth *bth,
					 struct mxe_wire_atomic_target *target,
					 struct mxe_atomic_args *args)
{
	const struct mxe_mskatomiceth *eth = (const void *)(bth + 1);
	const u8 *p = (const u8 *)(eth + 1);

	if (eth->version != MXE_MSKATOMIC_VERSION || eth->log_arg_sz != 3 ||
	    eth->reserved)
		return false;
	target->va = be64_to_cpu(eth->va);
	target->rkey = be32_to_cpu(eth->rkey);
	args->swap_add = get_unaligned_be64(p);
	args->compare = get_unaligned_be64(p + 8);
	args->swap_mask = get_unaligned_be64(p + 16);
	args->compare_mask = get_unaligned_be64(p + 24);
	if (bth->opcode == MXE_OPCODE_RC_MASKED_CMP_SWAP) {
		args->op = MXE_ATOMIC_MASKED_CMP_SWAP;
		return true;
	}
	args->op = MXE_ATOMIC_MASKED_FETCH_ADD;
	return !(args->compare | args->swap_mask);
}

static bool mxe_wire_atomic_parse(const struct mxe_bth *bth,
				  struct mxe_wire_atomic_target *target,
				  struct mxe_atomic_args *args)
{
	args->log_size = 3;
	if (bth->opcode == MXE_OPCODE_RC_MASKED_CMP_SWAP ||
	    bth->opcode == MXE_OPCODE_RC_MASKED_FETCH_ADD)
		return mxe_wire_atomic_parse_masked(bth, target, args);
	mxe_wire_atomic_parse_standard(bth, target, args);
	return true;
}

/*
 * Executes a request for which mxe_respond_may_atomic() is true.  Returns false
 * if nothing was executed, because the memory does not allow it, or the key is
 * that of a window.
 */
static bool mxe_wire_atomic_exec(struct mxe_qp *qp,
				 const struct mxe_wire_atomic_target *target,
				 const struct mxe_atomic_args *args, u64 *orig)
{
	struct mxe_mr *mr = mxe_mr_get(qp->dev, target->rkey, &qp->rq.mr_cache);
	bool done = false;

	if (!mr)
		return false;
	if (!mxe_mr_check(mr, qp->pd, IB_ACCESS_REMOTE_ATOMIC, target->va, sizeof(u64)))
		done = mxe_mr_atomic_8(mr, target->va, args, orig);
	mxe_mr_put(mr);
	return done;
}

/* Stores the result, from which respond.c answers a duplicate. */
static const struct mxe_resp_res *mxe_wire_atomic_store(struct mxe_qp *qp, u32 psn,
							const struct mxe_wire_atomic_target *target,
							const struct mxe_atomic_args *args,
							u64 orig)
{
	struct mxe_resp_res *res = mxe_respond_next_res(&qp->rq);

	res->op = MXE_OP_ATOMIC;
	res->first_psn = psn;
	res->last_psn = psn;
	res->va = target->va;
	res->rkey = target->rkey;
	res->length = 0;
	res->msn = qp->rq.msn;
	res->srqn = 0;
	res->flush_type = 0;
	res->flush_level = 0;
	mxe_atomic_copy(&res->atomic, args);
	res->orig[0] = orig;
	return res;
}

static void mxe_wire_atomic_respond(struct mxe_qp *qp, const struct mxe_resp_res *res)
{
	const size_t len = mxe_wire_atomic_len(IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE);
	struct sk_buff *skb = mxe_tx_alloc_empty(qp, len);
	struct mxe_aeth *aeth;
	struct mxe_bth *bth;

	/* Without memory, the response is lost, and the peer asks again. */
	if (unlikely(!skb))
		return;
	bth = __skb_put(skb, len);
	mxe_wire_atomic_put_bth(qp, bth, IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
				res->first_psn);
	aeth = (struct mxe_aeth *)(bth + 1);
	aeth->smsn = cpu_to_be32(MXE_AETH_ACK_UNLIMITED << 24 |
				 (res->msn & 0xffffff));
	put_unaligned_be64(res->orig[0], aeth + 1);
	mxe_tx_send(qp, &qp->rq.tx, skb);
}

bool mxe_wire_atomic_request(struct mxe_qp *qp, const struct sk_buff *skb)
{
	const struct mxe_bth *bth = mxe_wire_atomic_bth(skb);
	struct mxe_wire_atomic_target target __uninitialized;
	struct mxe_atomic_args args __uninitialized;
	u32 psn = mxe_wire_atomic_psn(bth);
	u64 orig;

	lockdep_assert_held(&qp->recv_lock);

	if (!mxe_respond_is_ready(qp, psn) || qp->rq.budget <= 0 ||
	    !mxe_qp_is_from_peer(qp, skb) ||
	    !mxe_wire_atomic_parse(bth, &target, &args) ||
	    !mxe_respond_may_atomic(qp, target.va, &args) ||
	    !mxe_wire_atomic_exec(qp, &target, &args, &orig))
		return false;

	mxe_count(qp->dev, rcvd_pkts);
	mxe_count(qp->dev, atomics_executed);
	if (mxe_atomic_is_masked(args.op))
		mxe_count(qp->dev, masked_atomics_executed);
	mxe_respond_advance(qp, 1);
	mxe_wire_atomic_respond(qp, mxe_wire_atomic_store(qp, psn, &target, &args, orig));
	return true;
}

/* ---- completer ---------------------------------------------------------- */

/*
 * Stores the result where the first SGE of a request points.  Returns false if
 * nothing was changed, because that is not possible.
 */
static bool mxe_wire_atomic_scatter(struct mxe_qp *qp, const struct mxe_send_wr *wr,
				    u64 result)
{
	const struct ib_sge *sge = &wr->sge[0];
	bool done = false;
	struct mxe_mr *mr;

	if (!wr->num_sge || sge->length < sizeof(result))
		return false;
	mr = mxe_mr_get(qp->dev, sge->lkey, &qp->sq.mr_cache);
	if (!mr)
		return false;
	if (!mxe_mr_check(mr, qp->pd, IB_ACCESS_LOCAL_WRITE, sge->addr, sizeof(result))) {
		mxe_mr_copy(mr, sge->addr, &result, sizeof(result), MXE_TO_MEMORY);
		done = true;
	}
	mxe_mr_put(mr);
	return done;
}

/*
 * Returns true if @psn is that of the oldest request.  That was sent and is not
 * to be sent again.
 */
static bool mxe_wire_atomic_is_awaited(const struct mxe_qp *qp, u32 psn)
{
	const struct mxe_sq *sq = &qp->sq;

	return !qp->dying && !sq->halted && mxe_qp_can_send(qp->state) &&
	       psn == sq->una && mxe_psn_diff(psn, sq->sent_psn) < 0 &&
	       sq->cur != sq->tail && !sq->local_error;
}

bool mxe_wire_atomic_response(struct mxe_qp *qp, const struct sk_buff *skb)
{
	const struct mxe_bth *bth = mxe_wire_atomic_bth(skb);
	const struct mxe_aeth *aeth = (const void *)(bth + 1);
	u32 psn = mxe_wire_atomic_psn(bth);
	const struct mxe_send_wr *wr;
	u64 result;

	lockdep_assert_held(&qp->send_lock);

	if (!mxe_wire_atomic_is_awaited(qp, psn) || !mxe_qp_is_from_peer(qp, skb) ||
	    (be32_to_cpu(aeth->smsn) >> 24 & MXE_AETH_TYPE_MASK) != MXE_AETH_ACK)
		return false;
	wr = mxe_sq_wr(&qp->sq, qp->sq.tail);
	if (wr->first_psn != psn || !mxe_wr_is_atomic(wr->opcode) ||
	    wr->atomic.log_size != 3)
		return false;
	result = get_unaligned_be64(aeth + 1);
	mxe_complete_result(qp, &wr->atomic, &result);
	if (!mxe_wire_atomic_scatter(qp, wr, result))
		return false;

	mxe_count(qp->dev, rcvd_pkts);
	qp->sq.una = mxe_psn_add(psn, 1);
	mxe_sq_complete(qp, IB_WC_SUCCESS);
	mxe_retry_progress(qp);
	return true;
}
