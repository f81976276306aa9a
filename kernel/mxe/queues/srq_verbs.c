// SPDX-License-Identifier: GPL-2.0
/*
 * The verbs of shared receive queues: create, modify, query, destroy and post.
 */
#include <linux/log2.h>
#include <linux/mm.h>

#include "memory/ring.h"
#include "mxe.h"
#include "queues/rq.h"
#include "queues/srq.h"
#include "queues/srq_verbs.h"
#include "queues/xrcd.h"
#include "resource.h"
#include "tm/tm.h"
#include "udata.h"

static int mxe_srq_check_init(struct mxe_dev *dev,
			      const struct ib_srq_init_attr *init,
			      bool is_user)
{
	const struct ib_srq_attr *attr = &init->attr;

	/*
	 * The kernel has no consumer of XRC, whose completions would name
	 * target queue pairs that may have gone, nor of tag matching.
	 */
	if (init->srq_type != IB_SRQT_BASIC &&
	    !((init->srq_type == IB_SRQT_XRC || init->srq_type == IB_SRQT_TM) &&
	      is_user))
		return mxe_refuse(dev, -EOPNOTSUPP, "unsupported type %d", init->srq_type);
	if (!attr->max_wr || attr->max_wr > MXE_MAX_SRQ_WR)
		return mxe_refuse(dev, -EINVAL, "%u requests, at most %u",
				  attr->max_wr, MXE_MAX_SRQ_WR);
	if (attr->max_sge > MXE_MAX_SGE)
		return mxe_refuse(dev, -EINVAL, "%u SGEs, at most %u",
				  attr->max_sge, MXE_MAX_SGE);
	if (init->srq_type == IB_SRQT_TM &&
	    (!init->ext.tag_matching.max_num_tags ||
	     init->ext.tag_matching.max_num_tags > MXE_TM_MAX_TAGS))
		return mxe_refuse(dev, -EINVAL, "%u tags, at most %u",
				  init->ext.tag_matching.max_num_tags,
				  MXE_TM_MAX_TAGS);
	return 0;
}

static int mxe_srq_read_udata(struct mxe_dev *dev,
			      const struct ib_srq_init_attr *init,
			      struct ib_udata *udata, u32 *max_ops)
{
	const bool tm = init->srq_type == IB_SRQT_TM;
	struct mxe_create_srq_req req;
	int err;

	err = mxe_udata_in(udata, &req, sizeof(req), sizeof(req));
	if (err)
		return mxe_refuse(dev, err, "bad udata");
	if (req.flags)
		return mxe_refuse(dev, -EINVAL, "unknown flags %#x", req.flags);
	if (tm ? !req.max_tm_ops || req.max_tm_ops > MXE_TM_MAX_OPS : req.max_tm_ops)
		return mxe_refuse(dev, -EINVAL, "%u tag operations", req.max_tm_ops);
	if (udata->outlen < (tm ? sizeof(struct mxe_create_srq_resp) :
				  offsetofend(struct mxe_create_srq_resp, ring)))
		return mxe_refuse(dev, -EINVAL, "no room for the response");
	*max_ops = req.max_tm_ops;
	return 0;
}

static int mxe_srq_write_udata(const struct mxe_srq *srq,
			       struct ib_udata *udata)
{
	struct mxe_create_srq_resp resp = {};

	mxe_ring_info(&srq->q.ring, &resp.ring);
	resp.ring.max_sge = srq->q.max_sge;
	if (srq->tm) {
		mxe_ring_info(&srq->tm->ops, &resp.tm_ops);
		resp.tm_ops.max_sge = MXE_TM_MAX_SGE;
		resp.srq_num = srq->num;
		resp.max_num_tags = srq->tm->max_tags;
	}
	return mxe_udata_out(udata, &resp, sizeof(resp));
}

static int mxe_srq_init_queues(struct mxe_srq *srq, struct ib_srq_init_attr *init,
			       u32 max_ops, struct ib_udata *udata)
{
	struct ib_ucontext *uctx = udata ? mxe_udata_ucontext(udata) : NULL;
	int err;

	err = mxe_rq_create(&srq->q, init->attr.max_wr, init->attr.max_sge, uctx);
	if (!err && uctx)
		err = mxe_ring_alloc(&srq->q.ring, NULL, uctx);
	if (err || init->srq_type != IB_SRQT_TM)
		return err;
	err = mxe_tm_create(srq, init->ext.tag_matching.max_num_tags, uctx);
	if (err)
		return err;
	/* Those that wait for a message leave room for max_ops more. */
	max_ops = roundup_pow_of_two(max_ops + MXE_TM_MAX_UNRUNG);
	return mxe_ring_create(&srq->tm->ops, uctx, max_ops,
			       ALIGN(sizeof(struct mxe_tm_wqe) +
				     MXE_TM_MAX_SGE * sizeof(struct mxe_sge), 64));
}

