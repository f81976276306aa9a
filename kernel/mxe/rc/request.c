// SPDX-License-Identifier: GPL-2.0
/*
 * Describes, fills and sends the packets of the requester, and computes their
 * cost.
 */
#include <linux/smp.h>

#include "ip/tx.h"
#include "mxe.h"
#include "queues/wqe.h"
#include "queues/wr.h"
#include "rc/request.h"
#include "rc/respond.h"
#include "wire/psn.h"

/*
 * Return the BTH opcode of a packet that is the first or last of its message.
 */
u8 mxe_request_opcode(const struct mxe_qp *qp, const struct mxe_send_wr *wr,
		      bool first, bool last)
{
	unsigned int place = (first ? MXE_WR_PKT_FIRST : MXE_WR_PKT_MIDDLE) |
			     (last ? MXE_WR_PKT_LAST : 0);
	const struct mxe_wr_row *row = &mxe_wr_rows[wr->opcode];

	return mxe_opcode_of(qp->transport, row->flags & MXE_WR_OP_ATOMIC ?
			     mxe_opcode_of_atomic(wr->atomic.op) :
			     row->bth_opcode[place]);
}

/*
 * Start the request at req.cur: it gets its PSNs, and is outstanding.
 * Context: send_lock held.
 */
void mxe_request_start(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_requester *req = &qp->req;

	wr->started = true;
	wr->first_psn = req->max_psn;
	wr->last_psn = mxe_psn_add(wr->first_psn, mxe_request_num_pkts(qp, wr) - 1);
	req->max_psn = mxe_psn_add(wr->last_psn, 1);
	req->psn = wr->first_psn;
	req->next++;
	if (mxe_wr_is_rd_atomic(wr->opcode))
		req->rd_atomic++;
}

/*
 * Check whether @wr, which is at req.cur or behind it and not started, may be
 * started now. The QP is of RC, XRC or DC. The state, a fence, max_rd_atomic,
 * and the order of local operations may forbid it. A request with an error may
 * start, so that it is reported.
 * Context: send_lock held.
 */
bool mxe_request_may_start(struct mxe_qp *qp, const struct mxe_send_wr *wr)
{
	const struct mxe_requester *req = &qp->req;

	if (qp->state != IB_QPS_RTS)
		return false;
	if (wr->error)
		return true;
	if (wr->flags & MXE_SEND_FENCE && req->rd_atomic)
		return false;
	if (unlikely(qp->ops->may_start) && !qp->ops->may_start(qp, wr))
		return false;
	/* A local operation takes effect after all earlier requests. */
	if (mxe_wr_is_local(wr->opcode))
		return req->tail == req->cur;
	/* With a limit of 0, mxe_send_begin() refuses the request. */
	return !mxe_wr_is_rd_atomic(wr->opcode) ||
	       !qp->attr.max_rd_atomic ||
	       req->rd_atomic < qp->attr.max_rd_atomic;
}

/*
 * Returns true if another request follows the one at req->cur and can be sent
 * in the same slice.  mxe_send_ask_again() handles one that turns out not to
 * be.
 */
static bool mxe_request_is_followed(struct mxe_qp *qp)
{
	const struct mxe_send_wr *wr;
	struct mxe_requester *req = &qp->req;
	u32 next = req->cur + 1;

	if (req->budget <= 0 || (next == req->fetched && !mxe_wqe_fetch(qp)))
		return false;
	if (req->local_error && req->local_error_at == next)
		return false;
	wr = mxe_sq_wr(req, next);
	return wr->started ||
	       (!wr->error && !mxe_wr_is_local(wr->opcode) &&
		(!mxe_wr_is_rd_atomic(wr->opcode) ||
		 qp->attr.max_rd_atomic) &&
		mxe_request_may_start(qp, wr));
}

/*
 * Returns true if a packet has to ask for an ACK.  One ACK suffices for all
 * requests that are sent in a slice, so the last packet of the last one asks
 * for it.  To keep the window open, packets also ask at each quarter of
 * MXE_MAX_UNACKED after una, and at the end of the window.
 */
static bool mxe_request_wants_ack(struct mxe_qp *qp, u32 psn, bool last)
{
	u32 unacked = mxe_psn_diff(psn, qp->req.una);
	struct mxe_requester *req = &qp->req;
	bool ask;

	ask = unacked % (MXE_MAX_UNACKED / 4) == 0 ||
	      unacked + 1 >= req->window;
	if (!ask && !last)
		return false;
	/* A retransmitted packet does not rely on later ones. */
	ask = ask || mxe_psn_diff(psn, req->sent_psn) < 0 ||
	      !mxe_request_is_followed(qp);
	req->ack_left = !ask;
	return ask;
}

/*
 * Copy @len bytes of the data that a request sends, from @offset on, to @buf.
 * Context: BHs disabled, send_lock held.
 * Return: 0, or an error of mxe_mr_copy_sges().
 */
int mxe_request_gather(struct mxe_qp *qp, const struct mxe_send_wr *wr,
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
	return mxe_mr_copy_sges(qp->dev, qp->pd, wr->sge, wr->num_sge, offset,
				buf, len, MXE_FROM_MEMORY, &qp->req.mr_cache);
}

