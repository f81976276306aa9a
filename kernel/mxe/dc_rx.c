// SPDX-License-Identifier: GPL-2.0
/*
 * Gives received DC packets to the responder of their session, or to the
 * completer of their initiator.  rx.c calls it.  It calls dc.c, dct.c, dci.c,
 * deliver.c, complete.c and send.c.
 */
#include <linux/if_vlan.h>
#include <linux/skbuff.h>

#include "complete.h"
#include "dc_rx.h"
#include "dci.h"
#include "dct.h"
#include "deliver.h"
#include "mxe.h"
#include "psn.h"
#include "qp.h"
#include "send.h"
#include "sq.h"

/* The timer code of the RNR NAK that stands for MXE_DC_BUSY: 10 ms. */
#define MXE_DC_RX_BUSY_TIMER	20

static void mxe_dc_rx_request(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			      const struct mxe_dc_hdr *hdr, struct sk_buff *skb)
{
	struct mxe_qp *child;

	if (hdr->code) {
		if (hdr->code == MXE_DC_DISCONNECT)
			mxe_dct_disconnect(qp, hdr, skb);
		goto drop;
	}
	if (!(pkt->flags & MXE_OP_REQUEST)) {
		mxe_count(qp->dev, drop_unsolicited_response);
		goto drop;
	}
	child = mxe_dct_find(qp, hdr, skb);
	if (!child)
		goto drop;
	mxe_rq_begin(child);
	mxe_deliver(child, pkt, skb);
	mxe_rq_end(child);
	return;
drop:
	kfree_skb(skb);
}

/* Returns true if a packet is of the target of the initiator. */
static bool mxe_dc_rx_is_of_target(const struct mxe_qp *qp,
				   const struct mxe_dc_hdr *hdr,
				   const struct sk_buff *skb)
{
	return to_mdci(qp)->connected && hdr->qpn == qp->dest_qpn &&
	       hdr->instance == qp->dc->hdr.instance &&
	       mxe_av_sent(&qp->av, skb);
}

/* A control packet has the effect of the NAK of RC to the oldest request. */
static void mxe_dc_rx_control(struct mxe_qp *qp, const struct mxe_dc_hdr *hdr)
{
	switch (mxe_dci_control(qp, hdr)) {
	case MXE_DCI_IGNORE:
	case MXE_DCI_RESEND:
		break;
	case MXE_DCI_WAIT:
		mxe_complete_nak(qp, qp->sq.una, MXE_AETH_RNR_NAK | MXE_DC_RX_BUSY_TIMER);
		break;
	case MXE_DCI_BAD_KEY:
		mxe_complete_nak(qp, qp->sq.una, MXE_AETH_NAK_REM_ACC);
		break;
	case MXE_DCI_REFUSED:
		mxe_complete_nak(qp, qp->sq.una, MXE_AETH_NAK_INV_REQ);
		break;
	case MXE_DCI_LOST:
		mxe_sq_complete(qp, IB_WC_RETRY_EXC_ERR);
		break;
	}
}

/* Context: send_lock held. */
static void mxe_dc_rx_response(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			       const struct mxe_dc_hdr *hdr, struct sk_buff *skb)
{
	if (qp->dying || qp->sq.halted || !mxe_qp_can_send(qp->state)) {
		mxe_count(qp->dev, drop_state);
		return;
	}
	if (!mxe_dc_rx_is_of_target(qp, hdr, skb)) {
		mxe_count(qp->dev, drop_address);
		return;
	}
	if (hdr->code) {
		/* A control packet answers a request that was sent. */
		if (!mxe_sq_outstanding(&qp->sq) ||
		    mxe_psn_diff(qp->sq.una, qp->sq.sent_psn) >= 0)
			return;
		mxe_dc_rx_control(qp, hdr);
		mxe_sq_report_error(qp);
		mxe_send_run(qp);
		return;
	}
	if (hdr->session != to_mdci(qp)->s.session || hdr->connect ||
	    !(pkt->flags & MXE_OP_RESPONSE)) {
		mxe_count(qp->dev, drop_unsolicited_response);
		return;
	}
	mxe_dci_heard(qp);
	if (mxe_complete_pkt(qp, pkt))
		mxe_send_run(qp);
}

void mxe_dc_rx(struct mxe_qp *qp, const struct mxe_pkt *pkt,
	       struct sk_buff *skb)
{
	struct mxe_dc_hdr hdr;

	if (!mxe_dc_parse(pkt, &hdr)) {
		mxe_count(qp->dev, drop_version);
		kfree_skb(skb);
		return;
	}
	if (mxe_qp_is_dct(qp)) {
		mxe_dc_rx_request(qp, pkt, &hdr, skb);
		return;
	}
	mxe_sq_begin(qp);
	mxe_dc_rx_response(qp, pkt, &hdr, skb);
	mxe_sq_end(qp);
	napi_consume_skb(skb, 1);
}
