// SPDX-License-Identifier: GPL-2.0
/*
 * Posts a masked atomic that ib_exp_post_send() does not pass straight to the
 * driver: as a standard atomic, unchanged, or emulated.
 */
#include <linux/export.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "emulate.h"
#include "qp.h"

/* Validates a request by the rules in the kernel-doc of ib_exp_post_send(). */
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
	/* With virtual DMA, sge->addr is a CPU address, too. */
	if (ib_uses_virt_dma(ibdev) && sge->addr != (uintptr_t)result)
		return -EINVAL;
	return 0;
}

/* Posts the standard atomic that is equal to the masked one. */
static int ib_exp_post_lowered(struct ib_exp_qp *eqp,
			       const struct ib_atomic_wr *masked)
{
	struct ib_atomic_wr wr;

	ib_exp_emulate_lower(masked, &wr);
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
