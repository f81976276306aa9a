// SPDX-License-Identifier: GPL-2.0
/* The verbs of queue pairs: create, destroy, modify and query. */
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include "dc/dc_verbs.h"
#include "dc/dci.h"
#include "fast/loopback.h"
#include "fast/rx_dst.h"
#include "ip/qpn.h"
#include "ip/tx.h"
#include "memory/ring.h"
#include "mxe.h"
#include "queues/cq.h"
#include "queues/qp.h"
#include "queues/qp_verbs.h"
#include "queues/qp_work.h"
#include "queues/rq.h"
#include "queues/srq.h"
#include "queues/wqe.h"
#include "queues/xrc.h"
#include "rc/deliver.h"
#include "rc/inline_recv.h"
#include "rc/respond.h"
#include "rc/retry.h"
#include "rc/send.h"
#include "rc/sq.h"
#include "resource.h"
#include "tm/rndv.h"
#include "tm/tm_recv.h"
#include "ucontext.h"
#include "udata.h"
#include "wire/psn.h"

/* ---- creation ---------------------------------------------------------- */

static bool mxe_qp_type_ok(enum ib_qp_type type, bool is_user)
{
	switch (type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
	case IB_QPT_GSI:
	case IB_QPT_XRC_TGT:
		return true;
	case IB_QPT_XRC_INI:
		/* struct ib_send_wr cannot name the SRQ of a request. */
	case IB_QPT_DRIVER:
		/* Nor the target. */
		return is_user;
	default:
		return false;
	}
}

/* Returns true if the QP has the CQs or the XRC domain that its type needs. */
static bool mxe_qp_refs_ok(const struct ib_qp_init_attr *init)
{
	if (init->qp_type == IB_QPT_XRC_TGT)
		return init->xrcd;
	return init->send_cq &&
	       (init->recv_cq || init->qp_type == IB_QPT_XRC_INI);
}

/* Returns true if the QP may have this SRQ. */
static bool mxe_qp_srq_ok(const struct ib_qp_init_attr *init)
{
	return !init->srq || init->srq->srq_type != IB_SRQT_TM ||
	       init->qp_type == IB_QPT_RC;
}

int mxe_qp_check_depth(struct mxe_dev *dev, u32 max_send_wr, u32 max_recv_wr)
{
	if (max_send_wr > MXE_MAX_QP_WR || max_recv_wr > MXE_MAX_QP_WR)
		return mxe_refuse(dev, -EINVAL,
				  "max_send_wr %u, max_recv_wr %u, at most %u each",
				  max_send_wr, max_recv_wr, MXE_MAX_QP_WR);
	return 0;
}

static int mxe_qp_check_init(struct mxe_dev *dev,
			     const struct ib_qp_init_attr *init, bool is_user)
{
	const struct ib_qp_cap *cap = &init->cap;
	int err;

	if (!mxe_qp_type_ok(init->qp_type, is_user))
		return mxe_refuse(dev, -EOPNOTSUPP, "QP type %d is not supported",
				  init->qp_type);
	if (init->create_flags)
		return mxe_refuse(dev, -EOPNOTSUPP, "create_flags %#x are not supported",
				  init->create_flags);
	if (!mxe_qp_refs_ok(init))
		return mxe_refuse(dev, -EINVAL, "no CQ or XRC domain");
	if (!mxe_qp_srq_ok(init))
		return mxe_refuse(dev, -EINVAL, "tag matching needs an RC QP");
	err = mxe_qp_check_depth(dev, cap->max_send_wr, cap->max_recv_wr);
	if (err)
		return err;
	if (cap->max_send_sge > MXE_MAX_SGE || cap->max_recv_sge > MXE_MAX_SGE)
		return mxe_refuse(dev, -EINVAL,
				  "max_send_sge %u, max_recv_sge %u, at most %u each",
				  cap->max_send_sge, cap->max_recv_sge,
				  MXE_MAX_SGE);
	if (cap->max_inline_data > MXE_MAX_INLINE)
		return mxe_refuse(dev, -EINVAL, "max_inline_data %u, at most %u",
				  cap->max_inline_data, MXE_MAX_INLINE);
	return 0;
}

/*
 * Return the number of elements of req.wrs, a power of two. @entries, the
 * number of requests that can be posted, is one, too.
 */
