/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RDMA devices, and the capabilities of each. */
#ifndef MXEFI_DEVICE_H
#define MXEFI_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs_exp.h>

struct mxefi_device {
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	uint64_t sizes;		/* masked atomics: bit n for 2^n bytes */
	uint64_t sizes_be;	/* those with big-endian results */
	bool has_dc;		/* the dynamically connected transport */
	bool resizes_qps;	/* ibv_modify_qp() with IBV_QP_CAP */
	union ibv_gid gid;
	uint8_t gid_index;
};

int mxefi_device_open(struct mxefi_device *dev, struct ibv_device *device);
bool mxefi_device_gid_is_v4(const uint8_t gid[16]);
void mxefi_device_ask_atomics(const struct mxefi_device *dev,
			      struct ibv_exp_qp_init_attr *attr);
void mxefi_device_close(struct mxefi_device *dev);

#endif /* MXEFI_DEVICE_H */
