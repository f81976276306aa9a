/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device memory is the kernel's, unlike that of an adapter.  A device gives
 * MXE_MAX_DM_SIZE bytes at most.  Processes copy to and from it through a mapping;
 * peers reach it through regions.
 */
#ifndef MXE_DM_H
#define MXE_DM_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct mxe_mmap_entry;

/*
 * Lifetime: created and destroyed by verbs; the core destroys none that a
 * region refers to.  The memory belongs to the mmap entry: a process that still
 * maps it when it is freed keeps its pages, and nobody else gets them before.
 */
struct mxe_dm {
	struct ib_dm ibdm;
	struct mxe_mmap_entry *entry;
	size_t size;			/* whole pages */
};

static inline struct mxe_dm *to_mdm(struct ib_dm *ibdm)
{
	return container_of(ibdm, struct mxe_dm, ibdm);
}

/* Verbs of ib_device_ops. */
struct ib_dm *mxe_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *uctx,
			   struct ib_dm_alloc_attr *attr,
			   struct uverbs_attr_bundle *attrs);
int mxe_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);

/* What mxe adds to UVERBS_METHOD_DM_ALLOC. */
extern const struct uapi_definition mxe_dm_defs[];

#endif /* MXE_DM_H */