u32 mxe_qp_send_slots(const struct mxe_qp *qp, u32 entries, bool is_user)
{
	/* The kernel's own requests have slots, and no place in the ring. */
	if (qp->rndv)
		entries = roundup_pow_of_two(entries + MXE_RNDV_DEPTH);
	/* A process posts to the ring, a kernel consumer to the slots. */
	return is_user ? min_t(u32, entries, MXE_MAX_FETCHED) : entries;
}

static int mxe_qp_init_sq(struct mxe_qp *qp, struct ib_qp_cap *cap,
			  struct ib_ucontext *uctx)
{
	struct mxe_requester *req = &qp->req;
	unsigned int log_size;
	size_t tail, room;
	u32 slots;

	req->entries = roundup_pow_of_two(max(cap->max_send_wr, 1U));
	req->max_sge = max(cap->max_send_sge, 1U);
	/* SGEs and inline data share this room. */
	tail = max_t(size_t, req->max_sge * sizeof(struct ib_sge),
		     cap->max_inline_data);
	if (qp->rndv)
		tail = max(tail, sizeof(((struct mxe_rndv_item *)NULL)->sge));
	tail = ALIGN(tail, sizeof(struct ib_sge));
	req->max_inline = min_t(size_t, tail, MXE_MAX_INLINE);
	req->wr_size = sizeof(struct mxe_send_wr) + tail;
	if (mxe_qp_is_dci(qp))
		req->wr_size += sizeof(struct mxe_dci_dest);

	slots = mxe_qp_send_slots(qp, req->entries, uctx);
	req->wr_mask = slots - 1;
	req->wrs = kvcalloc(slots, req->wr_size, GFP_KERNEL_ACCOUNT);
	if (!req->wrs)
		return -ENOMEM;

	cap->max_send_wr = req->entries;
	cap->max_send_sge = req->max_sge;
	cap->max_inline_data = req->max_inline;
	if (!uctx)
		return 0;
	room = sizeof(struct mxe_send_wqe) + tail;
	/* Wide operands precede the SGEs, and are never inline data. */
	log_size = ilog2(req->atomic_log_sizes);
	if (log_size > 3)
		room += MXE_MSKATOMIC_OPERANDS << log_size;
	if (mxe_qp_is_dci(qp))
		room += sizeof(struct mxe_dc_dest);
	mxe_ring_shape(&req->ring, req->entries, ALIGN(room, 64));
	return 0;
}

static int mxe_qp_init_rq(struct mxe_qp *qp, struct ib_qp_cap *cap,
			  struct ib_ucontext *uctx)
{
	struct mxe_responder *resp = &qp->resp;
	u32 max_sge;
	int err;

	if (resp->srq || qp->type == IB_QPT_XRC_INI || mxe_qp_is_dci(qp))
		cap->max_recv_wr = 0;
	if (!cap->max_recv_wr) {
		cap->max_recv_sge = 0;
	} else {
		err = mxe_rq_create(&resp->q, cap->max_recv_wr, cap->max_recv_sge,
				    uctx);
		if (err)
			return err;
		cap->max_recv_wr = resp->q.entries;
		cap->max_recv_sge = resp->q.max_sge;
	}
	max_sge = resp->srq ? resp->srq->q.max_sge : resp->q.max_sge;
	/* It also holds the request of a tag. */
	if (qp->rndv)
		max_sge = max_t(u32, max_sge, MXE_TM_MAX_SGE);
	resp->cur = kzalloc(mxe_rq_wr_size(max_sge), GFP_KERNEL_ACCOUNT);
	return resp->cur ? 0 : -ENOMEM;
}

/*
 * An XRC target has no queues.  It takes receive requests from any SRQ that its
 * peer names, so resp.cur has room for the maximum number of SGEs.
 */
static int mxe_qp_init_tgt(struct mxe_qp *qp, struct ib_qp_cap *cap)
{
	memset(cap, 0, sizeof(*cap));
	qp->resp.cur = kzalloc(mxe_rq_wr_size(MXE_MAX_SGE), GFP_KERNEL_ACCOUNT);
	return qp->resp.cur ? 0 : -ENOMEM;
}

