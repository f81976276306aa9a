// SPDX-License-Identifier: GPL-2.0
/*
 * Rendezvous of QPs with a tag-matching SRQ: the requests that the kernel puts
 * into the send queue beside those of the process.
 */
#include "mxe.h"
#include "queues/cq.h"
#include "queues/pending.h"
#include "tm/rndv.h"
#include "trace.h"

static struct mxe_rndv_item *mxe_rndv_item(struct mxe_rndv *rndv, u32 index)
{
	return &rndv->items[index & (MXE_RNDV_DEPTH - 1)];
}

/*
 * Check whether one more rendezvous may be queued.
 * Context: recv_lock held.
 */
bool mxe_rndv_has_room(const struct mxe_qp *qp)
{
	const struct mxe_rndv *rndv = qp->rndv;

	/* Pairs with the release in mxe_rndv_complete(). */
	return rndv->queued - smp_load_acquire(&rndv->finished) < MXE_RNDV_DEPTH;
}

/*
 * Check whether the QP can read from its peer: it is in RTS, and max_rd_atomic
 * allows READs.
 * Context: recv_lock held.
 */
bool mxe_rndv_can_read(const struct mxe_qp *qp)
{
	return qp->state == IB_QPS_RTS && qp->attr.max_rd_atomic;
}

/*
 * Queue the rendezvous in resp.tm_msg for resp.cur, if mxe_rndv_has_room().
 * qp->work begins it.
 * Context: recv_lock held.
 */
void mxe_rndv_queue(struct mxe_qp *qp)
{
	const struct mxe_recv_wr *wr = qp->resp.cur;
	struct mxe_rndv *rndv = qp->rndv;
	struct mxe_rndv_item *item = mxe_rndv_item(rndv, rndv->queued);

	lockdep_assert_held(&qp->recv_lock);

	item->recv_wr_id = wr->wr_id;
	item->num_sge = wr->num_sge;
	memcpy(item->sge, wr->sge, wr->num_sge * sizeof(wr->sge[0]));
	item->hdr = qp->resp.tm_msg.hdr;
	/* Pairs with the acquire in mxe_rndv_fetch(). */
	smp_store_release(&rndv->queued, rndv->queued + 1);
	mxe_count(qp->dev, tm_rendezvous);
	/* send_lock is outside recv_lock, so this cannot send. */
	qp->resp.pending |= BIT(MXE_PENDING_WORK);
}

static void mxe_rndv_set_read(const struct mxe_rndv_item *item,
			      struct mxe_send_wr *wr)
{
	wr->opcode = IB_WR_RDMA_READ;
	wr->remote_addr = be64_to_cpu(item->hdr.rvh.va);
	wr->rkey = be32_to_cpu(item->hdr.rvh.rkey);
	wr->length = be32_to_cpu(item->hdr.rvh.len);
	wr->num_sge = item->num_sge;
	memcpy(wr->sge, item->sge, item->num_sge * sizeof(item->sge[0]));
}

/* The FIN is a copy of the headers, except for the opcode. */
static void mxe_rndv_set_fin(const struct mxe_rndv_item *item,
			     struct mxe_send_wr *wr)
{
	struct mxe_rndv_hdr hdr = item->hdr;

	hdr.tmh.opcode = MXE_TMH_FIN;
	wr->opcode = IB_WR_SEND;
	wr->flags |= MXE_SEND_INLINE;
	wr->length = sizeof(hdr);
	memcpy(wr->inline_data, &hdr, sizeof(hdr));
}

/*
 * Put the next own request into the send queue. Return false if there is none,
 * or no room for it.
 * Context: send_lock held.
 */
