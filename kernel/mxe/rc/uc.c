// SPDX-License-Identifier: GPL-2.0
/* The responder of unreliable connections. */
#include "mxe.h"
#include "rc/recv.h"
#include "rc/respond.h"
#include "rc/uc.h"
#include "wire/psn.h"

/*
 * An error in a message drops it silently (IBTA 9.8.2.2).  The next message
 * uses the same receive request.
 */
static void mxe_uc_drop_message(struct mxe_qp *qp)
{
	mxe_count(qp->dev, drop_uc_message);
	qp->resp.msg = 0;
}

void mxe_uc_request(struct mxe_qp *qp, const struct mxe_pkt *pkt)
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
		return;

	err = mxe_respond_data(qp, pkt);
	if (err == -EIO)
		mxe_recv_fatal(qp, IB_WC_LOC_PROT_ERR);
	else if (err)
		mxe_uc_drop_message(qp);
}