/*
 * Allocate rings, whose shapes are set, for the queues of a QP. Without
 * entries, @rq gets no memory. Call mxe_ring_destroy() for both after a
 * failure, too.
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int mxe_qp_alloc_rings(const struct mxe_qp *qp, struct mxe_ring *sq,
		       struct mxe_ring *rq, struct ib_ucontext *uctx)
{
	int err;

	err = mxe_ring_alloc(sq, qp->has_one_mapping ? rq : NULL, uctx);
	if (err || qp->has_one_mapping || !rq->entries)
		return err;
	return mxe_ring_alloc(rq, NULL, uctx);
}

static int mxe_qp_init_queues(struct mxe_qp *qp, struct ib_qp_cap *cap,
			      struct ib_ucontext *uctx)
{
	int err;

	if (mxe_qp_is_xrc_tgt(qp) || mxe_qp_is_dct(qp))
		return mxe_qp_init_tgt(qp, cap);
	if (qp->resp.srq && qp->resp.srq->tm) {
		qp->rndv = kzalloc(sizeof(*qp->rndv), GFP_KERNEL_ACCOUNT);
		if (!qp->rndv)
			return -ENOMEM;
		qp->recv_cq = to_mcq(qp->resp.srq->ibsrq.ext.cq);
	}
	err = mxe_qp_init_sq(qp, cap, uctx);
	if (!err)
		err = mxe_qp_init_rq(qp, cap, uctx);
	if (!err && uctx)
		err = mxe_qp_alloc_rings(qp, &qp->req.ring, &qp->resp.q.ring, uctx);
	return err;
}

static void mxe_qp_free_queues(struct mxe_qp *qp)
{
	mxe_ring_destroy(&qp->req.ring);
	mxe_rq_destroy(&qp->resp.q);
	kvfree(qp->req.wrs);
	kfree(qp->resp.cur);
	kfree(qp->resp.res);
	kfree(qp->resp.wide);
	kfree(qp->rndv);
}

static int mxe_qp_read_udata(struct mxe_qp *qp, struct ib_udata *udata)
{
	const u32 dc = MXE_QP_CREATE_DCT | MXE_QP_CREATE_DCI;
	u32 known = MXE_QP_CREATE_ATOMIC_BE_REPLY | MXE_QP_CREATE_INLINE_RECV |
		    MXE_QP_CREATE_ONE_MAPPING;
	bool is_dc = qp->ibqp->qp_type == IB_QPT_DRIVER;
	struct mxe_create_qp_req req;
	unsigned int log_size;
	int err;

	err = mxe_udata_in(udata, &req, sizeof(req), sizeof(req));
	if (err)
		return mxe_refuse(qp->dev, err, "bad udata");
	if (is_dc)
		known |= dc;
	if (req.flags & ~known || (req.dct_key && !is_dc))
		return mxe_refuse(qp->dev, -EINVAL, "unknown flags %#x",
				  req.flags);
	if (req.max_atomic_arg &&
	    (!is_power_of_2(req.max_atomic_arg) ||
	     !(BIT(ilog2(req.max_atomic_arg)) & MXE_ATOMIC_LOG_SIZES)))
		return mxe_refuse(qp->dev, -EINVAL, "max_atomic_arg %u is not supported",
				  req.max_atomic_arg);
	if (udata->outlen < sizeof(struct mxe_create_qp_resp))
		return mxe_refuse(qp->dev, -EINVAL, "no room for the response");

	if (is_dc) {
		err = mxe_dc_verbs_create(qp, &req);
		if (err)
			return err;
	}
	/* A target has no rings. */
	qp->is_user = !mxe_qp_is_dct(qp);
	qp->be_reply = req.flags & MXE_QP_CREATE_ATOMIC_BE_REPLY;
	qp->has_one_mapping = req.flags & MXE_QP_CREATE_ONE_MAPPING;
	qp->req.opcodes = mxe_wqe_user_opcodes(qp);
	qp->req.srqn_mask = mxe_qp_is_xrc_ini(qp) ? MXE_XRC_SRQN_MASK : 0;
	log_size = ilog2(req.max_atomic_arg ?: sizeof(u64));
	qp->req.atomic_log_sizes = MXE_ATOMIC_LOG_SIZES & GENMASK(log_size, 0);
	return req.flags & MXE_QP_CREATE_INLINE_RECV ? mxe_inline_recv_init(qp) : 0;
}

/*
 * Describe rings of a QP to its process. @rq may have no memory. @resp was
 * zeroed.
 */
void mxe_qp_describe_rings(const struct mxe_qp *qp, const struct mxe_ring *sq,
			   const struct mxe_ring *rq, struct mxe_create_qp_resp *resp)
{
	mxe_ring_info(sq, &resp->sq);
	resp->sq.max_sge = qp->req.max_sge;
	resp->sq.max_inline = qp->req.max_inline;
	mxe_ring_info(rq, &resp->rq);
	resp->rq.max_sge = qp->resp.q.max_sge;
}

