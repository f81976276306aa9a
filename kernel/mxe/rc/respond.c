// SPDX-License-Identifier: GPL-2.0
/*
 * The responder executes requests of RC, XRC and DC in the order of their PSNs
 * and responds to them.
 */
#include <linux/sched/mm.h>

#include "ip/tx.h"
#include "memory/rkey.h"
#include "mxe.h"
#include "queues/srq.h"
#include "queues/xrc.h"
#include "rc/inline_recv.h"
#include "rc/recv.h"
#include "rc/respond.h"
#include "tm/tm_recv.h"
#include "trace.h"
#include "wire/psn.h"

/* ---- responses --------------------------------------------------------- */

/*
 * Allocates a response with @more bytes behind the headers of its opcode, which
 * is that of RC.  *p is set to the place of the AETH, or of the payload.
 */
static struct sk_buff *mxe_respond_alloc(struct mxe_qp *qp, u8 rc_opcode, u32 psn,
					 u32 more, u8 **p)
{
	return mxe_tx_alloc(qp, mxe_opcode_of(qp->transport, rc_opcode), qp->dest_qpn,
			    psn, more, p);
}

/* Sends a response that consists of an AETH. */
static void mxe_respond_aeth(struct mxe_qp *qp, u8 rc_opcode, u32 psn, u8 syndrome,
			     u32 msn)
{
	struct sk_buff *skb;
	u8 *p;

	skb = mxe_respond_alloc(qp, rc_opcode, psn, 0, &p);
	/* Without memory, the response is lost, and the peer asks again. */
	if (!skb)
		return;
	mxe_pkt_write_aeth(p, syndrome, msn);
	mxe_tx_send(qp, &qp->resp.tx, skb);
}

static void mxe_respond_ack(struct mxe_qp *qp, u32 psn, u8 syndrome)
{
	if ((syndrome & MXE_AETH_TYPE_MASK) != MXE_AETH_ACK)
		trace_mxe_nak_sent(qp, psn, syndrome);
	mxe_respond_aeth(qp, IB_OPCODE_RC_ACKNOWLEDGE, psn, syndrome, qp->resp.msn);
}

/* Returns the operands and the result of an atomic of more than 8 bytes. */
static struct mxe_resp_wide *mxe_respond_wide(const struct mxe_responder *resp,
					      const struct mxe_resp_res *res)
{
	return &resp->wide[res - resp->res];
}

static void mxe_respond_atomic_ack(struct mxe_qp *qp,
				   const struct mxe_resp_res *res)
{
	bool is_wide = res->log_size > 3;
	const u64 *orig = is_wide ? mxe_respond_wide(&qp->resp, res)->orig : &res->orig;
	unsigned int n = is_wide ? BIT(res->log_size - 3) : 1;
	struct sk_buff *skb;
	u8 *p;

	skb = mxe_respond_alloc(qp, IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE, res->first_psn,
				(n - 1) * sizeof(__be64), &p);
	/* As in mxe_respond_aeth(). */
	if (!skb)
		return;
	p = mxe_pkt_write_aeth(p, MXE_AETH_ACK_UNLIMITED, res->msn);
	mxe_pkt_write_number(p, orig, n);
	mxe_tx_send(qp, &qp->resp.tx, skb);
}

/* FLUSH and ATOMIC WRITE have the response of a READ of 0 bytes (annex A19). */
static void mxe_respond_placement_ack(struct mxe_qp *qp,
				      const struct mxe_resp_res *res)
{
	mxe_respond_aeth(qp, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, res->first_psn,
			 MXE_AETH_ACK_UNLIMITED, res->msn);
}

/* ---- failures ---------------------------------------------------------- */

static void mxe_respond_fatal(struct mxe_qp *qp, u32 psn, u8 syndrome,
			      enum mxe_pending event)
{
	struct mxe_responder *resp = &qp->resp;

	mxe_respond_ack(qp, psn, syndrome);
	resp->halted = true;
	resp->pending |= BIT(MXE_PENDING_ERROR) | BIT(event);
}

