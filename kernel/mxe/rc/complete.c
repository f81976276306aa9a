// SPDX-License-Identifier: GPL-2.0
/*
 * The completer.  Acknowledgements, responses and NAKs complete requests, or
 * cause their retransmission.
 */
#include <asm/byteorder.h>

#include "mxe.h"
#include "queues/wr.h"
#include "rc/complete.h"
#include "rc/retry.h"
#include "rc/sq.h"
#include "tm/rndv.h"
#include "trace.h"
#include "wire/psn.h"

/*
 * Completes requests after everything up to @psn was acknowledged.  Stops at a
 * request whose response has not arrived, and returns true: the response was
 * lost (implied NAK, IBTA 9.7.5).
 */
static bool mxe_complete_upto(struct mxe_qp *qp, u32 psn)
{
	struct mxe_requester *req = &qp->req;
	u32 una = req->una;
	bool lost = false;

	while (req->tail != req->next) {
		struct mxe_send_wr *wr = mxe_sq_wr(req, req->tail);

		if (mxe_psn_diff(psn, wr->first_psn) < 0)
			break;
		if (mxe_wr_is_rd_atomic(wr->opcode) && !wr->done) {
			lost = true;
			break;
		}
		if (mxe_psn_diff(psn, wr->last_psn) < 0) {
			req->una = mxe_psn_add(psn, 1);
			break;
		}
		req->una = mxe_psn_add(wr->last_psn, 1);
		/* Acknowledged after a rewind, before it was sent again. */
		if (req->cur == req->tail) {
			req->cur++;
			req->psn = req->una;
		}
		mxe_sq_complete(qp, IB_WC_SUCCESS);
	}
	if (mxe_psn_diff(req->una, req->psn) > 0)
		req->psn = req->una;
	if (req->una != una)
		mxe_retry_progress(qp);
	return lost;
}

/* Handles a fatal error in response to the oldest request. */
static void mxe_complete_fatal(struct mxe_qp *qp, enum ib_wc_status status)
{
	mxe_count(qp->dev, rcvd_nak_fatal);
	mxe_sq_complete(qp, status);
}

static void mxe_complete_go_back(struct mxe_qp *qp)
{
	if (!mxe_retry_rewind(qp, qp->req.una))
		mxe_sq_complete(qp, IB_WC_RETRY_EXC_ERR);
}