static int mxe_qp_write_udata(struct mxe_qp *qp, struct ib_udata *udata)
{
	struct mxe_create_qp_resp resp = {};

	mxe_qp_describe_rings(qp, &qp->req.ring, &qp->resp.q.ring, &resp);
	return mxe_udata_out(udata, &resp, sizeof(resp));
}

static enum mxe_transport mxe_qp_transport_of(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return MXE_TRANSPORT_RC;
	case IB_QPT_UC:
		return MXE_TRANSPORT_UC;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return MXE_TRANSPORT_XRC;
	case IB_QPT_DRIVER:
		return MXE_TRANSPORT_DC;
	default:
		return MXE_TRANSPORT_UD;
	}
}

/* struct mxe_qp is charged to the process, unlike struct mxe_ib_qp. */
static struct mxe_qp *mxe_qp_alloc(struct ib_qp *ibqp,
				   const struct ib_qp_init_attr *init, bool is_user)
{
	struct mxe_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL_ACCOUNT);

	if (!qp)
		return NULL;
	qp->ibqp = ibqp;
	qp->dev = to_mdev(ibqp->device);
	qp->pd = ibqp->pd;
	qp->memcg = is_user ? get_mem_cgroup_from_mm(current->mm) : NULL;
	qp->type = ibqp->qp_type;
	qp->transport = mxe_qp_transport_of(qp->type);
	qp->ops = &mxe_transports[qp->transport];
	qp->send_cq = init->send_cq ? to_mcq(init->send_cq) : NULL;
	qp->recv_cq = init->recv_cq ? to_mcq(init->recv_cq) : NULL;
	qp->resp.srq = init->srq ? to_msrq(init->srq) : NULL;
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	mutex_init(&qp->resize_mutex);
	mxe_qp_prepare(qp, mxe_qp_work, mxe_qp_work_late);
	mxe_retry_init(qp);
	return qp;
}

int mxe_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		  struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(ibqp->device);
	struct ib_ucontext *uctx = NULL;
	struct mxe_qp *qp;
	int err;

	err = mxe_qp_check_init(dev, init, udata);
	if (err)
		return err;
	err = mxe_resource_take(dev, MXE_RESOURCE_QP);
	if (err)
		return err;
	qp = mxe_qp_alloc(ibqp, init, udata);
	if (!qp) {
		err = -ENOMEM;
		goto err_give;
	}
	if (udata) {
		err = mxe_qp_read_udata(qp, udata);
		if (err)
			goto err_free_qp;
		uctx = mxe_udata_ucontext(udata);
		qp->uctx = uctx;
	}
	err = mxe_qp_init_queues(qp, &init->cap, uctx);
	if (!err && udata)
		err = mxe_qp_write_udata(qp, udata);
	if (err)
		goto err_free;
	qp->attr.cap = init->cap;

	if (mxe_qp_is_xrc_tgt(qp))
		mxe_xrc_join(qp, init->xrcd);
	rcu_assign_pointer(to_mibqp(ibqp)->qp, qp);
	/* Publish the QP last: packets find it from here on. */
	err = mxe_qpn_alloc(qp);
	if (err)
		goto err_leave;
	ibqp->qp_num = qp->qpn;
	return 0;

err_leave:
	RCU_INIT_POINTER(to_mibqp(ibqp)->qp, NULL);
	if (mxe_qp_is_xrc_tgt(qp))
		mxe_xrc_leave(qp);
err_free:
	mxe_qp_free_queues(qp);
err_free_qp:
	mxe_dc_verbs_destroy(qp);
	mem_cgroup_put(qp->memcg);
	kfree(qp);
err_give:
	mxe_resource_give(dev, MXE_RESOURCE_QP);
	return err;
}

/* ---- destruction ------------------------------------------------------- */

/*
 * Drops the destinations of a QP that enters RESET, and what its requests refer
 * to.
 */
static void mxe_qp_forget(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;
	/* A kernel consumer posts to the slots. */
	u32 end = qp->is_user ? req->fetched : READ_ONCE(req->posted);
	u32 i;

	lockdep_assert_held(&qp->send_lock);

	for (i = req->tail; qp->ops->forget && i != end; i++)
		qp->ops->forget(qp, mxe_sq_wr(req, i));
	if (qp->ops->reset)
		qp->ops->reset(qp);
}

