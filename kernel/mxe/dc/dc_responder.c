// SPDX-License-Identifier: GPL-2.0
/* The responders of the sessions of DC targets. */
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "dc/dc_responder.h"
#include "fast/rx_dst.h"
#include "ip/tx.h"
#include "mxe.h"
#include "queues/qp_work.h"
#include "queues/rq.h"
#include "queues/srq.h"
#include "rc/deliver.h"
#include "rc/respond.h"
#include "rc/retry.h"
#include "resource.h"

static void mxe_dc_responder_init(struct mxe_dc_responder *resp,
				  const struct mxe_qp *target,
				  const struct mxe_dc_hdr *hdr, u32 num_res)
{
	struct mxe_qp *qp = &resp->qp;

	resp->ibqp.device = target->ibqp->device;
	resp->ibqp.pd = target->pd;
	resp->ibqp.srq = target->ibqp->srq;
	resp->ibqp.qp_type = target->type;
	resp->ibqp.qp_num = target->qpn;
	resp->dc.kind = MXE_DC_RESPONDER;
	resp->dc.hdr.qpn = target->qpn;
	resp->dc.hdr.session = hdr->session;
	resp->dc.hdr.instance = hdr->instance;

	qp->dc = &resp->dc;
	qp->dev = target->dev;
	qp->ibqp = &resp->ibqp;
	qp->pd = target->pd;
	qp->memcg = target->memcg;
	qp->qpn = target->qpn;
	qp->type = target->type;
	qp->transport = target->transport;
	qp->ops = target->ops;
	qp->send_cq = target->send_cq;
	qp->recv_cq = target->recv_cq;
	qp->resp.srq = target->resp.srq;
	qp->attr.qp_access_flags = target->attr.qp_access_flags;
	qp->attr.min_rnr_timer = target->attr.min_rnr_timer;
	qp->state = IB_QPS_RTR;
	qp->dest_qpn = hdr->qpn;
	qp->mtu = ib_mtu_enum_to_int(hdr->mtu);
	qp->resp.epsn = hdr->psn;
	qp->resp.num_res = num_res;
	/* Its communication is established, which is not worth an event. */
	qp->resp.comm_est = true;
	mxe_qp_prepare(qp, mxe_qp_work, mxe_qp_work_late);
	mxe_retry_init(qp);
}

/*
 * Create the responder of a session that the request @hdr of @addr opens. @av
 * is the address of the initiator. Charge the active memory control group.
 * Context: BHs disabled, lock of the target held.
 * Return: the responder, or NULL if there is no memory or no resource left.
 */
struct mxe_dc_responder *mxe_dc_responder_create(const struct mxe_qp *target,
						 const struct mxe_dct_addr *addr,
						 const struct mxe_dc_hdr *hdr,
						 const struct mxe_av *av)
{
	u32 num_res = target->attr.max_dest_rd_atomic;
	struct mxe_dev *dev = target->dev;
	struct mxe_dc_responder *resp;

	if (!mxe_resource_try_take(dev, MXE_RESOURCE_DC_SESSION))
		return NULL;
	resp = kzalloc(sizeof(*resp), MXE_PKT_GFP);
	if (!resp)
		goto give;
	mxe_dc_responder_init(resp, target, hdr, num_res);
	resp->addr = *addr;
	resp->used = jiffies;
	resp->qp.av = *av;
	resp->qp.resp.cur = kzalloc(mxe_rq_wr_size(target->resp.srq->q.max_sge), MXE_PKT_GFP);
	resp->qp.resp.res = kcalloc(num_res, sizeof(*resp->qp.resp.res), MXE_PKT_GFP);
	if (!resp->qp.resp.cur || !resp->qp.resp.res)
		goto free;
	return resp;

free:
	kfree(resp->qp.resp.cur);
	kfree(resp->qp.resp.res);
	kfree(resp);
give:
	mxe_resource_give(dev, MXE_RESOURCE_DC_SESSION);
	return NULL;
}

/*
 * Stop a responder. It executes nothing from here on, nor the rest of a READ.
 * Context: BHs disabled, no lock of the responder held. Takes its recv_lock.
 */
void mxe_dc_responder_halt(struct mxe_dc_responder *resp)
{
	spin_lock(&resp->qp.recv_lock);
	resp->qp.resp.halted = true;
	resp->qp.resp.read.active = false;
	spin_unlock(&resp->qp.recv_lock);
}

/*
 * Check whether a responder still has work. Nothing arrives while it sends the
 * responses of a long READ, but its initiator is not idle.
 * Context: Lock of the target held. This is a hint, because recv_lock is not.
 */
bool mxe_dc_responder_is_busy(const struct mxe_dc_responder *resp)
{
	const struct mxe_responder *responder = &resp->qp.resp;

	/* A hint, without recv_lock. */
	return data_race(responder->read.active ||
			 !skb_queue_empty_lockless(&responder->deferred));
}

/*
 * Flush a responder that was halted, and may be dying. A receive request of the
 * SRQ that it has taken up completes, so that it is not lost. Deferred requests
 * are never executed. mxe_dc_responder_free() drops them, because a packet that
 * ends a session must not take as long as that.
 * Context: No lock of a QP or a target held. RCU read-side section, unless the
 * caller frees the responder.
 */
void mxe_dc_responder_flush(struct mxe_dc_responder *resp)
{
	struct mxe_qp *qp = &resp->qp;

	mxe_qp_recv_begin(qp);
	if (!qp->dying)
		mxe_respond_flush(qp);
	mxe_qp_recv_end(qp);
}

/*
 * Flush and free a responder that was halted, or was never used. Its memory is
 * freed a grace period later.
 * Context: May sleep.
 */
void mxe_dc_responder_free(struct mxe_dc_responder *resp)
{
	struct mxe_qp *qp = &resp->qp;

	mxe_dc_responder_flush(resp);
	mxe_qp_begin(qp);
	qp->dying = true;
	mxe_qp_set_state(qp, IB_QPS_RESET);
	qp->av.valid = false;
	qp->req.pending = 0;
	qp->resp.pending = 0;
	mxe_qp_end(qp);

	mxe_retry_stop(qp);
	mxe_qp_stop_work(qp);
	mxe_qp_put(qp);
	wait_for_completion(&qp->released);

	mxe_deliver_drop_deferred(qp);
	kfree(qp->resp.cur);
	kfree(qp->resp.res);
	kfree(qp->resp.wide);
	mxe_tx_forget(&qp->resp.tx);
	mxe_rx_dst_forget(qp);
	mxe_resource_give(qp->dev, MXE_RESOURCE_DC_SESSION);
	kfree_rcu(qp, rcu);
}