/*
 * Turns an error into a NAK for the peer, and into a completion and an event
 * for the local consumer (IBTA 9.9).  Only this function does.
 */
static void mxe_respond_fail(struct mxe_qp *qp, u32 psn, int err)
{
	struct mxe_responder *resp = &qp->resp;

	switch (err) {
	case -EAGAIN:
		/* Receiver not ready.  Later packets get no other NAK. */
		mxe_count(qp->dev, sent_rnr_nak);
		resp->nak_sent = true;
		mxe_respond_ack(qp, psn, MXE_AETH_RNR_NAK |
					 qp->attr.min_rnr_timer);
		break;
	case -ENOENT:
	case -EPERM:
	case -EACCES:
	case -EFAULT:
		/*
		 * A receive request is in use if a WRITE with immediate data or
		 * a SEND with invalidate had a bad key. IBTA's class J for the
		 * latter has no NAK. Without one, the requester would wait for
		 * its retries and report a lost connection.
		 */
		if (resp->cur_valid)
			mxe_recv_complete(qp, IB_WC_LOC_ACCESS_ERR, NULL);
		mxe_count(qp->dev, sent_nak_remote_access);
		mxe_respond_fatal(qp, psn, MXE_AETH_NAK_REM_ACC,
				  MXE_PENDING_EV_ACCESS_ERR);
		break;
	case -EMSGSIZE:
		/* The message is longer than the receive request. */
		mxe_recv_complete(qp, IB_WC_LOC_LEN_ERR, NULL);
		mxe_count(qp->dev, sent_nak_invalid_request);
		mxe_respond_fatal(qp, psn, MXE_AETH_NAK_INV_REQ,
				  MXE_PENDING_EV_REQ_ERR);
		break;
	case -EIO:
		/* The receive request, or its queue, cannot be used. */
		if (resp->cur_valid)
			mxe_recv_complete(qp, resp->cur->error ?:
					  IB_WC_LOC_PROT_ERR, NULL);
		mxe_count(qp->dev, sent_nak_remote_operation);
		mxe_respond_fatal(qp, psn, MXE_AETH_NAK_REM_OP,
				  MXE_PENDING_EV_FATAL);
		break;
	default:
		mxe_count(qp->dev, sent_nak_invalid_request);
		mxe_respond_fatal(qp, psn, MXE_AETH_NAK_INV_REQ,
				  MXE_PENDING_EV_REQ_ERR);
		break;
	}
}

/* ---- READ -------------------------------------------------------------- */

static u8 mxe_respond_read_opcode(bool first, bool last)
{
	if (first)
		return last ? IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY :
			      IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST;
	return last ? IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST :
		      IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE;
}

/* Sends one response.  Returns 0, -ENOMEM, or an error of mxe_rkey_copy(). */
static int mxe_respond_read_one(struct mxe_qp *qp)
{
	struct mxe_resp_read *rd = &qp->resp.read;
	struct mxe_rights rights = mxe_respond_rights(qp, rd->srq);
	u32 len = min(rd->left, qp->mtu);
	bool last = len == rd->left;
	struct sk_buff *skb;
	int err;
	u8 *p;

	skb = mxe_respond_alloc(qp, mxe_respond_read_opcode(rd->first, last), rd->psn,
				len, &p);
	if (!skb)
		return -ENOMEM;
	if (rd->first || last)
		p = mxe_pkt_write_aeth(p, MXE_AETH_ACK_UNLIMITED, rd->msn);
	if (len) {
		err = mxe_rkey_copy(&rights, rd->rkey,
				    IB_ACCESS_REMOTE_READ, rd->va, p, len,
				    MXE_FROM_MEMORY);
		if (err) {
			kfree_skb(skb);
			return err;
		}
	}
	mxe_tx_send(qp, &qp->resp.tx, skb);

	rd->first = false;
	rd->va += len;
	rd->left -= len;
	rd->psn = mxe_psn_add(rd->psn, 1);
	rd->active = rd->left > 0;
	return 0;
}

