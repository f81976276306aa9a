// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Device memory, which the process maps and copies to and from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rdma/mxe_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "container.h"
#include "dm.h"
#include "ioctl.h"
#include "rdmav.h"

struct mxe_dm {
	struct verbs_dm vdm;
	uint64_t length;		/* requested; bytes */
	size_t map_size;		/* bytes */
	char *mem;
};

static struct mxe_dm *to_mdm(struct ibv_dm *dm)
{
	return mxe_container(dm, struct mxe_dm, vdm.dm);
}

/* Offset and length must be multiples of 4, as on adapters. */
static int mxe_dm_check(const struct mxe_dm *dm, uint64_t offset, size_t length)
{
	if (offset % 4 || length % 4)
		return EINVAL;
	return offset > dm->length || length > dm->length - offset ? EFAULT : 0;
}

static int mxe_memcpy_to_dm(struct ibv_dm *ibdm, uint64_t offset,
			    const void *host, size_t length)
{
	struct mxe_dm *dm = to_mdm(ibdm);
	int ret = mxe_dm_check(dm, offset, length);

	if (!ret && length)
		memcpy(dm->mem + offset, host, length);
	return ret;
}

static int mxe_memcpy_from_dm(void *host, struct ibv_dm *ibdm, uint64_t offset,
			      size_t length)
{
	struct mxe_dm *dm = to_mdm(ibdm);
	int ret = mxe_dm_check(dm, offset, length);

	if (!ret && length)
		memcpy(host, dm->mem + offset, length);
	return ret;
}

/* Calls UVERBS_METHOD_DM_ALLOC with mxe's own attribute. */
static int mxe_ioctl_alloc_dm(struct ibv_context *context,
			      const struct ibv_alloc_dm_attr *attr,
			      struct mxe_alloc_dm_resp *resp, uint32_t *handle)
{
	struct ib_uverbs_attr attrs[] = {
		{ .attr_id = UVERBS_ATTR_ALLOC_DM_HANDLE },
		{ .attr_id = UVERBS_ATTR_ALLOC_DM_LENGTH,
		  .len = sizeof(uint64_t), .data = attr->length },
		{ .attr_id = UVERBS_ATTR_ALLOC_DM_ALIGNMENT,
		  .len = sizeof(uint32_t), .data = attr->log_align_req },
		{ .attr_id = MXE_ATTR_ALLOC_DM_RESP, .len = sizeof(*resp),
		  .data = (uintptr_t)resp },
	};
	int ret;

	ret = mxe_ioctl(context, UVERBS_OBJECT_DM,
			UVERBS_METHOD_DM_ALLOC, attrs, 4);
	*handle = (uint32_t)attrs[0].data;
	return ret;
}

/*
 * Completes dm, whose handle is set, and maps the memory. Returns 0 or a
 * positive errno.
 */
static int mxe_dm_map(struct mxe_dm *dm, struct ibv_context *context,
		      uint64_t length, uint64_t offset, uint64_t size)
{
	dm->vdm.dm.context = context;
	dm->vdm.dm.handle = dm->vdm.handle;
	dm->vdm.dm.memcpy_to_dm = mxe_memcpy_to_dm;
	dm->vdm.dm.memcpy_from_dm = mxe_memcpy_from_dm;
	dm->length = length;
	dm->map_size = size;
	dm->mem = mmap(NULL, dm->map_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       context->cmd_fd, (off_t)offset);
	return dm->mem == MAP_FAILED ? errno : 0;
}

struct ibv_dm *mxe_alloc_dm(struct ibv_context *context,
			    struct ibv_alloc_dm_attr *attr)
{
	struct mxe_alloc_dm_resp resp = { 0 };
	struct mxe_dm *dm;
	int ret;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	ret = mxe_ioctl_alloc_dm(context, attr, &resp, &dm->vdm.handle);
	if (ret)
		goto err_free;
	ret = mxe_dm_map(dm, context, attr->length, resp.mmap_offset,
			 resp.mmap_size);
	if (ret) {
		ibv_cmd_free_dm(&dm->vdm);
		goto err_free;
	}
	return &dm->vdm.dm;

err_free:
	free(dm);
	errno = ret;
	return NULL;
}

static int mxe_ioctl_query_dm(struct ibv_context *context, uint32_t handle,
			      struct mxe_query_dm_resp *resp)
{
	struct ib_uverbs_attr attrs[] = {
		{ .attr_id = MXE_ATTR_QUERY_DM_HANDLE, .data = handle },
		{ .attr_id = MXE_ATTR_QUERY_DM_RESP, .len = sizeof(*resp),
		  .data = (uintptr_t)resp },
	};

	return mxe_ioctl(context, UVERBS_OBJECT_DM, MXE_METHOD_DM_QUERY, attrs,
			 2);
}

struct ibv_dm *mxe_import_dm(struct ibv_context *context, uint32_t handle)
{
	struct mxe_query_dm_resp resp = { 0 };
	struct mxe_dm *dm;
	int ret;

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	dm->vdm.handle = handle;
	ret = mxe_ioctl_query_dm(context, handle, &resp);
	if (!ret)
		ret = mxe_dm_map(dm, context, resp.length, resp.mmap_offset,
				 resp.mmap_size);
	if (ret) {
		free(dm);
		errno = ret;
		return NULL;
	}
	return &dm->vdm.dm;
}

void mxe_unimport_dm(struct ibv_dm *ibdm)
{
	struct mxe_dm *dm = to_mdm(ibdm);

	munmap(dm->mem, dm->map_size);
	free(dm);
}

int mxe_free_dm(struct ibv_dm *ibdm)
{
	int ret = ibv_cmd_free_dm(&to_mdm(ibdm)->vdm);

	if (ret)
		return ret;
	mxe_unimport_dm(ibdm);
	return 0;
}

struct ibv_mr *mxe_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm,
			     uint64_t offset, size_t length,
			     unsigned int access)
{
	struct mxe_dm *dm = to_mdm(ibdm);
	struct verbs_mr *vmr = calloc(1, sizeof(*vmr));
	int ret;

	if (!vmr)
		return NULL;
	/* Memory beyond the requested length must not be registered. */
	ret = offset > dm->length || length > dm->length - offset ? EINVAL :
	      ibv_cmd_reg_dm_mr(pd, &dm->vdm, offset, length, access, vmr,
				NULL);
	if (ret) {
		free(vmr);
		errno = ret;
		return NULL;
	}
	return &vmr->ibv_mr;
}