/*
 * When this returns, nothing changes the QP any more, although it may still be
 * found under RCU.  Timers and work are never started for a dying QP, and a
 * packet or doorbell that takes a lock sees that the QP is dying.
 */
static void mxe_qp_kill(struct mxe_qp *qp)
{
	mxe_qp_begin(qp);
	qp->dying = true;
	mxe_qp_set_state(qp, IB_QPS_RESET);
	mxe_qp_forget(qp);
	/* From now on, no packet belongs to the connection. */
	qp->av.valid = false;
	mxe_loopback_forget(&qp->req.loopback);
	qp->req.pending = 0;
	qp->resp.pending = 0;
	mxe_tm_recv_abandon(qp);
	/*
	 * Drop the SRQ, because mxe_xrcd_withdraw() does not visit this target
	 * any more once it has left the domain.
	 */
	if (mxe_qp_is_xrc_tgt(qp)) {
		qp->resp.srq = NULL;
		qp->resp.read.srq = NULL;
		qp->resp.read.active = false;
		qp->resp.cur_valid = false;
	}
	mxe_qp_end(qp);

	mxe_retry_stop(qp);
	mxe_qp_stop_work(qp);
	/* Wait for handlers that were called before. */
	mxe_qp_put(qp);
	wait_for_completion(&qp->released);
}

/*
 * ib_mad destroys QP 1 without draining it.  Its completion handler may be
 * running then, and posts a receive request for each that it was given.  Once
 * the QP is in RESET and its completions are removed, no handler begins with
 * one of them, so it is enough to wait for the handler that is running.
 */
static void mxe_qp_drain_gsi(struct mxe_qp *qp)
{
	struct ib_cq *cq = &qp->recv_cq->ibcq;

	mxe_qp_begin(qp);
	mxe_qp_set_state(qp, IB_QPS_RESET);
	mxe_qp_end(qp);
	mxe_cq_clean(qp->recv_cq, qp);
	if (cq->poll_ctx == IB_POLL_WORKQUEUE ||
	    cq->poll_ctx == IB_POLL_UNBOUND_WORKQUEUE)
		flush_work(&cq->work);
}

int mxe_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct mxe_qp *qp = to_mqp(ibqp);

	/* ib_uverbs checks this itself, or detaches the QP (IBTA 11.2.4.4). */
	if (qp->mcast_groups)
		return mxe_refuse(qp->dev, -EBUSY, "member of %u multicast groups",
				  qp->mcast_groups);

	mxe_qpn_free(qp);
	if (ibqp->qp_type == IB_QPT_GSI)
		mxe_qp_drain_gsi(qp);
	mxe_qp_kill(qp);
	/* Before qp->dc is freed, because restrack also looks at that. */
	RCU_INIT_POINTER(to_mibqp(ibqp)->qp, NULL);

	mxe_dc_verbs_destroy(qp);
	mxe_deliver_drop_deferred(qp);
	if (mxe_qp_is_xrc_tgt(qp))
		mxe_xrc_leave(qp);
	if (qp->send_cq)
		mxe_cq_clean(qp->send_cq, qp);
	if (qp->recv_cq)
		mxe_cq_clean(qp->recv_cq, qp);
	mxe_qp_free_queues(qp);
	mxe_tx_forget(&qp->req.tx);
	mxe_tx_forget(&qp->resp.tx);
	mxe_rx_dst_forget(qp);
	mxe_resource_give(qp->dev, MXE_RESOURCE_QP);
	mem_cgroup_put(qp->memcg);
	kfree_rcu(qp, rcu);
	return 0;
}

/* ---- attributes and state ---------------------------------------------- */

