// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queries and arms targets of dynamically connected QPs. mxedv.c calls these
 * functions.
 */
#include <rdma/rdma_user_ioctl_cmds.h>

#include "mxe.h"

int mxe_dct_query(struct ibv_qp *qp, struct mxe_query_dct_resp *resp)
{
	struct ib_uverbs_attr attrs[] = {
		{ .attr_id = MXE_ATTR_QUERY_DCT_HANDLE, .data = qp->handle },
		{ .attr_id = MXE_ATTR_QUERY_DCT_RESP, .len = sizeof(*resp),
		  .data = (uintptr_t)resp },
	};

	return mxe_ioctl_optional(qp->context, UVERBS_OBJECT_QP,
				  MXE_METHOD_DCT_QUERY, attrs, 2);
}

int mxe_dct_arm(struct ibv_qp *qp, uint32_t events)
{
	struct ib_uverbs_attr attrs[] = {
		{ .attr_id = MXE_ATTR_ARM_DCT_HANDLE, .data = qp->handle },
		{ .attr_id = MXE_ATTR_ARM_DCT_EVENTS, .len = sizeof(events),
		  .data = events },
	};

	return mxe_ioctl_optional(qp->context, UVERBS_OBJECT_QP,
				  MXE_METHOD_DCT_ARM, attrs, 2);
}
