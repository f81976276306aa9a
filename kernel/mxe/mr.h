/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory regions and access to them.  Errors are errno; what they mean to a
 * peer or a consumer is decided by the responder and the requester:
 *
 *   -ENOENT  no such key, or not valid now
 *   -EPERM   other protection domain
 *   -EACCES  the region does not grant this access
 *   -EFAULT  outside the region
 */
#ifndef MXE_MR_H
#define MXE_MR_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <rdma/ib_verbs.h>

#include "atomic.h"

struct mxe_dev;

/* What dev->mrs holds: tags of its pointers. */
enum mxe_key_type {
	MXE_KEY_OF_MR	= 0,
	MXE_KEY_OF_MW	= 1,
};

enum mxe_mr_state {
	MXE_MR_INVALID,		/* fast registration not yet, or invalidated */
	MXE_MR_VALID,
};

/*
 * Lifetime: created and destroyed by verbs.  Looked up under RCU in
 * dev->mrs, with a reference for the time of one access; dereg removes it
 * from there and waits for the references.  Freed after a grace period.
 *
 * pages, npages, page_shift and umem do not change after publication, but
 * those of a fast-registration region: map_mr_sg() writes them while the
 * consumer guarantees that the region is invalid.  key, iova, length, access
 * and state of such a region are written by its REG_MR and LOCAL_INV work
 * requests, which its consumer orders against accesses.
 */
struct mxe_mr {
	struct ib_mr ibmr;
	struct mxe_dev *dev;
	struct kref ref;
	struct completion released;
	struct rcu_head rcu;
	enum mxe_mr_state state;
	atomic_t windows;		/* bound to it; -1: it goes away */
	u32 key;			/* lkey and rkey */
	int access;
	u64 iova;
	u64 length;
	bool all_kernel_memory;		/* get_dma_mr(): address is pointer */
	struct ib_umem *umem;
	unsigned int page_shift;
	u32 first_offset;		/* of iova in the first page */
	u32 npages, max_pages;
	void **pages;			/* linear-map addresses */
};

static inline struct mxe_mr *to_mmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct mxe_mr, ibmr);
}

/*
 * A key for a tagged pointer to a region or a window, which can be found by it
 * from here on.  Keys are random, so that one cannot be guessed from another:
 * 24 bits choose the place in the table, 8 vary.  Context: may sleep.
 */
int mxe_key_alloc(struct mxe_dev *dev, void *entry, u32 *key);

/* Context of all below: any but hard interrupts. */

/* A referenced valid region by its key, or NULL. */
struct mxe_mr *mxe_mr_get(struct mxe_dev *dev, u32 key);
void mxe_mr_put(struct mxe_mr *mr);

/* May pd do `access` (IB_ACCESS_*) to these bytes?  0 or an error as above. */
int mxe_mr_check(const struct mxe_mr *mr, const struct ib_pd *pd, int access,
		 u64 addr, u64 length);

enum mxe_copy_dir { MXE_FROM_MEMORY, MXE_TO_MEMORY };

/* Copy; the range has been checked. */
void mxe_mr_copy(const struct mxe_mr *mr, u64 addr, void *buf, u32 len,
		 enum mxe_copy_dir dir);

/* Who names a remote key: the responder of a queue pair. */
struct mxe_peer {
	struct mxe_dev *dev;
	const struct ib_pd *pd;
	u32 qpn;
};

/* Lookup, check and access in one, by a remote key: a region's or a window's. */
int mxe_rkey_copy(const struct mxe_peer *peer, u32 rkey, int access, u64 addr,
		  void *buf, u32 len, enum mxe_copy_dir dir);
int mxe_rkey_check(const struct mxe_peer *peer, u32 rkey, int access, u64 addr,
		   u32 len);
/*
 * Execute an atomic, for which mxe_atomic_ready(), on the naturally aligned
 * operand at addr; orig as of mxe_atomic_exec().
 */
int mxe_rkey_atomic(const struct mxe_peer *peer, u32 rkey, u64 addr,
		    const struct mxe_atomic_args *args, u64 *orig);

/* The same by a local key. */
int mxe_lkey_copy(struct mxe_dev *dev, const struct ib_pd *pd, u32 lkey,
		  int access, u64 addr, void *buf, u32 len,
		  enum mxe_copy_dir dir);
/*
 * Copy between buf and bytes offset..offset+len of a gather or scatter list,
 * whose total length the caller knows to suffice.
 */
int mxe_sge_copy(struct mxe_dev *dev, const struct ib_pd *pd,
		 const struct ib_sge *sge, unsigned int num_sge, u32 offset,
		 void *buf, u32 len, enum mxe_copy_dir dir);

/* Work requests of kernel consumers. */
int mxe_mr_reg(struct ib_mr *ibmr, struct ib_pd *pd, u32 key, int access);
int mxe_mr_local_inv(struct mxe_dev *dev, const struct ib_pd *pd, u32 key);
/* A SEND with invalidate: -EACCES for a key that no peer may have used. */
int mxe_mr_remote_inv(struct mxe_dev *dev, const struct ib_pd *pd, u32 key);

/* Verbs of ib_device_ops. */
struct ib_mr *mxe_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *mxe_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			      u64 iova, int access, struct ib_udata *udata);
struct ib_mr *mxe_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				u64 length, u64 iova, int access,
				struct ib_pd *pd, struct ib_udata *udata);
struct ib_mr *mxe_reg_dm_mr(struct ib_pd *pd, struct ib_dm *ibdm,
			    struct ib_dm_mr_attr *attr,
			    struct uverbs_attr_bundle *attrs);
struct ib_mr *mxe_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			   u32 max_num_sg);
int mxe_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		  unsigned int *sg_offset);
int mxe_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

#endif /* MXE_MR_H */
