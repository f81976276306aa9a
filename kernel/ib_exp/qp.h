/* SPDX-License-Identifier: GPL-2.0 */
/* qp.c keeps the queue pairs on which masked atomics can be posted. */
#ifndef IB_EXP_QP_H
#define IB_EXP_QP_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <rdma/ib_exp.h>

struct ib_exp_device;

/*
 * Lifetime: from ib_exp_qp_enable() to ib_exp_qp_disable(), which waits for the
 * emulated requests in flight.  It is a user of the device.  All members but
 * entry and the last three are immutable.
 */
struct ib_exp_qp_priv {
	struct ib_exp_qp eqp;
	struct ib_exp_device *dev;
	void (*removed)(struct ib_exp_qp *eqp, void *context);
	void *context;
	struct list_head entry;		/* in dev->qps, under dev->qps_lock */

	bool stopping;			/* no new requests, no more tries */
	refcount_t users;		/* one for each request in flight, and one */
	struct completion idle;		/* no users */
};

static inline struct ib_exp_qp_priv *to_ib_exp_qp_priv(struct ib_exp_qp *eqp)
{
	return container_of(eqp, struct ib_exp_qp_priv, eqp);
}

/* Drops a user, which each request in flight is.  Context: any. */
void ib_exp_qp_put(struct ib_exp_qp_priv *qp);

/* Tells the consumers that the device is removed.  Context: may sleep. */
void ib_exp_qp_tell_all(struct ib_exp_device *dev);

#endif /* IB_EXP_QP_H */
