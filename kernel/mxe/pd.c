// SPDX-License-Identifier: GPL-2.0
#include <rdma/uverbs_ioctl.h>

#include "device.h"
#include "mxe.h"
#include "pd.h"
#include "sqpoll.h"

struct ib_ucontext *mxe_udata_ucontext(struct ib_udata *udata)
{
	return &rdma_udata_to_drv_context(udata, struct mxe_ucontext,
					  ibuc)->ibuc;
}

int mxe_udata_in(struct ib_udata *udata, void *req, size_t min, size_t size)
{
	if (udata->inlen < min)
		return -EINVAL;
	if (udata->inlen > size &&
	    !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EINVAL;
	memset(req, 0, size);
	return ib_copy_from_udata(req, udata, min(size, udata->inlen));
}

bool mxe_udata_cleared(struct ib_udata *udata)
{
	return !udata || !udata->inlen ||
	       ib_is_udata_cleared(udata, 0, udata->inlen);
}

int mxe_udata_out(struct ib_udata *udata, const void *resp, size_t size)
{
	return ib_copy_to_udata(udata, (void *)resp, min(size, udata->outlen));
}

int mxe_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	if (!mxe_udata_cleared(udata))
		return mxe_refuse(to_mdev(pd->device), -EINVAL,
				  "non-zero udata");
	return mxe_device_take(to_mdev(pd->device), MXE_RESOURCE_PD);
}

int mxe_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	mxe_device_give(to_mdev(pd->device), MXE_RESOURCE_PD);
	return 0;
}

int mxe_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(uctx->device);
	struct mxe_alloc_ucontext_req req;
	struct mxe_alloc_ucontext_resp resp = {
		.max_inline = MXE_MAX_INLINE,
	};
	int err;

	err = mxe_udata_in(udata, &req, 0, sizeof(req));
	if (err)
		return mxe_refuse(dev, err, "bad udata");
	if (req.flags || req.reserved)
		return mxe_refuse(dev, -EINVAL, "unknown flags %#x",
				  req.flags);
	to_muctx(uctx)->sqpoll_set = mxe_sqpoll_set_alloc();
	if (!to_muctx(uctx)->sqpoll_set)
		return -ENOMEM;
	err = mxe_udata_out(udata, &resp, sizeof(resp));
	if (err)
		mxe_sqpoll_set_free(to_muctx(uctx)->sqpoll_set);
	return err;
}

void mxe_dealloc_ucontext(struct ib_ucontext *uctx)
{
	mxe_sqpoll_set_free(to_muctx(uctx)->sqpoll_set);
}

/*
 * Nothing to revoke: what a process maps is memory, not a device, and stays
 * valid.  That the operation exists lets a device go without waiting for the
 * processes that have it open.
 */
void mxe_disassociate_ucontext(struct ib_ucontext *uctx)
{
}