/*
 * Send responses of the READ in progress, if any, up to the end of the slice.
 * If the slice ends first, qp->work continues.
 * Context: BHs disabled, RCU read-side section, recv_lock held.
 */
void mxe_respond_read_run(struct mxe_qp *qp)
{
	struct mxe_responder *resp = &qp->resp;
	int err;

	while (resp->read.active) {
		if (resp->budget <= 0) {
			resp->pending |= BIT(MXE_PENDING_WORK);
			return;
		}
		resp->budget -= mxe_pkt_cost(min(resp->read.left, qp->mtu), 0);
		err = mxe_respond_read_one(qp);
		if (!err)
			continue;
		resp->read.active = false;
		/* Without memory, the peer asks for the missing part again. */
		if (err != -ENOMEM)
			mxe_respond_fail(qp, resp->read.psn, err);
	}
}

/* Stores a request that was executed; not the operands of an atomic. */
static struct mxe_resp_res *mxe_respond_store(struct mxe_qp *qp,
					      const struct mxe_pkt *pkt)
{
	struct mxe_resp_res *res = mxe_respond_next_res(&qp->resp);

	res->op = pkt->flags & MXE_OP_RESOURCE;
	res->first_psn = pkt->psn;
	res->last_psn = pkt->psn;
	res->va = mxe_pkt_va(pkt);
	res->rkey = mxe_pkt_rkey(pkt);
	res->length = pkt->flags & MXE_OP_RETH ? mxe_pkt_dma_len(pkt) : 0;
	if (pkt->flags & MXE_OP_FETH)
		res->feth = mxe_pkt_feth(pkt);
	res->msn = qp->resp.msn;
	res->srqn = mxe_pkt_srqn(pkt);
	return res;
}

/* Returns true if a duplicate names what the executed request did. */
static bool mxe_respond_same_target(const struct mxe_resp_res *res, const struct mxe_pkt *pkt)
{
	return res->op == (pkt->flags & MXE_OP_RESOURCE) && res->va == mxe_pkt_va(pkt) &&
	       res->rkey == mxe_pkt_rkey(pkt) && res->srqn == mxe_pkt_srqn(pkt);
}

static void mxe_respond_read_start(struct mxe_qp *qp,
				   const struct mxe_pkt *pkt, u32 msn,
				   struct mxe_srq *srq)
{
	qp->resp.read = (struct mxe_resp_read) {
		.active = true,
		.first = true,
		.va = mxe_pkt_va(pkt),
		.rkey = mxe_pkt_rkey(pkt),
		.left = mxe_pkt_dma_len(pkt),
		.psn = pkt->psn,
		.msn = msn,
		.srq = srq,
	};
	mxe_respond_read_run(qp);
}

/* Checks the memory that the first packet of a READ or WRITE names. */
static int mxe_respond_check_range(struct mxe_qp *qp, const struct mxe_pkt *pkt,
				   int access)
{
	struct mxe_rights rights = mxe_respond_rights(qp, qp->resp.srq);

	u32 len = mxe_pkt_dma_len(pkt);

	if (len > MXE_MAX_MSG_SIZE)
		return -EINVAL;
	/* A request of 0 bytes needs no key (IBTA 9.7.4). */
	if (!len)
		return 0;
	return mxe_rkey_check(&rights, mxe_pkt_rkey(pkt), access, mxe_pkt_va(pkt), len);
}

static int mxe_respond_read(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_responder *resp = &qp->resp;
	struct mxe_resp_res *res;
	u32 num_pkts;
	int err;

	if (!mxe_respond_may_read(qp))
		return -EINVAL;
	err = mxe_respond_check_range(qp, pkt, IB_ACCESS_REMOTE_READ);
	if (err)
		return err;

	num_pkts = max(DIV_ROUND_UP(mxe_pkt_dma_len(pkt), qp->mtu), 1U);
	mxe_respond_advance(qp, num_pkts);
	res = mxe_respond_store(qp, pkt);
	res->last_psn = mxe_psn_add(pkt->psn, num_pkts - 1);
	mxe_respond_read_start(qp, pkt, res->msn, resp->srq);
	return 0;
}

