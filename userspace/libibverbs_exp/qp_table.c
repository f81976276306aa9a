// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The table of the QPs that support masked atomics, and of the DC initiators.
 * The backend of a QP is notified of reset and destruction.
 *
 * If the call is interposed and the operation of the context is replaced, too,
 * exp_modify_qp() and exp_destroy_qp() run within themselves.
 */
#include <pthread.h>
#include <stdlib.h>

#include "backend.h"
#include "fork.h"
#include "qp_table.h"
#include "table.h"

static struct exp_table qps = EXP_TABLE_INIT;

EXP_FORK_HOLD(qps, qps.lock)

/*
 * Returns true if the entry belongs to this QP, and not to an earlier one at
 * the same address that was destroyed without this library being called. All
 * members of the earlier QP would have to match, including its number and the
 * existence of builders. Such a QP is from the same provider and accepts the
 * same requests.
 */
static bool is_of(const struct exp_qp *entry, struct ibv_qp *qp)
{
	return entry->backend && entry->context == qp->context &&
	       entry->pd == qp->pd && entry->send_cq == qp->send_cq &&
	       entry->handle == qp->handle && entry->qp_num == qp->qp_num &&
	       ibv_qp_to_qp_ex(qp) == entry->qpx;
}

/**
 * exp_qp_find() - Find the entry of a QP.
 * @qp: any QP
 *
 * Return: the entry, or NULL if ibv_exp_create_qp() did not create @qp for
 * masked atomics or as a DC initiator.
 */
const struct exp_qp *exp_qp_find(struct ibv_qp *qp)
{
	const struct exp_qp *entry = exp_table_find(&qps, qp);

	return entry && is_of(entry, qp) ? entry : NULL;
}

static void entry_release(struct exp_qp *entry)
{
	const struct exp_backend *backend = entry->backend;

	entry->backend = NULL;
	if (backend && backend->release)
		backend->release(entry);
}

/**
 * exp_qp_forget() - Release the entry of an earlier QP at the same address.
 * @qp: new QP
 */
void exp_qp_forget(const struct ibv_qp *qp)
{
	struct exp_qp *entry = exp_table_find(&qps, qp);

	if (entry)
		entry_release(entry);
}

/**
 * exp_qp_add() - Add the entry of a new QP.
 * @qp: the QP
 * @new: its entry; the table takes ownership of it
 */
void exp_qp_add(struct ibv_qp *qp, struct exp_qp *new)
{
	struct exp_qp *old;

	new->qp = qp;
	new->context = qp->context;
	new->pd = qp->pd;
	new->send_cq = qp->send_cq;
	new->handle = qp->handle;
	new->qp_num = qp->qp_num;

	pthread_mutex_lock(&qps.lock);
	old = exp_table_find(&qps, qp);
	if (old) {
		/* Lockless readers use entry and qp, so keep these. */
		entry_release(old);
		old->context = new->context;
		old->pd = new->pd;
		old->send_cq = new->send_cq;
		old->handle = new->handle;
		old->qp_num = new->qp_num;
		old->qpx = new->qpx;
		old->backend = new->backend;
		old->atomic_cap = new->atomic_cap;
		old->has_atomics = new->has_atomics;
		old->is_dci = new->is_dci;
		old->max_atomic_arg = new->max_atomic_arg;
		old->max_send_sge = new->max_send_sge;
		old->sizes = new->sizes;
		old->mqp = new->mqp;
		old->emu = new->emu;
		old->mlx5_qpx = new->mlx5_qpx;
		old->mlx5_sq = new->mlx5_sq;
	} else {
		exp_table_add(&qps, &new->entry, qp);
	}
	pthread_mutex_unlock(&qps.lock);
	if (old)
		free(new);
}

static void entry_pause(const struct exp_qp *entry)
{
	if (entry->backend->pause)
		entry->backend->pause(entry);
}

static void entry_resume(const struct exp_qp *entry)
{
	if (entry->backend->resume)
		entry->backend->resume(entry);
}

/**
 * exp_modify_qp() - Implement ibv_modify_qp().
 * @qp: any QP
 * @attr: as for ibv_modify_qp()
 * @mask: as for ibv_modify_qp()
 * @std: ibv_modify_qp() of libibverbs, or of the provider
 *
 * Return: as ibv_modify_qp().
 */
int exp_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  int (*std)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			     int mask))
{
	const struct exp_qp *entry = NULL;
	int ret;

	if ((mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET)
		entry = exp_qp_find(qp);
	if (!entry)
		return std(qp, attr, mask);
	entry_pause(entry);
	ret = std(qp, attr, mask);
	if (ret)
		entry_resume(entry);
	else if (entry->backend->reset)
		entry->backend->reset(entry);
	return ret;
}

/**
 * exp_destroy_qp() - Implement ibv_destroy_qp().
 * @qp: any QP
 * @std: ibv_destroy_qp() of libibverbs, or of the provider
 *
 * Clears the entry before the QP is destroyed, because its address may be
 * reused immediately.
 *
 * Return: as ibv_destroy_qp().
 */
int exp_destroy_qp(struct ibv_qp *qp, int (*std)(struct ibv_qp *qp))
{
	struct exp_qp *entry = exp_table_find(&qps, qp);
	struct exp_qp old;
	int ret;

	if (!entry || !is_of(entry, qp))
		return std(qp);
	old = *entry;
	entry->backend = NULL;
	entry_pause(&old);
	ret = std(qp);
	if (ret) {
		entry->backend = old.backend;
		entry_resume(entry);
	} else {
		entry_release(&old);
	}
	return ret;
}
