// SPDX-License-Identifier: GPL-2.0
#include <linux/log2.h>
#include <linux/mm.h>

#include "mxe.h"
#include "qp.h"
#include "recv.h"
#include "srq.h"
#include "ud.h"
#include "xrc.h"

/* ---- queues ------------------------------------------------------------ */

size_t mxe_recv_wr_size(u32 max_sge)
{
	return struct_size((struct mxe_recv_wr *)NULL, sge, max_sge);
}

int mxe_rq_create(struct mxe_recv_queue *q, u32 max_wr, u32 max_sge,
			  struct ib_ucontext *uctx)
{
	spin_lock_init(&q->post_lock);
	q->entries = roundup_pow_of_two(max_wr);
	q->max_sge = max(max_sge, 1U);
	q->wr_size = mxe_recv_wr_size(q->max_sge);
	if (uctx)
		return mxe_ring_create(&q->ring, uctx, q->entries,
				       ALIGN(sizeof(struct mxe_recv_wqe) +
					     q->max_sge * sizeof(struct mxe_sge),
					     32));
	q->wrs = kvcalloc(q->entries, q->wr_size, GFP_KERNEL_ACCOUNT);
	return q->wrs ? 0 : -ENOMEM;
}

void mxe_rq_destroy(struct mxe_recv_queue *q)
{
	mxe_ring_destroy(&q->ring);
	kvfree(q->wrs);
}

static struct mxe_recv_wr *mxe_rq_wr(const struct mxe_recv_queue *q,
					     u32 index)
{
	return q->wrs + (index & (q->entries - 1)) * q->wr_size;
}

u32 mxe_rq_filled(const struct mxe_recv_queue *q)
{
	u32 produced;

	if (!q->entries)
		return 0;
	if (q->ring.hdr)
		produced = mxe_ring_producer(&q->ring);
	else
		/* Pairs with the release in mxe_rq_post(). */
		produced = smp_load_acquire(&q->posted);
	return produced - q->consumed;
}

static void mxe_recv_copy_user(struct mxe_dev *dev,
			       const struct mxe_recv_queue *q,
			       struct mxe_recv_wr *wr)
{
	const void *entry = mxe_ring_entry(&q->ring, q->consumed);
	struct mxe_recv_wqe wqe;

	/* One copy, then only the copy. */
	memcpy(&wqe, entry, sizeof(wqe));
	barrier();

	wr->wr_id = wqe.wr_id;
	wr->num_sge = 0;
	wr->error = IB_WC_SUCCESS;
	if (wqe.num_sge > q->max_sge || wqe.reserved) {
		mxe_count(dev, bad_wqe);
		wr->error = IB_WC_LOC_QP_OP_ERR;
		return;
	}
	memcpy(wr->sge, entry + sizeof(wqe),
	       wqe.num_sge * sizeof(struct ib_sge));
	wr->num_sge = wqe.num_sge;
}

static void mxe_recv_sum_length(struct mxe_recv_wr *wr)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sge[i].length;
	wr->length = min_t(u64, length, U32_MAX);
}

int mxe_rq_take(struct mxe_dev *dev, struct mxe_recv_queue *q,
			struct mxe_recv_wr *wr)
{
	u32 filled = mxe_rq_filled(q);

	if (!filled)
		return -EAGAIN;
	/* Not an index that a sane process writes. */
	if (filled > q->entries) {
		mxe_count(dev, bad_wqe);
		return -EPIPE;
	}

	if (q->ring.hdr)
		mxe_recv_copy_user(dev, q, wr);
	else
		memcpy(wr, mxe_rq_wr(q, q->consumed), q->wr_size);
	mxe_recv_sum_length(wr);
	WRITE_ONCE(q->consumed, q->consumed + 1);
	mxe_ring_set_consumer(&q->ring, q->consumed);
	return wr->error ? -EIO : 0;
}

int mxe_rq_post(struct mxe_dev *dev, struct mxe_recv_queue *q,
			const struct ib_recv_wr *ibwr,
			const struct ib_recv_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&q->post_lock, flags);
	for (; ibwr; ibwr = ibwr->next) {
		struct mxe_recv_wr *wr;

		if (ibwr->num_sge < 0 || ibwr->num_sge > q->max_sge)
			err = -EINVAL;
		else if (q->posted - READ_ONCE(q->consumed) >= q->entries)
			err = -ENOMEM;
		if (err) {
			mxe_refuse(dev, err, "%d SGEs", ibwr->num_sge);
			*bad_wr = ibwr;
			break;
		}
		wr = mxe_rq_wr(q, q->posted);
		wr->wr_id = ibwr->wr_id;
		wr->error = IB_WC_SUCCESS;
		wr->num_sge = ibwr->num_sge;
		memcpy(wr->sge, ibwr->sg_list,
		       ibwr->num_sge * sizeof(wr->sge[0]));
		/* Pairs with the acquire in mxe_rq_filled(). */
		smp_store_release(&q->posted, q->posted + 1);
	}
	spin_unlock_irqrestore(&q->post_lock, flags);
	return err;
}

/* ---- the responder's use of them --------------------------------------- */

int mxe_recv_take(struct mxe_qp *qp)
{
	struct mxe_rq *rq = &qp->rq;
	int err;

	lockdep_assert_held(&qp->recv_lock);

	if (rq->cur_valid)
		return rq->cur->error ? -EIO : 0;
	if (rq->srq)
		err = mxe_srq_take(rq->srq, rq->cur, &rq->pending);
	else
		err = mxe_rq_take(qp->dev, &rq->q, rq->cur);
	rq->cur_valid = !err || err == -EIO;
	return err == -EPIPE ? -EIO : err;
}

