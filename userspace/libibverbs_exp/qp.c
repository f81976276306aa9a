// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_exp_create_qp(), and the table of the queue pairs that take masked
 * atomics.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

static struct exp_table qps = EXP_TABLE_INIT;

/* ---- table ------------------------------------------------------------- */

/*
 * The entry was made for this very queue pair, and not for one that has been
 * destroyed unseen and had the same address.  One of another context or with
 * another number does not match, nor does one with builders if the entry's had
 * none, or the reverse.  What remains is a successor from the same provider,
 * which takes the same requests.
 */
static bool is_of(const struct exp_qp *entry, struct ibv_qp *qp)
{
	return entry->backend && entry->context == qp->context &&
	       entry->pd == qp->pd && entry->send_cq == qp->send_cq &&
	       entry->handle == qp->handle && entry->qp_num == qp->qp_num &&
	       ibv_qp_to_qp_ex(qp) == entry->qpx;
}

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

/* Forgets a queue pair that is no more: qp has just been created there. */
static void table_forget(const struct ibv_qp *qp)
{
	struct exp_qp *entry = exp_table_find(&qps, qp);

	if (entry)
		entry_release(entry);
}

/* Takes over `new`. */
static void table_add(struct ibv_qp *qp, struct exp_qp *new)
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
		/* Others walk over it: `entry` and `qp` are not written. */
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

