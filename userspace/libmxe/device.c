// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The entry point of the provider: devices, contexts, and the table of verbs
 * that libibverbs calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <rdma/mxe_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "ah.h"
#include "container.h"
#include "context.h"
#include "cq.h"
#include "device.h"
#include "dm.h"
#include "ece.h"
#include "ioctl.h"
#include "mr.h"
#include "mw.h"
#include "pd.h"
#include "qp.h"
#include "rdmav.h"
#include "recv.h"
#include "send.h"
#include "srq.h"

static const struct verbs_device_ops mxe_device_ops;

struct mxe_get_context {
	struct ibv_get_context cmd;
	struct mxe_alloc_ucontext_req drv;
};

struct mxe_get_context_resp {
	__aligned_u64 core[sizeof(struct ib_uverbs_get_context_resp) / 8];
	struct mxe_alloc_ucontext_resp drv;
};

static int mxe_alloc_doorbell(struct mxe_context *ctx)
{
	struct ib_uverbs_attr attr = {
		.attr_id = MXE_ATTR_DOORBELL_ALLOC_FD,
	};
	int ret;

	ret = mxe_ioctl(&ctx->vctx.context, MXE_OBJECT_DOORBELL,
			MXE_METHOD_DOORBELL_ALLOC, &attr, 1);
	if (ret)
		return ret;
	ctx->doorbell_fd = attr.data_s64;
	return 0;
}

static int mxe_query_atomics(struct mxe_context *ctx)
{
	struct ib_uverbs_attr attr = {
		.attr_id = MXE_ATTR_DEVICE_QUERY_ATOMICS_CAPS,
		.len = sizeof(ctx->caps),
		.data = (uintptr_t)&ctx->caps,
	};

	return mxe_ioctl(&ctx->vctx.context, UVERBS_OBJECT_DEVICE,
			 MXE_METHOD_DEVICE_QUERY_ATOMICS, &attr, 1);
}

static_assert(MXEDV_VENDOR_ID == MXE_VENDOR_ID, "the kernel reports it");

static int mxe_query_device_ex(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr,
			       size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	int ret;

	ret = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp,
				       &resp_size);
	if (ret)
		return ret;

	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u", (unsigned int)(resp.base.fw_ver >> 16),
		 (unsigned int)(resp.base.fw_ver >> 8) & 0xff,
		 (unsigned int)resp.base.fw_ver & 0xff);
	if (to_mctx(context)->has_resize_qp)
		attr->orig_attr.device_cap_flags |= IBV_DEVICE_RESIZE_MAX_WR;
	return 0;
}

/*
 * Reads the clock of the completion timestamps. By the convention of libibverbs
 * the whole raw clock value is in tv_nsec. Our raw clock counts nanoseconds.
 */
static int mxe_query_rt_values(struct ibv_context *context,
			       struct ibv_values_ex *values)
{
	uint32_t asked = values->comp_mask;
	struct timespec now;

	(void)context;
	values->comp_mask = 0;
	if (!(asked & IBV_VALUES_MASK_RAW_CLOCK))
		return 0;
	if (clock_gettime(CLOCK_MONOTONIC, &now))
		return errno;
	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = now.tv_sec * 1000000000 + now.tv_nsec;
	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}

static int mxe_query_port(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(context, port_num, attr, &cmd, sizeof(cmd));
}

