// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Calls uverbs methods for which libibverbs has no function. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <infiniband/verbs.h>
#include <rdma/mxe-abi.h>
#include <rdma/mxe_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "ioctl.h"

/**
 * mxe_ioctl() - Call a uverbs method.
 * @context: the context
 * @object: object id
 * @method: method id
 * @attrs: attributes
 * @num_attrs: number of attributes, at most MXE_IOCTL_ATTRS
 *
 * Return: 0 or a positive errno.
 */
int mxe_ioctl(struct ibv_context *context, uint16_t object, uint16_t method,
	      struct ib_uverbs_attr *attrs, unsigned int num_attrs)
{
	union {
		struct ib_uverbs_ioctl_hdr hdr;
		char room[sizeof(struct ib_uverbs_ioctl_hdr) +
			  MXE_IOCTL_ATTRS * sizeof(*attrs)];
	} cmd = {
		.hdr = {
			.length = (uint16_t)(sizeof(cmd.hdr) +
					     num_attrs * sizeof(*attrs)),
			.object_id = object,
			.method_id = method,
			.num_attrs = (uint16_t)num_attrs,
			.driver_id = MXE_DRIVER_ID,
		},
	};
	unsigned int i;

	for (i = 0; i < num_attrs; i++) {
		cmd.hdr.attrs[i] = attrs[i];
		cmd.hdr.attrs[i].flags = UVERBS_ATTR_F_MANDATORY;
	}
	if (ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &cmd))
		return errno;
	memcpy(attrs, cmd.hdr.attrs, num_attrs * sizeof(*attrs));
	return 0;
}

/**
 * mxe_ioctl_optional() - Call a uverbs method that older kernel modules lack.
 * @context: the context
 * @object: object id
 * @method: method id
 * @attrs: attributes
 * @num_attrs: number of attributes, at most MXE_IOCTL_ATTRS
 *
 * Return: as mxe_ioctl(), but EOPNOTSUPP if uverbs does not know the method.
 */
int mxe_ioctl_optional(struct ibv_context *context, uint16_t object,
		       uint16_t method, struct ib_uverbs_attr *attrs,
		       unsigned int num_attrs)
{
	int ret = mxe_ioctl(context, object, method, attrs, num_attrs);

	return ret == EPROTONOSUPPORT ? EOPNOTSUPP : ret;
}
