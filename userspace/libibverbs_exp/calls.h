/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The calls ibv_exp_*() share these helpers, and call each other by these functions. */
#ifndef EXP_CALLS_H
#define EXP_CALLS_H

#include <errno.h>
#include <stdio.h>

#include "backend.h"
#include "wr.h"

#define EXP_EXPORT __attribute__((visibility("default")))

/* For `return` in a function that returns NULL and sets errno. */
static inline void *exp_null(int err)
{
	errno = err;
	return NULL;
}

/* For `return` in one that returns the errno.  OFED set errno too. */
static inline int exp_err(int err)
{
	if (err)
		errno = err;
	return err;
}

/* What a provider lacks was ENOSYS in OFED. */
static inline int exp_errno_from_std(int err)
{
	return err == EOPNOTSUPP ? ENOSYS : err;
}

/* True, and said on standard error, if bits from `reserved` on are set. */
static inline bool exp_bad_mask(const char *call, uint64_t mask,
				uint64_t reserved)
{
	if (mask < reserved)
		return false;
	fprintf(stderr, "%s: invalid comp_mask 0x%llx (valid: 0x%llx)\n", call,
		(unsigned long long)mask, (unsigned long long)reserved - 1);
	return true;
}

/* What a completion queue with time stamps can tell of a completion. */
#define EXP_CQ_TIMED_FLAGS \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)

/* dm.c: the standard object. */
struct ibv_dm *exp_dm_std(struct ibv_exp_dm *dm);

/*
 * mr.c: ibv_dereg_mr(), with `std` as the one of libibverbs, for regions whose
 * memory ibv_exp_reg_mr() has allocated and for all others.
 */
int exp_dereg_mr(struct ibv_mr *mr, int (*std)(struct ibv_mr *mr));

#endif /* EXP_CALLS_H */
