// SPDX-License-Identifier: GPL-2.0
/* The requester and the responder of unreliable connections. */
#include "mxe.h"
#include "rc/recv.h"
#include "rc/request.h"
#include "rc/respond.h"
#include "rc/sq.h"
#include "rc/uc.h"
#include "wire/psn.h"

/* ---- sending ----------------------------------------------------------- */

/* Nothing is acknowledged, so errors are reported at once. */
enum mxe_send_verdict mxe_uc_begin(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	if (qp->state != IB_QPS_RTS)
		return MXE_SEND_VERDICT_STOP;
	if (wr->error) {
		mxe_sq_complete_cur(qp, wr->error);
		return MXE_SEND_VERDICT_STOP;
	}
	mxe_request_start(qp, wr);
	return MXE_SEND_VERDICT_GO;
}

/* Completes a request if all of it was sent. */
void mxe_uc_sent(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;

	req->una = req->psn;
	if (req->cur == req->next)
		mxe_sq_complete(qp, IB_WC_SUCCESS);
}

bool mxe_uc_unsent(struct mxe_qp *qp, int err)
{
	/* Counted by mxe_tx_alloc().  Packets may be lost. */
	if (err == -ENOMEM)
		return true;
	qp->req.cur++;
	mxe_sq_complete(qp, IB_WC_LOC_PROT_ERR);
	return false;
}

/* ---- receiving --------------------------------------------------------- */

/*
 * An error in a message drops it silently (IBTA 9.8.2.2).  The next message
 * uses the same receive request.
 */
static void mxe_uc_drop_message(struct mxe_qp *qp)
{
	mxe_count(qp->dev, drop_uc_message);
	qp->resp.msg = 0;
}

int mxe_uc_request(struct mxe_qp *qp, const struct mxe_pkt *pkt, const struct sk_buff *skb)
{
	struct mxe_responder *resp = &qp->resp;
	bool in_order = pkt->psn == resp->epsn;
	bool start = pkt->flags & MXE_OP_START;
	bool fits = in_order &&
		    resp->msg == (pkt->flags & (MXE_OP_SEND | MXE_OP_WRITE));
	int err;

	resp->epsn = mxe_psn_add(pkt->psn, 1);
	if (!in_order)
		mxe_count(qp->dev, out_of_sequence);
	/* The end of the last message is lost, or the start of this one. */
	if (start ? resp->msg : !fits)
		mxe_uc_drop_message(qp);
	if (!start && !fits)
		return 0;

	err = mxe_respond_data(qp, pkt);
	if (err == -EIO)
		mxe_recv_fatal(qp, IB_WC_LOC_PROT_ERR);
	else if (err)
		mxe_uc_drop_message(qp);
	return 0;
}
