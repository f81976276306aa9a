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

/*
 * Copy a request of at least @min bytes from the process. Missing bytes of @req
 * are 0. Bytes beyond @size must be 0.
 * Context: Process context. May sleep.
 * Return: 0, -EINVAL for a bad length or non-zero bytes, or -EFAULT.
 */
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

/*
 * Check that the request of a verb that has no driver data is missing or zero.
 * @udata is NULL for a kernel consumer.
 * Context: Process context. May sleep.
 */
bool mxe_udata_cleared(struct ib_udata *udata)
{
	return !udata || !udata->inlen ||
	       ib_is_udata_cleared(udata, 0, udata->inlen);
}

/*
 * Copy a response of @size bytes to the process, as far as it has room.
 * Context: Process context. May sleep.
 * Return: 0 or -EFAULT.
 */
int mxe_udata_out(struct ib_udata *udata, const void *resp, size_t size)
{
	return ib_copy_to_udata(udata, (void *)resp, min(size, udata->outlen));
}