/*
 * Returns true if a packet asks for an ACK.  A request with a response always
 * does, and its response acknowledges all before it.
 */
static bool mxe_request_asks_ack(struct mxe_qp *qp, u16 flags, u32 psn, bool last)
{
	if (flags & MXE_WR_OP_RD_ATOMIC) {
		qp->req.ack_left = false;
		return true;
	}
	return mxe_qp_is_reliable(qp) && mxe_request_wants_ack(qp, psn, last);
}

/* Returns the bytes of remote memory from @offset on that the RETH names. */
static u32 mxe_request_dma_len(const struct mxe_send_wr *wr, u32 offset)
{
	if (wr->opcode == IB_WR_FLUSH)
		return wr->flush.length;
	return wr->length - offset;
}

/*
 * Writes the headers behind the BTH.  A retransmitted READ asks for the missing
 * part only.  Returns the place of the payload.
 */
static u8 *mxe_request_write_headers(const struct mxe_send_wr *wr, u32 flags, u32 offset, u8 *p)
{
	if (flags & MXE_OP_XRCETH)
		p = mxe_pkt_write_be32(p, wr->srqn);
	if (flags & MXE_OP_FETH)
		p = mxe_pkt_write_be32(p, wr->flush.level << MXE_FETH_LEVEL_SHIFT |
					wr->flush.type);
	if (flags & MXE_OP_RETH)
		p = mxe_pkt_write_reth(p, wr->remote_addr + offset, wr->rkey,
				       mxe_request_dma_len(wr, offset));
	if (flags & MXE_OP_IMM)
		p = mxe_pkt_write_be32(p, be32_to_cpu(wr->imm));
	if (flags & MXE_OP_IETH)
		p = mxe_pkt_write_be32(p, wr->rkey);
	if (flags & MXE_OP_ATOMIC)
		p = mxe_pkt_write_atomic(p, wr->remote_addr, wr->rkey, &wr->atomic);
	return p;
}

/* Returns the bytes of a packet behind the headers of its opcode. */
static u32 mxe_request_more(const struct mxe_qp *qp, const struct mxe_send_wr *wr,
			    u32 flags, u32 offset)
{
	if (flags & MXE_OP_PAYLOAD)
		return min(wr->length - offset, qp->mtu);
	if (flags & MXE_OP_MSKATOMICETH)
		return MXE_MSKATOMIC_OPERANDS * sizeof(__be64) *
		       (mxe_atomic_words(&wr->atomic) - 1);
	return 0;
}

/*
 * Add the packet at req.psn of a started request to the GSO batch. The QP is of
 * RC, XRC, DC or UC. Without a route the packet is lost later.
 * Context: BHs disabled, send_lock held.
 * Return: 0, -ENOMEM, or an error of mxe_request_gather().
 */
int mxe_request_send_one(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_requester *req = &qp->req;
	bool is_read = mxe_wr_is_read(wr->opcode);
	bool first = is_read || req->psn == wr->first_psn;
	bool last = is_read || req->psn == wr->last_psn;
	u32 offset = mxe_psn_diff(req->psn, wr->first_psn) * qp->mtu;
	u8 opcode = mxe_request_opcode(qp, wr, first, last);
	u32 flags = mxe_opcodes[opcode].flags, apsn = req->psn;
	u32 more = mxe_request_more(qp, wr, flags, offset);
	struct sk_buff *skb;
	int err;
	u8 *p;

	if (mxe_request_asks_ack(qp, mxe_wr_flags(wr->opcode), req->psn, last))
		apsn |= MXE_BTH_ACK_REQ;
	skb = mxe_tx_alloc(qp, opcode, qp->dest_qpn, apsn, more, &p);
	if (unlikely(!skb))
		return -ENOMEM;
	if (unlikely(wr->flags & MXE_SEND_SOLICITED) && flags & MXE_OP_END &&
	    flags & (MXE_OP_SEND | MXE_OP_WRITE))
		mxe_pkt_set_solicited(skb->data);
	p = mxe_request_write_headers(wr, flags, offset, p);
	if (flags & MXE_OP_PAYLOAD) {
		err = mxe_request_gather(qp, wr, offset, p, more);
		if (err) {
			kfree_skb(skb);
			return err;
		}
	}
	/* Without a route, the packet is lost, and the timer retransmits. */
	mxe_tx_send(qp, &req->tx, skb);
	return 0;
}

/*
 * As mxe_request_pkt_cost(), if the cost is not a constant. A READ costs as
 * much as all of its responses, but at most a slice.
 */
u32 mxe_request_long_pkt_cost(const struct mxe_qp *qp, const struct mxe_send_wr *wr)
{
	u32 cost = mxe_pkt_cost(min(wr->length, qp->mtu), wr->num_sge);

	if (!mxe_wr_is_read(wr->opcode))
		return cost;
	/* A READ costs as much as its responses. */
	return min_t(u64, (u64)cost * mxe_request_num_pkts(qp, wr), MXE_SLICE);
}
