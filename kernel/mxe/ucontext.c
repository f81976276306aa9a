// SPDX-License-Identifier: GPL-2.0
/* The verbs of protection domains and user contexts. */
#include <rdma/uverbs_ioctl.h>

#include "mxe.h"
#include "ucontext.h"
#include "udata.h"

int mxe_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	if (!mxe_udata_cleared(udata))
		return mxe_refuse(to_mdev(pd->device), -EINVAL,
				  "non-zero udata");
	return mxe_resource_take(to_mdev(pd->device), MXE_RESOURCE_PD);
}

int mxe_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	mxe_resource_give(to_mdev(pd->device), MXE_RESOURCE_PD);
	return 0;
}

int mxe_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(uctx->device);
	struct mxe_alloc_ucontext_req req;
	struct mxe_alloc_ucontext_resp resp = {
		.comp_mask = MXE_ALLOC_UCONTEXT_INLINE_RECV |
			     MXE_ALLOC_UCONTEXT_ONE_MAPPING |
			     MXE_ALLOC_UCONTEXT_RESIZE_QP,
		.max_inline = MXE_MAX_INLINE,
	};
	int err;

	err = mxe_udata_in(udata, &req, 0, sizeof(req));
	if (err)
		return mxe_refuse(dev, err, "bad udata");
	if (req.flags || req.reserved)
		return mxe_refuse(dev, -EINVAL, "unknown flags %#x",
				  req.flags);
	return mxe_udata_out(udata, &resp, sizeof(resp));
}

/*
 * ib_core requires this operation for ibv_import_device(). An importer does not
 * need the response of mxe_alloc_ucontext().
 */
int mxe_query_ucontext(struct ib_ucontext *uctx,
		       struct uverbs_attr_bundle *attrs)
{
	return 0;
}

void mxe_dealloc_ucontext(struct ib_ucontext *uctx)
{
}

/*
 * There is nothing to revoke, because processes map memory and no device
 * registers. The operation exists so that ib_core can remove a device while
 * processes have it open.
 */
void mxe_disassociate_ucontext(struct ib_ucontext *uctx)
{
}