/* ---- atomics ----------------------------------------------------------- */

/*
 * Returns true if an atomic has memory for its result, without which it must
 * not be executed, or does not need it.
 */
static bool mxe_respond_has_room(struct mxe_qp *qp, const struct mxe_pkt *pkt,
				 const struct mxe_atomic_args *args)
{
	struct mxe_responder *resp = &qp->resp;
	struct mem_cgroup *outer;

	if (likely(args->log_size <= 3) || resp->wide)
		return true;
	/* It will be refused. */
	if (!mxe_respond_may_atomic(qp, mxe_pkt_va(pkt), args))
		return true;
	outer = set_active_memcg(qp->memcg);
	resp->wide = kcalloc(resp->num_res, sizeof(*resp->wide), MXE_PKT_GFP);
	set_active_memcg(outer);
	return resp->wide;
}

static void mxe_respond_store_atomic(const struct mxe_responder *resp,
				     struct mxe_resp_res *res,
				     const struct mxe_atomic_args *args, const u64 *orig)
{
	struct mxe_resp_wide *wide;

	res->atomic_op = args->op;
	res->log_size = args->log_size;
	if (unlikely(args->log_size > 3)) {
		wide = mxe_respond_wide(resp, res);
		wide->args = *args;
		mxe_atomic_copy_words(wide->orig, orig, mxe_atomic_words(args));
		return;
	}
	res->swap_add = args->swap_add;
	res->compare = args->compare;
	res->swap_mask = args->swap_mask;
	res->compare_mask = args->compare_mask;
	res->orig = orig[0];
}

static int mxe_respond_atomic(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_atomic_args args __uninitialized;
	u64 orig[MXE_ATOMIC_WORDS] __uninitialized;
	struct mxe_resp_res *res;
	int err;

	mxe_pkt_atomic(pkt, &args);
	if (!mxe_respond_has_room(qp, pkt, &args))
		return -EAGAIN;
	err = mxe_respond_exec_atomic(qp, mxe_pkt_rkey(pkt), mxe_pkt_va(pkt), &args, orig);
	if (err)
		return err;

	mxe_respond_advance(qp, 1);
	res = mxe_respond_store(qp, pkt);
	mxe_respond_store_atomic(&qp->resp, res, &args, orig);
	mxe_respond_atomic_ack(qp, res);
	return 0;
}

/* ---- FLUSH and ATOMIC WRITE: memory placement, IBTA annex A19 ---------- */

/*
 * CPUs have executed all earlier requests, so the data are in coherent memory.
 * A barrier makes them globally visible.  Persistence is not supported.
 */
static int mxe_respond_flush_memory(struct mxe_qp *qp,
				    const struct mxe_pkt *pkt)
{
	struct mxe_rights rights = mxe_respond_rights(qp, qp->resp.srq);
	u32 feth = mxe_pkt_feth(pkt), rkey = mxe_pkt_rkey(pkt);
	u32 level = feth >> MXE_FETH_LEVEL_SHIFT & MXE_FETH_LEVEL_MASK;
	u32 type = feth & MXE_FETH_TYPE_MASK;
	int err;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_FLUSH_GLOBAL) ||
	    !qp->resp.num_res || !type)
		return -EINVAL;
	/* No region grants any other type. */
	if (type != IB_FLUSH_GLOBAL)
		return -EACCES;
	if (level == IB_FLUSH_RANGE)
		err = mxe_rkey_check(&rights, rkey, IB_ACCESS_FLUSH_GLOBAL,
				     mxe_pkt_va(pkt), mxe_pkt_dma_len(pkt));
	else if (level == IB_FLUSH_MR)
		err = mxe_rkey_grants(&rights, rkey, IB_ACCESS_FLUSH_GLOBAL);
	else
		err = -EINVAL;
	if (err)
		return err;

	/* Data of earlier requests must be visible before the response. */
	smp_mb();
	mxe_respond_advance(qp, 1);
	mxe_respond_placement_ack(qp, mxe_respond_store(qp, pkt));
	return 0;
}

