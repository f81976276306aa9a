// SPDX-License-Identifier: GPL-2.0
/* Limits of a device, as query_device reports them. */
#include "mxe.h"
#include "resource.h"

static const int mxe_resource_limits[MXE_RESOURCE_COUNT] = {
	[MXE_RESOURCE_PD] = MXE_MAX_PD,
	[MXE_RESOURCE_AH] = MXE_MAX_AH,
	[MXE_RESOURCE_CQ] = MXE_MAX_CQ,
	[MXE_RESOURCE_QP] = MXE_MAX_QP,
	[MXE_RESOURCE_MR] = MXE_MAX_MR,
	[MXE_RESOURCE_SRQ] = MXE_MAX_SRQ,
	[MXE_RESOURCE_MW] = MXE_MAX_MW,
	[MXE_RESOURCE_XRCD] = MXE_MAX_XRCD,
	[MXE_RESOURCE_DC_SESSION] = MXE_MAX_DC_SESSIONS,
};

/*
 * Count an object that a packet creates. Return false at the limit.
 * Context: Any.
 */
bool mxe_resource_try_take(struct mxe_dev *dev, enum mxe_resource type)
{
	return atomic_add_unless(&dev->resources[type], 1, mxe_resource_limits[type]);
}

/*
 * Count an object that a verb creates. Return -ENOMEM at the limit that
 * query_device reports.
 * Context: Any.
 */
int mxe_resource_take(struct mxe_dev *dev, enum mxe_resource type)
{
	if (mxe_resource_try_take(dev, type))
		return 0;
	return mxe_refuse(dev, -ENOMEM, "all %d resources of type %d are in use",
			  mxe_resource_limits[type], type);
}

/*
 * Uncount an object that is destroyed.
 * Context: Any.
 */
void mxe_resource_give(struct mxe_dev *dev, enum mxe_resource type)
{
	atomic_dec(&dev->resources[type]);
}
