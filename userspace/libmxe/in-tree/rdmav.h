/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The provider interface of libibverbs, for libmxe in rdma-core's tree. Outside
 * of the tree, another rdmav.h describes this interface, and rdmav.c compares
 * it with the libibverbs of the process. In the tree, their releases are equal.
 */
#ifndef RDMAV_H
#define RDMAV_H

#include <infiniband/driver.h>
#include <rdma/ib_user_verbs.h>

/* RDMAV_ARG_n(...): an argument in releases since n. */
#if IBVERBS_PABI_VERSION >= 57
#define RDMAV_ARG_57(...) __VA_ARGS__,
#else
#define RDMAV_ARG_57(...)
#endif
#if IBVERBS_PABI_VERSION >= 59
#define RDMAV_ARG_59(...) __VA_ARGS__,
#else
#define RDMAV_ARG_59(...)
#endif
/* libmxe always passes the last argument. */
#if IBVERBS_PABI_VERSION < 64
#define ibv_cmd_create_qp_ex2(context, qp, attr, cmd, cmd_size, resp, \
			      resp_size, driver) \
	ibv_cmd_create_qp_ex2(context, qp, attr, cmd, cmd_size, resp, resp_size)
#endif

enum {
	RDMAV_QP_EX_WITH_FLUSH		= IBV_QP_EX_WITH_FLUSH,
	RDMAV_QP_EX_WITH_ATOMIC_WRITE	= IBV_QP_EX_WITH_ATOMIC_WRITE,
};

#define mxe_rdmav_has(member) true
#define mxe_rdmav_set(vqp, member, function) ((vqp)->qp_ex.member = (function))

static inline void mxe_rdmav_set_qp_ex(struct verbs_qp *vqp)
{
	vqp->comp_mask |= VERBS_QP_EX;
}

static inline bool mxe_rdmav_check_context(const struct verbs_context *vctx)
{
	return true;
}

static inline bool mxe_rdmav_check_ops(const struct verbs_context *vctx,
				       const struct verbs_context_ops *ops)
{
	return true;
}

#endif /* RDMAV_H */