/* Stores 8 bytes at once, so that a part of them is never visible. */
static int mxe_respond_atomic_write(struct mxe_qp *qp,
				    const struct mxe_pkt *pkt)
{
	struct mxe_rights rights = mxe_respond_rights(qp, qp->resp.srq);
	struct mxe_atomic_args args __uninitialized;
	u64 va = mxe_pkt_va(pkt), orig[MXE_ATOMIC_WORDS];
	struct mxe_resp_res *res;
	int err;

	if (!mxe_respond_may_write(qp) || !qp->resp.num_res ||
	    mxe_pkt_dma_len(pkt) != MXE_ATOMIC_WRITE_SIZE ||
	    !mxe_pkt_atomic(pkt, &args) || !IS_ALIGNED(va, MXE_ATOMIC_WRITE_SIZE))
		return -EINVAL;
	err = mxe_rkey_atomic(&rights, mxe_pkt_rkey(pkt), IB_ACCESS_REMOTE_WRITE, va,
			      &args, orig);
	if (err)
		return err;
	mxe_respond_advance(qp, 1);
	res = mxe_respond_store(qp, pkt);
	mxe_respond_store_atomic(&qp->resp, res, &args, orig);
	mxe_respond_placement_ack(qp, res);
	return 0;
}

/* ---- SEND and WRITE ---------------------------------------------------- */

static bool mxe_respond_length_ok(const struct mxe_qp *qp,
				  const struct mxe_pkt *pkt)
{
	if (!(pkt->flags & MXE_OP_END))
		return pkt->payload_len == qp->mtu;
	if (!(pkt->flags & MXE_OP_START) && !pkt->payload_len)
		return false;
	return pkt->payload_len <= qp->mtu;
}

/* Copies a packet of a SEND to the receive request, which was taken up. */
static int mxe_respond_scatter(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_rights rights = mxe_respond_rights(qp, qp->resp.srq);
	struct mxe_responder *resp = &qp->resp;
	int err;

	if (mxe_inline_recv_is_on(qp) && mxe_inline_recv_store(qp, pkt))
		err = 0;
	else
		err = mxe_recv_scatter(qp, resp->offset, pkt->payload, pkt->payload_len);
	if (err == -EIO)
		mxe_count(qp->dev, local_access_errors);
	if (err)
		return err;
	if (pkt->flags & MXE_OP_IETH) {
		err = mxe_rkey_invalidate(&rights, mxe_pkt_inv_rkey(pkt), MXE_INV_REMOTE);
		if (err)
			return err;
	}
	resp->offset += pkt->payload_len;
	if (pkt->flags & MXE_OP_END)
		mxe_recv_complete(qp, IB_WC_SUCCESS, pkt);
	return 0;
}

/* Begins a SEND to a tag-matching SRQ. */
static int mxe_respond_send_tagged(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_tm_data data = {
		.hdr = pkt->payload,
		.len = pkt->payload_len,
		.is_last = pkt->flags & MXE_OP_END,
	};
	struct mxe_pkt rest = *pkt;
	int err;

	qp->resp.offset = 0;
	err = mxe_tm_recv_start(qp, &data);
	if (err)
		return err;
	rest.payload += data.skip;
	rest.payload_len = data.len;
	return mxe_respond_scatter(qp, &rest);
}

static int mxe_respond_send_data(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	int err;

	if (pkt->flags & MXE_OP_START) {
		if (mxe_qp_has_tm(qp))
			return mxe_respond_send_tagged(qp, pkt);
		qp->resp.offset = 0;
		err = mxe_recv_take(qp);
		if (err)
			return err;
	}
	return mxe_respond_scatter(qp, pkt);
}

static int mxe_respond_write_start(struct mxe_qp *qp,
				   const struct mxe_pkt *pkt)
{
	struct mxe_responder *resp = &qp->resp;
	int err;

	if (!mxe_respond_may_write(qp))
		return -EINVAL;
	err = mxe_respond_check_range(qp, pkt, IB_ACCESS_REMOTE_WRITE);
	if (err)
		return err;
	resp->offset = 0;
	resp->write_va = mxe_pkt_va(pkt);
	resp->write_rkey = mxe_pkt_rkey(pkt);
	resp->write_left = mxe_pkt_dma_len(pkt);
	return 0;
}