/* Empties the queues and forgets the peer.  Context: both locks held. */
static void mxe_qp_reset(struct mxe_qp *qp)
{
	struct mxe_requester *req = &qp->req;
	struct mxe_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->send_lock);
	lockdep_assert_held(&qp->recv_lock);

	mxe_qp_set_state(qp, IB_QPS_RESET);
	mxe_qp_forget(qp);

	/* A kernel consumer must not post during a reset (IBTA 10.3.1). */
	req->posted = 0;
	req->fetched = 0;
	req->next = 0;
	req->cur = 0;
	req->tail = 0;
	req->rd_atomic = 0;
	req->rnr_wait = false;
	req->rewound = false;
	req->halted = false;
	req->sqd_notified = false;
	req->local_error = IB_WC_SUCCESS;
	req->ack_left = false;
	if (mxe_qp_has_tm(qp))
		mxe_rndv_reset(qp);
	mxe_retry_reset(qp);
	mxe_ring_reset(&req->ring);

	resp->q.posted = 0;
	resp->q.consumed = 0;
	resp->last_wqe = false;
	resp->msn = 0;
	resp->comm_est = false;
	mxe_deliver_drop_deferred(qp);
	mxe_respond_reset(qp);
	mxe_ring_reset(&resp->q.ring);

	qp->av.valid = false;
	mxe_tx_forget(&req->tx);
	mxe_tx_forget(&resp->tx);
	mxe_loopback_forget(&qp->req.loopback);
}

static int mxe_qp_check_attr(struct mxe_qp *qp, const struct ib_qp_attr *attr,
			     int mask)
{
	struct mxe_dev *dev = qp->dev;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return mxe_refuse(dev, -EOPNOTSUPP, "attributes %#x are not supported", mask);
	if (mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE | IB_QP_CAP))
		return mxe_refuse(dev, -EOPNOTSUPP, "attributes %#x are not supported", mask);
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return mxe_refuse(dev, -EINVAL, "port %u, only 1 exists", attr->port_num);
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return mxe_refuse(dev, -EINVAL, "P_Key index %u, only 0 exists",
				  attr->pkey_index);
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 ||
	     attr->path_mtu > iboe_get_mtu(READ_ONCE(dev->ndev->mtu))))
		return mxe_refuse(dev, -EINVAL, "path MTU code %d is out of range",
				  attr->path_mtu);
	if (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > MXE_MAX_RD_ATOMIC)
		return mxe_refuse(dev, -EINVAL, "max_rd_atomic %u is too large",
				  attr->max_rd_atomic);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > MXE_MAX_RD_ATOMIC)
		return mxe_refuse(dev, -EINVAL, "max_dest_rd_atomic %u is too large",
				  attr->max_dest_rd_atomic);
	if (mask & IB_QP_ACCESS_FLAGS &&
	    attr->qp_access_flags & ~(IB_ACCESS_LOCAL_WRITE |
				      IB_ACCESS_REMOTE_WRITE |
				      IB_ACCESS_REMOTE_READ |
				      IB_ACCESS_REMOTE_ATOMIC |
				      IB_ACCESS_MW_BIND |
				      /* The CM sets both or none. */
				      IB_ACCESS_FLUSH_GLOBAL |
				      IB_ACCESS_FLUSH_PERSISTENT))
		return mxe_refuse(dev, -EINVAL, "access flags %#x are not supported",
				  attr->qp_access_flags);
	if (mask & IB_QP_TIMEOUT && attr->timeout > 31)
		return mxe_refuse(dev, -EINVAL, "timeout %u, at most 31", attr->timeout);
	if ((mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7))
		return mxe_refuse(dev, -EINVAL, "retry_cnt or rnr_retry exceeds 7");
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return mxe_refuse(dev, -EINVAL, "min_rnr_timer %u, at most 31",
				  attr->min_rnr_timer);
	return 0;
}

/* Stores the attributes, and initialises the state that depends on them. */
static void mxe_qp_store_attr(struct mxe_qp *qp, const struct ib_qp_attr *attr,
			      int mask)
{
	struct ib_qp_attr *a = &qp->attr;

	if (mask & IB_QP_PKEY_INDEX)
		a->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		a->port_num = attr->port_num;
	if (mask & IB_QP_ACCESS_FLAGS)
		a->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PATH_MTU) {
		a->path_mtu = attr->path_mtu;
		qp->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	}
	if (mask & IB_QP_DEST_QPN) {
		a->dest_qp_num = attr->dest_qp_num;
		qp->dest_qpn = attr->dest_qp_num & MXE_BTH_QPN_MASK;
	}
	if (mask & IB_QP_RQ_PSN) {
		a->rq_psn = attr->rq_psn & MXE_PSN_MASK;
		qp->resp.epsn = a->rq_psn;
	}
	if (mask & IB_QP_SQ_PSN) {
		a->sq_psn = attr->sq_psn & MXE_PSN_MASK;
		qp->req.psn = a->sq_psn;
		qp->req.sent_psn = a->sq_psn;
		qp->req.max_psn = a->sq_psn;
		qp->req.una = a->sq_psn;
		qp->req.cnp_psn = a->sq_psn;
		qp->req.window = MXE_MAX_UNACKED;
	}
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		a->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		a->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_TIMEOUT)
		a->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT) {
		a->retry_cnt = attr->retry_cnt;
		qp->req.retry_left = attr->retry_cnt;
	}
	if (mask & IB_QP_RNR_RETRY) {
		a->rnr_retry = attr->rnr_retry;
		qp->req.rnr_retry_left = attr->rnr_retry;
	}
	if (mask & IB_QP_QKEY)
		a->qkey = attr->qkey;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		a->en_sqd_async_notify = attr->en_sqd_async_notify;
}

