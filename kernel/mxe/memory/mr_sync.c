// SPDX-License-Identifier: GPL-2.0
/*
 * The uverbs method that synchronises a region with the memory of the process.
 */
#include <rdma/uverbs_ioctl.h>

#include "memory/dmabuf.h"
#include "memory/mr.h"
#include "memory/mr_sync.h"
#include "memory/shadow.h"
#include "mxe.h"

#define UVERBS_MODULE_NAME mxe
#include <rdma/uverbs_named_ioctl.h>

/* uverbs keeps the region from being deregistered or registered again. */
static int mxe_mr_sync(struct mxe_mr *mr, u64 addr, u64 length, u32 flags)
{
	int err = 0;

	if (mxe_mr_check(mr, mr->ibmr.pd, 0, addr, length))
		return mxe_refuse(mr->dev, -EINVAL,
				  "%llu bytes at %#llx are not in the region",
				  length, addr);
	if (!flags)
		return mxe_refuse(mr->dev, -EINVAL, "no direction");
	if (mr->dmabuf)
		err = mxe_dmabuf_sync(mr->dmabuf);
	else if (mr->remote)
		err = mxe_shadow_sync(mr->remote->shadow, addr - mr->iova,
				      length, flags);
	/* On other regions, the call only orders accesses. */
	smp_mb();
	return err;
}

static int UVERBS_HANDLER(MXE_METHOD_MR_SYNC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_mr *ibmr = uverbs_attr_get_obj(attrs, MXE_ATTR_SYNC_MR_HANDLE);
	u64 addr, length;
	u32 flags;
	int err;

	err = uverbs_copy_from(&addr, attrs, MXE_ATTR_SYNC_MR_ADDR);
	if (!err)
		err = uverbs_copy_from(&length, attrs, MXE_ATTR_SYNC_MR_LENGTH);
	if (!err)
		err = uverbs_get_flags32(&flags, attrs, MXE_ATTR_SYNC_MR_FLAGS,
					 MXE_SYNC_MR_FOR_CPU |
					 MXE_SYNC_MR_FOR_DEVICE);
	return err ?: mxe_mr_sync(to_mmr(ibmr), addr, length, flags);
}

DECLARE_UVERBS_NAMED_METHOD(
	MXE_METHOD_MR_SYNC,
	UVERBS_ATTR_IDR(MXE_ATTR_SYNC_MR_HANDLE, UVERBS_OBJECT_MR,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MXE_ATTR_SYNC_MR_ADDR, UVERBS_ATTR_TYPE(u64),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MXE_ATTR_SYNC_MR_LENGTH, UVERBS_ATTR_TYPE(u64),
			   UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(MXE_ATTR_SYNC_MR_FLAGS, enum mxe_sync_mr_flags,
			     UA_MANDATORY));

ADD_UVERBS_METHODS(mxe_mr_methods, UVERBS_OBJECT_MR,
		   &UVERBS_METHOD(MXE_METHOD_MR_SYNC));

const struct uapi_definition mxe_mr_sync_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_MR, &mxe_mr_methods),
	{},
};
