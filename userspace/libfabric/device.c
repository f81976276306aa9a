// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The RDMA devices, and the capabilities of each. */
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <infiniband/mxedv.h>

#include "atomic_plan.h"
#include "device.h"
#include "provider.h"

/**
 * mxefi_device_gid_is_v4() - Check whether a GID is an IPv4 address.
 * @gid: GID
 *
 * Return: true if it is; the address is in the last 4 bytes.
 */
bool mxefi_device_gid_is_v4(const uint8_t gid[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, mapped, sizeof(mapped));
}

/* True if the GID is an address of a network interface in this namespace. */
static bool is_local(const union ibv_gid *gid, const struct ifaddrs *list)
{
	for (; list; list = list->ifa_next) {
		const struct sockaddr *sa = list->ifa_addr;

		if (!sa)
			continue;
		if (sa->sa_family == AF_INET &&
		    mxefi_device_gid_is_v4(gid->raw) &&
		    !memcmp(gid->raw + 12,
			    &((const struct sockaddr_in *)sa)->sin_addr, 4))
			return true;
		if (sa->sa_family == AF_INET6 &&
		    !memcmp(gid->raw,
			    &((const struct sockaddr_in6 *)sa)->sin6_addr, 16))
			return true;
	}
	return false;
}

/* Prefers RoCEv2, and the first such GID that is not link-local. */
static int find_gid(struct mxefi_device *dev)
{
	struct ibv_gid_entry entry;
	struct ifaddrs *list;
	int found = -FI_ENODATA;

	if (getifaddrs(&list))
		return -errno;
	for (int i = 0; found && i < dev->port.gid_tbl_len && i < 256; i++) {
		if (ibv_query_gid_ex(dev->ctx, 1, (uint32_t)i, &entry, 0) ||
		    entry.gid_type == IBV_GID_TYPE_ROCE_V1 ||
		    entry.gid.raw[0] == 0xfe || !is_local(&entry.gid, list))
			continue;
		dev->gid = entry.gid;
		dev->gid_index = (uint8_t)i;
		found = 0;
	}
	freeifaddrs(list);
	return found;
}

static void query_exp(struct mxefi_device *dev)
{
	struct ibv_exp_device_attr attr = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS |
			     IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS,
	};

	if (ibv_exp_query_device(dev->ctx, &attr))
		return;
	dev->has_dc = attr.comp_mask & IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS &&
		      attr.exp_device_cap_flags & IBV_EXP_DEVICE_DC_TRANSPORT;
	if (!(attr.comp_mask & IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS) ||
	    attr.exp_atomic_cap == IBV_EXP_ATOMIC_HCA_REPLY_BE)
		return;
	dev->sizes = attr.masked_atomic.masked_log_atomic_arg_sizes & 0x3f;
	/* An emulated atomic of 1 or 2 bytes accesses the word around it. */
	if (attr.exp_device_cap_flags & IBV_EXP_DEVICE_MASKED_ATOMICS_EMULATED)
		dev->sizes &= ~(uint64_t)3;
	dev->sizes_be =
		attr.masked_atomic.masked_log_atomic_arg_sizes_network_endianness;
}

/**
 * mxefi_device_open() - Open a device for the provider.
 * @dev: filled in
 * @device: device of libibverbs
 *
 * Return: 0, or a negative error of libfabric. -FI_ENODATA: port 1 is not
 * active, has no GID that is an address of a network interface of this network
 * namespace, or the device has no SRQs.
 */
int mxefi_device_open(struct mxefi_device *dev, struct ibv_device *device)
{
	int ret;

	memset(dev, 0, sizeof(*dev));
	dev->ctx = ibv_open_device(device);
	if (!dev->ctx)
		return -FI_ENODATA;
	if (ibv_query_device(dev->ctx, &dev->attr) ||
	    ibv_query_port(dev->ctx, 1, &dev->port) ||
	    dev->port.state != IBV_PORT_ACTIVE || !dev->attr.max_srq)
		ret = -FI_ENODATA;
	else
		ret = find_gid(dev);
	if (ret) {
		mxefi_info(FI_LOG_CORE,
			   "%s: no active port with an address of this network namespace, or no SRQ\n",
			   ibv_get_device_name(device));
		mxefi_device_close(dev);
		return ret;
	}
	query_exp(dev);
	/* Other drivers set the flag, but uverbs does not pass them sizes. */
	dev->resizes_qps = dev->attr.vendor_id == MXEDV_VENDOR_ID &&
			   dev->attr.device_cap_flags & IBV_DEVICE_RESIZE_MAX_WR;
	return 0;
}

/**
 * mxefi_device_ask_atomics() - Ask for masked atomics of all sizes.
 * @dev: device, which may have none
 * @attr: attributes of a queue pair that is to be created
 */
void mxefi_device_ask_atomics(const struct mxefi_device *dev,
			      struct ibv_exp_qp_init_attr *attr)
{
	uint32_t size = MXEFI_MAX_WORD;

	if (!dev->sizes)
		return;
	/* Bit n, whose value is 2^n, stands for 2^n bytes. */
	while (!(dev->sizes & size))
		size /= 2;
	attr->comp_mask |= IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG;
	attr->max_atomic_arg = size;
}

/**
 * mxefi_device_close() - Close a device.
 * @dev: device
 */
void mxefi_device_close(struct mxefi_device *dev)
{
	ibv_close_device(dev->ctx);
	dev->ctx = NULL;
}