static void mxe_qp_enter_state(struct mxe_qp *qp, enum ib_qp_state from,
			       enum ib_qp_state to)
{
	switch (to) {
	case IB_QPS_RESET:
		mxe_qp_reset(qp);
		return;
	case IB_QPS_ERR:
		mxe_qp_set_error(qp);
		return;
	case IB_QPS_SQD:
		qp->req.sqd_notified = from == IB_QPS_SQD;
		break;
	case IB_QPS_RTS:
		/* The queue has been flushed, and starts again. */
		if (from == IB_QPS_SQE)
			qp->req.halted = false;
		break;
	default:
		break;
	}
	mxe_qp_set_state(qp, to);
}

/*
 * Flushes a slice of the send queue if the QP is in this state.  Returns true
 * if requests remain.
 */
static bool mxe_qp_flush_send(struct mxe_qp *qp, enum ib_qp_state state)
{
	bool more;

	mxe_qp_begin(qp);
	more = qp->state == state && mxe_send_flush(qp);
	/* No handler may run in a verb, so the work item calls them. */
	if (qp->req.pending)
		mxe_qp_kick(qp);
	mxe_qp_end(qp);
	return more;
}

/*
 * Flushes a slice of the receive queue if the QP is in ERR. Returns true if
 * requests remain.
 */
static bool mxe_qp_flush_recv(struct mxe_qp *qp)
{
	bool more;

	mxe_qp_begin(qp);
	more = qp->state == IB_QPS_ERR && mxe_respond_flush(qp);
	if (qp->resp.pending)
		mxe_qp_kick(qp);
	mxe_qp_end(qp);
	return more;
}

/*
 * Flushes the send queue slice by slice before it leaves SQE, so that only
 * requests remain that are posted meanwhile.  Does nothing in other states.
 */
static int mxe_qp_leave_sqe(struct mxe_qp *qp)
{
	bool more;

	do {
		more = mxe_qp_flush_send(qp, IB_QPS_SQE);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	} while (more);
	return 0;
}

/*
 * Flushes what was posted before the change to ERR, because a consumer may poll
 * for the completions without yielding the CPU to the work item.  Requests that
 * are posted meanwhile are flushed by the call that posts them.
 */
static void mxe_qp_flush_queues(struct mxe_qp *qp)
{
	u32 left;

	for (left = READ_ONCE(qp->req.entries) / MXE_FLUSH_SLICE + 1; left; left--) {
		if (!mxe_qp_flush_send(qp, IB_QPS_ERR) || fatal_signal_pending(current))
			break;
		cond_resched();
	}
	/* An XRC target has no queue of its own. */
	if (mxe_qp_is_xrc_tgt(qp))
		return;
	for (left = READ_ONCE(qp->resp.q.entries) / MXE_FLUSH_SLICE + 1; left; left--) {
		if (!mxe_qp_flush_recv(qp) || fatal_signal_pending(current))
			break;
		cond_resched();
	}
}

/* Context: both locks held. */
static void mxe_qp_store_av(struct mxe_qp *qp, const struct ib_qp_attr *attr,
			    struct mxe_av *av)
{
	/* Only query_qp reads ah_attr, so it holds no reference to the GID. */
	qp->attr.ah_attr = attr->ah_attr;
	qp->attr.ah_attr.grh.sgid_attr = NULL;
	av->sport = htons(rdma_get_udp_sport(av->flow_label, qp->qpn, qp->dest_qpn));
	/* Before the address changes, because early_demux.c has no lock. */
	mxe_rx_dst_forget(qp);
	qp->av = *av;
	/* Packets of RC are not of the connection of a DC QP. */
	if (qp->dc)
		qp->av.valid = false;
	mxe_tx_forget(&qp->req.tx);
	mxe_tx_forget(&qp->resp.tx);
	mxe_loopback_forget(&qp->req.loopback);
}

