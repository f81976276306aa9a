// SPDX-License-Identifier: GPL-2.0
#include "mxe.h"
#include "psn.h"
#include "recv.h"
#include "respond.h"
#include "send.h"
#include "sq.h"
#include "uc.h"
#include "wqe.h"

/* ---- sending ----------------------------------------------------------- */

/* False: nothing is to be sent now. */
static bool mxe_uc_begin(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	if (qp->state != IB_QPS_RTS)
		return false;
	if (wr->error) {
		mxe_sq_complete_cur(qp, wr->error);
		return false;
	}
	mxe_send_start(qp, wr);
	return true;
}

void mxe_uc_send_run(struct mxe_qp *qp)
{
	struct mxe_sq *sq = &qp->sq;

	lockdep_assert_held(&qp->send_lock);

	/* A message that was begun is sent to its end also in SQD. */
	while (mxe_qp_can_send(qp->state) && !sq->halted) {
		struct mxe_send_wr *wr;
		int err;

		if (sq->cur == sq->fetched && !mxe_send_fetch(qp))
			break;
		if (sq->budget <= 0)
			break;
		wr = mxe_sq_wr(sq, sq->cur);
		if (!wr->started && !mxe_uc_begin(qp, wr))
			break;
		sq->budget -= mxe_wr_pkt_cost(qp, wr);

		err = mxe_send_one(qp, wr);
		/* Out of memory is counted, and a packet lost like others. */
		if (err && err != -ENOMEM) {
			mxe_count(qp->dev, local_access_errors);
			sq->cur++;
			mxe_sq_complete(qp, IB_WC_LOC_PROT_ERR);
			break;
		}
		mxe_send_advance(sq, wr);
		/* Nothing is acknowledged: what is sent is complete. */
		sq->una = sq->psn;
		if (sq->cur == sq->next)
			mxe_sq_complete(qp, IB_WC_SUCCESS);
	}
}

/* ---- receiving --------------------------------------------------------- */

/*
 * Errors that concern the message drop it, silently (IBTA 9.8.2.2); the
 * receive request that it used is there for the next one.
 */
static void mxe_uc_drop_message(struct mxe_qp *qp)
{
	mxe_count(qp->dev, drop_uc_message);
	qp->rq.msg = 0;
}

void mxe_uc_request(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_rq *rq = &qp->rq;
	bool in_order = pkt->psn == rq->epsn;
	bool start = pkt->flags & MXE_OP_START;
	bool fits = in_order &&
		    rq->msg == (pkt->flags & (MXE_OP_SEND | MXE_OP_WRITE));
	int err;

	rq->epsn = mxe_psn_add(pkt->psn, 1);
	if (!in_order)
		mxe_count(qp->dev, out_of_sequence);
	/* The rest of what was begun is lost, or the beginning of this. */
	if (start ? rq->msg : !fits)
		mxe_uc_drop_message(qp);
	if (!start && !fits)
		return;

	err = mxe_respond_data(qp, pkt);
	if (err == -EIO)
		mxe_recv_fatal(qp, IB_WC_LOC_PROT_ERR);
	else if (err)
		mxe_uc_drop_message(qp);
}

