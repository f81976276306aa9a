/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The context of an open device. */
#ifndef MXE_CONTEXT_H
#define MXE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/mxe_user_ioctl_cmds.h>

#include "container.h"
#include "rdmav.h"

struct mxe_context {
	struct verbs_context vctx;
	struct mxe_atomic_caps caps;
	uint32_t max_inline_recv;	/* bytes; 0: not supported */
	bool has_one_mapping;		/* MXE_QP_CREATE_ONE_MAPPING */
	bool has_resize_qp;		/* MXE_METHOD_QP_RESIZE */
	int doorbell_fd;
};

static inline struct mxe_context *to_mctx(struct ibv_context *context)
{
	return mxe_container(context, struct mxe_context, vctx.context);
}

#endif /* MXE_CONTEXT_H */
