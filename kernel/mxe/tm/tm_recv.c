// SPDX-License-Identifier: GPL-2.0
/*
 * Decides at the first packet of a message to a tag-matching SRQ where its data
 * go.
 */
#include "mxe.h"
#include "queues/qp.h"
#include "queues/srq.h"
#include "tm/rndv.h"
#include "tm/tm.h"
#include "tm/tm_recv.h"
#include "trace.h"

/*
 * Reads the headers of a message.  Everything that is not a message with a tag
 * is one without, which includes the FIN that a sender receives.
 */
static int mxe_tm_recv_parse(const struct mxe_tm_data *data, struct mxe_tm_msg *msg)
{
	const struct mxe_rndv_hdr *hdr = data->hdr;

	msg->kind = MXE_TM_NO_TAG;
	msg->match_reported = false;
	if (data->len < sizeof(hdr->tmh))
		return 0;
	if (hdr->tmh.opcode == MXE_TMH_EAGER) {
		msg->kind = MXE_TM_EAGER;
		msg->hdr.tmh = hdr->tmh;
	} else if (hdr->tmh.opcode == MXE_TMH_RNDV) {
		if (data->len < sizeof(*hdr) || !data->is_last ||
		    data->len > MXE_TM_MAX_RNDV_HDR)
			return -EINVAL;
		msg->kind = MXE_TM_RNDV;
		msg->hdr = *hdr;
	}
	return 0;
}

/* Returns true if the buffer of the tag in resp.cur can be read into. */
static bool mxe_tm_recv_fits(const struct mxe_qp *qp)
{
	u32 len = be32_to_cpu(qp->resp.tm_msg.hdr.rvh.len);

	return len <= qp->resp.cur->length && len <= MXE_MAX_MSG_SIZE;
}

static void mxe_tm_recv_count(struct mxe_qp *qp, enum mxe_tm_kind kind)
{
	if (kind == MXE_TM_UNEXPECTED)
		mxe_count(qp->dev, tm_unexpected);
	else if (kind != MXE_TM_NO_TAG)
		mxe_count(qp->dev, tm_matched);
	trace_mxe_tag(qp, kind, &qp->resp.tm_msg.hdr.tmh);
}

/* Takes up the request of the tag, or one of the SRQ, into resp.cur. */
static int mxe_tm_recv_take(struct mxe_qp *qp, const struct mxe_tm_data *data)
{
	struct mxe_responder *resp = &qp->resp;
	struct mxe_tm_msg *msg = &resp->tm_msg;
	int err;

	err = mxe_tm_recv_parse(data, msg);
	if (!err && msg->kind == MXE_TM_RNDV && !mxe_rndv_has_room(qp))
		err = -EAGAIN;
	/* The next slice has enough, so that this one does not exceed it. */
	if (!err && (s32)mxe_tm_cost(resp->srq->tm) > resp->budget)
		err = -EBUSY;
	if (!err) {
		err = mxe_tm_take(resp->srq, msg, resp->cur, &resp->pending);
		resp->cur_valid = !err || err == -EIO;
		resp->budget -= msg->cost;
	}
	if (err) {
		msg->kind = MXE_TM_NONE;
		return err == -EPIPE ? -EIO : err;
	}
	if (msg->kind == MXE_TM_RNDV &&
	    (!mxe_tm_recv_fits(qp) || !mxe_rndv_can_read(qp)))
		msg->kind = MXE_TM_RNDV_INCOMPLETE;
	mxe_tm_recv_count(qp, msg->kind);
	return 0;
}

/* Reports a match whose data follow in later packets. */
static void mxe_tm_recv_report(struct mxe_qp *qp)
{
	struct mxe_responder *resp = &qp->resp;
	struct mxe_wc wc = {
		.wr_id = resp->cur->wr_id,
		.opcode = MXE_WC_TM_RECV,
		.flags = MXE_CQE_TM_INFO | MXE_CQE_TM_MATCH,
		.src_qp = qp->dest_qpn,
		.tmh = &resp->tm_msg.hdr.tmh,
	};

	resp->tm_msg.match_reported = true;
	mxe_qp_complete(qp, qp->recv_cq, &wc, &resp->pending);
}

/*
 * Match the tag of a message, and take a receive request. @data is the first
 * packet of a SEND, or the whole SEND. Do not match twice if the packet is
 * executed again after -EBUSY of a later step, or a request by packets after
 * the loopback path has failed.
 * Context: BHs disabled, recv_lock held.
 * Return: 0; -EINVAL for an invalid rendezvous; -EAGAIN if there is no receive
 * request or no room for the rendezvous; -EBUSY if the budget of the slice does
 * not suffice; -EIO as mxe_recv_take().
 */
int mxe_tm_recv_start(struct mxe_qp *qp, struct mxe_tm_data *data)
{
	struct mxe_responder *resp = &qp->resp;
	int err;

	lockdep_assert_held(&qp->recv_lock);

	if (!resp->cur_valid) {
		err = mxe_tm_recv_take(qp, data);
		if (err)
			return err;
	} else if (resp->cur->error) {
		return -EIO;
	} else if (resp->tm_msg.kind == MXE_TM_EAGER &&
		   data->len < sizeof(struct mxe_tmh)) {
		/*
		 * Not the message that was matched: the requester has failed
		 * after mxe_loopback_match(), and was connected again.
		 */
		return -EINVAL;
	}
	switch (resp->tm_msg.kind) {
	case MXE_TM_EAGER:
		data->skip = sizeof(struct mxe_tmh);
		data->len -= data->skip;
		if (!data->is_last)
			mxe_tm_recv_report(qp);
		break;
	case MXE_TM_RNDV:
		data->len = 0;
		break;
	case MXE_TM_RNDV_INCOMPLETE:
		data->len = sizeof(struct mxe_rndv_hdr);
		break;
	default:
		break;
	}
	return 0;
}

/*
 * Forget the message in progress without a completion. The QP is of any type.
 * Context: BHs disabled, recv_lock held.
 */
void mxe_tm_recv_abandon(struct mxe_qp *qp)
{
	struct mxe_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->recv_lock);

	if (!mxe_qp_has_tm(qp))
		return;
	if (resp->cur_valid && resp->tm_msg.kind == MXE_TM_UNEXPECTED)
		mxe_tm_lost(resp->srq);
	resp->tm_msg.kind = MXE_TM_NONE;
}
