// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_exp_create_qp(). The backend of the context creates QPs that support
 * masked atomics, and DC initiators. libibverbs creates all others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "backend.h"
#include "calls.h"
#include "dct.h"
#include "qp_table.h"

static uint32_t create_flags(const struct ibv_exp_qp_init_attr *attr)
{
	if (attr->comp_mask & IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS)
		return attr->exp_create_flags;
	return 0;
}

/* Returns EINVAL for attributes that no version of the interface has. */
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
 * Returns ENOSYS for attributes that no backend supports, unless they have
 * their neutral value. A member whose bit is not set is ignored, because many
 * programs do not initialise it.
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

/* IBV_QPT_XRC of OFED 1.3 is a sender, as in ibv_create_qp(). */
static enum ibv_qp_type type_of(const struct ibv_exp_qp_init_attr *attr)
{
	return attr->qp_type == IBV_QPT_XRC ? IBV_QPT_XRC_SEND : attr->qp_type;
}

/*
 * Sets the objects that a QP of this type uses. Programs may leave the others
 * uninitialised, because OFED did not read them.
 */
static void objects_to_std(struct ibv_qp_init_attr_ex *std,
			   const struct ibv_exp_qp_init_attr *attr)
{
	if (attr->comp_mask & IBV_EXP_QP_INIT_ATTR_XRCD) {
		std->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
		std->xrcd = attr->xrcd;
	}
	if (std->qp_type == IBV_QPT_XRC_RECV)
		return;
	if (attr->comp_mask & IBV_EXP_QP_INIT_ATTR_PD) {
		std->comp_mask |= IBV_QP_INIT_ATTR_PD;
		std->pd = attr->pd;
	}
	std->send_cq = attr->send_cq;
	if (std->qp_type == IBV_QPT_XRC_SEND)
		return;
	std->recv_cq = attr->recv_cq;
	std->srq = attr->srq;
	/*
	 * A DC initiator receives nothing, whatever the program requests. The
	 * standard verbs require a CQ.
	 */
	if (attr->qp_type == IBV_EXP_QPT_DC_INI) {
		std->qp_type = IBV_QPT_DRIVER;
		std->recv_cq = attr->send_cq;
		std->srq = NULL;
		std->cap.max_recv_wr = 0;
		std->cap.max_recv_sge = 0;
	}
}

static void attr_to_std(struct ibv_qp_init_attr_ex *std,
			const struct ibv_exp_qp_init_attr *attr)
{
	memset(std, 0, sizeof(*std));
	std->qp_context = attr->qp_context;
	std->cap = attr->cap;
	std->qp_type = type_of(attr);
	std->sq_sig_all = attr->sq_sig_all;
	objects_to_std(std, attr);
}

/* Creates a QP without masked atomics. */
static struct ibv_qp *create_std(struct ibv_context *context,
				 const struct exp_backend *backend,
				 struct ibv_qp_init_attr_ex *std,
				 bool inline_recv)
{
	struct ibv_qp *qp = inline_recv ? backend->create_inline(context, std) :
					  ibv_create_qp_ex(context, std);

	if (qp)
		exp_qp_forget(qp);
	return qp;
}

static struct ibv_qp *create_native(struct ibv_context *context,
				    const struct exp_backend *backend,
				    const struct exp_caps *caps,
				    struct ibv_qp_init_attr_ex *std,
				    const struct ibv_exp_qp_init_attr *attr,
				    bool inline_recv)
{
	uint32_t flags = create_flags(attr);
	struct exp_qp *entry;
	struct ibv_qp *qp;

	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->backend = backend;
	entry->atomic_cap = caps->atomic_cap;
	entry->inline_recv = inline_recv;
	entry->is_dci = attr->qp_type == IBV_EXP_QPT_DC_INI;
	entry->has_atomics = caps->atomic_cap != IBV_EXP_ATOMIC_HCA_REPLY_BE ||
			     (flags & IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY);
	if (attr->comp_mask & IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG)
		entry->max_atomic_arg = attr->max_atomic_arg;
	if (caps->masked)
		entry->sizes = caps->sizes;
	qp = backend->create_qp(context, std, flags, entry);
	if (!qp) {
		int err = errno;

		free(entry);
		errno = err;
		return NULL;
	}
	entry->max_send_sge = std->cap.max_send_sge;
	exp_qp_add(qp, entry);
	return qp;
}

static struct ibv_qp *create_any(struct ibv_context *context,
				 const struct exp_caps *caps,
				 struct ibv_qp_init_attr_ex *std,
				 const struct ibv_exp_qp_init_attr *attr,
				 bool inline_recv)
{
	const struct exp_backend *backend = exp_backend_of(context);

	attr_to_std(std, attr);
	if (caps->masked || attr->qp_type == IBV_EXP_QPT_DC_INI)
		return create_native(context, backend, caps, std, attr,
				     inline_recv);
	return create_std(context, backend, std, inline_recv);
}

/*
 * Removes from caps what QPs of this type do not have. Only reliable transports
 * carry masked atomics. Returns 0, or ENOSYS if the device lacks the type.
 */
static int adjust_caps(struct ibv_context *context, enum ibv_qp_type type,
		       struct exp_caps *caps)
{
	switch ((int)type) {
	case IBV_QPT_RC:
		return 0;
	case IBV_QPT_XRC_SEND:
		caps->masked = caps->masked_xrc;
		return 0;
	case IBV_EXP_QPT_DC_INI:
		caps->max_inl_recv = 0;
		return exp_check_dc("ibv_exp_create_qp", context, caps);
	default:
		caps->masked = false;
		return 0;
	}
}

static bool wants_inline(const struct ibv_exp_qp_init_attr *attr)
{
	return attr->comp_mask & IBV_EXP_QP_INIT_ATTR_INL_RECV &&
	       attr->max_inl_recv;
}

EXP_EXPORT
struct ibv_qp *ibv_exp_create_qp(struct ibv_context *context,
				 struct ibv_exp_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex std;
	struct exp_caps caps = { };
	uint32_t supported = 0;
	struct ibv_qp *qp = NULL;
	uint32_t inl = 0;
	int err;

	err = check_format(attr);
	if (!err)
		err = check_unsupported(attr);
	if (!err && (attr->comp_mask != IBV_EXP_QP_INIT_ATTR_PD ||
		     attr->qp_type == IBV_EXP_QPT_DC_INI))
		err = exp_backend_query(context, &caps);
	if (!err)
		err = adjust_caps(context, type_of(attr), &caps);
	if (err)
		goto fail;

	if (caps.masked && caps.be_reply)
		supported |= IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY;
	if (create_flags(attr) & ~supported) {
		err = EINVAL;
		goto fail;
	}

	/* Inline receive is optional.  max_inl_recv reports what the QP has. */
	if (wants_inline(attr) && caps.max_inl_recv) {
		qp = create_any(context, &caps, &std, attr, true);
		if (!qp && errno != EOPNOTSUPP)
			return NULL;
		inl = qp ? caps.max_inl_recv : 0;
	}
	if (!qp)
		qp = create_any(context, &caps, &std, attr, false);
	if (!qp)
		return NULL;

	attr->cap = std.cap;
	if (attr->comp_mask & IBV_EXP_QP_INIT_ATTR_INL_RECV)
		attr->max_inl_recv = inl;
	return qp;

fail:
	errno = err;
	return NULL;
}