static void mxe_complete_rnr(struct mxe_qp *qp, u8 timer_code)
{
	struct mxe_requester *req = &qp->req;

	mxe_count(qp->dev, rcvd_rnr_nak);
	if (req->rnr_wait)
		return;
	if (!req->rnr_retry_left) {
		mxe_count(qp->dev, rnr_retry_exceeded);
		mxe_sq_complete(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	/* 7 means no limit (IBTA 11.2.5.2). */
	if (qp->attr.rnr_retry != 7)
		req->rnr_retry_left--;
	mxe_sq_rewind(qp, req->una);
	mxe_retry_rnr_wait(qp, timer_code);
}

/*
 * Handle the refusal of the packet @psn, which was sent and is not
 * acknowledged. The QP can send. @syndrome is the AETH syndrome of a NAK or RNR
 * NAK.
 * Context: BHs disabled, send_lock held.
 */
void mxe_complete_nak(struct mxe_qp *qp, u32 psn, u8 syndrome)
{
	bool lost;

	lockdep_assert_held(&qp->send_lock);

	trace_mxe_nak_received(qp, psn, syndrome);
	/* Everything before the refused packet was executed. */
	lost = mxe_complete_upto(qp, mxe_psn_add(psn, -1));

	/*
	 * The response of an earlier request was lost.  This does not apply to
	 * a NAK for una, which may be in the middle of a READ.
	 */
	if (lost && mxe_psn_diff(psn, qp->req.una) > 0) {
		mxe_count(qp->dev, implied_nak);
		mxe_complete_go_back(qp);
		return;
	}
	if (!mxe_sq_outstanding(&qp->req))
		return;

	if ((syndrome & MXE_AETH_TYPE_MASK) == MXE_AETH_RNR_NAK) {
		mxe_complete_rnr(qp, syndrome & 0x1f);
		return;
	}
	switch (syndrome) {
	case MXE_AETH_NAK_PSN_SEQ:
		mxe_count(qp->dev, rcvd_nak_sequence);
		mxe_complete_go_back(qp);
		break;
	case MXE_AETH_NAK_INV_REQ:
		mxe_complete_fatal(qp, IB_WC_REM_INV_REQ_ERR);
		break;
	case MXE_AETH_NAK_REM_ACC:
		mxe_complete_fatal(qp, IB_WC_REM_ACCESS_ERR);
		break;
	case MXE_AETH_NAK_REM_OP:
		mxe_complete_fatal(qp, IB_WC_REM_OP_ERR);
		break;
	default:
		mxe_complete_fatal(qp, IB_WC_BAD_RESP_ERR);
		break;
	}
}

/* Returns the request that a response belongs to, or NULL. */
static struct mxe_send_wr *mxe_complete_response_wr(struct mxe_qp *qp,
						    const struct mxe_pkt *pkt)
{
	struct mxe_requester *req = &qp->req;
	struct mxe_send_wr *wr;

	/* It acknowledges everything before it, which usually is nothing. */
	if (pkt->psn != req->una)
		mxe_complete_upto(qp, mxe_psn_add(pkt->psn, -1));
	if (!mxe_sq_outstanding(req))
		return NULL;

	wr = mxe_sq_wr(req, req->tail);
	if (mxe_psn_diff(pkt->psn, wr->first_psn) < 0)
		return NULL;
	if (mxe_psn_diff(pkt->psn, req->una) > 0) {
		/* An earlier response was lost, of any request. */
		mxe_count(qp->dev, implied_nak);
		mxe_complete_go_back(qp);
		return NULL;
	}
	return wr;
}

static int mxe_complete_scatter(struct mxe_qp *qp, struct mxe_send_wr *wr,
				u32 offset, void *buf, u32 len)
{
	int err = mxe_mr_copy_sges(qp->dev, mxe_rndv_pd(qp, wr), wr->sge,
				   wr->num_sge, offset, buf, len, MXE_TO_MEMORY,
				   &qp->req.mr_cache);

	if (err)
		mxe_count(qp->dev, local_access_errors);
	return err;
}

static void mxe_complete_response_done(struct mxe_qp *qp,
				       struct mxe_send_wr *wr)
{
	wr->done = true;
	mxe_complete_upto(qp, wr->last_psn);
}

static void mxe_complete_read(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_send_wr *wr = mxe_complete_response_wr(qp, pkt);
	struct mxe_requester *req = &qp->req;
	u32 offset, expect;
	bool last;

	if (!wr)
		return;
	offset = mxe_psn_diff(pkt->psn, wr->first_psn) * qp->mtu;
	last = pkt->psn == wr->last_psn;
	expect = mxe_wr_is_placement(wr->opcode) ? 0 :
		 last ? wr->length - offset : qp->mtu;
	if ((!mxe_wr_is_read(wr->opcode) && !mxe_wr_is_placement(wr->opcode)) ||
	    pkt->payload_len != expect ||
	    last != !!(pkt->flags & MXE_OP_END)) {
		mxe_complete_fatal(qp, IB_WC_BAD_RESP_ERR);
		return;
	}
	if (pkt->payload_len &&
	    mxe_complete_scatter(qp, wr, offset, (void *)pkt->payload,
				 pkt->payload_len)) {
		mxe_sq_complete(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	if (last) {
		mxe_complete_response_done(qp, wr);
		return;
	}

	req->una = mxe_psn_add(pkt->psn, 1);
	if (req->cur == req->tail && mxe_psn_diff(req->una, req->psn) > 0)
		req->psn = req->una;
	mxe_retry_progress(qp);
}

/* Convert the result of an atomic from host byte order to big-endian. */
void mxe_complete_result_be(const struct mxe_atomic_args *args, u64 *words)
{
	unsigned int n = mxe_atomic_words(args), i;
	__be64 *be64 = (__be64 *)words;

	switch (args->log_size) {
	case 0:
		*(u8 *)words = *words;
		break;
	case 1:
		*(__be16 *)words = cpu_to_be16(*words);
		break;
	case 2:
		*(__be32 *)words = cpu_to_be32(*words);
		break;
	default:
		for (i = 0; i < n; i++)
			be64[i] = cpu_to_be64(words[i]);
	}
}

static void mxe_complete_atomic(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_send_wr *wr = mxe_complete_response_wr(qp, pkt);
	u64 result[MXE_ATOMIC_WORDS] __uninitialized;

	if (!wr)
		return;
	if (!mxe_wr_is_atomic(wr->opcode) ||
	    mxe_pkt_result_words(pkt) != mxe_atomic_words(&wr->atomic)) {
		mxe_complete_fatal(qp, IB_WC_BAD_RESP_ERR);
		return;
	}

	mxe_pkt_result(pkt, result);
	mxe_complete_result(qp, &wr->atomic, result);
	if (mxe_complete_scatter(qp, wr, 0, result,
				 mxe_atomic_size(&wr->atomic))) {
		mxe_sq_complete(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	mxe_complete_response_done(qp, wr);
}

static void mxe_complete_ack(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	if (mxe_complete_upto(qp, pkt->psn)) {
		mxe_count(qp->dev, implied_nak);
		mxe_complete_go_back(qp);
	}
}

/*
 * Handle an ACK, a NAK, or a response with data of the connection of a QP,
 * which may be dying. Complete requests, rewind for retransmission, or start an
 * RNR wait.
 * Context: Softirq, send_lock held.
 * Return: true if the packet matched an outstanding one. The caller then sends
 * requests that had to wait.
 */
bool mxe_complete_pkt(struct mxe_qp *qp, const struct mxe_pkt *pkt)
{
	struct mxe_requester *req = &qp->req;

	lockdep_assert_held(&qp->send_lock);

	if (qp->dying || req->halted || !mxe_qp_can_send(qp->state)) {
		mxe_count(qp->dev, drop_state);
		return false;
	}
	/* A response must match an outstanding packet.  Others are late. */
	if (mxe_psn_diff(pkt->psn, req->una) < 0 ||
	    mxe_psn_diff(pkt->psn, req->sent_psn) >= 0) {
		mxe_count(qp->dev, drop_unsolicited_response);
		return false;
	}

	if (pkt->flags & MXE_OP_AETH &&
	    (mxe_pkt_syndrome(pkt) & MXE_AETH_TYPE_MASK) != MXE_AETH_ACK)
		mxe_complete_nak(qp, pkt->psn, mxe_pkt_syndrome(pkt));
	else if (pkt->flags & MXE_OP_READ)
		mxe_complete_read(qp, pkt);
	else if (pkt->flags & MXE_OP_ATOMIC)
		mxe_complete_atomic(qp, pkt);
	else
		mxe_complete_ack(qp, pkt);

	mxe_sq_report_error(qp);
	return true;
}