int exp_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  int (*std)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			     int mask))
{
	const struct exp_qp *entry;
	int ret = std(qp, attr, mask);

	if (ret || !(mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RESET)
		return ret;
	entry = exp_qp_find(qp);
	if (entry && entry->backend->reset)
		entry->backend->reset(entry);
	return 0;
}

/* Taken out before: the address may be used again at once. */
int exp_destroy_qp(struct ibv_qp *qp, int (*std)(struct ibv_qp *qp))
{
	struct exp_qp *entry = exp_table_find(&qps, qp);
	struct exp_qp old;
	int ret;

	if (!entry || !is_of(entry, qp))
		return std(qp);
	old = *entry;
	entry->backend = NULL;
	ret = std(qp);
	if (ret)
		entry->backend = old.backend;
	else
		entry_release(&old);
	return ret;
}

/* ---- creation ---------------------------------------------------------- */

static uint32_t create_flags(const struct ibv_exp_qp_init_attr *attr)
{
	if (attr->comp_mask & IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS)
		return attr->exp_create_flags;
	return 0;
}

/* What no version of the interface has. */
static int check_format(const struct ibv_exp_qp_init_attr *attr)
{
	if (attr->comp_mask >= IBV_EXP_QP_INIT_ATTR_RESERVED1) {
		fprintf(stderr,
			"ibv_exp_create_qp: invalid comp_mask 0x%x (valid: 0x%x)\n",
			attr->comp_mask, IBV_EXP_QP_INIT_ATTR_RESERVED1 - 1);
		return EINVAL;
	}
	if (create_flags(attr) & ~(uint32_t)IBV_EXP_QP_CREATE_MASK) {
		fprintf(stderr,
			"ibv_exp_create_qp: invalid exp_create_flags 0x%x (valid: 0x%x)\n",
			attr->exp_create_flags, IBV_EXP_QP_CREATE_MASK);
		return EINVAL;
	}
	if (!(attr->comp_mask & IBV_EXP_QP_INIT_ATTR_PD) &&
	    attr->qp_type != IBV_QPT_XRC_RECV)
		return EINVAL;
	return 0;
}

/*
 * Attributes that no backend supports: only their neutral value is accepted.  A field
 * whose bit is not set is ignored, because many programs do not initialise it.
 */
static int check_unsupported(const struct ibv_exp_qp_init_attr *attr)
{
	uint32_t has = attr->comp_mask;

	if ((has & IBV_EXP_QP_INIT_ATTR_QPG) &&
	    attr->qpg.qpg_type != IBV_EXP_QPG_NONE)
		return ENOSYS;
	if ((has & IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS) &&
	    attr->max_inl_send_klms)
		return ENOSYS;
	if ((has & IBV_EXP_QP_INIT_ATTR_RX_HASH) && attr->rx_hash_conf)
		return ENOSYS;
	if ((has & IBV_EXP_QP_INIT_ATTR_PORT) && attr->port_num)
		return ENOSYS;
	if ((has & IBV_EXP_QP_INIT_ATTR_PEER_DIRECT) && attr->peer_direct_attrs)
		return ENOSYS;
	if ((has & IBV_EXP_QP_INIT_ATTR_MAX_TSO_HEADER) && attr->max_tso_header)
		return ENOSYS;
	if ((has & IBV_EXP_QP_INIT_ATTR_ASSOCIATED_QPN) && attr->associated_qpn)
		return ENOSYS;
	return 0;
}

static void attr_to_std(struct ibv_qp_init_attr_ex *std,
			const struct ibv_exp_qp_init_attr *attr)
{
	memset(std, 0, sizeof(*std));
	std->qp_context = attr->qp_context;
	std->send_cq = attr->send_cq;
	std->recv_cq = attr->recv_cq;
	std->srq = attr->srq;
	std->cap = attr->cap;
	std->qp_type = attr->qp_type;
	std->sq_sig_all = attr->sq_sig_all;
	if (attr->comp_mask & IBV_EXP_QP_INIT_ATTR_PD) {
		std->comp_mask |= IBV_QP_INIT_ATTR_PD;
		std->pd = attr->pd;
	}
	if (attr->comp_mask & IBV_EXP_QP_INIT_ATTR_XRCD) {
		std->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
		std->xrcd = attr->xrcd;
	}
}

/* With the standard verbs: no masked atomics on this queue pair. */
static struct ibv_qp *create_std(struct ibv_context *context,
				 struct ibv_qp_init_attr_ex *std)
{
	struct ibv_qp_init_attr plain = { };
	struct ibv_qp *qp;

	if (std->comp_mask != IBV_QP_INIT_ATTR_PD) {
		qp = ibv_create_qp_ex(context, std);
	} else {
		plain.qp_context = std->qp_context;
		plain.send_cq = std->send_cq;
		plain.recv_cq = std->recv_cq;
		plain.srq = std->srq;
		plain.cap = std->cap;
		plain.qp_type = std->qp_type;
		plain.sq_sig_all = std->sq_sig_all;
		qp = ibv_create_qp(std->pd, &plain);
		std->cap = plain.cap;
	}
	if (qp)
		table_forget(qp);
	return qp;
}

static struct ibv_qp *create_native(struct ibv_context *context,
				    const struct exp_backend *backend,
				    const struct exp_caps *caps,
				    struct ibv_qp_init_attr_ex *std,
				    const struct ibv_exp_qp_init_attr *attr)
{
	uint32_t flags = create_flags(attr);
	struct exp_qp *entry;
	struct ibv_qp *qp;

	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->backend = backend;
	entry->atomic_cap = caps->atomic_cap;
	entry->has_atomics = caps->atomic_cap != IBV_EXP_ATOMIC_HCA_REPLY_BE ||
			     (flags & IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY);
	if (attr->comp_mask & IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG)
		entry->max_atomic_arg = attr->max_atomic_arg;
	entry->sizes = caps->sizes;
	qp = backend->create_qp(context, std, flags, entry);
	if (!qp) {
		int err = errno;

		free(entry);
		errno = err;
		return NULL;
	}
	entry->max_send_sge = std->cap.max_send_sge;
	table_add(qp, entry);
	return qp;
}

EXP_EXPORT
struct ibv_qp *ibv_exp_create_qp(struct ibv_context *context,
				 struct ibv_exp_qp_init_attr *attr)
{
	const struct exp_backend *backend = exp_backend_of(context);
	struct ibv_qp_init_attr_ex std;
	struct exp_caps caps = { };
	uint32_t supported = 0;
	struct ibv_qp *qp;
	int err;

	err = check_format(attr);
	if (!err)
		err = check_unsupported(attr);
	if (!err && attr->comp_mask != IBV_EXP_QP_INIT_ATTR_PD)
		err = exp_query_caps(context, &caps);
	if (err)
		goto fail;

	/* Only reliable connections carry masked atomics. */
	if (attr->qp_type == IBV_QPT_XRC_SEND)
		caps.masked = caps.masked_xrc;
	else if (attr->qp_type != IBV_QPT_RC)
		caps.masked = false;
	if (caps.masked && caps.be_reply)
		supported |= IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY;
	if (create_flags(attr) & ~supported) {
		err = EINVAL;
		goto fail;
	}

	attr_to_std(&std, attr);
	if (caps.masked)
		qp = create_native(context, backend, &caps, &std, attr);
	else
		qp = create_std(context, &std);
	if (!qp)
		return NULL;

	attr->cap = std.cap;
	if (attr->comp_mask & IBV_EXP_QP_INIT_ATTR_INL_RECV)
		attr->max_inl_recv = 0;
	return qp;

fail:
	errno = err;
	return NULL;
}
