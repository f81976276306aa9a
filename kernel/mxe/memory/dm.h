/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device memory (dm.c) is ordinary kernel memory, up to MXE_MAX_DM_SIZE bytes
 * for each device. Processes map it, and peers access it through regions.
 */
#ifndef MXE_DM_H
#define MXE_DM_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct mxe_mmap_entry;

/*
 * Lifetime: created and destroyed by verbs. ib_core does not destroy one that a
 * region uses. The memory belongs to the mmap entry. A process that still maps
 * it when it is destroyed keeps the pages, which are not reused meanwhile.
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

/* Verbs, see the members of struct ib_device_ops of the same names. */
struct ib_dm *mxe_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *uctx,
			   struct ib_dm_alloc_attr *attr,
			   struct uverbs_attr_bundle *attrs);
int mxe_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);

/* The attribute and the method that mxe adds to UVERBS_OBJECT_DM. */
extern const struct uapi_definition mxe_dm_defs[];

#endif /* MXE_DM_H */
