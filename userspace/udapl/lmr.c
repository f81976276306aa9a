// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Local memory regions (LMRs). Keeps the ranges of all regions. The
 * synchronisation calls check their segments against them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <infiniband/mxedv.h>

#include "inner.h"
#include "lmr.h"

struct dm_lmr {
	struct dm_lmr *next;
	DAT_IA_HANDLE ia;
	DAT_LMR_HANDLE handle;
	DAT_LMR_CONTEXT context;
	DAT_VADDR start;
	DAT_VLEN length;
	struct ibv_mr *mr;		/* if it is not coherent, or NULL */
};

/*
 * Protects the list. The inner provider is never called with it held. It is
 * held for reading while segments are synchronised, so that their regions
 * exist.
 */
static pthread_rwlock_t dm_lmr_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct dm_lmr *dm_lmrs;

/* Returns the region if it needs mxedv_sync_mr(), or NULL. */
static struct ibv_mr *dm_lmr_noncoherent(struct ibv_mr *mr)
{
	struct mxedv_device_attr attr;

	if (mr && !mxedv_query_device(mr->context, &attr, sizeof(attr)) &&
	    attr.comp_mask & MXEDV_DEVICE_ATTR_NONCOHERENT)
		return mr;
	return NULL;
}

DAT_RETURN dm_lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type,
			 DAT_REGION_DESCRIPTION region, DAT_VLEN length,
			 DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
			 DAT_VA_TYPE va_type, DAT_LMR_HANDLE *lmr,
			 DAT_LMR_CONTEXT *lmr_context,
			 DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *reg_length,
			 DAT_VADDR *reg_address)
{
	DAT_LMR_PARAM param;
	struct dm_lmr *new;
	DAT_RETURN ret;

	new = calloc(1, sizeof(*new));
	if (!new)
		return DM_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	mxedv_take_last_mr();
	ret = dm_inner.lmr_create_func(ia, type, region, length, pz, privileges,
				       va_type, lmr, lmr_context, rmr_context,
				       reg_length, reg_address);
	if (ret != DAT_SUCCESS)
		goto err;
	/* The outputs are optional, so ask for the range. */
	ret = dm_inner.lmr_query_func(*lmr, DAT_LMR_FIELD_ALL, &param);
	if (ret != DAT_SUCCESS) {
		dm_inner.lmr_free_func(*lmr);
		goto err;
	}
	new->ia = ia;
	new->handle = *lmr;
	new->context = param.lmr_context;
	new->start = param.registered_address;
	new->length = param.registered_size;
	/* libdaplofa has registered the region in this thread. */
	new->mr = dm_lmr_noncoherent(mxedv_take_last_mr());
	pthread_rwlock_wrlock(&dm_lmr_lock);
	new->next = dm_lmrs;
	dm_lmrs = new;
	pthread_rwlock_unlock(&dm_lmr_lock);
	return DAT_SUCCESS;

err:
	free(new);
	return ret;
}

/*
 * A concurrent dm_lmr_create() may get the same address as a handle, so the
 * region is forgotten first, and remembered if the inner provider refuses.
 */
DAT_RETURN dm_lmr_free(DAT_LMR_HANDLE lmr)
{
	struct dm_lmr **p, *found = NULL;
	DAT_RETURN ret;

	pthread_rwlock_wrlock(&dm_lmr_lock);
	for (p = &dm_lmrs; *p; p = &(*p)->next)
		if ((*p)->handle == lmr) {
			found = *p;
			*p = found->next;
			break;
		}
	pthread_rwlock_unlock(&dm_lmr_lock);
	ret = dm_inner.lmr_free_func(lmr);
	if (ret == DAT_SUCCESS || !found) {
		free(found);
		return ret;
	}
	pthread_rwlock_wrlock(&dm_lmr_lock);
	found->next = dm_lmrs;
	dm_lmrs = found;
	pthread_rwlock_unlock(&dm_lmr_lock);
	return ret;
}

