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

/**
 * mxefi_device_open() - Open a device for the provider.
 * @dev: filled in
 * @device: device of libibverbs
 *
 * Return: 0, or a negative error of libfabric. -FI_ENODATA: port 1 is not
 * active, has no GID that is an address of a network interface of this network
 * namespace, or the device has no SRQs.
 */
int mxefi_device_open(struct mxefi_device *dev, struct ibv_device *device);

/**
 * mxefi_device_gid_is_v4() - Check whether a GID is an IPv4 address.
 * @gid: GID
 *
 * Return: true if it is; the address is in the last 4 bytes.
 */
bool mxefi_device_gid_is_v4(const uint8_t gid[16]);

/**
 * mxefi_device_ask_atomics() - Ask for masked atomics of all sizes.
 * @dev: device, which may have none
 * @attr: attributes of a queue pair that is to be created
 */
void mxefi_device_ask_atomics(const struct mxefi_device *dev,
			      struct ibv_exp_qp_init_attr *attr);

/**
 * mxefi_device_close() - Close a device.
 * @dev: device
 */
void mxefi_device_close(struct mxefi_device *dev);

#endif /* MXEFI_DEVICE_H */