struct mxe_cq *mxe_recv_cq(const struct mxe_qp *qp)
{
	const struct mxe_srq *srq = qp->rq.srq;

	if (!mxe_qp_is_xrc_tgt(qp))
		return qp->recv_cq;
	return srq ? to_mcq(srq->ibsrq.ext.cq) : NULL;
}

const struct ib_pd *mxe_recv_pd(const struct mxe_qp *qp)
{
	return qp->rq.srq ? qp->rq.srq->ibsrq.pd : qp->pd;
}

void mxe_recv_end(struct mxe_qp *qp, struct mxe_wc *wc)
{
	struct mxe_rq *rq = &qp->rq;

	lockdep_assert_held(&qp->recv_lock);

	wc->wr_id = rq->cur->wr_id;
	wc->byte_len = rq->offset;
	rq->cur_valid = false;
	mxe_qp_complete(qp, mxe_recv_cq(qp), wc, &rq->pending);
}

void mxe_recv_complete(struct mxe_qp *qp, enum ib_wc_status status,
		       const struct mxe_pkt *pkt)
{
	struct mxe_wc wc = {
		.status = status,
		.opcode = MXE_WC_RECV,
		.src_qp = qp->dest_qpn,
	};

	if (pkt) {
		wc.solicited = pkt->solicited;
		if (pkt->flags & MXE_OP_WRITE)
			wc.opcode = MXE_WC_RECV_RDMA_WITH_IMM;
		if (pkt->flags & MXE_OP_IMM) {
			wc.flags |= MXE_CQE_WITH_IMM;
			wc.imm = pkt->imm;
		}
		if (pkt->flags & MXE_OP_IETH) {
			wc.flags |= MXE_CQE_WITH_INV;
			wc.inv_rkey = pkt->inv_rkey;
		}
		if (pkt->flags & MXE_OP_DETH) {
			wc.flags |= MXE_CQE_GRH |
				    (pkt->is_ipv4 ? MXE_CQE_IPV4 : 0);
			wc.src_qp = pkt->src_qpn;
			wc.vlan_id = pkt->vlan_id;
		}
	}
	mxe_recv_end(qp, &wc);
}

bool mxe_recv_admit(struct mxe_qp *qp)
{
	struct mxe_rq *rq = &qp->rq;

	lockdep_assert_held(&qp->recv_lock);

	if (qp->dying || rq->halted || !mxe_qp_can_receive(qp->state)) {
		mxe_count(qp->dev, drop_state);
		return false;
	}
	if (qp->state == IB_QPS_RTR && !rq->comm_est && !mxe_qp_is_ud(qp)) {
		rq->comm_est = true;
		rq->pending |= BIT(MXE_PENDING_EV_COMM_EST);
	}
	return true;
}

void mxe_recv_fatal(struct mxe_qp *qp, enum ib_wc_status status)
{
	struct mxe_rq *rq = &qp->rq;

	lockdep_assert_held(&qp->recv_lock);

	if (rq->cur_valid)
		mxe_recv_complete(qp, rq->cur->error ?: status, NULL);
	rq->halted = true;
	rq->pending |= BIT(MXE_PENDING_ERROR) | BIT(MXE_PENDING_EV_FATAL);
}

void mxe_recv_flush(struct mxe_qp *qp)
{
	struct mxe_rq *rq = &qp->rq;
	u32 limit = MXE_FLUSH_SLICE;

	lockdep_assert_held(&qp->recv_lock);

	rq->offset = 0;
	if (rq->cur_valid)
		mxe_recv_complete(qp, IB_WC_WR_FLUSH_ERR, NULL);
	if (qp->ibqp->srq) {
		/* The others are not this one's (IBTA 10.2.9.4). */
		if (!rq->last_wqe)
			rq->pending |= BIT(MXE_PENDING_EV_LAST_WQE);
		rq->last_wqe = true;
		return;
	}
	/* A target of XRC has no queue, and those it uses are not its own. */
	if (!rq->q.entries)
		return;
	for (; limit; limit--) {
		mxe_recv_take(qp);
		if (!rq->cur_valid)
			return;
		mxe_recv_complete(qp, IB_WC_WR_FLUSH_ERR, NULL);
	}
	rq->pending |= BIT(MXE_PENDING_WORK);
}

void mxe_recv_ring(struct mxe_qp *qp)
{
	if (READ_ONCE(qp->state) != IB_QPS_ERR)
		return;
	spin_lock(&qp->recv_lock);
	/* Not any more if it is dying. */
	if (qp->state == IB_QPS_ERR)
		mxe_qp_kick(qp);
	spin_unlock(&qp->recv_lock);
}

int mxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *ibwr,
		  const struct ib_recv_wr **bad_wr)
{
	struct mxe_qp *qp = to_mqp(ibqp);
	int err;

	/* A process has its ring; the legacy command is not for it. */
	if (qp->is_user) {
		*bad_wr = ibwr;
		return mxe_refuse(qp->dev, -EOPNOTSUPP, "queue of a process");
	}
	if (READ_ONCE(qp->state) == IB_QPS_RESET || !qp->rq.q.entries) {
		*bad_wr = ibwr;
		return mxe_refuse(qp->dev, -EINVAL, "state %d, %u entries",
				  qp->state, qp->rq.q.entries);
	}

	err = mxe_rq_post(qp->dev, &qp->rq.q, ibwr, bad_wr);

	/* Pairs with the barrier in mxe_qp_error(). */
	smp_mb();
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		mxe_qp_kick(qp);
	return err;
}
