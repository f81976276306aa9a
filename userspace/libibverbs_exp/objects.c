// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CQs, SRQs, resource domains, and modification of QPs. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "calls.h"
#include "cq_ex.h"
#include "qp_table.h"
#include "std.h"

/* ---- completion queues -------------------------------------------------- */

/* Hints for optimisations in the device. They are ignored. */
#define EXP_CQ_HINTS IBV_EXP_CQ_COMPRESSED_CQE

/* Creates an extended CQ. */
static struct ibv_cq *create_cq_with(struct ibv_context *context, int cqe,
				     void *cq_context,
				     struct ibv_comp_channel *channel,
				     int comp_vector, uint64_t wc_flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.cq_context = cq_context,
		.channel = channel,
		.comp_vector = comp_vector,
		.wc_flags = wc_flags,
	};
	struct ibv_cq_ex *cq;

	if (cqe < 0 || comp_vector < 0)
		return exp_null(EINVAL);
	exp_cq_ex_hook(context);
	cq = ibv_create_cq_ex(context, &attr);
	if (!cq)
		return exp_null(exp_errno_from_std(errno));
	return ibv_cq_ex_to_cq(cq);
}

static bool has_tag_matching(struct ibv_context *context)
{
	struct ibv_device_attr_ex attr;

	return !ibv_query_device_ex(context, NULL, &attr) &&
	       attr.tm_caps.max_num_tags;
}

EXP_EXPORT
struct ibv_cq *ibv_exp_create_cq(struct ibv_context *context, int cqe,
				 void *cq_context,
				 struct ibv_comp_channel *channel,
				 int comp_vector,
				 struct ibv_exp_cq_init_attr *attr)
{
	uint64_t wc_flags = 0;
	uint32_t flags = 0;

	if (exp_bad_mask(__func__, attr->comp_mask,
			 IBV_EXP_CQ_INIT_ATTR_RESERVED1))
		return exp_null(EINVAL);
	if (attr->comp_mask & IBV_EXP_CQ_INIT_ATTR_FLAGS)
		flags = attr->flags & ~EXP_CQ_HINTS;
	if ((flags & ~(uint32_t)IBV_EXP_CQ_CREATE_FLAGS_MASK) ||
	    (flags & IBV_EXP_CQ_TIMESTAMP_TO_SYS_TIME))
		return exp_null(EINVAL);
	if ((flags & ~IBV_EXP_CQ_TIMESTAMP) ||
	    ((attr->comp_mask & IBV_EXP_CQ_INIT_ATTR_PEER_DIRECT) &&
		      attr->peer_direct_attrs))
		return exp_null(ENOSYS);
	/* The CQ may become that of a tag-matching SRQ. */
	if (has_tag_matching(context))
		wc_flags |= EXP_CQ_TM_FLAGS;
	if (flags & IBV_EXP_CQ_TIMESTAMP)
		wc_flags |= EXP_CQ_TIMED_FLAGS;
	if (wc_flags)
		return create_cq_with(context, cqe, cq_context, channel,
				      comp_vector, wc_flags);
	return ibv_create_cq(context, cqe, cq_context, channel, comp_vector);
}

EXP_EXPORT
int ibv_exp_modify_cq(struct ibv_cq *cq, struct ibv_exp_cq_attr *attr,
		      int cq_attr_mask)
{
	struct ibv_modify_cq_attr std = { };

	if (exp_bad_mask(__func__, attr->comp_mask,
			 IBV_EXP_CQ_ATTR_RESERVED) ||
	    (cq_attr_mask & ~(IBV_EXP_CQ_MODERATION | IBV_EXP_CQ_CAP_FLAGS)))
		return exp_err(EINVAL);
	if (cq_attr_mask & IBV_EXP_CQ_CAP_FLAGS) {
		if (attr->cq_cap_flags & ~IBV_EXP_CQ_CAP_MASK)
			return exp_err(EINVAL);
		/*
		 * With IBV_EXP_CQ_IGNORE_OVERRUN the program promises that no
		 * completion is lost that it needs. It is a hint, because the
		 * standard verbs can set it only at creation.
		 */
	}
	if (!(cq_attr_mask & IBV_EXP_CQ_MODERATION))
		return 0;
	std.attr_mask = IBV_CQ_ATTR_MODERATE;
	std.moderate.cq_count = attr->moderation.cq_count;
	std.moderate.cq_period = attr->moderation.cq_period;
	return exp_err(exp_errno_from_std(ibv_modify_cq(cq, &std)));
}

/* ---- shared receive queues ---------------------------------------------- */

