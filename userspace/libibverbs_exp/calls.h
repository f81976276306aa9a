/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Helpers of the ibv_exp_*() calls. */
#ifndef EXP_CALLS_H
#define EXP_CALLS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define EXP_EXPORT __attribute__((visibility("default")))

/* Sets errno, in a return statement. */
static inline void *exp_null(int err)
{
	errno = err;
	return NULL;
}

/* Sets errno as OFED did, in a return statement, unless err is 0. */
static inline int exp_err(int err)
{
	if (err)
		errno = err;
	return err;
}

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

#endif /* EXP_CALLS_H */
