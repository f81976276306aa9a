// SPDX-License-Identifier: GPL-2.0
#include "mxe.h"
#include "qp.h"
#include "recv.h"

static void mxe_recv_copy_user(struct mxe_qp *qp, struct mxe_recv_wr *wr)
{
	struct mxe_rq *rq = &qp->rq;
	const void *entry = mxe_ring_entry(&rq->ring, rq->consumed);
	struct mxe_recv_wqe wqe;

	/* One copy, then only the copy. */
	memcpy(&wqe, entry, sizeof(wqe));
	barrier();

	wr->wr_id = wqe.wr_id;
	wr->num_sge = 0;
	wr->error = IB_WC_SUCCESS;
	if (wqe.num_sge > rq->max_sge || wqe.reserved) {
		mxe_count(qp->dev, bad_wqe);
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

int mxe_recv_take(struct mxe_qp *qp)
{
	struct mxe_rq *rq = &qp->rq;
	u32 produced;

	lockdep_assert_held(&qp->recv_lock);

	if (!rq->entries)
		return -EAGAIN;
	if (qp->is_user)
		produced = mxe_ring_producer(&rq->ring);
	else
		/* Pairs with the release in mxe_post_recv(). */
		produced = smp_load_acquire(&rq->posted);
	if (produced == rq->consumed)
		return -EAGAIN;
	/* Not an index that a sane process writes. */
	if (produced - rq->consumed > rq->entries) {
		mxe_count(qp->dev, bad_wqe);
		return -EIO;
	}

	if (qp->is_user)
		mxe_recv_copy_user(qp, rq->cur);
	else
		memcpy(rq->cur, mxe_rq_wr(rq, rq->consumed), rq->wr_size);
	mxe_recv_sum_length(rq->cur);
	rq->cur_valid = true;
	WRITE_ONCE(rq->consumed, rq->consumed + 1);
	mxe_ring_set_consumer(&rq->ring, rq->consumed);
	return rq->cur->error ? -EIO : 0;
}

void mxe_recv_complete(struct mxe_qp *qp, enum ib_wc_status status,
			      const struct mxe_pkt *pkt)
{
	struct mxe_rq *rq = &qp->rq;
	struct mxe_wc wc = {
		.wr_id = rq->cur->wr_id,
		.status = status,
		.opcode = MXE_WC_RECV,
		.byte_len = rq->offset,
		.src_qp = qp->dest_qpn,
	};

	lockdep_assert_held(&qp->recv_lock);

	if (pkt) {
		wc.solicited = pkt->solicited;
		if (pkt->flags & MXE_OP_WRITE)
			wc.opcode = MXE_WC_RECV_RDMA_WITH_IMM;
		if (pkt->flags & MXE_OP_IMM) {
			wc.flags |= MXE_CQE_WITH_IMM;
			wc.imm = pkt->imm;
		}
		if (pkt->flags & MXE_OP_DETH) {
			wc.flags |= MXE_CQE_GRH;
			wc.src_qp = pkt->src_qpn;
			wc.vlan_id = pkt->vlan_id;
		}
	}
	rq->cur_valid = false;
	mxe_qp_complete(qp, qp->recv_cq, &wc, &rq->todo);
}

/* ---- kernel consumers -------------------------------------------------- */

int mxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *ibwr,
		  const struct ib_recv_wr **bad_wr)
{
	struct mxe_qp *qp = to_mqp(ibqp);
	struct mxe_rq *rq = &qp->rq;
	unsigned long flags;
	int err = 0;

	/* A process has its ring; the legacy command is not for it. */
	if (qp->is_user) {
		*bad_wr = ibwr;
		return mxe_refuse(qp->dev, -EOPNOTSUPP, "queue of a process");
	}
	if (READ_ONCE(qp->state) == IB_QPS_RESET) {
		*bad_wr = ibwr;
		return mxe_refuse(qp->dev, -EINVAL, "state RESET");
	}

	spin_lock_irqsave(&rq->post_lock, flags);
	for (; ibwr; ibwr = ibwr->next) {
		struct mxe_recv_wr *wr;

		if (ibwr->num_sge < 0 || ibwr->num_sge > rq->max_sge)
			err = -EINVAL;
		else if (rq->posted - READ_ONCE(rq->consumed) >= rq->entries)
			err = -ENOMEM;
		if (err) {
			mxe_refuse(qp->dev, err, "%d SGEs", ibwr->num_sge);
			*bad_wr = ibwr;
			break;
		}
		wr = mxe_rq_wr(rq, rq->posted);
		wr->wr_id = ibwr->wr_id;
		wr->error = IB_WC_SUCCESS;
		wr->num_sge = ibwr->num_sge;
		memcpy(wr->sge, ibwr->sg_list,
		       ibwr->num_sge * sizeof(wr->sge[0]));
		/* Pairs with the acquire in mxe_recv_take(). */
		smp_store_release(&rq->posted, rq->posted + 1);
	}
	spin_unlock_irqrestore(&rq->post_lock, flags);

	/* Pairs with the barrier in mxe_qp_error(). */
	smp_mb();
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		mxe_qp_kick(qp);
	return err;
}
