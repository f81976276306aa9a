// SPDX-License-Identifier: GPL-2.0
/*
 * The verbs of shared receive queues: create, modify, query, destroy and post.
 * ib_core calls them through the table in device.c; they call rq.c and xrcd.c.
 */
#include "mxe.h"
#include "resource.h"
#include "ring.h"
#include "rq.h"
#include "srq.h"
#include "srq_verbs.h"
#include "udata.h"
#include "xrcd.h"

static int mxe_srq_check_init(struct mxe_dev *dev,
			      const struct ib_srq_init_attr *init,
			      bool is_user)
{
	const struct ib_srq_attr *attr = &init->attr;

	/*
	 * The kernel has no consumer of XRC, and its completions would name
	 * target queue pairs that may have gone.
	 */
	if (init->srq_type != IB_SRQT_BASIC &&
	    !(init->srq_type == IB_SRQT_XRC && is_user))
		return mxe_refuse(dev, -EOPNOTSUPP, "unsupported type %d", init->srq_type);
	if (!attr->max_wr || attr->max_wr > MXE_MAX_SRQ_WR)
		return mxe_refuse(dev, -EINVAL, "%u requests, at most %u",
				  attr->max_wr, MXE_MAX_SRQ_WR);
	if (attr->max_sge > MXE_MAX_SGE)
		return mxe_refuse(dev, -EINVAL, "%u SGEs, at most %u",
				  attr->max_sge, MXE_MAX_SGE);
	return 0;
}

static int mxe_srq_read_udata(struct mxe_dev *dev, struct ib_udata *udata)
{
	struct mxe_create_srq_req req;
	int err;

	err = mxe_udata_in(udata, &req, sizeof(req), sizeof(req));
	if (err)
		return mxe_refuse(dev, err, "bad udata");
	if (req.flags || req.reserved)
		return mxe_refuse(dev, -EINVAL, "unknown flags %#x", req.flags);
	if (udata->outlen < sizeof(struct mxe_create_srq_resp))
		return mxe_refuse(dev, -EINVAL, "no room for the response");
	return 0;
}

static int mxe_srq_write_udata(const struct mxe_srq *srq,
			       struct ib_udata *udata)
{
	struct mxe_create_srq_resp resp = {};

	mxe_ring_info(&srq->q.ring, &resp.ring);
	resp.ring.max_sge = srq->q.max_sge;
	return mxe_udata_out(udata, &resp, sizeof(resp));
}

int mxe_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		   struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(ibsrq->device);
	struct mxe_srq *srq = to_msrq(ibsrq);
	int err;

	err = mxe_srq_check_init(dev, init, udata);
	if (!err && udata)
		err = mxe_srq_read_udata(dev, udata);
	if (!err)
		err = mxe_resource_take(dev, MXE_RESOURCE_SRQ);
	if (err)
		return err;

	spin_lock_init(&srq->lock);
	err = mxe_rq_create(&srq->q, init->attr.max_wr, init->attr.max_sge,
			    udata ? mxe_udata_ucontext(udata) : NULL);
	if (!err && udata)
		err = mxe_srq_write_udata(srq, udata);
	/* Publish last, because packets find the SRQ from here on. */
	if (!err && init->srq_type == IB_SRQT_XRC)
		err = mxe_xrcd_publish(srq);
	if (err) {
		mxe_rq_destroy(&srq->q);
		mxe_resource_give(dev, MXE_RESOURCE_SRQ);
		return err;
	}
	init->attr.max_wr = srq->q.entries;
	init->attr.max_sge = srq->q.max_sge;
	return 0;
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

	if (ibsrq->srq_type == IB_SRQT_XRC)
		mxe_xrcd_withdraw(srq);
	mxe_rq_destroy(&srq->q);
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
