// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Replaces ibv_post_send(), ibv_poll_cq() and ibv_req_notify_cq() on contexts
 * with emulated QPs; see emu.h. They are inline functions that call the
 * operations in the context. The operations below call emu_qp.c and emu_cq.c,
 * or the original operations for all other QPs and CQs.
 */
#include <stdlib.h>

#include "emu.h"
#include "qp_table.h"

static struct exp_table devices = EXP_TABLE_INIT;

static struct emu_device *device_of(const struct ibv_context *context)
{
	return exp_table_find(&devices, context);
}

/* Returns NULL if the QP is not emulated. */
static struct emu_qp *emu_qp_of(struct ibv_qp *qp)
{
	const struct exp_qp *entry = exp_qp_find(qp);

	return entry ? entry->emu : NULL;
}

static int hook_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
			  struct ibv_send_wr **bad_wr)
{
	struct emu_qp *qp = emu_qp_of(ibqp);
	int err = 0;

	if (!qp)
		return device_of(ibqp->context)->post_send(ibqp, wr, bad_wr);
	emu_qp_post_begin(qp);
	for (; wr; wr = wr->next) {
		err = emu_qp_post_add(qp, wr, NULL, wr);
		if (err)
			break;
	}
	wr = emu_qp_post_end(qp, wr, &err);
	if (err)
		*bad_wr = wr;
	return err;
}

static int hook_poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc)
{
	int n;

	if (emu_cq_poll(cq, num, wc, &n))
		return n;
	return device_of(cq->context)->poll_cq(cq, num, wc);
}

static int hook_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	int ret;

	if (emu_cq_notify(cq, solicited_only, &ret))
		return ret;
	return device_of(cq->context)->req_notify_cq(cq, solicited_only);
}

/* Saves the original operations before they are replaced. */
static void take_over(struct emu_device *device, struct ibv_context_ops *ops)
{
	device->post_send = ops->post_send;
	device->poll_cq = ops->poll_cq;
	device->req_notify_cq = ops->req_notify_cq;
}

const struct emu_device *emu_hook(struct ibv_context *context)
{
	struct ibv_context_ops *ops = &context->ops;
	struct emu_device *device;

	pthread_mutex_lock(&devices.lock);
	device = device_of(context);
	if (device && ops->poll_cq == hook_poll_cq)
		goto unlock;
	if (device) {
		/* Another context was at this address. */
		take_over(device, ops);
	} else {
		device = calloc(1, sizeof(*device));
		if (!device)
			goto unlock;
		take_over(device, ops);
		exp_table_add(&devices, &device->entry, context);
	}
	ops->post_send = hook_post_send;
	ops->poll_cq = hook_poll_cq;
	ops->req_notify_cq = hook_req_notify_cq;
unlock:
	pthread_mutex_unlock(&devices.lock);
	return device;
}
