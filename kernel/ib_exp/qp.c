// SPDX-License-Identifier: GPL-2.0
/* QPs on which masked atomics are enabled. */
#include <linux/export.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "qp.h"

static int ib_exp_check_qp(const struct ib_qp *qp,
			   const struct ib_exp_device_attr *attr)
{
	if (attr->masked_cmp_swap == IB_EXP_NONE &&
	    attr->masked_fetch_add == IB_EXP_NONE)
		return -EOPNOTSUPP;
	/*
	 * send_cq->wc exists only if ib_core polls the CQ and calls
	 * ib_cqe.done().
	 */
	if (qp->uobject || !qp->send_cq || !qp->send_cq->wc)
		return -EINVAL;
	if (qp->qp_type != IB_QPT_RC && qp->qp_type != IB_QPT_XRC_INI)
		return -EOPNOTSUPP;
	return 0;
}

static struct ib_exp_qp_priv *
ib_exp_qp_create(struct ib_exp_device *dev, struct ib_qp *ibqp,
		 void (*removed)(struct ib_exp_qp *eqp, void *context),
		 void *context)
{
	struct ib_exp_qp_priv *qp = kzalloc(sizeof(*qp), GFP_KERNEL);

	if (!qp)
		return ERR_PTR(-ENOMEM);
	qp->eqp.qp = ibqp;
	qp->eqp.native = dev->attr.masked_cmp_swap == IB_EXP_NATIVE &&
			 dev->attr.masked_fetch_add == IB_EXP_NATIVE;
	qp->dev = dev;
	qp->removed = removed;
	qp->context = context;
	refcount_set(&qp->users, 1);
	init_completion(&qp->idle);
	return qp;
}

struct ib_exp_qp *ib_exp_qp_enable(struct ib_qp *ibqp,
				   void (*removed)(struct ib_exp_qp *eqp,
						   void *context),
				   void *context)
{
	struct ib_exp_device *dev = ib_exp_device_lock(ibqp->device);
	struct ib_exp_qp_priv *qp;
	int err;

	if (!dev)
		return ERR_PTR(-ENODEV);
	err = ib_exp_check_qp(ibqp, &dev->attr);
	qp = err ? ERR_PTR(err) :
		   ib_exp_qp_create(dev, ibqp, removed, context);
	if (!IS_ERR(qp)) {
		list_add_tail(&qp->entry, &dev->qps);
		refcount_inc(&dev->users);
	}
	mutex_unlock(&dev->qps_lock);
	return IS_ERR(qp) ? ERR_CAST(qp) : &qp->eqp;
}
EXPORT_SYMBOL_GPL(ib_exp_qp_enable);

/**
 * ib_exp_qp_put() - Drop a reference that a request in flight holds.
 * @qp: the QP
 *
 * Context: Any.
 */
void ib_exp_qp_put(struct ib_exp_qp_priv *qp)
{
	if (refcount_dec_and_test(&qp->users))
		complete(&qp->idle);
}

/*
 * Waits for the emulated requests in flight.  Each of them has a posted work
 * request, which the transition to ERR flushes, so the wait ends.
 */
static void ib_exp_qp_wait(struct ib_exp_qp_priv *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_qp *ibqp = qp->eqp.qp;
	int err;

	if (try_wait_for_completion(&qp->idle))
		return;
	err = ib_modify_qp(ibqp, &attr, IB_QP_STATE);
	if (err)
		ibdev_warn(ibqp->device,
			   "ib_exp: failed to move QP %u to ERR: %pe\n",
			   ibqp->qp_num, ERR_PTR(err));
	if (ibqp->send_cq->poll_ctx != IB_POLL_DIRECT) {
		wait_for_completion(&qp->idle);
		return;
	}
	/* The consumer does not poll a direct CQ here, as in ib_drain_sq(). */
	while (!wait_for_completion_timeout(&qp->idle, HZ / 10))
		ib_process_cq_direct(ibqp->send_cq, -1);
}

void ib_exp_qp_disable(struct ib_exp_qp *eqp)
{
	struct ib_exp_qp_priv *qp = to_ib_exp_qp_priv(eqp);
	struct ib_exp_device *dev = qp->dev;

	might_sleep();
	WRITE_ONCE(qp->stopping, true);
	ib_exp_qp_put(qp);
	ib_exp_qp_wait(qp);

	/* ib_exp_qp_tell_all() calls removed() under this lock. */
	mutex_lock(&dev->qps_lock);
	list_del(&qp->entry);
	mutex_unlock(&dev->qps_lock);
	ib_exp_device_put(dev);
	kfree(qp);
}
EXPORT_SYMBOL_GPL(ib_exp_qp_disable);

/**
 * ib_exp_qp_tell_all() - Tell consumers that their device is being removed.
 * @dev: the device, which lookups do not find any more
 *
 * Context: Process context. May sleep. Calls each QP's removed() with qps_lock
 * held.
 */
void ib_exp_qp_tell_all(struct ib_exp_device *dev)
{
	struct ib_exp_qp_priv *qp;

	mutex_lock(&dev->qps_lock);
	list_for_each_entry(qp, &dev->qps, entry)
		if (qp->removed)
			qp->removed(&qp->eqp, qp->context);
	mutex_unlock(&dev->qps_lock);
}
