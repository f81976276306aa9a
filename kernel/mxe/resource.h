/* SPDX-License-Identifier: GPL-2.0 */
/*
 * resource.c counts the objects of each kind, of which a device has a limited number.
 */
#ifndef MXE_RESOURCE_H
#define MXE_RESOURCE_H

struct mxe_dev;

/* Resources that a device has a limited number of. */
enum mxe_resource {
	MXE_RESOURCE_PD,
	MXE_RESOURCE_AH,
	MXE_RESOURCE_CQ,
	MXE_RESOURCE_QP,
	MXE_RESOURCE_MR,
	MXE_RESOURCE_SRQ,
	MXE_RESOURCE_MW,
	MXE_RESOURCE_XRCD,
	MXE_RESOURCE_COUNT
};

/*
 * Account for one more object, or -ENOMEM at the limit that query_device
 * reports; and for one less.  Context: any.
 */
int mxe_resource_take(struct mxe_dev *dev, enum mxe_resource type);
void mxe_resource_give(struct mxe_dev *dev, enum mxe_resource type);

#endif /* MXE_RESOURCE_H */