/* Creates an SRQ with a CQ. std has what is special to its type. */
static struct ibv_srq *create_srq_with(struct ibv_context *context,
				       struct ibv_exp_create_srq_attr *attr,
				       struct ibv_srq_init_attr_ex *std)
{
	struct ibv_srq *srq;

	if (!(attr->comp_mask & IBV_EXP_CREATE_SRQ_CQ))
		return exp_null(EINVAL);
	std->srq_context = attr->base.srq_context;
	std->attr = attr->base.attr;
	std->comp_mask |= IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			  IBV_SRQ_INIT_ATTR_CQ;
	std->pd = attr->pd;
	std->cq = attr->cq;
	srq = ibv_create_srq_ex(context, std);
	if (!srq)
		return exp_null(exp_errno_from_std(errno));
	attr->base.attr = std->attr;
	return srq;
}

static struct ibv_srq *create_xrc_srq(struct ibv_context *context,
				      struct ibv_exp_create_srq_attr *attr)
{
	struct ibv_srq_init_attr_ex std = {
		.comp_mask = IBV_SRQ_INIT_ATTR_XRCD,
		.srq_type = IBV_SRQT_XRC,
		.xrcd = attr->xrcd,
	};

	if (!(attr->comp_mask & IBV_EXP_CREATE_SRQ_XRCD))
		return exp_null(EINVAL);
	return create_srq_with(context, attr, &std);
}

static struct ibv_srq *create_tm_srq(struct ibv_context *context,
				     struct ibv_exp_create_srq_attr *attr)
{
	struct ibv_srq_init_attr_ex std = {
		.comp_mask = IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.tm_cap = {
			.max_num_tags = attr->tm_cap.max_num_tags,
			.max_ops = attr->tm_cap.max_ops,
		},
	};
	struct ibv_srq *srq;

	if (!(attr->comp_mask & IBV_EXP_CREATE_SRQ_TM))
		return exp_null(EINVAL);
	srq = create_srq_with(context, attr, &std);
	if (srq)
		exp_cq_ex_set_tm(attr->cq);
	return srq;
}

EXP_EXPORT
struct ibv_srq *ibv_exp_create_srq(struct ibv_context *context,
				   struct ibv_exp_create_srq_attr *attr)
{
	if (exp_bad_mask(__func__, attr->comp_mask,
			 IBV_EXP_CREATE_SRQ_RESERVED))
		return exp_null(EINVAL);
	if (attr->comp_mask & IBV_EXP_CREATE_SRQ_MP_WR)
		return exp_null(ENOSYS);
	/*
	 * dc_offload_params are for the rendezvous READs that a device posts
	 * for messages over DC. No device of this library does so: tm_caps has
	 * no IBV_EXP_TM_CAP_DC. Programs pass them without a check.
	 */

	if (attr->comp_mask & IBV_EXP_CREATE_SRQ_TM &&
	    attr->srq_type != IBV_EXP_SRQT_TAG_MATCHING)
		return exp_null(EINVAL);

	switch (attr->srq_type) {
	case IBV_EXP_SRQT_BASIC:
		return ibv_create_srq(attr->pd, &attr->base);
	case IBV_EXP_SRQT_XRC:
		return create_xrc_srq(context, attr);
	case IBV_EXP_SRQT_TAG_MATCHING:
		return create_tm_srq(context, attr);
	default:
		return exp_null(EINVAL);
	}
}

/* The operations of both interfaces have the same layout and values. */
static_assert(sizeof(struct ibv_exp_ops_wr) == sizeof(struct ibv_ops_wr) &&
	      offsetof(struct ibv_exp_ops_wr, tm.add.mask) ==
		      offsetof(struct ibv_ops_wr, tm.add.mask) &&
	      offsetof(struct ibv_exp_ops_wr, tm.handle) ==
		      offsetof(struct ibv_ops_wr, tm.handle),
	      "tag operations are passed unchanged");

EXP_EXPORT
int ibv_exp_post_srq_ops(struct ibv_srq *srq, struct ibv_exp_ops_wr *op,
			 struct ibv_exp_ops_wr **bad_op)
{
	return exp_err(exp_errno_from_std(
		ibv_post_srq_ops(srq, (struct ibv_ops_wr *)op,
				 (struct ibv_ops_wr **)bad_op)));
}

/* ---- resource domains --------------------------------------------------- */

/*
 * A resource domain is a hint how threads use the objects in it. It is ignored,
 * because all objects of this library are IBV_EXP_THREAD_SAFE.
 */
EXP_EXPORT
struct ibv_exp_res_domain *
ibv_exp_create_res_domain(struct ibv_context *context,
			  struct ibv_exp_res_domain_init_attr *attr)
{
	struct ibv_exp_res_domain *domain;

