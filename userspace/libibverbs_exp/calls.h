/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Helpers and internal functions of the ibv_exp_*() calls. */
#ifndef EXP_CALLS_H
#define EXP_CALLS_H

#include <errno.h>
#include <stdio.h>

#include "backend.h"
#include "wr.h"

#define EXP_EXPORT __attribute__((visibility("default")))

/**
 * exp_null() - Set errno, in a return statement.
 * @err: positive errno
 *
 * Return: NULL.
 */
static inline void *exp_null(int err)
{
	errno = err;
	return NULL;
}

/**
 * exp_err() - Set errno as OFED did, in a return statement.
 * @err: 0, which leaves errno unchanged, or a positive errno
 *
 * Return: @err.
 */
static inline int exp_err(int err)
{
	if (err)
		errno = err;
	return err;
}

/**
 * exp_errno_from_std() - Convert an errno of the standard verbs to that of
 * OFED.
 * @err: 0 or a positive errno
 *
 * Return: ENOSYS for EOPNOTSUPP, otherwise @err.
 */
static inline int exp_errno_from_std(int err)
{
	return err == EOPNOTSUPP ? ENOSYS : err;
}

/**
 * exp_bad_mask() - Check a comp_mask, and print an error if it is invalid.
 * @call: name of the calling function
 * @mask: the comp_mask
 * @reserved: lowest invalid bit
 *
 * Return: true if @mask has invalid bits.
 */
static inline bool exp_bad_mask(const char *call, uint64_t mask,
				uint64_t reserved)
{
	if (mask < reserved)
		return false;
	fprintf(stderr, "%s: invalid comp_mask 0x%llx (valid: 0x%llx)\n", call,
		(unsigned long long)mask, (unsigned long long)reserved - 1);
	return true;
}

/**
 * exp_check_dc() - Check if a device has the DC transport, and print an error
 * if it has not.
 * @call: name of the calling function
 * @context: context of the device
 * @caps: its capabilities
 *
 * Return: 0 or ENOSYS.
 */
static inline int exp_check_dc(const char *call, struct ibv_context *context,
			       const struct exp_caps *caps)
{
	if (caps->dc)
		return 0;
	fprintf(stderr, "%s: %s has no dynamically connected transport\n", call,
		context->device->name);
	return ENOSYS;
}

/* Readable members of a completion in a CQ with timestamps. */
#define EXP_CQ_TIMED_FLAGS \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)

/* Those in a CQ that may become that of a tag-matching SRQ. */
#define EXP_CQ_TM_FLAGS \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_TM_INFO)

/**
 * exp_dm_std() - Get the standard object of device memory (dm.c).
 * @dm: device memory of ibv_exp_alloc_dm()
 *
 * Return: the standard object.
 */
struct ibv_dm *exp_dm_std(struct ibv_exp_dm *dm);

/**
 * exp_dereg_mr() - Implement ibv_dereg_mr() (mr.c).
 * @mr: any region; the memory is freed if ibv_exp_reg_mr() has allocated it
 * @std: ibv_dereg_mr() of libibverbs
 *
 * Return: as ibv_dereg_mr().
 */
int exp_dereg_mr(struct ibv_mr *mr, int (*std)(struct ibv_mr *mr));

#endif /* EXP_CALLS_H */
