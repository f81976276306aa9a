/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Creates doorbell files with ioctl(), as libmxe does. */
#ifndef FD_OBJECT_H
#define FD_OBJECT_H

#include <stdint.h>
#include <sys/ioctl.h>
#include <infiniband/verbs.h>
#include <rdma/mxe-abi.h>
#include <rdma/mxe_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/**
 * fd_object_alloc() - Create an object whose only attribute is its file.
 * @ctx: context
 * @object: MXE_OBJECT_*
 * @method: MXE_METHOD_*
 * @attr: attribute that returns the file descriptor
 *
 * Return: the file descriptor, or -1 with errno set.
 */
static inline int fd_object_alloc(struct ibv_context *ctx, uint16_t object,
				  uint16_t method, uint16_t attr)
{
	union {
		struct ib_uverbs_ioctl_hdr hdr;
		char room[sizeof(struct ib_uverbs_ioctl_hdr) +
			  sizeof(struct ib_uverbs_attr)];
	} cmd = {
		.hdr = {
			.length = sizeof(cmd), .object_id = object,
			.method_id = method, .num_attrs = 1,
			.driver_id = MXE_DRIVER_ID,
		},
	};

	cmd.hdr.attrs[0] = (struct ib_uverbs_attr) {
		.attr_id = attr,
		.flags = UVERBS_ATTR_F_MANDATORY,
	};
	if (ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &cmd))
		return -1;
	return (int)cmd.hdr.attrs[0].data_s64;
}

/**
 * fd_object_doorbell() - Create another doorbell file.
 * @ctx: context, for which libmxe has a doorbell file already
 *
 * Return: the file descriptor, or -1 with errno set.
 */
static inline int fd_object_doorbell(struct ibv_context *ctx)
{
	return fd_object_alloc(ctx, MXE_OBJECT_DOORBELL,
			       MXE_METHOD_DOORBELL_ALLOC,
			       MXE_ATTR_DOORBELL_ALLOC_FD);
}

#endif /* FD_OBJECT_H */