	if (exp_bad_mask(__func__, attr->comp_mask,
			 IBV_EXP_RES_DOMAIN_RESERVED))
		return exp_null(EINVAL);
	if ((attr->comp_mask & IBV_EXP_RES_DOMAIN_THREAD_MODEL) &&
	    (unsigned int)attr->thread_model > IBV_EXP_THREAD_SINGLE)
		return exp_null(EINVAL);
	if ((attr->comp_mask & IBV_EXP_RES_DOMAIN_MSG_MODEL) &&
	    (unsigned int)attr->msg_model > IBV_EXP_MSG_FORCE_LOW_LATENCY)
		return exp_null(EINVAL);
	domain = calloc(1, sizeof(*domain));
	if (domain)
		domain->context = context;
	return domain;
}

EXP_EXPORT
int ibv_exp_destroy_res_domain(struct ibv_context *context,
			       struct ibv_exp_res_domain *res_dom,
			       struct ibv_exp_destroy_res_domain_attr *attr)
{
	if (attr && exp_bad_mask(__func__, attr->comp_mask,
				 IBV_EXP_DESTROY_RES_DOMAIN_RESERVED))
		return exp_err(EINVAL);
	if (res_dom->context != context)
		return exp_err(EINVAL);
	free(res_dom);
	return 0;
}

/* ---- queue pairs -------------------------------------------------------- */

#define EXP_QP_ATTR_STD_BITS ((1ull << 21) - 1)

/* Both structures begin with the same members. */
#define EXP_QP_ATTR_STD_SIZE offsetof(struct ibv_exp_qp_attr, dct_key)

static bool is_dci(struct ibv_qp *qp)
{
	const struct exp_qp *entry = exp_qp_find(qp);

	return entry && entry->is_dci;
}

/*
 * Completes the address vector of a DC initiator, which has no destination.
 * Programs for OFED set little more than is_global, and OFED's drivers took the
 * port from the QP. The standard verbs require the port, and a destination of
 * the same address family as the source. Returns 0 or a positive errno.
 */
static int complete_dci_av(struct ibv_qp *qp, struct ibv_ah_attr *av)
{
	static const union ibv_gid no_gid;
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;
	int err;

	if (!av->port_num) {
		err = ibv_query_qp(qp, &attr, IBV_QP_PORT, &init_attr);
		if (err)
			return err;
		av->port_num = attr.port_num;
	}
	if (!av->is_global || memcmp(&av->grh.dgid, &no_gid, sizeof(no_gid)))
		return 0;
	return ibv_query_gid(qp->context, av->port_num, av->grh.sgid_index,
			     &av->grh.dgid) ? EINVAL : 0;
}

/*
 * IBV_EXP_QP_DC_KEY has no effect, because each request of a DC initiator has
 * the key of its target.
 */
EXP_EXPORT
int ibv_exp_modify_qp(struct ibv_qp *qp, struct ibv_exp_qp_attr *attr,
		      uint64_t exp_attr_mask)
{
	const uint64_t unsupported = IBV_EXP_QP_GROUP_RSS |
				     IBV_EXP_QP_FLOW_ENTROPY |
				     IBV_EXP_QP_OOO_RW_DATA_PLACEMENT;
	const uint64_t supported = EXP_QP_ATTR_STD_BITS |
				   IBV_EXP_QP_RATE_LIMIT | IBV_EXP_QP_DC_KEY;
	int mask = exp_attr_mask & EXP_QP_ATTR_STD_BITS;
	struct ibv_qp_attr std = { };
	int err;

	if (exp_bad_mask(__func__, attr->comp_mask,
			 IBV_EXP_QP_ATTR_RESERVED) ||
	    (exp_attr_mask & ~(unsupported | supported)) ||
	    (exp_attr_mask & IBV_EXP_QP_DC_KEY && !is_dci(qp)))
		return exp_err(EINVAL);
	if ((exp_attr_mask & unsupported) ||
	    ((exp_attr_mask & IBV_EXP_QP_RATE_LIMIT) &&
	     (attr->comp_mask & IBV_EXP_QP_ATTR_BURST_INFO)))
		return exp_err(ENOSYS);
	memcpy(&std, attr, EXP_QP_ATTR_STD_SIZE);
	if (exp_attr_mask & IBV_EXP_QP_RATE_LIMIT) {
		std.rate_limit = attr->rate_limit;
		mask |= IBV_QP_RATE_LIMIT;
	}
	if (mask & IBV_QP_AV && is_dci(qp)) {
		err = complete_dci_av(qp, &std.ah_attr);
		if (err)
			return exp_err(err);
	}
	return exp_err(exp_modify_qp(qp, &std, mask, exp_std()->modify_qp));
}
