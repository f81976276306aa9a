/* SPDX-License-Identifier: GPL-2.0 */
/* Limits on the number of objects of a device (resource.c). */
#ifndef MXE_RESOURCE_H
#define MXE_RESOURCE_H

#include <linux/types.h>

struct mxe_dev;

/* Types of limited objects. */
enum mxe_resource {
	MXE_RESOURCE_PD,
	MXE_RESOURCE_AH,
	MXE_RESOURCE_CQ,
	MXE_RESOURCE_QP,
	MXE_RESOURCE_MR,
	MXE_RESOURCE_SRQ,
	MXE_RESOURCE_MW,
	MXE_RESOURCE_XRCD,
	MXE_RESOURCE_DC_SESSION,	/* which peers open */
	MXE_RESOURCE_COUNT
};

/**
 * mxe_resource_try_take() - Count an object that a packet creates.
 * @dev: the device
 * @type: type of the object
 *
 * Context: Any.
 * Return: true, or false at the limit.
 */
bool mxe_resource_try_take(struct mxe_dev *dev, enum mxe_resource type);

/**
 * mxe_resource_take() - Count an object that a verb creates.
 * @dev: the device
 * @type: type of the object
 *
 * Context: Any.
 * Return: 0, or -ENOMEM at the limit that query_device reports.
 */
int mxe_resource_take(struct mxe_dev *dev, enum mxe_resource type);

/**
 * mxe_resource_give() - Uncount an object that is destroyed.
 * @dev: the device
 * @type: type of the object
 *
 * Context: Any.
 */
void mxe_resource_give(struct mxe_dev *dev, enum mxe_resource type);

#endif /* MXE_RESOURCE_H */