static bool mxe_qp_modify_ok(const struct mxe_qp *qp, enum ib_qp_state from,
			     enum ib_qp_state to, int mask)
{
	/* ib_core does not know the states of a QP of a driver's own type. */
	if (qp->dc)
		return mxe_dc_verbs_modify_ok(qp, from, to, mask);
	return ib_modify_qp_is_ok(from, to, qp->type, mask);
}

/*
 * Returns true if qp->work may have to flush the queues, or to send requests
 * that were posted before.  Context: both locks held, after the change of the
 * state.
 */
static bool mxe_qp_modify_left_work(const struct mxe_qp *qp, enum ib_qp_state from,
				    enum ib_qp_state to)
{
	/* These may have sent or received before RTS. */
	if (qp->dc || mxe_qp_has_tm(qp))
		return true;
	switch (to) {
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return false;
	case IB_QPS_RTS:
		/* A doorbell that rings later finds the QP in RTS. */
		return from != IB_QPS_RTR || mxe_wqe_produced(qp) != qp->req.fetched;
	default:
		return true;
	}
}

/*
 * Everything that can fail precedes the first change, so a refused call changes
 * nothing.  It may have flushed a queue in SQE, but so does the work item.
 */
int mxe_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct mxe_qp *qp = to_mqp(ibqp);
	struct mxe_resp_res *res = NULL;
	struct mxe_resp_wide *wide = NULL;
	enum ib_qp_state from, to;
	struct mxe_av av;
	u32 num_res = 0;
	int err;

	if (!mxe_udata_cleared(udata))
		return mxe_refuse(qp->dev, -EINVAL, "non-zero udata");
	err = mxe_qp_check_attr(qp, attr, mask);
	if (!err && mask & IB_QP_PATH_MTU)
		err = mxe_dc_verbs_fit_mtu(qp, attr);
	if (err)
		return err;
	if (mask & IB_QP_AV) {
		err = mxe_av_init(qp->dev, &av, &attr->ah_attr);
		if (err)
			return err;
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic) {
		num_res = attr->max_dest_rd_atomic;
		res = kcalloc(num_res, sizeof(*res), GFP_KERNEL_ACCOUNT);
		if (!res)
			return -ENOMEM;
	}

	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RTS) {
		err = mxe_qp_leave_sqe(qp);
		if (err)
			goto free;
	}

	mxe_qp_begin(qp);
	from = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	if (from != qp->state ||
	    !mxe_qp_modify_ok(qp, from, to, mask)) {
		err = mxe_refuse(qp->dev, -EINVAL,
				 "no transition from state %d to %d with attributes %#x",
				 qp->state, to, mask);
		goto unlock;
	}

	if (qp->dc)
		mxe_dc_verbs_set_defaults(qp, to, attr, &mask);
	mxe_qp_store_attr(qp, attr, mask);
	if (mask & IB_QP_AV)
		mxe_qp_store_av(qp, attr, &av);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC) {
		qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
		swap(qp->resp.res, res);
		/* It has as many slots as the old ring. */
		swap(qp->resp.wide, wide);
		qp->resp.num_res = num_res;
		qp->resp.res_head = 0;
	}
	if (mask & IB_QP_STATE)
		mxe_qp_enter_state(qp, from, to);
	if (mxe_qp_modify_left_work(qp, from, to))
		mxe_qp_kick(qp);
unlock:
	mxe_qp_end(qp);
	if (!err && mask & IB_QP_STATE && to == IB_QPS_ERR)
		mxe_qp_flush_queues(qp);
	mxe_dc_verbs_modified(qp);
free:
	kfree(res);
	kfree(wide);
	return err;
}

int mxe_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	struct mxe_qp *qp = to_mqp(ibqp);

	mxe_qp_begin(qp);
	*attr = qp->attr;
	attr->cur_qp_state = qp->state;
	/*
	 * ib_core shows the results of a query without attributes to all
	 * processes. With the PSNs, they could forge packets.
	 */
	attr->rq_psn = mask & IB_QP_RQ_PSN ? qp->resp.epsn : 0;
	attr->sq_psn = mask & IB_QP_SQ_PSN ? qp->req.max_psn : 0;
	attr->sq_draining = qp->state == IB_QPS_SQD &&
			    mxe_sq_outstanding(&qp->req);
	mxe_qp_end(qp);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = qp->attr.cap;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	return 0;
}