bool mxe_rndv_fetch(struct mxe_qp *qp)
{
	struct mxe_send_wr *wr = mxe_sq_wr(&qp->req, qp->req.fetched);
	struct mxe_rndv *rndv = qp->rndv;
	const struct mxe_rndv_item *item;
	bool fin = rndv->fin != rndv->valid;

	lockdep_assert_held(&qp->send_lock);

	if (qp->req.fetched - qp->req.tail > qp->req.wr_mask)
		return false;
	/* Pairs with the release in mxe_rndv_queue(). */
	if (!fin && rndv->read == smp_load_acquire(&rndv->queued))
		return false;
	item = mxe_rndv_item(rndv, fin ? rndv->fin++ : rndv->read++);
	memset(wr, 0, offsetof(struct mxe_send_wr, atomic));
	wr->wr_id = item->recv_wr_id;
	wr->flags = MXE_SEND_OWN;
	if (fin)
		mxe_rndv_set_fin(item, wr);
	else
		mxe_rndv_set_read(item, wr);
	trace_mxe_post(qp, wr);
	rndv->fetched++;
	qp->req.fetched++;
	return true;
}

/* Reports that the data of a message are valid, or have not arrived. */
static void mxe_rndv_report(struct mxe_qp *qp, const struct mxe_rndv_item *item,
			    enum ib_wc_status status)
{
	struct mxe_wc wc = {
		.wr_id = item->recv_wr_id,
		.status = status,
		.opcode = MXE_WC_TM_RECV,
		.byte_len = be32_to_cpu(item->hdr.rvh.len),
		.flags = MXE_CQE_TM_DATA_VALID,
		.src_qp = qp->dest_qpn,
	};
	unsigned long pending = 0;

	switch (mxe_cq_add(qp->recv_cq, qp, &wc)) {
	case MXE_CQ_ADDED:
		return;
	case MXE_CQ_ADDED_NOTIFY:
		pending = BIT(MXE_PENDING_NOTIFY);
		break;
	case MXE_CQ_OVERRUN_FIRST:
		pending = BIT(MXE_PENDING_CQ_ERROR);
		fallthrough;
	case MXE_CQ_OVERRUN:
		qp->req.halted = true;
		if (qp->state != IB_QPS_ERR)
			qp->req.pending |= BIT(MXE_PENDING_ERROR) |
					  BIT(MXE_PENDING_EV_FATAL);
		break;
	}
	/* The CQ is that of the receive side. */
	if (pending)
		mxe_qp_defer_recv(qp, pending);
}

static void mxe_rndv_complete(struct mxe_qp *qp, enum ib_wr_opcode opcode,
			      enum ib_wc_status status)
{
	struct mxe_rndv *rndv = qp->rndv;

	rndv->completed++;
	if (opcode == IB_WR_RDMA_READ)
		mxe_rndv_report(qp, mxe_rndv_item(rndv, rndv->valid++), status);
	else
		/* Pairs with the acquire in mxe_rndv_has_room(). */
		smp_store_release(&rndv->finished, rndv->finished + 1);
}

/*
 * Free the oldest request of a send queue. Complete it if the kernel made it.
 * Context: send_lock held.
 * Return: true if it is a request of the process.
 */
bool mxe_rndv_free(struct mxe_qp *qp, enum ib_wc_status status)
{
	struct mxe_requester *req = &qp->req;
	struct mxe_send_wr *wr = mxe_sq_wr(req, req->tail);
	enum ib_wr_opcode opcode = wr->opcode;
	bool own = mxe_rndv_owns(qp, wr);

	lockdep_assert_held(&qp->send_lock);

	/* Pairs with the control dependency in mxe_wqe_post(). */
	smp_store_release(&req->tail, req->tail + 1);
	if (own)
		mxe_rndv_complete(qp, opcode, status);
	mxe_ring_set_consumer(&req->ring, mxe_rndv_tail(qp));
	return !own;
}

/*
 * Forget all rendezvous.
 * Context: Both locks held.
 */
void mxe_rndv_reset(struct mxe_qp *qp)
{
	struct mxe_rndv *rndv = qp->rndv;

	lockdep_assert_held(&qp->send_lock);
	lockdep_assert_held(&qp->recv_lock);

	memset(rndv, 0, offsetof(struct mxe_rndv, items));
}