static void mxe_srq_free_queues(struct mxe_srq *srq)
{
	mxe_tm_destroy(srq);
	mxe_rq_destroy(&srq->q);
}

/*
 * Packets and doorbells find the SRQ from here on.  The process learns the
 * number only from the response of the verb.
 */
static int mxe_srq_publish_type(struct mxe_srq *srq, enum ib_srq_type type)
{
	int err;

	if (type == IB_SRQT_BASIC)
		return 0;
	err = mxe_srq_publish(srq);
	if (!err && type == IB_SRQT_XRC)
		srq->ibsrq.ext.xrc.srq_num = srq->num;
	return err;
}

static void mxe_srq_withdraw_type(struct mxe_srq *srq, enum ib_srq_type type)
{
	if (type == IB_SRQT_XRC) {
		mxe_xrcd_withdraw(srq);
	} else if (type == IB_SRQT_TM) {
		mxe_srq_withdraw(srq);
		mxe_srq_wait(srq);
	}
}

int mxe_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		   struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(ibsrq->device);
	struct mxe_srq *srq = to_msrq(ibsrq);
	u32 max_ops = 0;
	int err;

	err = mxe_srq_check_init(dev, init, udata);
	if (!err && udata)
		err = mxe_srq_read_udata(dev, init, udata, &max_ops);
	if (!err)
		err = mxe_resource_take(dev, MXE_RESOURCE_SRQ);
	if (err)
		return err;

	spin_lock_init(&srq->lock);
	err = mxe_srq_init_queues(srq, init, max_ops, udata);
	if (!err)
		err = mxe_srq_publish_type(srq, init->srq_type);
	if (err)
		goto err_free;
	if (udata) {
		err = mxe_srq_write_udata(srq, udata);
		if (err)
			goto err_withdraw;
	}
	init->attr.max_wr = srq->q.entries;
	init->attr.max_sge = srq->q.max_sge;
	return 0;

err_withdraw:
	mxe_srq_withdraw_type(srq, init->srq_type);
err_free:
	mxe_srq_free_queues(srq);
	mxe_resource_give(dev, MXE_RESOURCE_SRQ);
	return err;
}

int mxe_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(ibsrq->device);
	struct mxe_srq *srq = to_msrq(ibsrq);

	if (!mxe_udata_cleared(udata))
		return mxe_refuse(dev, -EINVAL, "non-zero udata");
	/* SRQs cannot be resized.  IB_DEVICE_SRQ_RESIZE is not reported. */
	if (mask & ~IB_SRQ_LIMIT)
		return mxe_refuse(dev, -EOPNOTSUPP, "unsupported attributes %#x", mask);
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->q.entries)
		return mxe_refuse(dev, -EINVAL, "limit %u, at most %u",
				  attr->srq_limit, srq->q.entries);

	spin_lock_bh(&srq->lock);
	srq->limit = attr->srq_limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}

int mxe_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct mxe_srq *srq = to_msrq(ibsrq);

	attr->max_wr = srq->q.entries;
	attr->max_sge = srq->q.max_sge;
	spin_lock_bh(&srq->lock);
	attr->srq_limit = srq->limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}

int mxe_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct mxe_srq *srq = to_msrq(ibsrq);

	mxe_srq_withdraw_type(srq, ibsrq->srq_type);
	mxe_srq_free_queues(srq);
	mxe_resource_give(to_mdev(ibsrq->device), MXE_RESOURCE_SRQ);
	return 0;
}

int mxe_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *ibwr,
		      const struct ib_recv_wr **bad_wr)
{
	struct mxe_srq *srq = to_msrq(ibsrq);
	struct mxe_dev *dev = to_mdev(ibsrq->device);

	/* Processes post through their rings; refuse the legacy command. */
	if (srq->q.ring.hdr) {
		*bad_wr = ibwr;
		return mxe_refuse(dev, -EOPNOTSUPP, "queue of a process");
	}
	return mxe_rq_post(dev, &srq->q, ibwr, bad_wr);
}
