/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The fabric, which programs open first. */
#ifndef MXEFI_FABRIC_H
#define MXEFI_FABRIC_H

#include <stdbool.h>
#include <rdma/fabric.h>

#include "container.h"

struct mxefi_fabric {
	struct fid_fabric fid;
	unsigned int users;	/* domains and event queues; atomic */
};

/**
 * mxefi_fabric_is_old() - Check whether a program uses the API before 1.5.
 * @fabric: fabric
 *
 * Its error entries have no member err_data_size for the size of a buffer.
 *
 * Return: true if it does.
 */
static inline bool mxefi_fabric_is_old(const struct mxefi_fabric *fabric)
{
	/* libfabric sets it when the fabric is open. */
	return FI_VERSION_LT(fabric->fid.api_version, FI_VERSION(1, 5));
}

/**
 * mxefi_fabric_hold() - Count an object of a fabric.
 * @fabric: fabric that a program has opened
 *
 * Return: the fabric, for mxefi_fabric_release().
 */
static inline struct mxefi_fabric *mxefi_fabric_hold(struct fid_fabric *fabric)
{
	struct mxefi_fabric *ret = container_of(fabric, struct mxefi_fabric,
						fid);

	__atomic_add_fetch(&ret->users, 1, __ATOMIC_RELAXED);
	return ret;
}

/**
 * mxefi_fabric_release() - Stop counting an object.
 * @fabric: fabric
 */
static inline void mxefi_fabric_release(struct mxefi_fabric *fabric)
{
	__atomic_sub_fetch(&fabric->users, 1, __ATOMIC_RELEASE);
}

#endif /* MXEFI_FABRIC_H */
