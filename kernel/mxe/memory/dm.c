// SPDX-License-Identifier: GPL-2.0
/* Verbs of device memory. */
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "memory/dm.h"
#include "memory/ring.h"
#include "mxe.h"

#define UVERBS_MODULE_NAME mxe
#include <rdma/uverbs_named_ioctl.h>

static int mxe_dm_take(struct mxe_dev *dev, size_t size)
{
	if (atomic_long_add_return(size, &dev->dm_used) <= MXE_MAX_DM_SIZE)
		return 0;
	atomic_long_sub(size, &dev->dm_used);
	return mxe_refuse(dev, -ENOMEM, "less than %zu bytes of device memory free", size);
}

struct ib_dm *mxe_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *uctx,
			   struct ib_dm_alloc_attr *attr,
			   struct uverbs_attr_bundle *attrs)
{
	struct mxe_dev *dev = to_mdev(ibdev);
	struct mxe_alloc_dm_resp resp = {};
	struct mxe_dm *dm;
	int err;

	/*
	 * Regions begin at address 0, and the memory on a page, so any
	 * alignment up to a page is met.
	 */
	if (!attr->length || attr->length > MXE_MAX_DM_SIZE ||
	    attr->alignment > PAGE_SHIFT)
		return ERR_PTR(mxe_refuse(dev, -EINVAL,
					  "invalid length %llu or alignment 2^%u",
					  attr->length, attr->alignment));
	dm = kzalloc(sizeof(*dm), GFP_KERNEL_ACCOUNT);
	if (!dm)
		return ERR_PTR(-ENOMEM);
	dm->size = PAGE_ALIGN(attr->length);
	err = mxe_dm_take(dev, dm->size);
	if (err)
		goto err_free;
	dm->entry = mxe_ring_mmap_entry_alloc(uctx, dm->size);
	if (IS_ERR(dm->entry)) {
		err = PTR_ERR(dm->entry);
		goto err_give;
	}

	resp.mmap_offset = rdma_user_mmap_get_offset(&dm->entry->rdma_entry);
	resp.mmap_size = dm->size;
	err = uverbs_copy_to_struct_or_zero(attrs, MXE_ATTR_ALLOC_DM_RESP,
					    &resp, sizeof(resp));
	if (err)
		goto err_remove;
	return &dm->ibdm;

err_remove:
	rdma_user_mmap_entry_remove(&dm->entry->rdma_entry);
err_give:
	atomic_long_sub(dm->size, &dev->dm_used);
err_free:
	kfree(dm);
	return ERR_PTR(err);
}

int mxe_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs)
{
	struct mxe_dev *dev = to_mdev(ibdm->device);
	struct mxe_dm *dm = to_mdm(ibdm);

	rdma_user_mmap_entry_remove(&dm->entry->rdma_entry);
	atomic_long_sub(dm->size, &dev->dm_used);
	kfree(dm);
	return 0;
}

static int UVERBS_HANDLER(MXE_METHOD_DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm = uverbs_attr_get_obj(attrs, MXE_ATTR_QUERY_DM_HANDLE);
	struct mxe_dm *dm = to_mdm(ibdm);
	struct mxe_query_dm_resp resp = {
		.mmap_offset = rdma_user_mmap_get_offset(&dm->entry->rdma_entry),
		.mmap_size = dm->size,
		.length = ibdm->length,
	};

	return uverbs_copy_to_struct_or_zero(attrs, MXE_ATTR_QUERY_DM_RESP,
					     &resp, sizeof(resp));
}

DECLARE_UVERBS_NAMED_METHOD(
	MXE_METHOD_DM_QUERY,
	UVERBS_ATTR_IDR(MXE_ATTR_QUERY_DM_HANDLE, UVERBS_OBJECT_DM,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MXE_ATTR_QUERY_DM_RESP,
			    UVERBS_ATTR_STRUCT(struct mxe_query_dm_resp,
					       length),
			    UA_MANDATORY));

ADD_UVERBS_METHODS(mxe_dm_methods, UVERBS_OBJECT_DM,
		   &UVERBS_METHOD(MXE_METHOD_DM_QUERY));

ADD_UVERBS_ATTRIBUTES_SIMPLE(
	mxe_dm_alloc, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
	UVERBS_ATTR_PTR_OUT(MXE_ATTR_ALLOC_DM_RESP,
			    UVERBS_ATTR_STRUCT(struct mxe_alloc_dm_resp,
					       mmap_size),
			    UA_MANDATORY));

const struct uapi_definition mxe_dm_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &mxe_dm_alloc),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &mxe_dm_methods),
	{},
};
