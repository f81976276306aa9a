/* SPDX-License-Identifier: GPL-2.0 */
/* qp.c enables and disables masked atomics on QPs. */
#ifndef IB_EXP_QP_H
#define IB_EXP_QP_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <rdma/ib_exp.h>

struct ib_exp_device;

/*
 * Lifetime: from ib_exp_qp_enable() to ib_exp_qp_disable(), which waits for the
 * emulated requests in flight.  Holds a reference to the device.  All members
 * except entry and the last three are immutable.
 */
struct ib_exp_qp_priv {
	struct ib_exp_qp eqp;
	struct ib_exp_device *dev;
	void (*removed)(struct ib_exp_qp *eqp, void *context);
	void *context;
	struct list_head entry;		/* in dev->qps, under dev->qps_lock */

	bool stopping;			/* no new requests, no more tries */
	refcount_t users;		/* one for each op in flight, and one */
	struct completion idle;		/* users has dropped to 0 */
};

/**
 * to_ib_exp_qp_priv() - Cast a consumer's handle.
 * @eqp: the handle
 *
 * Return: the private part around it.
 */
static inline struct ib_exp_qp_priv *to_ib_exp_qp_priv(struct ib_exp_qp *eqp)
{
	return container_of(eqp, struct ib_exp_qp_priv, eqp);
}

void ib_exp_qp_put(struct ib_exp_qp_priv *qp);
void ib_exp_qp_tell_all(struct ib_exp_device *dev);

#endif /* IB_EXP_QP_H */
