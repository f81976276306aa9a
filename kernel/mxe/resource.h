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

bool mxe_resource_try_take(struct mxe_dev *dev, enum mxe_resource type);
int mxe_resource_take(struct mxe_dev *dev, enum mxe_resource type);
void mxe_resource_give(struct mxe_dev *dev, enum mxe_resource type);

#endif /* MXE_RESOURCE_H */