static int mxe_respond_write(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_rights rights = mxe_respond_rights(qp, qp->resp.srq);
	struct mxe_responder *resp = &qp->resp;
	int err;

	if (pkt->flags & MXE_OP_START) {
		err = mxe_respond_write_start(qp, pkt);
		if (err)
			return err;
	}
	/* The packets carry as many bytes as the first one announced. */
	if (pkt->payload_len > resp->write_left ||
	    (pkt->flags & MXE_OP_END && pkt->payload_len != resp->write_left))
		return -EINVAL;
	if (pkt->flags & MXE_OP_IMM) {
		err = mxe_recv_take(qp);
		if (err)
			return err;
	}
	if (pkt->payload_len) {
		err = mxe_rkey_copy(&rights, resp->write_rkey,
				    IB_ACCESS_REMOTE_WRITE, resp->write_va,
				    (void *)pkt->payload, pkt->payload_len,
				    MXE_TO_MEMORY);
		if (err)
			return err;
	}
	resp->offset += pkt->payload_len;
	resp->write_va += pkt->payload_len;
	resp->write_left -= pkt->payload_len;
	if (pkt->flags & MXE_OP_IMM)
		mxe_recv_complete(qp, IB_WC_SUCCESS, pkt);
	return 0;
}

/*
 * Execute a packet of a SEND or WRITE of RC, XRC, DC or UC, whose turn it is.
 * Copy the data to the receive request or to remote memory. The last packet
 * completes the receive request. Send no response.
 * Context: BHs disabled, recv_lock held.
 * Return: 0; -EINVAL for a packet that is not allowed; -EAGAIN if there is no
 * receive request; -EIO if it, or the whole queue, cannot be used; -EMSGSIZE if
 * it is too short; or an error of mxe_rkey_copy() or mxe_rkey_invalidate().
 */
int mxe_respond_data(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_responder *resp = &qp->resp;
	int err;

	if (!mxe_respond_length_ok(qp, pkt))
		return -EINVAL;
	if (pkt->flags & MXE_OP_SEND)
		err = mxe_respond_send_data(qp, pkt);
	else
		err = mxe_respond_write(qp, pkt);
	if (err)
		return err;

	resp->msg = pkt->flags & MXE_OP_END ? 0 :
		  pkt->flags & (MXE_OP_SEND | MXE_OP_WRITE);
	return 0;
}

static int mxe_respond_message(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_responder *resp = &qp->resp;
	int err;

	err = mxe_respond_data(qp, pkt);
	if (err)
		return err;
	if (pkt->flags & MXE_OP_END)
		mxe_respond_advance(qp, 1);
	else
		resp->epsn = mxe_psn_add(resp->epsn, 1);
	if (mxe_pkt_asks_ack(pkt))
		mxe_respond_ack(qp, pkt->psn, MXE_AETH_ACK_UNLIMITED);
	return 0;
}

/* ---- duplicates -------------------------------------------------------- */

static struct mxe_resp_res *mxe_respond_find(struct mxe_responder *resp,
					     const struct mxe_pkt *pkt)
{
	u32 i;

	/* Newest first, because PSNs wrap after 2^24 packets. */
	for (i = 1; i <= resp->num_res; i++) {
		u32 slot = (resp->res_head + resp->num_res - i) % resp->num_res;
		struct mxe_resp_res *res = &resp->res[slot];

		if (res->valid && mxe_psn_diff(pkt->psn, res->first_psn) >= 0 &&
		    mxe_psn_diff(pkt->psn, res->last_psn) <= 0)
			return res;
	}
	return NULL;
}

