// SPDX-License-Identifier: GPL-2.0
/*
 * The doorbell: a file of a user context, which processes write to. It finds
 * the QP or SRQ by its number, and runs the requester (send.c), the responder
 * (recv.c) or the tag operations (tm.c).
 */
#include <linux/bottom_half.h>
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <rdma/uverbs_types.h>

#include "ip/qpn.h"
#include "mxe.h"
#include "queues/doorbell.h"
#include "queues/qp.h"
#include "queues/srq.h"
#include "rc/recv.h"
#include "rc/send.h"
#include "tm/tm.h"

#define UVERBS_MODULE_NAME mxe
#include <rdma/uverbs_named_ioctl.h>

/*
 * An open doorbell.
 *
 * Lifetime: the object is destroyed before the QPs of its context, and uctx is
 * NULL from then on. A write that has read uctx earlier may continue, because
 * it only compares uctx, uses the QP under RCU, and the device outlives a grace
 * period (mxe_netns_detach()).
 */
struct mxe_doorbell_file {
	struct ib_uobject uobj;
	struct mxe_dev *dev;		/* valid while uctx is not NULL */
	struct ib_ucontext *uctx;	/* owner of the QPs; NULL: dead */
};

/*
 * Runs one slice of the tag operations of an SRQ. Returns 1 if operations
 * remain, 0, or a negative errno.
 *
 * Context: BHs disabled.
 */
static int mxe_doorbell_ring_tm(struct mxe_dev *dev, const struct ib_ucontext *uctx,
				struct mxe_doorbell db)
{
	struct mxe_srq *srq;
	bool more;

	if (db.queues != MXE_DOORBELL_TM)
		return mxe_refuse(dev, -EINVAL, "unknown queues %#x", db.queues);

	xa_lock_bh(&dev->srqs);
	srq = xa_load(&dev->srqs, db.qp_num);
	if (srq && srq->tm && srq->tm->uctx == uctx)
		mxe_srq_hold(srq);
	else
		srq = NULL;
	xa_unlock_bh(&dev->srqs);
	if (!srq)
		return mxe_refuse(dev, -ENOENT, "no tag-matching SRQ %u", db.qp_num);
	more = mxe_tm_ring(srq);
	mxe_srq_put(srq);
	return more;
}

/*
 * Runs one slice of a QP or SRQ. Returns 1 if requests remain and this is not
 * the last slice, 0, or a negative errno.
 *
 * Context: BHs disabled, which implies an RCU read-side section.
 */
static int mxe_doorbell_ring(const struct mxe_doorbell_file *file,
			     struct mxe_doorbell db, bool last)
{
	struct ib_ucontext *uctx = READ_ONCE(file->uctx);
	struct mxe_dev *dev = file->dev;
	struct mxe_qp *qp;
	int more = 0;

	if (!uctx)
		return -EIO;
	if (db.queues & ~(MXE_DOORBELL_SEND | MXE_DOORBELL_RECV))
		return mxe_doorbell_ring_tm(dev, uctx, db);

	qp = mxe_qpn_find(dev->mnet, db.qp_num);
	if (!qp)
		return mxe_refuse(dev, -ENOENT, "no queue pair %u", db.qp_num);
	if (qp->uctx != uctx)
		return mxe_refuse(dev, -ENOENT, "queue pair %u of another context",
				  db.qp_num);

	if (db.queues & MXE_DOORBELL_SEND)
		more = mxe_send_ring(qp, last);
	/*
	 * Needed only in the error state. Otherwise the responder reads the
	 * ring.
	 */
	if (db.queues & MXE_DOORBELL_RECV)
		mxe_recv_ring(qp);
	return more;
}

/*
 * Continues after the first slice. The process pays for a limited number of
 * slices, and qp->work does the rest.
 */
static int mxe_doorbell_continue(const struct mxe_doorbell_file *file,
				 struct mxe_doorbell db)
{
	int left = MXE_DOORBELL_SLICES - 1;
	bool last;
	int ret;

	do {
		cond_resched();
		last = !--left || fatal_signal_pending(current);
		local_bh_disable();
		ret = mxe_doorbell_ring(file, db, last);
		local_bh_enable();
	} while (ret > 0 && !last);
	return min(ret, 0);
}

/* Rings one doorbell of a process.  Returns 0 or a negative errno. */
static int mxe_doorbell_one(const struct mxe_doorbell_file *file,
			    const struct mxe_doorbell __user *from)
{
	union {
		struct mxe_doorbell db;
		u64 raw;
	} copy;
	int ret;

	static_assert(sizeof(copy.db) == sizeof(copy.raw));

	ret = get_user(copy.raw, (const u64 __user *)from);
	if (unlikely(ret))
		return ret;
	local_bh_disable();
	ret = mxe_doorbell_ring(file, copy.db, false);
	local_bh_enable();
	return likely(ret <= 0) ? ret : mxe_doorbell_continue(file, copy.db);
}

/* Rings all doorbells up to the first one that fails. */
static ssize_t mxe_doorbell_many(const struct mxe_doorbell_file *file,
				 const struct mxe_doorbell __user *from, size_t count)
{
	size_t done = 0;
	int err;

	if (!count || count % sizeof(*from))
		return -EINVAL;

	for (;;) {
		err = mxe_doorbell_one(file, from);
		if (err)
			break;
		done += sizeof(*from);
		from++;
		if (done == count || fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return done ?: err;
}

static ssize_t mxe_doorbell_write(struct file *filp, const char __user *buf,
				  size_t count, loff_t *pos)
{
	const struct mxe_doorbell_file *file =
		container_of((struct ib_uobject *)filp->private_data,
			     struct mxe_doorbell_file, uobj);
	const struct mxe_doorbell __user *from = (const void __user *)buf;

	if (unlikely(count != sizeof(*from)))
		return mxe_doorbell_many(file, from, count);
	return mxe_doorbell_one(file, from) ?: sizeof(*from);
}

static const struct file_operations mxe_doorbell_fops = {
	.owner = THIS_MODULE,
	.write = mxe_doorbell_write,
	.release = uverbs_uobject_fd_release,
};

static void mxe_doorbell_destroy(struct ib_uobject *uobj,
				 enum rdma_remove_reason why)
{
	struct mxe_doorbell_file *file =
		container_of(uobj, struct mxe_doorbell_file, uobj);

	WRITE_ONCE(file->uctx, NULL);
}

static int UVERBS_HANDLER(MXE_METHOD_DOORBELL_ALLOC)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, MXE_ATTR_DOORBELL_ALLOC_FD);
	struct mxe_doorbell_file *file =
		container_of(uobj, struct mxe_doorbell_file, uobj);

	file->dev = to_mdev(attrs->context->device);
	file->uctx = attrs->context;
	/* The file has no position. */
	return stream_open(NULL, uobj->object);
}

DECLARE_UVERBS_NAMED_METHOD(
	MXE_METHOD_DOORBELL_ALLOC,
	UVERBS_ATTR_FD(MXE_ATTR_DOORBELL_ALLOC_FD, MXE_OBJECT_DOORBELL,
		       UVERBS_ACCESS_NEW, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(
	MXE_OBJECT_DOORBELL,
	UVERBS_TYPE_ALLOC_FD(sizeof(struct mxe_doorbell_file),
			     mxe_doorbell_destroy, &mxe_doorbell_fops,
			     "[mxe-doorbell]", O_WRONLY),
	&UVERBS_METHOD(MXE_METHOD_DOORBELL_ALLOC));

const struct uapi_definition mxe_doorbell_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MXE_OBJECT_DOORBELL),
	{},
};