/**
 * dm_lmr_forget() - Forget the regions of an IA that was closed.
 * @ia: the inner provider's handle
 */
void dm_lmr_forget(DAT_IA_HANDLE ia)
{
	struct dm_lmr **p, *dead;

	pthread_rwlock_wrlock(&dm_lmr_lock);
	for (p = &dm_lmrs; *p;) {
		if ((*p)->ia != ia) {
			p = &(*p)->next;
			continue;
		}
		dead = *p;
		*p = dead->next;
		free(dead);
	}
	pthread_rwlock_unlock(&dm_lmr_lock);
}

/*
 * Returns the region that contains the segment, or NULL. Called with
 * dm_lmr_lock held.
 */
static const struct dm_lmr *dm_lmr_find(DAT_IA_HANDLE ia,
					const DAT_LMR_TRIPLET *segment)
{
	const struct dm_lmr *lmr;
	DAT_VADDR offset;

	for (lmr = dm_lmrs; lmr; lmr = lmr->next) {
		if (lmr->ia != ia || lmr->context != segment->lmr_context)
			continue;
		offset = segment->virtual_address - lmr->start;
		return segment->virtual_address >= lmr->start &&
		       offset < lmr->length &&
		       segment->segment_length <= lmr->length - offset ?
		       lmr : NULL;
	}
	return NULL;
}

/*
 * Checks all segments before the first is synchronised. Called with dm_lmr_lock
 * held.
 */
static DAT_RETURN dm_lmr_sync_all(DAT_IA_HANDLE ia,
				  const DAT_LMR_TRIPLET *segments, DAT_VLEN num,
				  uint32_t flags)
{
	const struct dm_lmr *lmr;
	DAT_VLEN i;

	/* dat.h: the other members of an empty segment are irrelevant. */
	for (i = 0; i < num; i++)
		if (segments[i].segment_length && !dm_lmr_find(ia, &segments[i]))
			return DM_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	for (i = 0; i < num; i++) {
		lmr = dm_lmr_find(ia, &segments[i]);
		if (lmr && lmr->mr &&
		    mxedv_sync_mr(lmr->mr, segments[i].virtual_address,
				  segments[i].segment_length, flags))
			return DM_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	}
	return DAT_SUCCESS;
}

/*
 * Only regions on mxe devices with coherent=N are copied. On all others, the
 * calls only order accesses: a full fence orders the CPU's accesses to the
 * segments before the call and after it, also in relation to loads of the
 * completion that was polled.
 */
static DAT_RETURN dm_lmr_sync(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments,
			      DAT_VLEN num, uint32_t flags)
{
	DAT_RETURN ret;

	if (num && !segments)
		return DM_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	pthread_rwlock_rdlock(&dm_lmr_lock);
	ret = dm_lmr_sync_all(ia, segments, num, flags);
	pthread_rwlock_unlock(&dm_lmr_lock);
	atomic_thread_fence(memory_order_seq_cst);
	return ret;
}

/* libdat2 has checked that the handle is an open IA. */
DAT_RETURN dm_lmr_sync_rdma_read(DAT_IA_HANDLE ia,
				 const DAT_LMR_TRIPLET *segments, DAT_VLEN num)
{
	return dm_lmr_sync(ia, segments, num, MXEDV_SYNC_MR_FOR_DEVICE);
}

/*
 * Serves both sides: a program calls it after local writes to a target of RDMA
 * writes, and after the RDMA writes.
 */
DAT_RETURN dm_lmr_sync_rdma_write(DAT_IA_HANDLE ia,
				  const DAT_LMR_TRIPLET *segments, DAT_VLEN num)
{
	return dm_lmr_sync(ia, segments, num, MXEDV_SYNC_MR_FOR_DEVICE |
					      MXEDV_SYNC_MR_FOR_CPU);
}