/* Returns true if a duplicate has the operands of the executed request. */
static bool mxe_respond_same_operands(const struct mxe_responder *resp,
				      const struct mxe_resp_res *res,
				      const struct mxe_pkt *pkt)
{
	struct mxe_atomic_args args __uninitialized;

	if (!mxe_pkt_atomic(pkt, &args) || args.op != res->atomic_op ||
	    args.log_size != res->log_size)
		return false;
	if (args.log_size > 3)
		return mxe_atomic_same(&mxe_respond_wide(resp, res)->args, &args);
	return args.swap_add == res->swap_add && args.compare == res->compare &&
	       args.swap_mask == res->swap_mask &&
	       args.compare_mask == res->compare_mask;
}

static bool mxe_respond_same_atomic(const struct mxe_responder *resp,
				    const struct mxe_resp_res *res,
				    const struct mxe_pkt *pkt)
{
	return mxe_respond_same_target(res, pkt) &&
	       mxe_respond_same_operands(resp, res, pkt);
}

static bool mxe_respond_same_placement(const struct mxe_responder *resp,
				       const struct mxe_resp_res *res,
				       const struct mxe_pkt *pkt)
{
	if (!mxe_respond_same_target(res, pkt) || res->length != mxe_pkt_dma_len(pkt))
		return false;
	if (pkt->flags & MXE_OP_ATOMIC_WRITE)
		return mxe_respond_same_operands(resp, res, pkt);
	return !((res->feth ^ mxe_pkt_feth(pkt)) & MXE_FETH_MASK);
}

/* A duplicate READ asks for everything, or for the end that is missing. */
static bool mxe_respond_same_read(const struct mxe_qp *qp,
				  const struct mxe_resp_res *res,
				  const struct mxe_pkt *pkt)
{
	u64 offset = (u64)mxe_psn_diff(pkt->psn, res->first_psn) * qp->mtu;

	return res->op == MXE_OP_READ && res->rkey == mxe_pkt_rkey(pkt) &&
	       res->srqn == mxe_pkt_srqn(pkt) && mxe_pkt_va(pkt) == res->va + offset &&
	       offset <= res->length && mxe_pkt_dma_len(pkt) <= res->length - offset;
}

static void mxe_respond_duplicate(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_responder *resp = &qp->resp;
	struct mxe_srq *srq = NULL;
	struct mxe_resp_res *res;

	mxe_count(qp->dev, duplicate_requests);
	if (pkt->flags & (MXE_OP_SEND | MXE_OP_WRITE)) {
		/* Executed before: acknowledge all that was (IBTA 9.7.5). */
		if (mxe_pkt_asks_ack(pkt))
			mxe_respond_ack(qp, mxe_psn_add(resp->epsn, -1),
					MXE_AETH_ACK_UNLIMITED);
		return;
	}

	res = mxe_respond_find(resp, pkt);
	if (pkt->flags & MXE_OP_XRCETH)
		srq = mxe_xrc_find(qp, mxe_pkt_srqn(pkt));
	if (!res || (pkt->flags & MXE_OP_XRCETH && !srq)) {
		mxe_count(qp->dev, drop_duplicate_unknown);
		return;
	}
	/* A READ reads memory again.  Nothing else is executed twice. */
	if (pkt->flags & MXE_OP_READ && mxe_respond_same_read(qp, res, pkt))
		mxe_respond_read_start(qp, pkt, res->msn, srq);
	else if (pkt->flags & MXE_OP_ATOMIC &&
		 mxe_respond_same_atomic(resp, res, pkt))
		mxe_respond_atomic_ack(qp, res);
	else if (pkt->flags & (MXE_OP_FLUSH | MXE_OP_ATOMIC_WRITE) &&
		 mxe_respond_same_placement(resp, res, pkt))
		mxe_respond_placement_ack(qp, res);
	else
		mxe_count(qp->dev, drop_duplicate_mismatch);
}

/* ---- requests ---------------------------------------------------------- */

