// SPDX-License-Identifier: GPL-2.0
/* Received DC packets: the responder of a request, and responses. */
#include <linux/skbuff.h>

#include "dc/dc_rx.h"
#include "dc/dci.h"
#include "dc/dct.h"
#include "dc/dc_responder.h"
#include "fast/rx_dst.h"
#include "mxe.h"
#include "queues/qp.h"
#include "rc/complete.h"
#include "rc/send.h"
#include "rc/sq.h"
#include "wire/psn.h"

/* The timer code of the RNR NAK that stands for MXE_DC_BUSY: 10 ms. */
#define MXE_DC_RX_BUSY_TIMER	20

/*
 * Return the responder for a packet with MXE_OP_DCETH to @qp, a DC target or
 * its responder from mxe_dc_rx_hint(). @skb is linear and holds @pkt. If there
 * is no responder, the initiator may have been answered.
 * Context: BHs disabled, RCU read-side section, in which the result is valid.
 * No lock of a QP held unless @qp is a responder.
 * Return: the responder, which may be closed at any time, or NULL.
 */
struct mxe_qp *mxe_dc_rx_responder(struct mxe_qp *qp, const struct mxe_pkt *pkt,
				   const struct mxe_dc_hdr *hdr,
				   const struct sk_buff *skb)
{
	struct mxe_dct_addr addr;

	if (hdr->code) {
		if (hdr->code == MXE_DC_DISCONNECT)
			mxe_dct_disconnect(qp, hdr, skb);
		return NULL;
	}
	if (!(pkt->flags & MXE_OP_REQUEST)) {
		mxe_count(qp->dev, drop_unsolicited_response);
		return NULL;
	}
	if (mxe_qp_is_dct(qp))
		return mxe_dct_find(qp, hdr, skb);
	/* mxe_dc_rx_hint() has found it. */
	mxe_dct_addr_of(&addr, skb, hdr);
	return mxe_dc_responder_is(to_mdc_responder(qp), &addr, hdr->session) ? qp : NULL;
}

/*
 * Return the QP that keeps the route of a packet to @qp: @qp if it is an
 * initiator, the responder of the session if it is a target, or NULL. The
 * network header of @skb is set. @bth is not checked.
 * Context: BHs disabled, RCU read-side section, in which the result is valid.
 */
struct mxe_qp *mxe_dc_rx_hint(struct mxe_qp *qp, const struct sk_buff *skb,
			      const struct mxe_bth *bth)
{
	const struct mxe_dceth *eth = (const void *)(bth + 1);
	struct mxe_dct_addr addr;
	struct mxe_dc_hdr hdr;

	if (!mxe_qp_is_dct(qp))
		return qp;
	if ((const u8 *)(eth + 1) > skb_tail_pointer(skb))
		return NULL;
	mxe_dc_get(eth, &hdr);
	mxe_dct_addr_of(&addr, skb, &hdr);
	return mxe_dct_responder(qp, &addr, hdr.session);
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
		mxe_complete_nak(qp, qp->req.una, MXE_AETH_RNR_NAK | MXE_DC_RX_BUSY_TIMER);
		break;
	case MXE_DCI_BAD_KEY:
		mxe_complete_nak(qp, qp->req.una, MXE_AETH_NAK_REM_ACC);
		break;
	case MXE_DCI_REFUSED:
		mxe_complete_nak(qp, qp->req.una, MXE_AETH_NAK_INV_REQ);
		break;
	case MXE_DCI_LOST:
		mxe_sq_complete(qp, IB_WC_RETRY_EXC_ERR);
		break;
	}
}

/*
 * Handle a packet with MXE_OP_DCETH to an initiator, which may be dying. @skb
 * is linear and holds @pkt.
 * Context: BHs disabled, RCU read-side section, send_lock held.
 */
void mxe_dc_rx_response(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			const struct mxe_dc_hdr *hdr, const struct sk_buff *skb)
{
	lockdep_assert_held(&qp->send_lock);

	if (qp->dying || qp->req.halted || !mxe_qp_can_send(qp->state)) {
		mxe_count(qp->dev, drop_state);
		return;
	}
	if (!mxe_dc_rx_is_of_target(qp, hdr, skb)) {
		mxe_count(qp->dev, drop_address);
		return;
	}
	if (hdr->code) {
		/* A control packet answers a request that was sent. */
		if (!mxe_sq_outstanding(&qp->req) ||
		    mxe_psn_diff(qp->req.una, qp->req.sent_psn) >= 0)
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
	mxe_rx_dst_learn(qp, skb);
	mxe_dci_heard(qp);
	if (mxe_complete_pkt(qp, pkt))
		mxe_send_run(qp);
}
