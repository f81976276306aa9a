// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "emulate.h"
#include "qp.h"

/* ---- posting ----------------------------------------------------------- */

/* The rules of ib_exp_post_send(). */
static int ib_exp_check_wr(struct ib_device *ibdev,
			   const struct ib_atomic_wr *wr, const u64 *result)
{
	const struct ib_sge *sge = wr->wr.sg_list;

	if (wr->wr.opcode != IB_WR_MASKED_ATOMIC_CMP_AND_SWP &&
	    wr->wr.opcode != IB_WR_MASKED_ATOMIC_FETCH_AND_ADD)
		return -EINVAL;
	if (wr->wr.next || wr->wr.num_sge != 1 || sge->length != sizeof(u64))
		return -EINVAL;
	if (!(wr->wr.send_flags & IB_SEND_SIGNALED) ||
	    wr->wr.send_flags & ~(IB_SEND_SIGNALED | IB_SEND_FENCE))
		return -EINVAL;
	if (!wr->wr.wr_cqe || !result)
		return -EINVAL;
	/* Here both addresses are the same kind and can be compared. */
	if (ib_uses_virt_dma(ibdev) && sge->addr != (uintptr_t)result)
		return -EINVAL;
	return 0;
}

/* Where it neither goes straight to the driver nor has to be waited for. */
static int ib_exp_post_lowered(struct ib_exp_qp *eqp,
			       const struct ib_atomic_wr *masked)
{
	struct ib_atomic_wr wr;

	ib_exp_lower(masked, &wr);
	return ib_post_send(eqp->qp, &wr.wr, NULL);
}

int ib_exp_post_send_slow(struct ib_exp_qp *eqp, const struct ib_atomic_wr *wr,
			  u64 *result)
{
	struct ib_exp_qp_priv *qp = to_ib_exp_qp_priv(eqp);
	const struct ib_exp_device_attr *attr = &qp->dev->attr;
	enum ib_exp_mode mode;
	int err;

	err = ib_exp_check_wr(eqp->qp->device, wr, result);
	if (err)
		return err;
	if (READ_ONCE(qp->stopping))
		return -ESHUTDOWN;

	mode = wr->wr.opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP ?
		attr->masked_cmp_swap : attr->masked_fetch_add;
	if (mode == IB_EXP_NONE)
		return -EOPNOTSUPP;
	if (ib_exp_wr_is_standard(wr))
		return ib_exp_post_lowered(eqp, wr);
	if (mode == IB_EXP_NATIVE)
		return ib_post_send(eqp->qp, &wr->wr, NULL);
	if (!refcount_inc_not_zero(&qp->users))
		return -ESHUTDOWN;
	return ib_exp_emulate(qp, wr, result);
}
EXPORT_SYMBOL_GPL(ib_exp_post_send_slow);

/* ---- enable and disable ------------------------------------------------ */

static int ib_exp_check_qp(const struct ib_qp *qp,
			   const struct ib_exp_device_attr *attr)
{
	if (attr->masked_cmp_swap == IB_EXP_NONE &&
	    attr->masked_fetch_add == IB_EXP_NONE)
		return -EOPNOTSUPP;
	/* Only queues that ib_core polls have room for what it polls. */
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

void ib_exp_qp_put(struct ib_exp_qp_priv *qp)
{
	if (refcount_dec_and_test(&qp->users))
		complete(&qp->idle);
}

/*
 * Every request in flight has a work request of its own, which the error state
 * flushes if nothing else ends it.
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
			   "ib_exp: queue pair %u not moved to ERR: %pe\n",
			   ibqp->qp_num, ERR_PTR(err));
	if (ibqp->send_cq->poll_ctx != IB_POLL_DIRECT) {
		wait_for_completion(&qp->idle);
		return;
	}
	/* As ib_drain_sq() does: its consumer does not poll it now. */
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

	/* Waits for removed(), if that is running. */
	mutex_lock(&dev->qps_lock);
	list_del(&qp->entry);
	mutex_unlock(&dev->qps_lock);
	ib_exp_device_put(dev);
	kfree(qp);
}
EXPORT_SYMBOL_GPL(ib_exp_qp_disable);

void ib_exp_qps_tell(struct ib_exp_device *dev)
{
	struct ib_exp_qp_priv *qp;

	mutex_lock(&dev->qps_lock);
	list_for_each_entry(qp, &dev->qps, entry)
		if (qp->removed)
			qp->removed(&qp->eqp, qp->context);
	mutex_unlock(&dev->qps_lock);
}