static int mxe_respond_execute(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	u32 msg = pkt->flags & MXE_OP_START ? 0 :
		  pkt->flags & (MXE_OP_SEND | MXE_OP_WRITE);
	int err;

	/* First, middle and last packets must arrive in this order. */
	if (qp->resp.msg != msg)
		return -EINVAL;
	if (pkt->flags & MXE_OP_XRCETH) {
		err = mxe_xrc_select(qp, mxe_pkt_srqn(pkt), pkt->flags & MXE_OP_START);
		if (err)
			return err;
	}
	if (pkt->flags & MXE_OP_ATOMIC)
		return mxe_respond_atomic(qp, pkt);
	if (pkt->flags & MXE_OP_READ)
		return mxe_respond_read(qp, pkt);
	if (pkt->flags & MXE_OP_FLUSH)
		return mxe_respond_flush_memory(qp, pkt);
	if (pkt->flags & MXE_OP_ATOMIC_WRITE)
		return mxe_respond_atomic_write(qp, pkt);
	return mxe_respond_message(qp, pkt);
}

/*
 * Execute a request of RC, XRC or DC, and respond to it: the step request of
 * struct mxe_transport_ops. A duplicate is answered from the stored results. A
 * request out of sequence is dropped, with a NAK if it is the first one.
 * Context: BHs disabled, RCU read-side section, recv_lock held.
 * Return: 0; -EBUSY if the region to be invalidated is being accessed, or if
 * the search for a tag needs more budget than is left, so that the caller has
 * to try again; or another error, for which a NAK was sent.
 */
int mxe_respond_request(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			const struct sk_buff *skb)
{
	struct mxe_responder *resp = &qp->resp;
	s32 ahead = mxe_psn_diff(pkt->psn, resp->epsn);
	int err;

	lockdep_assert_held(&qp->recv_lock);

	if (ahead < 0) {
		mxe_respond_duplicate(qp, pkt);
		return 0;
	}
	if (ahead > 0) {
		mxe_count(qp->dev, out_of_sequence);
		/* One NAK until the missing packet arrives (IBTA 9.7.5). */
		if (!resp->nak_sent) {
			resp->nak_sent = true;
			mxe_count(qp->dev, sent_nak_sequence);
			mxe_respond_ack(qp, resp->epsn, MXE_AETH_NAK_PSN_SEQ);
		}
		return 0;
	}

	resp->nak_sent = false;
	err = mxe_respond_execute(qp, pkt);
	if (err && err != -EBUSY)
		mxe_respond_fail(qp, pkt->psn, err);
	return err;
}

/*
 * Drop the message in progress and the stored results.
 * Context: recv_lock held.
 */
void mxe_respond_reset(struct mxe_qp *qp)
{
	struct mxe_responder *resp = &qp->resp;
	u32 i;

	lockdep_assert_held(&qp->recv_lock);

	mxe_tm_recv_abandon(qp);
	resp->cur_valid = false;
	resp->inl.len = 0;
	resp->offset = 0;
	resp->msg = 0;
	resp->nak_sent = false;
	resp->halted = false;
	resp->read.active = false;
	for (i = 0; i < resp->num_res; i++)
		resp->res[i].valid = false;
	resp->res_head = 0;
}

/*
 * Drop work in progress for an SRQ that is being destroyed. The XRC target may
 * be dying.
 * Context: recv_lock held.
 */
void mxe_respond_forget(struct mxe_qp *qp, const struct mxe_srq *srq)
{
	struct mxe_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->recv_lock);

	/* The READ ends here.  Requests that waited for it continue. */
	if (resp->read.srq == srq) {
		if (resp->read.active && !qp->dying)
			resp->pending |= BIT(MXE_PENDING_WORK);
		resp->read.active = false;
		resp->read.srq = NULL;
	}
	if (resp->srq == srq) {
		resp->srq = NULL;
		resp->cur_valid = false;
	}
}

/*
 * Abandon a READ, and flush a slice of receive requests of a QP in ERR. Return
 * true if requests remain, which qp->work flushes.
 * Context: recv_lock held.
 */
bool mxe_respond_flush(struct mxe_qp *qp)
{
	struct mxe_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->recv_lock);

	resp->read.active = false;
	return mxe_recv_flush(qp);
}
