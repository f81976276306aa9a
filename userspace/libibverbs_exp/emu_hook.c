// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Replaces ibv_post_send(), ibv_poll_cq() and ibv_req_notify_cq() on contexts
 * with emulated QPs; see backend_emu.c. They are inline functions that call the
 * operations in the context. For all other QPs and CQs, the operations below
 * call the original ones.
 *
 * Also replaces the operations that ibv_destroy_qp(), ibv_destroy_cq() and
 * ibv_modify_qp() of libibverbs call, because a program binds those to
 * libibverbs if that precedes this library, or if it finds them with dlsym().
 * The thread would then use a QP after it was freed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "emu_cq.h"
#include "emu_device.h"
#include "emu_hook.h"
#include "emu_qp.h"
#include "fork.h"
#include "qp_table.h"
#include "std.h"
#include "table.h"

static struct exp_table devices = EXP_TABLE_INIT;

EXP_FORK_HOLD(devices, devices.lock)

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

static int hook_destroy_cq(struct ibv_cq *cq)
{
	return emu_destroy_cq(cq, device_of(cq->context)->destroy_cq);
}

static int hook_destroy_qp(struct ibv_qp *qp)
{
	return exp_destroy_qp(qp, device_of(qp->context)->destroy_qp);
}

static int hook_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return exp_modify_qp(qp, attr, mask, device_of(qp->context)->modify_qp);
}

/* ---- operations behind the functions of libibverbs ----------------------- */

/*
 * Finds adjacent members of the private table of operations of a context.
 * libibverbs allocates it, and does not publish its layout, which differs
 * between releases. But its members are in alphabetical order, and libibverbs
 * also stores some of them in struct verbs_context, which is public. wanted has
 * these, and NULL for the others. Returns NULL unless there is exactly one such
 * place.
 */
static void **find_ops(const struct verbs_context *vctx, void *const *wanted,
		       size_t num)
{
	void **table = (void **)vctx->priv;
	size_t size = malloc_usable_size(table) / sizeof(*table);
	void **found = NULL;
	size_t at, i;

	for (at = 0; at + num <= size; at++) {
		for (i = 0; i < num; i++)
			if (wanted[i] ? wanted[i] != table[at + i] :
					!table[at + i])
				break;
		if (i < num)
			continue;
		if (found)
			return NULL;
		found = &table[at];
	}
	return found;
}

/* Saves the original operation first, because another thread may call it. */
static void replace(void **op, void *hook, void *original)
{
	*(void **)original = *op;
	__atomic_store_n(op, hook, __ATOMIC_RELEASE);
}

/* Returns false if the operations cannot be replaced. None of them is then. */
static bool replace_private(struct emu_device *device,
			    struct ibv_context *context)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, destroy_counters);
	void **destroy, **modify;

	device->destroy_cq = NULL;
	device->destroy_qp = NULL;
	device->modify_qp = NULL;
	if (!vctx || !vctx->priv)
		return false;
	destroy = find_ops(vctx, (void *[]) {
		vctx->destroy_counters, NULL /* destroy_cq */,
		vctx->ibv_destroy_flow, vctx->destroy_flow_action,
		NULL /* destroy_qp */, vctx->destroy_rwq_ind_table,
		NULL /* destroy_srq */, vctx->destroy_wq,
	}, 8);
	modify = find_ops(vctx, (void *[]) {
		vctx->modify_flow_action_esp, NULL /* modify_qp */,
		vctx->modify_qp_rate_limit,
	}, 3);
	if (!destroy || !modify)
		return false;
	replace(&destroy[1], hook_destroy_cq, &device->destroy_cq);
	replace(&destroy[4], hook_destroy_qp, &device->destroy_qp);
	replace(&modify[1], hook_modify_qp, &device->modify_qp);
	return true;
}

/*
 * Returns true if ibv_destroy_qp() of the program is not that of libibverbs,
 * and thus that of interpose.c.
 */
static bool is_interposed(void)
{
	return dlsym(RTLD_DEFAULT, "ibv_destroy_qp") !=
	       (void *)exp_std()->destroy_qp;
}

/* ---- contexts ------------------------------------------------------------ */

/* Saves the original operations and replaces them, or returns false. */
static bool take_over(struct emu_device *device, struct ibv_context *context)
{
	struct ibv_context_ops *ops = &context->ops;

	device->post_send = ops->post_send;
	device->poll_cq = ops->poll_cq;
	device->req_notify_cq = ops->req_notify_cq;
	if (!replace_private(device, context) && !is_interposed())
		return false;
	ops->post_send = hook_post_send;
	ops->poll_cq = hook_poll_cq;
	ops->req_notify_cq = hook_req_notify_cq;
	return true;
}

/**
 * emu_hook() - Replace the operations of a context, unless that is done.
 * @context: the context
 *
 * Return: its original operations, or NULL with errno: ENOTSUP if this library
 * would not learn that a QP is destroyed.
 */
const struct emu_device *emu_hook(struct ibv_context *context)
{
	struct emu_device *device;

	pthread_mutex_lock(&devices.lock);
	device = device_of(context);
	if (device && context->ops.poll_cq == hook_poll_cq)
		goto unlock;
	/* Otherwise the entry is of an earlier context at this address. */
	if (!device) {
		device = calloc(1, sizeof(*device));
		if (!device)
			goto unlock;
		exp_table_add(&devices, &device->entry, context);
	}
	if (!take_over(device, context)) {
		device = NULL;
		errno = ENOTSUP;
	}
unlock:
	pthread_mutex_unlock(&devices.lock);
	return device;
}
