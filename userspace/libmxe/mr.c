// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory regions, which have no state in the library. */
#include <errno.h>
#include <stdlib.h>

#include <rdma/mxe_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "infiniband/mxedv.h"
#include "container.h"
#include "export.h"
#include "ioctl.h"
#include "mr.h"
#include "rdmav.h"

/* See mxedv_take_last_mr(). */
static __thread struct ibv_mr *mxe_last_mr;

MXE_EXPORT struct ibv_mr *mxedv_take_last_mr(void)
{
	struct ibv_mr *mr = mxe_last_mr;

	mxe_last_mr = NULL;
	return mr;
}

struct ibv_mr *mxe_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  uint64_t hca_va, int access)
{
	struct ibv_reg_mr cmd;
	struct ib_uverbs_reg_mr_resp resp;
	struct verbs_mr *vmr;
	int ret;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	ret = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, vmr, &cmd,
			     sizeof(cmd), &resp, sizeof(resp));
	if (ret) {
		free(vmr);
		errno = ret;
		return NULL;
	}
	mxe_last_mr = &vmr->ibv_mr;
	return &vmr->ibv_mr;
}

struct ibv_mr *mxe_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				 size_t length, uint64_t hca_va, int fd,
				 int access)
{
	struct verbs_mr *vmr;
	int ret;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	ret = ibv_cmd_reg_dmabuf_mr(pd, offset, length, hca_va, fd, access,
				    vmr, NULL);
	if (ret) {
		free(vmr);
		errno = ret;
		return NULL;
	}
	return &vmr->ibv_mr;
}

int mxe_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
		 size_t length, int access)
{
	struct ibv_rereg_mr cmd;
	struct ib_uverbs_rereg_mr_resp resp;

	return ibv_cmd_rereg_mr(vmr, (uint32_t)flags, addr, length,
				(uintptr_t)addr, access, pd, &cmd, sizeof(cmd),
				&resp, sizeof(resp));
}

int mxe_dereg_mr(struct verbs_mr *vmr)
{
	int ret = ibv_cmd_dereg_mr(vmr);

	if (!ret)
		free(vmr);
	return ret;
}

/**
 * mxe_ioctl_sync_mr() - Call MXE_METHOD_MR_SYNC.
 * @mr: region of an mxe device
 * @addr: first address, as peers use it
 * @length: bytes
 * @flags: enum mxe_sync_mr_flags
 *
 * Return: 0 or a positive errno.
 */
int mxe_ioctl_sync_mr(struct ibv_mr *mr, uint64_t addr, uint64_t length,
		      uint32_t flags)
{
	struct ib_uverbs_attr attrs[] = {
		{ .attr_id = MXE_ATTR_SYNC_MR_HANDLE, .data = mr->handle },
		{ .attr_id = MXE_ATTR_SYNC_MR_ADDR, .len = sizeof(addr),
		  .data = addr },
		{ .attr_id = MXE_ATTR_SYNC_MR_LENGTH, .len = sizeof(length),
		  .data = length },
		{ .attr_id = MXE_ATTR_SYNC_MR_FLAGS, .len = sizeof(flags),
		  .data = flags },
	};

	return mxe_ioctl_optional(mr->context, UVERBS_OBJECT_MR,
				  MXE_METHOD_MR_SYNC, attrs, 4);
}

/* The address of the region is unknown, as ibv_import_mr(3) permits. */
struct ibv_mr *mxe_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct verbs_mr *vmr;
	int ret;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	ret = ibv_cmd_query_mr(pd, vmr, handle);
	if (ret) {
		free(vmr);
		errno = ret;
		return NULL;
	}
	return &vmr->ibv_mr;
}

void mxe_unimport_mr(struct ibv_mr *mr)
{
	free(mxe_container(mr, struct verbs_mr, ibv_mr));
}
