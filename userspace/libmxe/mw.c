// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory windows. */
#include <errno.h>
#include <stdlib.h>

#include "mw.h"
#include "rdmav.h"
#include "send.h"

struct ibv_mw *mxe_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct ibv_alloc_mw cmd = { 0 };
	struct ibv_mw *mw;
	int ret;

	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;
	ret = ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (ret) {
		free(mw);
		errno = ret;
		return NULL;
	}
	return mw;
}

int mxe_dealloc_mw(struct ibv_mw *mw)
{
	int ret = ibv_cmd_dealloc_mw(mw);

	if (!ret)
		free(mw);
	return ret;
}

/*
 * Binds a type 1 window by a send request, which gives it the next rkey. If it
 * cannot be posted, mw->rkey is unchanged.
 */
int mxe_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		struct ibv_mw_bind *bind)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = bind->bind_info,
		},
	};

	if (mw->type != IBV_MW_TYPE_1)
		return EINVAL;
	return mxe_post_send(ibqp, &wr, &bad);
}
