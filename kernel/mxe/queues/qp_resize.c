// SPDX-License-Identifier: GPL-2.0
/*
 * The uverbs method that resizes the queues of a QP of a process. New rings
 * replace the old ones, with the requests in them at the same indices.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <rdma/uverbs_ioctl.h>

#include "memory/ring.h"
#include "mxe.h"
#include "queues/qp.h"
#include "queues/qp_resize.h"
#include "queues/qp_verbs.h"
#include "queues/wqe.h"
#include "tm/rndv.h"

#define UVERBS_MODULE_NAME mxe
#include <rdma/uverbs_named_ioctl.h>

/* Requests of a ring from first to end - 1 that the kernel has not taken. */
struct mxe_qp_resize_range {
	u32 first, end;
};

/* The memory of both queues: the new one, and after a swap the old one. */
struct mxe_qp_resize {
	struct mxe_ring sq, rq;
	void *wrs;			/* slots of the send queue */
	u32 num_slots;
	struct mxe_qp_resize_range send, recv;
};

static int mxe_qp_resize_check(const struct mxe_qp *qp, u32 max_send_wr,
			       u32 max_recv_wr)
{
	int err;

	err = mxe_qp_check_depth(qp->dev, max_send_wr, max_recv_wr);
	if (err)
		return err;
	if (!max_recv_wr != !qp->resp.q.entries)
		return mxe_refuse(qp->dev, -EINVAL,
				  "resizing cannot add or remove a receive queue");
	return 0;
}

/* The caller frees the memory by mxe_qp_resize_free(), after a failure, too. */
static int mxe_qp_resize_alloc(const struct mxe_qp *qp, struct mxe_qp_resize *new,
			       u32 max_send_wr, u32 max_recv_wr)
{
	u32 entries = roundup_pow_of_two(max(max_send_wr, 1U));

	mxe_ring_shape(&new->sq, entries, qp->req.ring.stride);
	if (max_recv_wr)
		mxe_ring_shape(&new->rq, roundup_pow_of_two(max_recv_wr),
			       qp->resp.q.ring.stride);
	new->num_slots = mxe_qp_send_slots(qp, entries, true);
	new->wrs = kvcalloc(new->num_slots, qp->req.wr_size, GFP_KERNEL_ACCOUNT);
	if (!new->wrs)
		return -ENOMEM;
	return mxe_qp_alloc_rings(qp, &new->sq, &new->rq, qp->uctx);
}

static void mxe_qp_resize_free(struct mxe_qp_resize *resize)
{
	mxe_ring_destroy(&resize->sq);
	mxe_ring_destroy(&resize->rq);
	kvfree(resize->wrs);
}

/* Finds the requests that are in the rings now. */
static void mxe_qp_resize_begin(struct mxe_qp *qp, struct mxe_qp_resize *new)
{
	mxe_qp_begin(qp);
	new->send.first = mxe_rndv_fetched(qp);
	new->send.end = mxe_wqe_produced(qp);
	new->recv.first = qp->resp.q.consumed;
	new->recv.end = new->recv.first + mxe_rq_filled(&qp->resp.q);
	mxe_qp_end(qp);
}

/*
 * Copies requests to a new ring. A process may change them meanwhile, but they
 * are checked only when the kernel takes them. Returns -EINVAL if they exceed
 * one of the rings.
 */
static int mxe_qp_resize_copy(const struct mxe_ring *to, const struct mxe_ring *from,
			      const struct mxe_qp_resize_range *range)
{
	u32 i;

	if (range->end - range->first > min(to->entries, from->entries))
		return -EINVAL;
	for (i = range->first; i != range->end; i++) {
		memcpy(mxe_ring_entry(to, i), mxe_ring_entry(from, i), from->stride);
		cond_resched();
	}
	return 0;
}

/* Context: both locks held. */
static int mxe_qp_resize_may_swap(const struct mxe_qp *qp, const struct mxe_qp_resize *new)
{
	u32 held = mxe_rndv_held(qp);

	if (mxe_wqe_produced(qp) != new->send.end ||
	    qp->resp.q.consumed + mxe_rq_filled(&qp->resp.q) != new->recv.end)
		return -EBUSY;
	if (held > new->sq.entries ||
	    new->send.end - mxe_rndv_fetched(qp) > new->sq.entries - held ||
	    qp->req.fetched - qp->req.tail > new->num_slots)
		return -EINVAL;
	return 0;
}

/* Publishes the indices and the flags of a queue in its new ring. */
static void mxe_qp_resize_publish(const struct mxe_ring *ring, u32 producer,
				  u32 consumer, u32 flags)
{
	WRITE_ONCE(ring->hdr->producer, producer);
	WRITE_ONCE(ring->hdr->consumer, consumer);
	WRITE_ONCE(ring->hdr->flags, flags);
}

