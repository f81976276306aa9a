// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Checks of the libibverbs of this process against the layout of the private
 * interface that libmxe was built with (rdmav.h). The version of the symbols is
 * not sufficient, because two numbers cover several layouts.
 *
 * The checks look at what libibverbs does, not at its version, so they also
 * hold for the libraries of vendors and for future releases that keep the
 * number.
 */
#include <stdio.h>
#include <string.h>

#include "rdmav.h"

/* Offset of comp_mask in libibverbs' struct verbs_qp: size of its ibv_qp_ex. */
static size_t mxe_rdmav_comp_mask;

/*
 * ibv_qp_to_qp_ex() returns a QP only if comp_mask has VERBS_QP_EX, so a QP
 * with the bit in one place after the other shows where comp_mask is. If it is
 * beyond struct verbs_qp, libibverbs reads zeros.
 */
static size_t mxe_rdmav_find_comp_mask(void)
{
	size_t at;

	for (at = sizeof(struct ibv_qp);
	     at + RDMAV_QP_TAIL <= sizeof(struct verbs_qp); at += sizeof(void *)) {
		const uint32_t bit = VERBS_QP_EX;
		struct verbs_qp vqp[4];

		memset(vqp, 0, sizeof(vqp));
		memcpy(vqp->room + at, &bit, sizeof(bit));
		if (ibv_qp_to_qp_ex(&vqp->qp))
			return at;
	}
	return 0;
}

static bool mxe_rdmav_refuse(const char *reason)
{
	fprintf(stderr,
		"libmxe: %s in this libibverbs (private ABI %d): rebuild libmxe for this release of rdma-core\n",
		reason, RDMAV_PABI);
	return false;
}

/**
 * mxe_rdmav_check_qp() - Check struct verbs_qp when the library is loaded.
 *
 * Return: true if libmxe works with this libibverbs. Otherwise a message is
 * printed, as by the other checks.
 */
bool mxe_rdmav_check_qp(void)
{
	mxe_rdmav_comp_mask = mxe_rdmav_find_comp_mask();
	return mxe_rdmav_comp_mask ||
	       mxe_rdmav_refuse("struct verbs_qp is too large");
}

/**
 * mxe_rdmav_qp_ex_size() - Get the size of libibverbs' struct ibv_qp_ex.
 *
 * Return: number of bytes.
 */
size_t mxe_rdmav_qp_ex_size(void)
{
	return mxe_rdmav_comp_mask;
}

/**
 * mxe_rdmav_set_qp_ex() - Make ibv_qp_to_qp_ex() return the QP.
 * @vqp: the QP, initialised by libibverbs
 */
void mxe_rdmav_set_qp_ex(struct verbs_qp *vqp)
{
	uint32_t comp_mask;

	memcpy(&comp_mask, vqp->room + mxe_rdmav_comp_mask, sizeof(comp_mask));
	comp_mask |= VERBS_QP_EX;
	memcpy(vqp->room + mxe_rdmav_comp_mask, &comp_mask, sizeof(comp_mask));
}

/**
 * mxe_rdmav_check_context() - Check struct verbs_context.
 * @vctx: a context, initialised by libibverbs
 *
 * Return: true if it is as large as here.
 */
bool mxe_rdmav_check_context(const struct verbs_context *vctx)
{
	return vctx->sz == sizeof(*vctx) ||
	       mxe_rdmav_refuse("struct verbs_context has another size");
}

/**
 * mxe_rdmav_check_ops() - Check struct verbs_context_ops.
 * @vctx: the context, after verbs_set_ops()
 * @ops: the table that was set
 *
 * A member that was inserted in the table shifts those behind it.
 *
 * Return: true if libibverbs found the functions where they are here.
 */
bool mxe_rdmav_check_ops(const struct verbs_context *vctx,
			 const struct verbs_context_ops *ops)
{
	const struct ibv_context_ops *set = &vctx->context.ops;

	return (set->alloc_mw == ops->alloc_mw &&
		set->poll_cq == ops->poll_cq &&
		vctx->query_rt_values == ops->query_rt_values &&
		vctx->reg_dm_mr == ops->reg_dm_mr &&
		set->req_notify_cq == ops->req_notify_cq) ||
	       mxe_rdmav_refuse("struct verbs_context_ops has other members");
}
