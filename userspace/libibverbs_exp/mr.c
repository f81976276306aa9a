// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions and windows: ibv_exp_reg_mr(), ibv_exp_prefetch_mr(),
 * ibv_exp_bind_mw(), and the memory that this library has allocated for a
 * region.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <infiniband/verbs_exp.h>

#include "calls.h"
#include "dm.h"
#include "emu_qp.h"
#include "fork.h"
#include "mr.h"
#include "wr.h"

#define EXP_ACCESS_DM							\
	(IBV_EXP_ACCESS_LOCAL_WRITE | IBV_EXP_ACCESS_REMOTE_WRITE |	\
	 IBV_EXP_ACCESS_REMOTE_READ | IBV_EXP_ACCESS_REMOTE_ATOMIC |	\
	 IBV_EXP_ACCESS_RELAXED_ORDERING)

/* ---- memory allocated by the library ------------------------------------ */

/* Exists from ibv_exp_reg_mr() to ibv_dereg_mr() of the region. */
struct exp_alloc {
	struct exp_alloc *next;
	const struct ibv_mr *mr;
	void *addr;
	size_t length;
};

static pthread_mutex_t exp_alloc_lock = PTHREAD_MUTEX_INITIALIZER;
static struct exp_alloc *exp_allocs;	/* protected by exp_alloc_lock */

EXP_FORK_HOLD(allocs, exp_alloc_lock)

static struct exp_alloc *alloc_new(size_t length)
{
	struct exp_alloc *alloc = calloc(1, sizeof(*alloc));

	if (!alloc)
		return NULL;
	alloc->length = length;
	alloc->addr = mmap(NULL, length, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (alloc->addr == MAP_FAILED) {
		free(alloc);
		return NULL;
	}
	return alloc;
}

static void alloc_free(struct exp_alloc *alloc)
{
	if (!alloc)
		return;
	munmap(alloc->addr, alloc->length);
	free(alloc);
}

static void alloc_add(struct exp_alloc *alloc, const struct ibv_mr *mr)
{
	alloc->mr = mr;
	pthread_mutex_lock(&exp_alloc_lock);
	alloc->next = exp_allocs;
	exp_allocs = alloc;
	pthread_mutex_unlock(&exp_alloc_lock);
}

static struct exp_alloc *alloc_take(const struct ibv_mr *mr)
{
	struct exp_alloc **link, *alloc;

	pthread_mutex_lock(&exp_alloc_lock);
	for (link = &exp_allocs; *link; link = &(*link)->next)
		if ((*link)->mr == mr)
			break;
	alloc = *link;
	if (alloc)
		*link = alloc->next;
	pthread_mutex_unlock(&exp_alloc_lock);
	return alloc;
}

/**
 * exp_dereg_mr() - Implement ibv_dereg_mr().
 * @mr: any region; the memory is freed if ibv_exp_reg_mr() has allocated it
 * @std: ibv_dereg_mr() of libibverbs
 *
 * Removes the memory from the list before the region is deregistered, because
 * the address of mr may be reused immediately.
 *
 * Return: as ibv_dereg_mr().
 */
int exp_dereg_mr(struct ibv_mr *mr, int (*std)(struct ibv_mr *mr))
{
	struct exp_alloc *alloc = alloc_take(mr);
	int ret = std(mr);

	if (!ret)
		emu_qp_forget_buffers();
	if (ret && alloc)
		alloc_add(alloc, mr);
	else
		alloc_free(alloc);
	return ret;
}

/* ---- registration ------------------------------------------------------- */

/*
 * Device memory is always addressed from 0. The kernel requires
 * IBV_ACCESS_ZERO_BASED for it.
 */
static struct ibv_mr *reg_dm(const struct ibv_exp_reg_mr_in *in)
{
	struct ibv_mr *mr;
	int access;