static void mxe_free_context(struct ibv_context *context)
{
	struct mxe_context *ctx = to_mctx(context);

	close(ctx->doorbell_fd);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops mxe_context_ops = {
	.alloc_dm = mxe_alloc_dm,
	.alloc_mw = mxe_alloc_mw,
	.alloc_parent_domain = mxe_alloc_parent_domain,
	.alloc_pd = mxe_alloc_pd,
	.alloc_td = mxe_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = mxe_bind_mw,
	.close_xrcd = mxe_close_xrcd,
	.create_ah = mxe_create_ah,
	.create_cq = mxe_create_cq,
	.create_cq_ex = mxe_create_cq_ex,
	.create_qp = mxe_create_qp,
	.create_qp_ex = mxe_create_qp_ex,
	.create_srq = mxe_create_srq,
	.create_srq_ex = mxe_create_srq_ex,
	.dealloc_mw = mxe_dealloc_mw,
	.dealloc_pd = mxe_dealloc_pd,
	.dealloc_td = mxe_dealloc_td,
	.dereg_mr = mxe_dereg_mr,
	.destroy_ah = mxe_destroy_ah,
	.destroy_cq = mxe_destroy_cq,
	.destroy_qp = mxe_destroy_qp,
	.destroy_srq = mxe_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_dm = mxe_free_dm,
	.free_context = mxe_free_context,
	.get_srq_num = mxe_get_srq_num,
	.import_dm = mxe_import_dm,
	.import_mr = mxe_import_mr,
	.import_pd = mxe_import_pd,
	.modify_cq = mxe_modify_cq,
	.modify_qp = mxe_modify_qp,
	.modify_srq = mxe_modify_srq,
	.open_qp = mxe_open_qp,
	.open_xrcd = mxe_open_xrcd,
	.poll_cq = mxe_poll_cq,
	.post_recv = mxe_post_recv,
	.post_send = mxe_post_send,
	.post_srq_ops = mxe_post_srq_ops,
	.post_srq_recv = mxe_post_srq_recv,
	.query_device_ex = mxe_query_device_ex,
	.query_ece = mxe_query_ece,
	.query_port = mxe_query_port,
	.query_qp = mxe_query_qp,
	.query_rt_values = mxe_query_rt_values,
	.query_srq = mxe_query_srq,
	.reg_dm_mr = mxe_reg_dm_mr,
	.reg_dmabuf_mr = mxe_reg_dmabuf_mr,
	.reg_mr = mxe_reg_mr,
	.req_notify_cq = ibv_cmd_req_notify_cq,
	.rereg_mr = mxe_rereg_mr,
	.resize_cq = mxe_resize_cq,
	.set_ece = mxe_set_ece,
	.unimport_dm = mxe_unimport_dm,
	.unimport_mr = mxe_unimport_mr,
	.unimport_pd = mxe_unimport_pd,
};

/*
 * Takes over cmd_fd, also on failure. is_import is true if the file has a user
 * context already.
 */
static struct verbs_context *mxe_new_context(struct ibv_device *device,
					     int cmd_fd, bool is_import)
{
	struct mxe_get_context cmd = { 0 };
	struct mxe_get_context_resp resp = { 0 };
	struct verbs_context *offset =
		(struct verbs_context *)offsetof(struct mxe_context, vctx);
	struct mxe_context *ctx;
	int ret;

	ctx = _verbs_init_and_alloc_context(device, cmd_fd, sizeof(*ctx),
					    offset, MXE_DRIVER_ID);
	if (!ctx)
		return NULL;

	ret = EPROTO;
	if (!mxe_rdmav_check_context(&ctx->vctx))
		goto err_uninit;
	verbs_set_ops(&ctx->vctx, &mxe_context_ops);
	if (!mxe_rdmav_check_ops(&ctx->vctx, &mxe_context_ops))
		goto err_uninit;

	ret = is_import ? ibv_cmd_query_context(&ctx->vctx.context, NULL) :
	      ibv_cmd_get_context(&ctx->vctx, &cmd.cmd, sizeof(cmd),
				  RDMAV_ARG_57(NULL)
				  (void *)&resp, sizeof(resp));
	if (ret)
		goto err_uninit;
	if (resp.drv.comp_mask & MXE_ALLOC_UCONTEXT_INLINE_RECV)
		ctx->max_inline_recv = MXE_CQE_INLINE_SIZE;
	ctx->has_one_mapping = resp.drv.comp_mask & MXE_ALLOC_UCONTEXT_ONE_MAPPING;
	ctx->has_resize_qp = resp.drv.comp_mask & MXE_ALLOC_UCONTEXT_RESIZE_QP;
	ret = mxe_query_atomics(ctx);
	if (ret)
		goto err_uninit;
	ret = mxe_alloc_doorbell(ctx);
	if (ret)
		goto err_uninit;

	return &ctx->vctx;

err_uninit:
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	errno = ret;
	return NULL;
}

static struct verbs_context *mxe_alloc_context(struct ibv_device *device,
					       int cmd_fd, void *private_data)
{
	(void)private_data;
	return mxe_new_context(device, cmd_fd, false);
}

static struct verbs_context *mxe_import_context(struct ibv_device *device,
						int cmd_fd)
{
	return mxe_new_context(device, cmd_fd, true);
}

static struct verbs_device *mxe_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	(void)sysfs_dev;
	return calloc(1, sizeof(struct verbs_device));
}

static void mxe_uninit_device(struct verbs_device *vdev)
{
	free(vdev);
}

/**
 * mxe_is_device() - Check if a device is an mxe device.
 * @device: the device
 *
 * Return: true if this provider drives it.
 */
bool mxe_is_device(struct ibv_device *device)
{
	return mxe_container(device, struct verbs_device, device)->ops ==
	       &mxe_device_ops;
}

static const struct verbs_match_ent mxe_match_table[] = {
	{ .u.driver_id = MXE_DRIVER_ID, .kind = VERBS_MATCH_DRIVER_ID },
	{ .kind = VERBS_MATCH_SENTINEL },
};

static const struct verbs_device_ops mxe_device_ops = {
	.name = "mxe",
	.match_min_abi_version = MXE_UVERBS_ABI_VERSION,
	.match_max_abi_version = MXE_UVERBS_ABI_VERSION,
	.match_table = mxe_match_table,
	.alloc_device = mxe_alloc_device,
	.uninit_device = mxe_uninit_device,
	.alloc_context = mxe_alloc_context,
	.import_context = mxe_import_context,
};

PROVIDER_DRIVER(mxe, mxe_device_ops);
