// SPDX-License-Identifier: GPL-2.0
/*
 * Describes, fills and sends the packets of the requester, and computes their
 * cost.  send.c and ud.c call this file.  It calls wqe.c, mr.c and tx.c.
 */
#include <linux/smp.h>

#include "dci.h"
#include "mxe.h"
#include "psn.h"
#include "request.h"
#include "respond.h"
#include "tx.h"
#include "wqe.h"
#include "wr.h"

u8 mxe_request_opcode(const struct mxe_send_wr *wr, enum mxe_transport transport,
		      bool first, bool last)
{
	unsigned int place = (first ? MXE_WR_PKT_FIRST : MXE_WR_PKT_MIDDLE) |
			     (last ? MXE_WR_PKT_LAST : 0);

	return transport << 5 | mxe_wr_rows[wr->opcode].bth_opcode[place];
}

static void mxe_request_describe_placement(const struct mxe_send_wr *wr,
					   enum mxe_transport transport,
					   struct mxe_pkt_out *out)
{
	out->ack_req = true;
	out->opcode = mxe_request_opcode(wr, transport, true, true);
	if (wr->opcode == IB_WR_FLUSH) {
		out->dma_len = wr->flush.length;
		out->flush_type = wr->flush.type;
		out->flush_level = wr->flush.level;
		return;
	}
	out->dma_len = MXE_ATOMIC_WRITE_SIZE;
	out->payload_len = MXE_ATOMIC_WRITE_SIZE;
}

bool mxe_request_may_start(struct mxe_qp *qp, const struct mxe_send_wr *wr)
{
	const struct mxe_sq *sq = &qp->sq;

	if (qp->state != IB_QPS_RTS)
		return false;
	if (wr->error)
		return true;
	if (wr->flags & (MXE_SEND_FENCE | MXE_SEND_DC)) {
		if (wr->flags & MXE_SEND_FENCE && sq->rd_atomic)
			return false;
		if (wr->flags & MXE_SEND_DC && !mxe_dci_may_start(qp, wr))
			return false;
	}
	/* A local operation takes effect after all earlier requests. */
	if (mxe_wr_is_local(wr->opcode))
		return sq->tail == sq->cur;
	/* With a limit of 0, mxe_send_begin() refuses the request. */
	return !mxe_wr_is_rd_atomic(wr->opcode) ||
	       !qp->attr.max_rd_atomic ||
	       sq->rd_atomic < qp->attr.max_rd_atomic;
}

/*
 * Returns true if another request follows the one at sq->cur and can be sent in
 * the same slice.  mxe_send_ask_again() handles one that turns out not to be.
 */
static bool mxe_request_is_followed(struct mxe_qp *qp)
{
	const struct mxe_send_wr *wr;
	struct mxe_sq *sq = &qp->sq;
	u32 next = sq->cur + 1;

	if (sq->budget <= 0 || (next == sq->fetched && !mxe_wqe_fetch(qp)))
		return false;
	if (sq->local_error && sq->local_error_at == next)
		return false;
	wr = mxe_sq_wr(sq, next);
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
	u32 unacked = mxe_psn_diff(psn, qp->sq.una);
	struct mxe_sq *sq = &qp->sq;
	bool ask;

	ask = unacked % (MXE_MAX_UNACKED / 4) == 0 ||
	      unacked + 1 >= sq->window;
	if (!ask && !last)
		return false;
	/* A retransmitted packet does not rely on later ones. */
	ask = ask || mxe_psn_diff(psn, sq->sent_psn) < 0 ||
	      !mxe_request_is_followed(qp);
	sq->ack_left = !ask;
	return ask;
}

/* Describes the packet of wr that has this PSN. */
static void mxe_request_describe(struct mxe_qp *qp, const struct mxe_send_wr *wr,
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
		qp->sq.ack_left = false;	/* Its response acknowledges. */
	if (mxe_wr_is_atomic(wr->opcode)) {
		out->opcode = mxe_opcode_of(transport,
					    mxe_opcode_of_atomic(wr->atomic.op));
		mxe_atomic_copy(&out->atomic, &wr->atomic);
		out->ack_req = true;
		return;
	}
	if (mxe_wr_is_read(wr->opcode)) {
		/* A retransmitted READ asks for the missing part only. */
		out->opcode = mxe_request_opcode(wr, transport, true, true);
		out->va += offset;
		out->dma_len = wr->length - offset;
		out->ack_req = true;
		return;
	}

	if (mxe_wr_is_placement(wr->opcode)) {
		mxe_request_describe_placement(wr, transport, out);
		return;
	}

	out->opcode = mxe_request_opcode(wr, transport, first, last);
	out->dma_len = wr->length;
	out->payload_len = last ? wr->length - offset : qp->mtu;
	out->imm = wr->imm;
	out->inv_rkey = wr->rkey;
	out->solicited = last && wr->flags & MXE_SEND_SOLICITED;
	if (mxe_qp_is_reliable(qp))
		out->ack_req = mxe_request_wants_ack(qp, psn, last);
}

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
				buf, len, MXE_FROM_MEMORY, &qp->sq.mr_cache);
}

int mxe_request_send_one(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_sq *sq = &qp->sq;
	struct mxe_pkt_out out __uninitialized;
	struct sk_buff *skb;
	u8 *payload;
	u32 offset;
	int err;

	mxe_request_describe(qp, wr, sq->psn, &out);
	skb = mxe_tx_alloc(qp, &out, &payload);
	if (!skb)
		return -ENOMEM;

	offset = mxe_psn_diff(sq->psn, wr->first_psn) * qp->mtu;
	err = mxe_request_gather(qp, wr, offset, payload, out.payload_len);
	if (err) {
		kfree_skb(skb);
		return err;
	}

	/* Without a route, the packet is lost, and the timer retransmits. */
	mxe_tx_send(qp, &sq->tx, skb);
	return 0;
}

u32 mxe_request_long_pkt_cost(const struct mxe_qp *qp, const struct mxe_send_wr *wr)
{
	u32 cost = mxe_pkt_cost(min(wr->length, qp->mtu), wr->num_sge);

	if (!mxe_wr_is_read(wr->opcode))
		return cost;
	/* A READ costs as much as its responses. */
	return min_t(u64, (u64)cost * mxe_request_num_pkts(qp, wr), MXE_SLICE);
}