	if (!in->dm || (in->exp_access & ~(uint64_t)EXP_ACCESS_DM))
		return exp_null(EINVAL);
	exp_access_to_std(in->exp_access, &access);
	mr = ibv_reg_dm_mr(in->pd, exp_dm_std(in->dm), (uintptr_t)in->addr,
			   in->length, access | IBV_ACCESS_ZERO_BASED);
	if (!mr)
		errno = exp_errno_from_std(errno);
	return mr;
}

static bool must_allocate(const struct ibv_exp_reg_mr_in *in)
{
	if (in->addr)
		return false;
	return (in->exp_access & IBV_EXP_ACCESS_ALLOCATE_MR) ||
	       ((in->comp_mask & IBV_EXP_REG_MR_CREATE_FLAGS) &&
		(in->create_flags & IBV_EXP_REG_MR_CREATE_CONTIG));
}

EXP_EXPORT
struct ibv_mr *ibv_exp_reg_mr(struct ibv_exp_reg_mr_in *in)
{
	struct exp_alloc *alloc = NULL;
	struct ibv_mr *mr;
	void *addr;
	int access, err;

	if (exp_bad_mask(__func__, in->comp_mask, IBV_EXP_REG_MR_RESERVED) ||
	    in->exp_access >= IBV_EXP_ACCESS_RESERVED)
		return exp_null(EINVAL);
	if (in->comp_mask & IBV_EXP_REG_MR_DM)
		return reg_dm(in);

	err = exp_access_to_std(in->exp_access & ~IBV_EXP_ACCESS_ALLOCATE_MR,
				&access);
	if (err)
		return exp_null(err);
	addr = in->addr;
	if (must_allocate(in)) {
		alloc = alloc_new(in->length);
		if (!alloc)
			return NULL;
		addr = alloc->addr;
	}
	mr = ibv_reg_mr_iova2(in->pd, addr, in->length, (uintptr_t)addr,
			      access);
	if (!mr) {
		err = errno;
		alloc_free(alloc);
		return exp_null(err);
	}
	if (alloc) {
		alloc_add(alloc, mr);
		in->addr = addr;
		mr->addr = addr;
	}
	return mr;
}

/* ---- prefetch and memory windows ---------------------------------------- */

EXP_EXPORT
int ibv_exp_prefetch_mr(struct ibv_mr *mr, struct ibv_exp_prefetch_attr *attr)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)attr->addr,
		.length = attr->length,
		.lkey = mr->lkey,
	};
	enum ibv_advise_mr_advice advice = IBV_ADVISE_MR_ADVICE_PREFETCH;

	if (exp_bad_mask(__func__, attr->comp_mask,
			 IBV_EXP_PREFETCH_MR_RESERVED) ||
	    (attr->flags & ~IBV_EXP_PREFETCH_WRITE_ACCESS) ||
	    attr->length > UINT32_MAX)
		return exp_err(EINVAL);
	if (attr->flags & IBV_EXP_PREFETCH_WRITE_ACCESS)
		advice = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	return exp_err(exp_errno_from_std(ibv_advise_mr(mr->pd, advice, 0,
							&sge, 1)));
}

EXP_EXPORT
int ibv_exp_bind_mw(struct ibv_exp_mw_bind *exp)
{
	struct ibv_mw_bind std = {
		.wr_id = exp->wr_id,
		.send_flags = exp->exp_send_flags & EXP_SEND_STD_FLAGS,
	};
	int err;

	if (exp_bad_mask(__func__, exp->comp_mask, IBV_EXP_BIND_MW_RESERVED) ||
	    (exp->exp_send_flags & ~(uint64_t)EXP_SEND_STD_FLAGS))
		return exp_err(EINVAL);
	err = exp_bind_to_std(&exp->bind_info, &std.bind_info);
	if (err)
		return exp_err(err);
	return exp_err(exp_errno_from_std(ibv_bind_mw(exp->qp, exp->mw, &std)));
}