/* Context: both locks held. */
static void mxe_qp_resize_swap(struct mxe_qp *qp, struct mxe_qp_resize *new)
{
	struct mxe_requester *req = &qp->req;
	struct mxe_recv_queue *q = &qp->resp.q;
	u32 i, mask = new->num_slots - 1;

	for (i = req->tail; i != req->fetched; i++)
		memcpy(new->wrs + (i & mask) * req->wr_size, mxe_sq_wr(req, i),
		       req->wr_size);
	mxe_qp_resize_publish(&new->sq, new->send.end, mxe_rndv_tail(qp), 0);
	swap(req->wrs, new->wrs);
	swap(req->ring, new->sq);
	req->wr_mask = mask;
	WRITE_ONCE(req->entries, req->ring.entries);
	qp->attr.cap.max_send_wr = req->ring.entries;
	if (!q->entries)
		return;
	mxe_qp_resize_publish(&new->rq, new->recv.end, q->consumed,
			      READ_ONCE(q->ring.hdr->flags));
	swap(q->ring, new->rq);
	WRITE_ONCE(q->entries, q->ring.entries);
	qp->attr.cap.max_recv_wr = q->ring.entries;
}

/*
 * Replaces the queues. The requests are copied without the locks, so that a
 * deep queue does not delay packets, and requests that are posted meanwhile
 * make this fail.
 */
static int mxe_qp_resize_replace(struct mxe_qp *qp, struct mxe_qp_resize *new)
{
	int err;

	mxe_qp_resize_begin(qp, new);
	err = mxe_qp_resize_copy(&new->sq, &qp->req.ring, &new->send);
	if (!err)
		err = mxe_qp_resize_copy(&new->rq, &qp->resp.q.ring, &new->recv);
	if (err)
		return err;
	mxe_qp_begin(qp);
	err = mxe_qp_resize_may_swap(qp, new);
	if (!err)
		mxe_qp_resize_swap(qp, new);
	mxe_qp_end(qp);
	return err;
}

static int mxe_qp_resize_run(struct uverbs_attr_bundle *attrs, struct mxe_qp *qp,
			     u32 max_send_wr, u32 max_recv_wr)
{
	struct mxe_create_qp_resp resp = {};
	struct mxe_qp_resize new = {};
	int err;

	err = mxe_qp_resize_check(qp, max_send_wr, max_recv_wr);
	if (err)
		return err;
	err = mxe_qp_resize_alloc(qp, &new, max_send_wr, max_recv_wr);
	if (err)
		goto free;
	mxe_qp_describe_rings(qp, &new.sq, &new.rq, &resp);
	/* The response comes first, because the change cannot be undone. */
	err = uverbs_copy_to_struct_or_zero(attrs, MXE_ATTR_RESIZE_QP_RESP, &resp,
					    sizeof(resp));
	if (!err)
		err = mxe_qp_resize_replace(qp, &new);
free:
	mxe_qp_resize_free(&new);
	if (err)
		return mxe_refuse(qp->dev, err, "cannot resize QP %u", qp->qpn);
	return 0;
}

static int UVERBS_HANDLER(MXE_METHOD_QP_RESIZE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *ibqp = uverbs_attr_get_obj(attrs, MXE_ATTR_RESIZE_QP_HANDLE);
	u32 max_send_wr, max_recv_wr;
	struct mxe_qp *qp;
	int err;

	err = uverbs_copy_from(&max_send_wr, attrs, MXE_ATTR_RESIZE_QP_MAX_SEND_WR);
	if (!err)
		err = uverbs_copy_from(&max_recv_wr, attrs,
				       MXE_ATTR_RESIZE_QP_MAX_RECV_WR);
	if (err)
		return err;
	/* An opened XRC target is a QP that ib_core has allocated. */
	qp = ibqp->qp_type == IB_QPT_XRC_TGT ? NULL : to_mqp(ibqp);
	if (!qp || !qp->is_user)
		return mxe_refuse(to_mdev(ibqp->device), -EOPNOTSUPP,
				  "a target has no queues");
	mutex_lock(&qp->resize_mutex);
	err = mxe_qp_resize_run(attrs, qp, max_send_wr, max_recv_wr);
	mutex_unlock(&qp->resize_mutex);
	return err;
}

DECLARE_UVERBS_NAMED_METHOD(
	MXE_METHOD_QP_RESIZE,
	UVERBS_ATTR_IDR(MXE_ATTR_RESIZE_QP_HANDLE, UVERBS_OBJECT_QP,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MXE_ATTR_RESIZE_QP_MAX_SEND_WR, UVERBS_ATTR_TYPE(u32),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MXE_ATTR_RESIZE_QP_MAX_RECV_WR, UVERBS_ATTR_TYPE(u32),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MXE_ATTR_RESIZE_QP_RESP,
			    UVERBS_ATTR_STRUCT(struct mxe_create_qp_resp, rq),
			    UA_MANDATORY));

ADD_UVERBS_METHODS(mxe_qp_resize_methods, UVERBS_OBJECT_QP,
		   &UVERBS_METHOD(MXE_METHOD_QP_RESIZE));

const struct uapi_definition mxe_qp_resize_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_QP, &mxe_qp_resize_methods),
	{},
};
