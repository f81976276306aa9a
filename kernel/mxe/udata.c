// SPDX-License-Identifier: GPL-2.0
/* Copies and checks the driver data (udata) of uverbs commands. */
#include <rdma/uverbs_ioctl.h>

#include "ucontext.h"
#include "udata.h"

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
